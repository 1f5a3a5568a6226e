"""``lawtrace tasks release``: build and check a task set for publication."""

from dataclasses import replace
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS
from lawtrace.runs.cli.output import best_habits
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.recipe_file import with_values
from lawtrace.runs.release.task_set import TaskSet, check_release_folder, write_release
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import HABITS, QUALITY, RULES, TASKS, TRACES
from lawtrace.runs.stages.habits import find_task_habits
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.tasks import task_mode
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.task_rows import TraceRow

WRITING_ROLES = ("instruction_generator", "independent_reader", "masking_evaluator")
"""The roles that write and review instructions."""


@recipe_flags("count", *MODEL_CALLS, "seed", env=None)
def release_tasks(
    flags: RecipeFlags,
    out: Annotated[Path, typer.Option(help="Output folder.")],
    version: Annotated[str, typer.Option(help="Version of the task set.")] = "0.1",
    env: Annotated[
        list[str] | None, typer.Option(metavar="<str>", help="Environment; default: all built-in ones. Repeatable.")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="Folder with ENV.traces.jsonl to use, where it has them.")
    ] = None,
) -> CommandResult:
    """Build and check a task set for publication.

    Writes JSON lines and Parquet with a data card. Tasks that fail a check are replaced by spare ones. Given traces
    become tasks as they are.
    """
    check_release_folder(out, version)
    options = [stage_recipe(flags, name) for name in env or BUILT_IN_DOMAINS]

    async def work(session: Session) -> list[TaskSet]:
        return [await _build(session, one, sources) for one in options]

    first = options[0].recipe
    sets = run_stages(first, out, "tasks release", work, force=flags.force)
    manifest = write_release(
        out,
        sets,
        version=version,
        lawtrace=distribution_version("lawtrace"),
        seed=first.seed,
        length=first.tasks.length,
    )
    total = sum(entry.tasks for entry in manifest.environments.values())
    return CommandResult(
        {
            "version": version,
            "tasks": {name: entry.tasks for name, entry in manifest.environments.items()},
            "contrast_pairs": {name: entry.contrast_pairs for name, entry in manifest.environments.items()},
            "habits": {one.domain.environment.name: best_habits(one.habits) for one in sets},
        },
        [f"{total} tasks, each in two styles, in {len(sets)} environments, version {version}."],
        out,
    )


def _writers(recipe: Recipe) -> dict[str, str]:
    """Who wrote and read the instructions."""
    return {role: str(model) for role, model in recipe.models.specs().items() if role in WRITING_ROLES}


async def _build(session: Session, inputs: StageInputs, sources: Path | None) -> TaskSet:
    """The recipe's number of tasks in one environment, or all with given traces.

    Raises OperationalError if too few pass.
    """
    recipe, domain = inputs.recipe, inputs.domain
    name = domain.environment.name
    given = None if sources is None else sources / f"{name}.traces.jsonl"
    traces = read_rows(given, TraceRow) if given and given.is_file() else ()
    if traces:
        recipe = with_values(recipe, {"tasks.count": len(traces)}, "tasks")
    count = recipe.tasks.count
    if task_mode(recipe.tasks, domain.environment) != "contrasts":  # spare contrast pairs are for the selection
        recipe = with_values(recipe, {"tasks.count": count + recipe.tasks.spare, "tasks.spare": 0}, "tasks")
    runner = session.runner(replace(inputs, recipe=recipe), folder=RunFolder(session.folder.path / name))
    if traces:
        runner.give(TRACES, traces)
    made = await runner.make(QUALITY)
    passing = {row.task: row for row in made[QUALITY] if row.passed}
    tasks = [task for task in made[TASKS] if task.id in passing][:count]
    if len(tasks) < count:
        raise OperationalError(f"{name}: {len(tasks)} of {count} tasks pass the checks; raise tasks.spare")
    habits = made[HABITS]
    if tasks != [*made[TASKS]]:
        habits = await run_in_worker_thread(lambda: find_task_habits(domain.environment, tasks))
    return TaskSet(domain, made[RULES], tasks, [passing[task.id] for task in tasks], habits, _writers(recipe))
