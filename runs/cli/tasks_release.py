"""``lawtrace tasks release``: build and check a task set for publication."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.environments.progress import NoProgress
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.cli.output import best_habits
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.recipe_file import with_values
from lawtrace.runs.release.current_rules import with_current_rules
from lawtrace.runs.release.task_set import TaskSet, check_release_folder, write_release
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session
from lawtrace.runs.scoring.judge import is_success
from lawtrace.runs.stages.artifacts import HABITS, QUALITY, RULES, TASKS
from lawtrace.runs.stages.habits import find_task_habits
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task, task_mode
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.findings import ChangeAnswer, MutationKind
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.validity_rows import Changes
from lawtrace.solver.coverage.changes import judge_changes
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS
from lawtrace.solver.traces import Trace

WRITING_ROLES = ("instruction_generator", "independent_reader", "masking_evaluator")
"""The roles that write and review instructions."""
CHANGES: tuple[MutationKind, ...] = ("drop", "late", "other object")
"""The changes of references of which a release says what catches them."""


@recipe_flags("count", *MODEL_CALLS, "seed", env=None)
def release_tasks(
    flags: RecipeFlags,
    out: Annotated[Path, typer.Option(help="Output folder.")],
    version: Annotated[str, typer.Option(help="Version of the task set.")] = "0.1",
    env: Annotated[
        list[str] | None, typer.Option(metavar="<str>", help="Environment; default: all built-in ones. Repeatable.")
    ] = None,
    tasks: Annotated[
        list[Path] | None, typer.Option(metavar="<path>", help="Task file to release; none are built. Repeatable.")
    ] = None,
    writer: Annotated[str | None, typer.Option(help="Who wrote the instructions of the task files.")] = None,
    current_rules: Annotated[bool, typer.Option("--current-rules", help="Give task files the rules of today.")] = False,
) -> CommandResult:
    """Build and check a task set for publication.

    Writes prompts, and references apart from them, with a data card. Tasks that fail a check are replaced by spare
    ones; of task files, all must pass. Another --seed makes another set of the same distribution.
    """
    check_release_folder(out, version)
    if tasks and (env or "tasks.count" in flags.values):
        raise InputError("--tasks cannot be combined with --env or --count: the files are released as they are")
    if current_rules and not tasks:
        raise InputError("--current-rules is about given tasks: name their files with --tasks")
    recipe, length, command = stage_recipe(flags).recipe, 0, ""
    if tasks:

        async def work(session: Session) -> list[TaskSet]:
            return [await _given(session, flags, file, writer, current=current_rules) for file in tasks]

    else:
        options = [stage_recipe(flags, name) for name in env or BUILT_IN_DOMAINS]
        recipe, length = options[0].recipe, options[0].recipe.tasks.length
        words = [f"--env {one.domain.environment.name}" for one in options]
        command = f"lawtrace tasks release {' '.join(words)} --count {recipe.tasks.count} --seed N --out FOLDER"

        async def work(session: Session) -> list[TaskSet]:
            return [await _build(session, one) for one in options]

    sets = run_stages(recipe, out, "tasks release", work, force=flags.force)
    manifest = write_release(
        out,
        sets,
        version=version,
        lawtrace=distribution_version("lawtrace"),
        seed=recipe.seed,
        length=length,
        command="" if flags.recipe or flags.settings else command,
    )
    total = sum(entry.tasks for entry in manifest.environments.values())
    return CommandResult(
        {
            "version": version,
            "tasks": {name: entry.tasks for name, entry in manifest.environments.items()},
            "contrast_pairs": {name: entry.contrast_pairs for name, entry in manifest.environments.items()},
            "decision_points": {name: entry.decision_points for name, entry in manifest.environments.items()},
            "start_rows": {name: entry.start_rows for name, entry in manifest.environments.items()},
            "changes": {
                one.name: {kind: {"made": of.made, "missed": len(of.missed)} for kind, of in one.changes.items()}
                for one in sets
            },
            "habits": {one.name: best_habits(one.habits) for one in sets},
        },
        [f"{total} tasks in {len(sets)} sets, version {version}."],
        out,
    )


def _writers(recipe: Recipe) -> dict[str, str]:
    """Who wrote and read the instructions."""
    return {role: str(model) for role, model in recipe.models.specs().items() if role in WRITING_ROLES}


async def _given(session: Session, flags: RecipeFlags, file: Path, writer: str | None, *, current: bool) -> TaskSet:
    """The tasks of a file. Raises InputError if it does not say who wrote them."""
    tasks, domain = read_tasks(file)
    if current:
        tasks = await run_in_worker_thread(lambda: with_current_rules(tasks, domain))
    if writer is None and any(text.is_free for task in tasks for text in task.instructions.values()):
        raise InputError(f"{file}: a model wrote its instructions; say which with --writer")
    if len({task.rules for task in tasks}) > 1:
        raise InputError(f"{file}: its tasks have several rule sets; name --current-rules, or build them with one")
    inputs = replace(stage_recipe(flags, domain.environment.name), domain=domain)
    runner = session.runner(inputs, folder=RunFolder(session.folder.path / file.stem))
    runner.give(TASKS, tasks)
    made = await runner.make(QUALITY, HABITS)
    changes = await _changes(session, domain.environment, tasks)
    writers = {"instructions": writer or "offline"}
    return TaskSet(file.stem, domain, tasks[0].rules, tasks, made[QUALITY], made[HABITS], changes, writers)


async def _build(session: Session, inputs: StageInputs) -> TaskSet:
    """The recipe's number of tasks in one environment. Raises OperationalError if too few pass."""
    recipe, domain = inputs.recipe, inputs.domain
    name, count = domain.environment.name, inputs.recipe.tasks.count
    if task_mode(recipe.tasks, domain.environment) != "contrasts":  # spare contrast pairs are for the selection
        recipe = with_values(recipe, {"tasks.count": count + recipe.tasks.spare, "tasks.spare": 0}, "tasks")
    runner = session.runner(replace(inputs, recipe=recipe), folder=RunFolder(session.folder.path / name))
    made = await runner.make(QUALITY)
    passing = {row.task: row for row in made[QUALITY] if row.passed}
    tasks = [task for task in made[TASKS] if task.id in passing][:count]
    if len(tasks) < count:
        raise OperationalError(f"{name}: {len(tasks)} of {count} tasks pass the checks; raise tasks.spare")
    habits = made[HABITS]
    if tasks != [*made[TASKS]]:
        habits = await run_in_worker_thread(lambda: find_task_habits(domain.environment, tasks))
    changes = await _changes(session, domain.environment, tasks)
    quality = [passing[task.id] for task in tasks]
    return TaskSet(name, domain, made[RULES], tasks, quality, habits, changes, _writers(recipe))


async def _changes(session: Session, environment: Environment, tasks: Sequence[Task]) -> Mapping[MutationKind, Changes]:
    """The single changes of the references, and what catches them."""

    def measure(on_task: Callable[[], None]) -> Mapping[MutationKind, Changes]:
        found: dict[MutationKind, list[tuple[str, ChangeAnswer]]] = {kind: [] for kind in CHANGES}
        for task in [task for task in tasks if task.calls]:
            trace = Trace(task.initial(environment), task.planned, task.target(environment))
            goal = (partial(is_success, environment, task),) if task.docket is None else ()
            for one in judge_changes(environment, task.rules, trace, environment.tools, *goal):
                found[one.kind].append((f"{task.id}: {one.change}", one.answer))
            on_task()
        return {kind: Changes.of(changes) for kind, changes in found.items()}

    progress = session.options.get("progress") or NoProgress()
    with progress.stage(f"changes of references, {environment.name}", len(tasks)) as step:
        return await run_in_worker_thread(lambda: measure(step))
