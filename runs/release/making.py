"""Making the tasks of a release: traces from the seed, instructions in conversation, and the gate behind them."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from lawtrace.agents.casting import Casting
from lawtrace.agents.ledger import Ledger
from lawtrace.environments.errors import CannotCarryOut
from lawtrace.environments.folder import Setting
from lawtrace.environments.jail import Jail
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.release.writing import ReleasedSet
from lawtrace.runs.stages.build import build_tasks
from lawtrace.runs.stages.quality import check_tasks
from lawtrace.runs.stages.synthesize import synthesize_rows
from lawtrace.solver.rules import check_rules, load_rules

WRITING_ROLES = ("instruction_generator", "independent_reader", "masking_evaluator")
"""The roles that have a part in the words of a task."""

Stage = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


async def make_set(
    setting: Setting, recipe: Recipe, *, casting: Casting, ledger: Ledger, jail: Jail, stage: Stage
) -> ReleasedSet:
    """Build the recipe's number of pairs in one environment and put them through the gate.

    What fails the gate is left out and replaced by what was built to spare. Raises CannotCarryOut if too few are left.
    """
    environment, options = setting.environment, recipe.tasks
    rules = load_rules(setting.rules_file)
    check_rules(rules, environment, setting.regulation)
    wanted = options.count + options.spare
    with stage(f"{environment.name}: traces", wanted) as step:
        traces = synthesize_rows(
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
            casting=casting,
            ledger=ledger,
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
            casting=casting,
            ledger=ledger,
            reader_is_offline=recipe.models.independent_reader == "offline",
            on_task=step,
        )
    passing = {row.task: row for row in answers if row.passed}
    tasks = [task for task in built.tasks if task.id in passing][: options.count]
    if len(tasks) < options.count:
        raise CannotCarryOut(
            f"{environment.name}: {len(tasks)} of {options.count} pairs pass the gate; raise tasks.spare in a recipe"
        )
    return ReleasedSet(setting, rules, tasks, [passing[task.id] for task in tasks])
