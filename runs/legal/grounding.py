"""Does an answer rest on the law? Whether its citations exist and say what is quoted, and whether it moves when tried.

What is cited must be among the passages that the model was shown, and the words quoted must stand there, whatever their
white space and case. A probe asks again, without the cited passages or with the case's main name changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.case import Case, Chunk, Question
from lawtrace.environments.legal.party_names import Renaming, choose_renaming, rename_chunk, rename_question
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.runs.legal.accuracy import Share, share_by_question
from lawtrace.runs.legal.legal_files import AnswerRow, Probe, ProbeRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import CellRunner
from lawtrace.runs.stages.concurrency import gather


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """What one answer cites: anything at all, only passages that it was shown, only words that stand in them."""

    cites: bool
    known: bool
    quoted: bool


@dataclass(frozen=True, slots=True)
class GroundingLine:
    """A model in a context, over all its columns.

    Attributes:
        answers: those that name an option. The shares are of them, drawn by question; None where there are none.
        cites: cites anything; ``known``: cites only what it was shown; ``quoted``: quotes only what stands there.
        moved: for each probe that could be tried, how many of those tried moved.
    """

    model: str
    context: str
    answers: int
    cites: Share | None
    known: Share | None
    quoted: Share | None
    moved: Mapping[Probe, Share]


def check_citations(row: AnswerRow, texts: Mapping[str, str]) -> CitationCheck:
    """``texts`` holds the case's pieces by reference. An answer that cites nothing neither knows nor quotes anything.

    A citation without words passes for what it is: the passage exists. It quotes nothing.
    """
    if not row.citations:
        return CitationCheck(cites=False, known=False, quoted=False)
    known = all(cited.passage in row.passages for cited in row.citations)
    quoted = known and all(
        cited.quote.strip() and _stands_in(cited.quote, texts[cited.passage]) for cited in row.citations
    )
    return CitationCheck(cites=True, known=known, quoted=quoted)


def _stands_in(quote: str, text: str) -> bool:
    return f" {' '.join(tokenize(quote))} " in f" {' '.join(tokenize(text))} "


def grounding_lines(
    cases: Sequence[Case], answers: Sequence[AnswerRow], probes: Sequence[ProbeRow]
) -> list[GroundingLine]:
    """A line for each model and context, in the order of the answers."""
    texts = {case.id: {chunk.ref: chunk.text for chunk in case.chunks} for case in cases}
    committed: dict[tuple[str, str], list[tuple[str, CitationCheck]]] = {}
    for row in answers:
        group = committed.setdefault((row.model, row.context), [])
        if row.choice is not None:
            group.append((row.question, check_citations(row, texts[row.case])))
    moved: dict[tuple[str, str, Probe], list[tuple[str, bool]]] = {}
    for row in probes:
        if row.moved is not None:
            moved.setdefault((row.model, row.context, row.probe), []).append((row.question, row.moved))
    return [
        GroundingLine(
            model,
            context,
            len(group),
            cites=share_by_question((question, citing.cites) for question, citing in group),
            known=share_by_question((question, citing.known) for question, citing in group),
            quoted=share_by_question((question, citing.quoted) for question, citing in group),
            moved={
                probe: share
                for (of, within, probe), found in moved.items()
                if (of, within) == (model, context) and (share := share_by_question(found))
            },
        )
        for (model, context), group in committed.items()
    ]


async def ask_probes(
    cases: Sequence[Case],
    answers: Sequence[AnswerRow],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    event_log: EventLog,
    on_probe: Callable[[], None] = lambda: None,
) -> list[ProbeRow]:
    """Try every answer that names an option once more for each probe that applies to it, in the order of the answers.

    Without cited passages only answers that cite one can be tried; renamed, only cases that have a name.
    """
    by_id = {case.id: case for case in cases}
    renamings = {case.id: choose_renaming(case, recipe.seed) for case in cases} if "renamed" in recipe.probes else {}

    async def ask(row: AnswerRow, probe: Probe) -> ProbeRow | None:
        case = by_id[row.case]
        tried = _probed_input(row, probe, case, renamings.get(row.case))
        on_probe()
        if tried is None or row.choice is None:
            return None
        question, passages = tried
        role_models = recipe.role_models(clients, meta_llm=row.model)
        desk = CellRunner(row.cell, recipe, role_models, event_log, stage=f"probe {probe}")
        again = await desk.once(case, question, passages)
        return ProbeRow(
            case=row.case,
            question=row.question,
            model=row.model,
            context=row.context,
            retriever=row.retriever,
            depth=row.depth,
            probe=probe,
            before=row.choice,
            outcome=again.outcome,
            after=again.choice,
        )

    rows: list[ProbeRow] = []
    for probe in recipe.probes:
        for cell in dict.fromkeys(row.cell for row in answers):
            found = await gather(ask(row, probe) for row in answers if row.cell == cell)
            rows += [row for row in found if row is not None]
    return rows


def _probed_input(
    row: AnswerRow, probe: Probe, case: Case, renaming: Renaming | None
) -> tuple[Question, list[Chunk]] | None:
    """The question and passages as the probe changes them; None if it changes nothing."""
    question = next(asked for asked in case.questions if asked.id == row.question)
    chunks = {chunk.ref: chunk for chunk in case.chunks}
    passages = [chunks[ref] for ref in row.passages]
    if probe == "without_cited":
        cited = {citation.passage for citation in row.citations}
        kept = [chunk for chunk in passages if chunk.ref not in cited]
        return (question, kept) if len(kept) < len(passages) else None
    if renaming is None:
        return None
    renamed = rename_question(question, renaming), [rename_chunk(chunk, renaming) for chunk in passages]
    return renamed if renamed != (question, passages) else None
