"""Making the tasks of a release: traces from the seed, instructions in conversation, and the gate behind them."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import OperationalError
from lawtrace.environments.sandbox import Jail
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.release.task_set import TaskSet
from lawtrace.runs.stages.quality import check_tasks
from lawtrace.runs.stages.tasks_stage import build_tasks
from lawtrace.runs.stages.traces_stage import synthesize_traces
from lawtrace.solver.rules import check_rules, load_rules

WRITING_ROLES = ("instruction_generator", "independent_reader", "masking_evaluator")
"""The roles that have a part in the words of a task."""

StageProgressOpener = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


async def build_task_set(
    setting: Domain,
    recipe: Recipe,
    *,
    role_models: RoleModels,
    event_log: EventLog,
    jail: Jail,
    stage: StageProgressOpener,
) -> TaskSet:
    """Build the recipe's number of pairs in one environment and put them through the gate.

    What fails the gate is left out and replaced by what was built to spare. Raises CannotCarryOut if too few are left.
    """
    environment, options = setting.environment, recipe.tasks
    rules = load_rules(setting.rules_file)
    check_rules(rules, environment, setting.regulation)
    wanted = options.count + options.spare
    with stage(f"{environment.name}: traces", wanted) as step:
        traces = synthesize_traces(
            environment,
            rules,
            profile=options.profile,
            length=options.length,
            count=wanted,
            seed=recipe.seed,
            on_trace=step,
        )
    with stage(f"{environment.name}: tasks", wanted) as step:
        built = await build_tasks(
            environment,
            rules,
            traces,
            count=wanted,
            role_models=role_models,
            event_log=event_log,
            jail=jail,
            most_rounds=recipe.conversation.rounds,
            concurrency=recipe.conversation.concurrency,
            on_task=step,
        )
    with stage(f"{environment.name}: gate", len(built.tasks)) as step:
        answers = await check_tasks(
            environment,
            built.tasks,
            jail=jail,
            role_models=role_models,
            event_log=event_log,
            reader_is_offline=recipe.models.independent_reader == "offline",
            on_task=step,
        )
    passing = {row.task: row for row in answers if row.passed}
    tasks = [task for task in built.tasks if task.id in passing][: options.count]
    if len(tasks) < options.count:
        raise OperationalError(
            f"{environment.name}: {len(tasks)} of {options.count} pairs pass the gate; raise tasks.spare in a recipe"
        )
    return TaskSet(setting, rules, tasks, [passing[task.id] for task in tasks])
