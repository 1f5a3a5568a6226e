"""Agreement and differences between cells of the grid, on the same questions."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.case import Question
from lawtrace.runs.legal.legal_files import AnswerRow, LegalOutcome
from lawtrace.runs.scoring.metrics import Interval, wilson_interval
from lawtrace.runs.scoring.statistics import clustered_interval, exact_mcnemar


def answer_label(row: AnswerRow) -> str | None:
    """What a cell said to a question, for agreement: the option; *refused*, a word of its own, so that two refusals
    agree; *error* likewise. None where no answer came: that question is left out of the pair."""
    return None if row.outcome == "invalid" else row.choice or row.outcome


@dataclass(frozen=True, slots=True)
class CellComparison:
    """Two cells on the same questions. ``difference``: accuracy of the first less that of the second.

    ``interval`` is over cases (see `interval_by_case`), ``p`` over questions: cases are few, and questions of one case
    are alike, so where the two disagree the interval is the one to believe.
    """

    difference: float
    interval: Interval | None
    only_left: int
    only_right: int
    p: float


def compare_cells(left: Sequence[AnswerRow], right: Sequence[AnswerRow]) -> CellComparison:
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
    return CellComparison(
        difference, interval_by_case(gains), only_left, only_right, exact_mcnemar(only_left, only_right)
    )


def interval_by_case(values: Mapping[str, Sequence[float]]) -> Interval | None:
    """A 95 % bootstrap interval of the mean, drawing whole cases: the questions of a case stand and fall together."""
    return clustered_interval([sum(members) for members in values.values()], [len(of) for of in values.values()])


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


@dataclass(frozen=True, slots=True)
class CellScore:
    """How often each outcome occurred among the questions of a cell."""

    counts: Mapping[LegalOutcome, int]

    def count(self, outcome: LegalOutcome) -> int:
        return self.counts.get(outcome, 0)

    def share(self, outcome: LegalOutcome) -> float:
        return self.count(outcome) / self.questions if self.questions else 0.0

    @property
    def questions(self) -> int:
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float:
        return self.share("correct")

    @property
    def refusals(self) -> float:
        return self.share("refused")


def count_answers(rows: Iterable[AnswerRow]) -> CellScore:
    return CellScore(Counter(row.outcome for row in rows))


@dataclass(frozen=True, slots=True)
class AccuracyBreakdown:
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


def break_down_accuracy(rows: Sequence[AnswerRow], questions: Mapping[str, Question]) -> tuple[AccuracyBreakdown, ...]:
    """A line for each model and context, in the order of the rows; ``questions_command`` by id."""
    groups: dict[tuple[str, str], list[AnswerRow]] = {}
    for row in rows:
        groups.setdefault((row.model, row.context), []).append(row)

    def share(members: Sequence[AnswerRow], belongs: Callable[[Question], bool]) -> Share | None:
        return share_by_case([row for row in members if belongs(questions[row.question])], _is_correct)

    return tuple(
        AccuracyBreakdown(
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
