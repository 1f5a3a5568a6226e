"""Accuracy of cells, models and kinds of questions, with intervals and paired comparisons.

Intervals are those of `lawtrace.runs.legal.case_intervals`, because the questions of a case are not independent. The
denominator is all questions: refusals, unreadable replies and missing replies are not correct.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.case import Question
from lawtrace.runs.legal.case_intervals import Mark, share_interval
from lawtrace.runs.legal.legal_files import AnswerRow, LegalOutcome
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.runs.scoring.statistics import PairedComparison, clustered_difference, exact_mcnemar


def answer_label(row: AnswerRow) -> str | None:
    """The label of an answer for agreement: the option, *refused* or *error*. None (left out) without a reply."""
    return None if row.outcome == "invalid" else row.choice or row.outcome


def compare_cells(left: Sequence[AnswerRow], right: Sequence[AnswerRow]) -> PairedComparison:
    """Compare two cells with the same questions in the same order; the difference is left minus right."""
    assert [row.question for row in left] == [row.question for row in right]
    return compare_answers((a.case, a.question, is_correct(b), is_correct(a)) for a, b in zip(left, right, strict=True))


def compare_answers(answers: Iterable[tuple[str, str, bool, bool]]) -> PairedComparison:
    """Compare pairs of answers, each a case, a question, and whether the first and the second are right.

    Interval and p value are those of `clustered_difference` over cases; where all cases agree, the error is that of one
    question on which the sides differ. One case has no interval, and its p value is McNemar's exact
    one, which speaks of the questions of that case alone. All answers count.
    """
    pairs = [*answers]
    lost = sum(before and not after for *_, before, after in pairs)
    won = sum(after and not before for *_, before, after in pairs)
    sums, sizes = Counter[str](), Counter[str]()
    for case, _, before, after in pairs:
        sums[case] += after - before
        sizes[case] += 1
    least = 1 / len({question for _, question, _, _ in pairs})
    found = clustered_difference([sums[case] for case in sizes], [*sizes.values()], least)
    return PairedComparison(
        pairs=len(pairs),
        first_only=lost,
        second_only=won,
        first=sum(before for *_, before, _ in pairs) / len(pairs),
        second=sum(after for *_, after in pairs) / len(pairs),
        interval=None if found is None else found.interval,
        p_value=exact_mcnemar(lost, won) if found is None else found.p_value,
    )


@dataclass(frozen=True, slots=True)
class Share:
    """The share of ``of`` answers with its 95 % interval. The interval is None if a single case cannot give one."""

    value: float
    interval: Interval | None
    of: int


def share_by_case(rows: Iterable[AnswerRow], holds: Callable[[AnswerRow], bool]) -> Share | None:
    """The share of rows that satisfy ``holds``, with an interval over cases; None without rows."""
    marks = [Mark(row.case, row.question, holds(row)) for row in rows]
    if not marks:
        return None
    return Share(fmean(mark.value for mark in marks), share_interval(marks), len(marks))


@dataclass(frozen=True, slots=True)
class CellScore:
    """The number of questions of a cell by outcome."""

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


def balanced_weights(questions: Iterable[Question]) -> dict[str, float]:
    """Weights by question id with which accuracy becomes balanced accuracy.

    Within a kind of question each right answer (Yes, No; A to D) has the same total weight, so *always Yes* gets
    exactly one half of the yes/no questions. The weights of a kind add up to its number of questions.
    """
    questions = [*questions]
    answers = Counter((question.kind, question.answer) for question in questions)
    kinds = Counter(question.kind for question in questions)
    different = Counter(kind for kind, _ in answers)
    return {q.id: kinds[q.kind] / different[q.kind] / answers[q.kind, q.answer] for q in questions}


def balanced_accuracy(rows: Sequence[AnswerRow], weights: Mapping[str, float]) -> Share:
    """Accuracy with `balanced_weights`."""
    marks = [Mark(row.case, row.question, is_correct(row), weights[row.question]) for row in rows]
    value = sum(mark.weight * mark.value for mark in marks) / sum(mark.weight for mark in marks)
    return Share(value, share_interval(marks), len(rows))


def is_correct(row: AnswerRow) -> bool:
    return row.outcome == "correct"
