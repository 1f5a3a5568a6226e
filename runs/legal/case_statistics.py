"""How long the parts of decisions are (M Table 5), and how much each element of the argument takes (M Fig. 4)."""

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
"""Of published cases only two parts are released, one chunk a paragraph."""


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
    """How many paragraphs of a decision are in each element (Rule, Facts, ...).

    ``whole``: the whole decision is at hand. Of published cases only rules and facts are; the others count 0 there.
    """

    case: str
    counts: dict[str, int]
    whole: bool


def part_lengths(cases: Sequence[Case]) -> list[PartLength]:
    """A line for each part that some case has, in the order of the table."""
    counts = [_counts(case) for case in cases]
    lines: list[PartLength] = []
    for part in DOCUMENT_PARTS:
        found = [count[part] for count in counts if count[part]]
        if found:
            lines.append(PartLength(PART_LABELS[part], min(found), max(found), fmean(found), len(found)))
    return lines


def element_counts(cases: Sequence[Case]) -> list[ElementCounts]:
    """A line for each case that has a paragraph in some element."""
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
