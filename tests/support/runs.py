"""Runs of the full pipeline in this process."""

import asyncio
from pathlib import Path

from lawtrace.runs.runner import RunResult, run_recipe
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.schemas.recipe import Recipe, TaskOptions

SMALL = Recipe(tasks=TaskOptions(count=3, spare=2))


def run(recipe: Recipe, folder: Path) -> RunResult:
    """Run a recipe in a new folder."""
    with EventLogFile.create(folder, recipe=recipe.model_dump(mode="json")) as event_log:
        return asyncio.run(run_recipe(resolve_recipe(recipe), RunFolder(folder), event_log))
