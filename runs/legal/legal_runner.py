"""Runs the stages of a legal run: cases, retrieval, answers, probes. Each stage writes one file."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from lawtrace.agents.event_log import StageFinished
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.errors import InputError
from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.runs.legal.grounding import probe_citations
from lawtrace.runs.legal.legal_files import AnswerRow, DatasetIssues, LegalFolder
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import ask_for_answers, encoders, grid_cells, retrieve
from lawtrace.runs.stages.stage import NoProgress, StageProgress
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import file_digest, read_rows, write_rows


@dataclass(frozen=True, slots=True)
class LegalResult:
    """The rows of a finished legal run."""

    folder: LegalFolder
    cases: tuple[Case, ...]
    answers: tuple[AnswerRow, ...]
    issues: DatasetIssues


def load_cases_with_questions(path: Path) -> LegalDataset:
    """The dataset at the path. Raises InputError if it has no question."""
    dataset = load_dataset(path)
    if not any(case.questions for case in dataset.cases):
        raise InputError(f"{path}: no case has a question; `lawtrace legal questions CASE` writes them")
    return dataset


async def run_legal(
    recipe: LegalRecipe,
    folder: LegalFolder,
    *,
    event_log: EventLogFile,
    dataset: LegalDataset | None = None,
    progress: StageProgress | None = None,
) -> LegalResult:
    """Run all stages and write their files.

    Without a dataset an interrupted run is resumed with its own copy of the cases. Calls that the event log holds are
    not made again.
    """
    if dataset is None:
        if not folder.cases.exists():
            raise InputError(f"{folder.path}: the run stopped before it copied its cases; start a new one")
        cases = tuple(read_rows(folder.cases, Case))
        issues = read_rows(folder.findings, DatasetIssues)[0]
    else:
        cases, issues = dataset.cases, DatasetIssues(problems=dataset.problems, missing=dataset.missing)
        write_rows(folder.findings, [issues])
    earlier = event_log if dataset is None else None
    async with ModelClients(
        event_log, settings=recipe.call_settings(), open_replay=EventLogFile.open, earlier=earlier
    ) as clients:
        run = _LegalRun(recipe, folder, event_log, clients, progress or NoProgress())
        answers = await run.answer(cases)
        if recipe.probe_citations:
            await run.probe(cases, answers)
    return LegalResult(folder, cases, tuple(answers), issues)


class _LegalRun:
    """A legal run in progress."""

    def __init__(
        self,
        recipe: LegalRecipe,
        folder: LegalFolder,
        event_log: EventLogFile,
        clients: ModelClients,
        progress: StageProgress,
    ) -> None:
        self._recipe = recipe
        self._folder = folder
        self._event_log = event_log
        self._clients = clients
        self._progress = progress

    async def answer(self, cases: Sequence[Case]) -> list[AnswerRow]:
        """Retrieve chunks for every question, then ask every question in every cell."""
        recipe, folder, encoder = self._recipe, self._folder, encoders(self._recipe, self._clients)
        self._write(folder.cases, cases)
        with self._progress.stage("retrieval", len(cases) * len(recipe.retrievers)) as step:
            retrieved = await asyncio.to_thread(retrieve, cases, recipe, encoder=encoder, on_case=step)
        self._write(folder.retrieved, retrieved)
        total = len(grid_cells(recipe)) * sum(len(case.questions) for case in cases)
        with self._progress.stage("answers", total) as step:
            answers = await ask_for_answers(
                cases,
                retrieved,
                recipe,
                clients=self._clients,
                event_log=self._event_log,
                encoder=encoder,
                on_answer=step,
            )
        self._write(folder.answers, answers)
        return answers

    async def probe(self, cases: Sequence[Case], answers: Sequence[AnswerRow]) -> None:
        with self._progress.stage("probes", len(answers)) as step:
            probes = await probe_citations(
                cases, answers, self._recipe, clients=self._clients, event_log=self._event_log, on_probe=step
            )
        self._write(self._folder.probes, probes)

    def _write(self, path: Path, rows: Sequence[BaseModel]) -> None:
        count = write_rows(path, rows)
        entry = StageFinished(stage=path.stem, file=path.name, sha256=file_digest(path), rows=count)
        self._event_log.record(entry)
