"""Grounding of answers: whether citations exist and quote correctly.

A cited passage must have been shown to the model, and must contain the quoted words (ignoring white space, case and
punctuation).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.runs.legal.accuracy import Share, share_by_question
from lawtrace.runs.legal.legal_files import AnswerRow


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
    """

    model: str
    context: str
    answers: int
    cites: Share | None
    known: Share | None
    quoted: Share | None


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


def grounding_lines(cases: Sequence[Case], answers: Sequence[AnswerRow]) -> list[GroundingLine]:
    """A line for each model and context, in the order of the answers."""
    texts = {case.id: {chunk.ref: chunk.text for chunk in case.chunks} for case in cases}
    checks: dict[tuple[str, str], list[tuple[str, CitationCheck]]] = {}
    for row in answers:
        group = checks.setdefault((row.model, row.context), [])
        if row.choice is not None:
            group.append((row.question, check_citations(row, texts[row.case])))
    return [
        GroundingLine(
            model,
            context,
            len(group),
            cites=share_by_question((question, check.cites) for question, check in group),
            known=share_by_question((question, check.known) for question, check in group),
            quoted=share_by_question((question, check.quoted) for question, check in group),
        )
        for (model, context), group in checks.items()
    ]
