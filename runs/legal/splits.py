"""Accuracy split up: by kind of question, by decision and opinion, case by case (the groups of M Figs. 5, 6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.environments.casebook.case import Question
from lawtrace.runs.legal.rows import AnswerRow
from lawtrace.runs.legal.shares import Share, mean_over_cases, share_by_case, share_by_question


@dataclass(frozen=True, slots=True)
class SplitLine:
    """Accuracy of a model in a context, over all its columns.

    Attributes:
        yes_no: and the three after it: None where there is no such question.
        cases: the accuracy on each case, drawn by question.
    """

    model: str
    context: str
    yes_no: Share | None
    four_options: Share | None
    decision: Share | None
    opinion: Share | None
    cases: Mapping[str, Share]

    @property
    def by_case(self) -> Share:
        return mean_over_cases(self.cases)


def split_answers(rows: Sequence[AnswerRow], questions: Mapping[str, Question]) -> tuple[SplitLine, ...]:
    """A line for each model and context, in the order of the rows; ``questions`` by id."""
    groups: dict[tuple[str, str], list[AnswerRow]] = {}
    for row in rows:
        groups.setdefault((row.model, row.context), []).append(row)

    def share(members: Sequence[AnswerRow], belongs: Callable[[Question], bool]) -> Share | None:
        return share_by_case([row for row in members if belongs(questions[row.question])], _is_correct)

    return tuple(
        SplitLine(
            model,
            context,
            yes_no=share(members, lambda question: question.kind == "yes_no"),
            four_options=share(members, lambda question: question.kind == "four_options"),
            decision=share(members, lambda question: question.decision),
            opinion=share(members, lambda question: not question.decision),
            cases=_each_case(members),
        )
        for (model, context), members in groups.items()
    )


def _each_case(rows: Sequence[AnswerRow]) -> dict[str, Share]:
    marks: dict[str, list[tuple[str, bool]]] = {}
    for row in rows:
        marks.setdefault(row.case, []).append((row.question, _is_correct(row)))
    shares = {case: share_by_question(members) for case, members in marks.items()}
    return {case: share for case, share in shares.items() if share}


def _is_correct(row: AnswerRow) -> bool:
    return row.outcome == "correct"
