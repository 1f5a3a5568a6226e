"""The whole way of a legal run: cases -> retrieved pieces -> answers. Each stage writes a file that the next reads."""

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
from lawtrace.runs.legal.balanced_questions import balance_cases, restate_questions
from lawtrace.runs.legal.grounding import ask_probes
from lawtrace.runs.legal.legal_files import AnswerRow, DatasetIssues, LegalFolder
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import ask_for_answers, encoders, grid_cells, retrieve
from lawtrace.runs.stages.stage import NoProgress, StageProgress
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import file_digest, read_rows, write_rows


@dataclass(frozen=True, slots=True)
class LegalResult:
    """What a legal run came to."""

    folder: LegalFolder
    cases: tuple[Case, ...]
    answers: tuple[AnswerRow, ...]
    findings: DatasetIssues


def load_cases_with_questions(path: Path) -> LegalDataset:
    """The case book at the path, which must hold a question. Raises InputError before a run's folder is made."""
    book = load_dataset(path)
    if not any(case.questions for case in book.cases):
        raise InputError(f"{path}: no case in it has a question; `lawtrace legal questions CASE` makes them")
    return book


async def run_legal(
    recipe: LegalRecipe,
    folder: LegalFolder,
    *,
    event_log: EventLogFile,
    book: LegalDataset | None = None,
    progress: StageProgress | None = None,
) -> LegalResult:
    """Walk the way and write every stage's file.

    Without a case book the run goes on where it was interrupted: with the cases that it wrote down, and without asking
    again what its record holds.
    """
    if book is None:
        if not folder.cases.exists():
            raise InputError(f"{folder.path}: the run stopped before it wrote its cases down; start a new one")
        cases = tuple(read_rows(folder.cases, Case))
        findings = read_rows(folder.findings, DatasetIssues)[0]
    else:
        cases, findings = book.cases, DatasetIssues(problems=book.problems, missing=book.missing)
        write_rows(folder.findings, [findings])
    earlier = event_log if book is None else None
    async with ModelClients(
        event_log, settings=recipe.call_settings(), open_replay=EventLogFile.open, earlier=earlier
    ) as clients:
        walk = _LegalRun(recipe, folder, event_log, clients, progress or NoProgress())
        answers = await walk.ask(cases, folder)
        if recipe.probes:
            await walk.probe(cases, answers)
        if recipe.balanced:
            await walk.balance(cases, answers)
    return LegalResult(folder, cases, tuple(answers), findings)


class _LegalRun:
    """A legal run on its way."""

    def __init__(
        self,
        recipe: LegalRecipe,
        folder: LegalFolder,
        event_log: EventLogFile,
        clients: ModelClients,
        watch: StageProgress,
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.event_log = event_log
        self.clients = clients
        self.watch = watch
        self.encoder = encoders(recipe, clients)

    async def ask(
        self, cases: Sequence[Case], folder: LegalFolder, stage: str = "answers", known: Sequence[AnswerRow] = ()
    ) -> list[AnswerRow]:
        """Cases to answers, in the files of the folder; what is ``known`` is not asked."""
        self.write(folder.cases, cases)
        with self.watch.stage(f"retrieval, {stage}", len(cases) * len(self.recipe.retrievers)) as step:
            retrieved = await asyncio.to_thread(retrieve, cases, self.recipe, encoder=self.encoder, on_case=step)
        self.write(folder.retrieved, retrieved)
        total = len(grid_cells(self.recipe)) * sum(len(case.questions) for case in cases)
        with self.watch.stage(stage, total) as step:
            answers = await ask_for_answers(
                cases,
                retrieved,
                self.recipe,
                clients=self.clients,
                event_log=self.event_log,
                encoder=self.encoder,
                stage=stage,
                known=known,
                on_answer=step,
            )
        self.write(folder.answers, answers)
        return answers

    async def probe(self, cases: Sequence[Case], answers: Sequence[AnswerRow]) -> None:
        with self.watch.stage("probes", len(self.recipe.probes) * len(answers)) as step:
            probes = await ask_probes(
                cases, answers, self.recipe, clients=self.clients, event_log=self.event_log, on_probe=step
            )
        self.write(self.folder.probes, probes)

    async def balance(self, cases: Sequence[Case], answers: Sequence[AnswerRow]) -> None:
        """Ask once more, balanced. A question that comes out as it was keeps its answer."""
        folder = self.folder.balanced
        yes_no = sum(question.kind == "yes_no" for case in cases for question in case.questions)
        with self.watch.stage("restating", yes_no) as step:
            rows = await restate_questions(
                cases, self.recipe, clients=self.clients, event_log=self.event_log, on_question=step
            )
        self.write(folder.restated, rows)
        balanced = balance_cases(cases, rows, self.recipe.seed)
        asked = {question.id: question for case in cases for question in case.questions}
        same = {q.id for case in balanced for q in case.questions if asked[q.id] == q}
        await self.ask(balanced, folder, "balanced", [row for row in answers if row.question in same])

    def write(self, path: Path, rows: Sequence[BaseModel]) -> None:
        count = write_rows(path, rows)
        file = path.relative_to(self.folder.path)
        stage = file.with_suffix("").as_posix()
        self.event_log.record(StageFinished(stage=stage, file=file.as_posix(), sha256=file_digest(path), rows=count))
