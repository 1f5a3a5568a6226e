"""Agreement and differences between cells of the grid, on the same questions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawtrace.runs.legal.rows import AnswerRow
from lawtrace.runs.metrics import Interval
from lawtrace.runs.statistics import clustered_interval, exact_mcnemar


def label_of(row: AnswerRow) -> str | None:
    """What a cell said to a question, for agreement: the option; *refused*, a word of its own, so that two refusals
    agree; *error* likewise. None where no answer came: that question is left out of the pair."""
    return None if row.outcome == "invalid" else row.choice or row.outcome


def cohen_kappa(left: Sequence[str | None], right: Sequence[str | None]) -> float | None:
    """Cohen's kappa of two raters over the same questions, in order: 1 is full agreement, 0 what chance would give.

    Pairs with a None are left out. None if nothing is left, or if both always say one and the same.
    """
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    if not pairs:
        return None
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    lefts, rights = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(lefts[label] * rights[label] for label in lefts) / len(pairs) ** 2
    return (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two cells on the same questions. ``difference``: accuracy of the first less that of the second.

    ``interval`` is over cases (see `interval_by_case`), ``p`` over questions: cases are few, and questions of one case
    are alike, so where the two disagree the interval is the one to believe.
    """

    difference: float
    interval: Interval | None
    only_left: int
    only_right: int
    p: float


def compare_cells(left: Sequence[AnswerRow], right: Sequence[AnswerRow]) -> Comparison:
    """Compare two cells; both must hold the same questions in the same order."""
    gains: dict[str, list[int]] = {}
    only_left = only_right = 0
    for a, b in zip(left, right, strict=True):
        assert a.question == b.question
        gain = (a.outcome == "correct") - (b.outcome == "correct")
        only_left += gain > 0
        only_right += gain < 0
        gains.setdefault(a.case, []).append(gain)
    questions = sum(map(len, gains.values()))
    difference = (only_left - only_right) / questions if questions else 0.0
    return Comparison(difference, interval_by_case(gains), only_left, only_right, exact_mcnemar(only_left, only_right))


def interval_by_case(values: Mapping[str, Sequence[float]]) -> Interval | None:
    """A 95 % bootstrap interval of the mean, drawing whole cases: the questions of a case stand and fall together."""
    return clustered_interval([sum(members) for members in values.values()], [len(of) for of in values.values()])
