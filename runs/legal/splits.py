"""Accuracy split up: by kind of question, by decision and opinion, case by case (the groups of M Figs. 5, 6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from environments.casebook.case import Question
from runs.legal.rows import AnswerRow
from runs.legal.statistics import interval_by_case
from runs.metrics import Interval

__all__ = ["Share", "SplitLine", "share_of", "split_answers"]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of answers, with its interval drawn by case; None where one case cannot tell."""

    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class SplitLine:
    """Accuracy of a model in a context, over all its columns.

    Attributes:
        yes_no: and the three after it: None where there is no such question.
        cases: the accuracy on each case.
    """

    model: str
    context: str
    yes_no: Share | None
    four_options: Share | None
    decision: Share | None
    opinion: Share | None
    cases: Mapping[str, float]

    @property
    def by_case(self) -> float:
        """The mean over cases, in which a case with many questions weighs no more than another."""
        return fmean(self.cases.values())


def split_answers(rows: Sequence[AnswerRow], questions: Mapping[str, Question]) -> tuple[SplitLine, ...]:
    """A line for each model and context, in the order of the rows; ``questions`` by id."""
    groups: dict[tuple[str, str], list[AnswerRow]] = {}
    for row in rows:
        groups.setdefault((row.model, row.context), []).append(row)

    def share(members: Sequence[AnswerRow], belongs: Callable[[Question], bool]) -> Share | None:
        return share_of([row for row in members if belongs(questions[row.question])], _is_correct)

    return tuple(
        SplitLine(
            model,
            context,
            yes_no=share(members, lambda question: question.kind == "yes_no"),
            four_options=share(members, lambda question: question.kind == "four_options"),
            decision=share(members, lambda question: question.decision),
            opinion=share(members, lambda question: not question.decision),
            cases={case: fmean(marks) for case, marks in _marks_by_case(members, _is_correct).items()},
        )
        for (model, context), members in groups.items()
    )


def share_of(rows: Sequence[AnswerRow], holds: Callable[[AnswerRow], bool]) -> Share | None:
    """How many of the rows it holds of; None if there is none."""
    marks = _marks_by_case(rows, holds)
    return Share(fmean(mark for of in marks.values() for mark in of), interval_by_case(marks)) if rows else None


def _marks_by_case(rows: Sequence[AnswerRow], holds: Callable[[AnswerRow], bool]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(row.case, []).append(int(holds(row)))
    return found


def _is_correct(row: AnswerRow) -> bool:
    return row.outcome == "correct"
