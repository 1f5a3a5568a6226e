"""Grounding of answers: whether citations exist and quote correctly, and whether answers depend on them.

A cited passage must have been shown to the model, and must contain the quoted words (ignoring white space, case and
punctuation). The probe asks again without the cited passages: an answer that depends on them should change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from lawtrace.agents.concurrency import gather
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.runs.legal.accuracy import Share, share_by_question
from lawtrace.runs.legal.legal_files import AnswerRow, ProbeRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import CellRunner


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """The citations of one answer: whether there are any, only of passages that were shown, only with words that occur
    in them."""

    cites: bool
    known: bool
    quoted: bool


@dataclass(frozen=True, slots=True)
class GroundingLine:
    """A model in a context, over all its columns.

    Attributes:
        answers: number of answers that name an option. The shares are of them; None where there are none.
        cites: share that cites anything; ``known``: only passages shown; ``quoted``: only words that occur there.
        changed: share of the probed answers that changed; None without a probe.
    """

    model: str
    context: str
    answers: int
    cites: Share | None
    known: Share | None
    quoted: Share | None
    changed: Share | None


def check_citations(row: AnswerRow, texts: Mapping[str, str]) -> CitationCheck:
    """Check one answer; ``texts`` holds the case's chunks by reference.

    An answer without citations is neither known nor quoted. A citation without a quote can be known, not quoted.
    """
    if not row.citations:
        return CitationCheck(cites=False, known=False, quoted=False)
    known = all(cited.passage in row.passages for cited in row.citations)
    quoted = known and all(
        cited.quote.strip() and _occurs_in(cited.quote, texts[cited.passage]) for cited in row.citations
    )
    return CitationCheck(cites=True, known=known, quoted=quoted)


def _occurs_in(quote: str, text: str) -> bool:
    return f" {' '.join(tokenize(quote))} " in f" {' '.join(tokenize(text))} "


def grounding_lines(
    cases: Sequence[Case], answers: Sequence[AnswerRow], probes: Sequence[ProbeRow]
) -> list[GroundingLine]:
    """A line for each model and context, in the order of the answers."""
    texts = {case.id: {chunk.ref: chunk.text for chunk in case.chunks} for case in cases}
    checks: dict[tuple[str, str], list[tuple[str, CitationCheck]]] = {}
    for row in answers:
        group = checks.setdefault((row.model, row.context), [])
        if row.choice is not None:
            group.append((row.question, check_citations(row, texts[row.case])))
    changed: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for row in probes:
        if row.changed is not None:
            changed.setdefault((row.model, row.context), []).append((row.question, row.changed))
    return [
        GroundingLine(
            model,
            context,
            len(group),
            cites=share_by_question((question, check.cites) for question, check in group),
            known=share_by_question((question, check.known) for question, check in group),
            quoted=share_by_question((question, check.quoted) for question, check in group),
            changed=share_by_question(changed.get((model, context), [])),
        )
        for (model, context), group in checks.items()
    ]


def is_probed(row: AnswerRow) -> bool:
    """Whether an answer is asked for again: it names an option and cites a passage that was shown."""
    return row.choice is not None and any(cited.passage in row.passages for cited in row.citations)


async def probe_citations(
    cases: Sequence[Case],
    answers: Sequence[AnswerRow],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    event_log: EventLog,
    on_probe: Callable[[], None] = lambda: None,
) -> list[ProbeRow]:
    """Ask again without the cited passages, for every answer that `is_probed`; once for answers to the same prompt."""
    by_id = {case.id: case for case in cases}

    async def probe(row: AnswerRow) -> ProbeRow | None:
        on_probe()
        if row.choice is None or row.asked_in or not is_probed(row):
            return None
        case = by_id[row.case]
        chunks = {chunk.ref: chunk for chunk in case.chunks}
        cited = {citation.passage for citation in row.citations}
        kept = [chunks[ref] for ref in row.passages if ref not in cited]
        question = next(question for question in case.questions if question.id == row.question)
        role_models = recipe.role_models(clients, meta_llm=row.model)
        again = await CellRunner(row.cell, recipe, role_models, event_log, stage="probes").once(
            case, question, kept, row.trial
        )
        return ProbeRow(
            case=row.case,
            question=row.question,
            model=row.model,
            context=row.context,
            retriever=row.retriever,
            depth=row.depth,
            before=row.choice,
            outcome=again.outcome,
            after=again.choice,
        )

    made: dict[tuple[str, str, int, str], ProbeRow] = {}
    for _, of_cell in groupby(answers, lambda row: row.cell):
        rows = [*of_cell]
        for row, found in zip(rows, await gather(map(probe, rows)), strict=True):
            if found is not None:
                made[row.model, row.question, row.trial, row.cell.unit] = found
    return [
        found.model_copy(update={"context": row.context, "retriever": row.retriever, "depth": row.depth})
        for row in answers
        if (found := made.get((row.model, row.question, row.trial, row.asked_in or row.cell.unit)))
    ]
