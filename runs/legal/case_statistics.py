"""What cases are made of: lengths of the parts of decisions (M Table 5), and questions by kind."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from lawtrace.environments.legal.case import Agent, Case
from lawtrace.environments.legal.document_parts import DOCUMENT_PARTS, PART_LABELS, DocumentPart, paragraphs_by_part

_PUBLISHED: dict[Agent, DocumentPart] = {"LR": "rules", "F": "facts"}
"""The parts that published cases contain, with one chunk for each paragraph."""


class PartLength(NamedTuple):
    """Paragraphs in a part, over the cases that have it."""

    least: int
    most: int
    mean: float
    cases: int


def count_chunks(*cases: Case) -> Counter[Agent]:
    return Counter(chunk.agent for case in cases for chunk in case.chunks)


def count_questions(*cases: Case) -> Counter[str]:
    """Their number (``questions``), by kind, ``other`` than Yes/No and A to D, and with a decision (``decisions``)."""
    questions = [question for case in cases for question in case.questions]
    kinds = Counter[str](question.kind for question in questions)
    decisions = sum(question.decision for question in questions)
    return kinds + Counter(questions=len(questions), other=kinds["options"] + kinds["free_text"], decisions=decisions)


def count_paragraphs(case: Case) -> Counter[DocumentPart]:
    """The paragraphs of a decision by part. Published cases contain only rules and facts."""
    if case.document is not None:
        return Counter(part for part, _ in paragraphs_by_part(case.document, case.parts))
    chunks = count_chunks(case)
    return Counter({part: chunks[agent] for agent, part in _PUBLISHED.items()})


def part_lengths(cases: Sequence[Case]) -> dict[str, PartLength]:
    """The lengths of each part that occurs, by its label, in the order of the table."""
    counts = [count_paragraphs(case) for case in cases]
    found: dict[DocumentPart, list[int]] = {
        part: [count[part] for count in counts if count[part]] for part in DOCUMENT_PARTS
    }
    return {PART_LABELS[part]: PartLength(min(of), max(of), fmean(of), len(of)) for part, of in found.items() if of}
