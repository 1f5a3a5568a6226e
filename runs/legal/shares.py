"""Shares of answers, each with its interval. Which interval depends on what stands and falls together.

Accuracy is drawn by case: the questions of a case share its text. Where there is one case alone, or the share is of
what a model makes of a single answer (whether it cites, whether it moves), the question is the unit: what a model does
with a question in one column it mostly does in the others, so more columns are no more evidence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.runs.legal.rows import AnswerRow
from lawtrace.runs.legal.statistics import interval_by_case
from lawtrace.runs.metrics import Interval, wilson_interval


@dataclass(frozen=True, slots=True)
class Share:
    """A share of ``of`` answers, with its 95 % interval; None where one case cannot tell."""

    value: float
    interval: Interval | None
    of: int


def share_by_case(rows: Iterable[AnswerRow], holds: Callable[[AnswerRow], bool]) -> Share | None:
    """How many of the rows it holds of, with an interval drawn by case; None if there is no row.

    Where it holds of all or of none, every draw is alike and would show no doubt at all: the interval is then that of
    `share_by_question`.
    """
    rows = [*rows]
    marks = _grouped((row.case, holds(row)) for row in rows)
    if not marks:
        return None
    value = _mean(marks)
    if value in (0.0, 1.0) and len(marks) > 1:
        return share_by_question((row.question, holds(row)) for row in rows)
    return Share(value, interval_by_case(marks), _count(marks))


def share_by_question(marks: Iterable[tuple[str, bool]]) -> Share | None:
    """How many of the marks, each with the question that it is about, are true; None if there is no mark.

    The interval is Wilson's, over as many answers as would say as much if no two were about one question: with m of
    them on each question Kish's (sum of m)^2 / sum of m^2, the number of questions where each was asked equally often.
    """
    grouped = _grouped(marks)
    if not grouped:
        return None
    value, answers = _mean(grouped), _count(grouped)
    alone = answers**2 / sum(len(members) ** 2 for members in grouped.values())
    return Share(value, wilson_interval(value * alone, alone), answers)


def mean_over_cases(cases: Mapping[str, Share]) -> Share:
    """The mean of the cases' shares, in which a case with many answers weighs no more than another; drawn by case. No
    interval where all cases are at 0 or all at 1, since no draw shows how far another case may be from them."""
    values = {case: [share.value] for case, share in cases.items()}
    mean = _mean(values)
    interval = interval_by_case(values) if 0 < mean < 1 else None
    return Share(mean, interval, sum(share.of for share in cases.values()))


def _grouped(marks: Iterable[tuple[str, bool]]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for name, mark in marks:
        found.setdefault(name, []).append(mark)
    return found


def _mean(marks: Mapping[str, Sequence[float]]) -> float:
    return fmean(mark for members in marks.values() for mark in members)


def _count(marks: Mapping[str, Sequence[bool]]) -> int:
    return sum(map(len, marks.values()))
