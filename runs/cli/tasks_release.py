"""``lawtrace tasks release``: build and check a task set for publication."""

from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.environments.domains.loader import PAPER_DOMAINS
from lawtrace.environments.errors import OperationalError
from lawtrace.runs.cli.options import JsonOption
from lawtrace.runs.cli.output import best_habits, print_outcome
from lawtrace.runs.cli.recipe_flags import RecipeFlags, recipe_flags
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import with_values
from lawtrace.runs.release.task_set import BY_HAND, TaskSet, check_release_folder, write_release
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import TASK_VARIANTS, TraceRow
from lawtrace.runs.stages.habits import find_task_habits
from lawtrace.runs.stages.pipeline import QUALITY, RULES, TASKS, TRACES
from lawtrace.runs.stages.resolve import checked_recipe_environment
from lawtrace.runs.store.stage_files import read_rows

WRITING_ROLES = ("instruction_generator", "independent_reader", "masking_evaluator")
"""The roles that write and review instructions."""


@recipe_flags("count", "texts", "seed", "sandbox", env=None)
def release_command(
    flags: RecipeFlags,
    out: Annotated[Path, typer.Option(help="Output folder.")],
    version: Annotated[str, typer.Option(help="Version of the task set.")] = "0.1",
    env: Annotated[list[str] | None, typer.Option(help="Environment; default: all built-in ones. Repeatable.")] = None,
    traces: Annotated[Path | None, typer.Option(help="Folder of ENVIRONMENT.traces.jsonl; else synthesize.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Build and check a task set for publication.

    Writes JSON lines and Parquet with a data card. Tasks that fail a check are replaced by spare ones.
    """
    check_release_folder(out, version)
    options = [flags.resolve(name) for name in env or PAPER_DOMAINS]

    async def work(session: Session) -> list[TaskSet]:
        return [await _build(session, one, traces) for one in options]

    sets = run_stages(options[0], out, "tasks release", work)
    first = options[0]
    manifest = write_release(
        out,
        sets,
        version=version,
        lawtrace=distribution_version("lawtrace"),
        seed=first.seed,
        length=first.tasks.length,
        roles=_writers(first),
    )
    total = sum(entry.pairs for entry in manifest.environments.values())
    pairs = {name: entry.pairs for name, entry in manifest.environments.items()}
    print_outcome(
        {
            "version": version,
            "tasks": 2 * total,
            "pairs": pairs,
            "habits": {one.domain.environment.name: best_habits(one.habits) for one in sets},
        },
        f"{2 * total} tasks ({total} pairs) in {len(sets)} environments, version {version}.",
        as_json=as_json,
        out=out,
    )


def _writers(recipe: Recipe) -> dict[str, str]:
    """Who wrote and read the instructions."""
    models = {role: str(model) for role, model in recipe.models.specs().items() if role in WRITING_ROLES}
    if recipe.tasks.texts is None:
        return models
    return {"instruction_generator": BY_HAND, "independent_reader": models["independent_reader"]}


async def _build(session: Session, recipe: Recipe, folder: Path | None) -> TaskSet:
    """The recipe's number of pairs of each variant in one environment. Raises OperationalError if too few pass.

    ``folder``: where the traces are, if they are not synthesized.
    """
    count = recipe.tasks.count
    domain = checked_recipe_environment(recipe)
    name = domain.environment.name
    if recipe.tasks.mode_in(domain.environment) != "contrasts":  # spare contrast pairs are for the selection
        recipe = with_values(recipe, {"tasks.count": count + recipe.tasks.spare, "tasks.spare": 0}, "tasks")
    runner = session.runner(recipe, folder=session.folder.part(name))
    if folder is not None:
        runner.give(TRACES, read_rows(folder / f"{name}.traces.jsonl", TraceRow))
    made = await runner.make(QUALITY)
    passing = {row.task: row for row in made[QUALITY] if row.passed}
    tasks = [
        task
        for variant in TASK_VARIANTS
        for task in [task for task in made[TASKS] if task.variant == variant and task.id in passing][:count]
    ]
    if len(tasks) < count * len(recipe.tasks.variants):
        raise OperationalError(
            f"{name}: {len(tasks)} of {count * len(recipe.tasks.variants)} pairs pass the checks; raise tasks.spare"
        )
    habits = await run_in_worker_thread(lambda: find_task_habits(domain.environment, tasks))
    return TaskSet(domain, made[RULES], tasks, [passing[task.id] for task in tasks], habits)
