"""Lengths of the parts of decisions (M Table 5), and paragraphs for each element of the argument (M Fig. 4)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.case import AGENTS, Agent, Case
from lawtrace.environments.legal.document_parts import (
    DOCUMENT_PARTS,
    IRAC,
    PART_LABELS,
    DocumentPart,
    paragraphs_by_part,
)

_PUBLISHED: dict[Agent, DocumentPart] = {"LR": "rules", "F": "facts"}
"""The parts that published cases contain, with one chunk for each paragraph."""


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """A case, or a whole dataset, with its numbers of chunks by agent and of questions by kind and answer."""

    case: str
    chunks: dict[Agent, int]
    yes_no: int
    four_options: int
    other: int
    decisions: int
    yes: int

    @property
    def questions(self) -> int:
        return self.yes_no + self.four_options + self.other


def count_cases(name: str, *cases: Case) -> CaseCounts:
    chunks = Counter(chunk.agent for case in cases for chunk in case.chunks)
    questions = [question for case in cases for question in case.questions]
    return CaseCounts(
        name,
        {agent: chunks[agent] for agent in AGENTS},
        yes_no=sum(question.kind == "yes_no" for question in questions),
        four_options=sum(question.kind == "four_options" for question in questions),
        other=sum(question.kind in {"options", "free_text"} for question in questions),
        decisions=sum(question.decision for question in questions),
        yes=sum(question.answer == "Yes" for question in questions),
    )


@dataclass(frozen=True, slots=True)
class PartLength:
    """Paragraphs in a part, over the cases that have it."""

    label: str
    least: int
    most: int
    mean: float
    cases: int


@dataclass(frozen=True, slots=True)
class ElementCounts:
    """The number of paragraphs of a decision in each element (Rule, Facts, ...).

    ``whole``: the whole decision is available. Published cases contain only rules and facts; other elements count 0.
    """

    case: str
    counts: dict[str, int]
    whole: bool


def part_lengths(cases: Sequence[Case]) -> list[PartLength]:
    """A line for each part that occurs, in the order of the table."""
    counts = [_counts(case) for case in cases]
    lines: list[PartLength] = []
    for part in DOCUMENT_PARTS:
        found = [count[part] for count in counts if count[part]]
        if found:
            lines.append(PartLength(PART_LABELS[part], min(found), max(found), fmean(found), len(found)))
    return lines


def element_counts(cases: Sequence[Case]) -> list[ElementCounts]:
    """A line for each case with a paragraph in an element."""
    lines: list[ElementCounts] = []
    for case in cases:
        counts = {IRAC[part]: count for part, count in _counts(case).items() if part in IRAC}
        if any(counts.values()):
            in_order = {name: counts.get(name, 0) for name in IRAC.values()}
            lines.append(ElementCounts(case.id, in_order, whole=case.document is not None))
    return lines


def _counts(case: Case) -> Counter[DocumentPart]:
    if case.document is not None:
        return Counter(part for part, _ in paragraphs_by_part(case.document, case.parts))
    chunks = Counter(chunk.agent for chunk in case.chunks)
    return Counter({_PUBLISHED[agent]: chunks[agent] for agent in AGENTS if agent in _PUBLISHED})
