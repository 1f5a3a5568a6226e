"""The whole way of a legal run: cases -> retrieved pieces -> answers. Each stage writes a file that the next reads."""

from dataclasses import dataclass
from pathlib import Path

from agents.clients.stack import CallSettings, ModelClients
from agents.ledger import StageFinished
from environments.casebook.balance import shuffle_options
from environments.casebook.book import CaseBook, load_casebook
from environments.casebook.case import Case
from environments.errors import InputError
from runs.files import digest, read_rows, write_rows
from runs.legal.answer import ask_for_answers, cells_of
from runs.legal.grounding import ask_probes
from runs.legal.layout import LegalFolder
from runs.legal.recipe import LegalRecipe
from runs.legal.retrieve import encoders, retrieve
from runs.legal.rows import AnswerRow, LegalFindings
from runs.pipeline import Progress, Silent
from runs.record.store import Record

__all__ = ["LegalResult", "check_cases", "walk_legal"]


@dataclass(frozen=True, slots=True)
class LegalResult:
    """What a legal run came to."""

    folder: LegalFolder
    cases: tuple[Case, ...]
    answers: tuple[AnswerRow, ...]
    findings: LegalFindings


def check_cases(path: Path) -> CaseBook:
    """The case book at the path, which must hold a question. Raises InputError before a run's folder is made."""
    book = load_casebook(path)
    if not any(case.questions for case in book.cases):
        raise InputError(f"{path}: no case in it has a question; `lawtrace legal questions CASE` makes them")
    return book


async def walk_legal(
    recipe: LegalRecipe,
    folder: LegalFolder,
    *,
    record: Record,
    book: CaseBook | None = None,
    progress: Progress | None = None,
) -> LegalResult:
    """Walk the way and write every stage's file.

    Without a case book the run goes on where it was interrupted: with the cases that it wrote down, and without asking
    again what its record holds.
    """
    watch = progress or Silent()

    def wrote(path: Path, rows: int) -> None:
        record.record(StageFinished(stage=path.stem, file=path.name, sha256=digest(path), rows=rows))

    if book is None:
        if not folder.cases.exists():
            raise InputError(f"{folder.path}: the run stopped before it wrote its cases down; start a new one")
        cases = tuple(read_rows(folder.cases, Case))
        findings = read_rows(folder.findings, LegalFindings)[0]
    else:
        cases = tuple(_asked(case, recipe) for case in book.cases)
        findings = LegalFindings(problems=book.problems, missing=book.missing)
        write_rows(folder.findings, [findings])
        wrote(folder.cases, write_rows(folder.cases, cases))
    encoder = encoders(recipe)
    with watch.stage("retrieval", len(cases) * len(recipe.retrievers)) as step:
        retrieved = retrieve(cases, recipe, encoder=encoder, on_case=step)
    wrote(folder.retrieved, write_rows(folder.retrieved, retrieved))

    settings = CallSettings(
        deadline_seconds=recipe.conversation.deadline_seconds, concurrency=recipe.conversation.concurrency
    )
    total = len(cells_of(recipe)) * sum(len(case.questions) for case in cases)
    earlier = record if book is None else None
    async with ModelClients(record, settings=settings, open_replay=Record.open, earlier=earlier) as clients:
        with watch.stage("answers", total) as step:
            answers = await ask_for_answers(
                cases, retrieved, recipe, clients=clients, ledger=record, encoder=encoder, on_answer=step
            )
        wrote(folder.answers, write_rows(folder.answers, answers))
        if recipe.probes:
            with watch.stage("probes", len(recipe.probes) * len(answers)) as step:
                probes = await ask_probes(cases, answers, recipe, clients=clients, ledger=record, on_probe=step)
            wrote(folder.probes, write_rows(folder.probes, probes))
    return LegalResult(folder, cases, tuple(answers), findings)


def _asked(case: Case, recipe: LegalRecipe) -> Case:
    """The case with its questions as they are asked."""
    if not recipe.shuffle_options:
        return case
    return case.model_copy(update={"questions": tuple(shuffle_options(q, recipe.seed) for q in case.questions)})
