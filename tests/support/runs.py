"""Runs of the full pipeline in this process."""

import asyncio
from pathlib import Path

from lawtrace.runs.runner import RunResult, run_variants
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.recipe import Recipe, TaskOptions

SMALL = Recipe(tasks=TaskOptions(count=3, spare=2))


def run(recipe: Recipe, folder: Path) -> RunResult:
    """Run a recipe in a new folder."""
    with EventLogFile.create(folder, recipe=recipe.model_dump(mode="json")) as event_log:
        return asyncio.run(run_recipe(recipe, event_log))


async def run_recipe(recipe: Recipe, event_log: EventLogFile) -> RunResult:
    """Run a recipe without an ablation in the folder of an event log."""
    (one,) = await run_variants(resolve_recipe(recipe), event_log)
    assert one.result is not None
    return one.result
