"""Legal runs on the small cases."""

import asyncio
from pathlib import Path

from lawtrace.environments.legal.dataset import LegalDataset
from lawtrace.runs.legal.legal_files import AnswerRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import load_recorded_dataset, run_legal
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from tests.support.legal.small_cases import BOOK


def run_grid(
    recipe: LegalRecipe, folder: Path, dataset: LegalDataset = BOOK, *, reuse: Path | None = None
) -> list[AnswerRow]:
    with EventLogFile.create(folder, recipe=recipe.model_dump(mode="json")) as event_log:
        return asyncio.run(run_legal(recipe, RunFolder(folder), event_log=event_log, dataset=dataset, reuse=reuse))


def resume_grid(recipe: LegalRecipe, folder: Path) -> list[AnswerRow]:
    with EventLogFile.resume(folder) as event_log:
        dataset = load_recorded_dataset(folder, "start a new one")
        return asyncio.run(run_legal(recipe, RunFolder(folder), event_log=event_log, dataset=dataset))
