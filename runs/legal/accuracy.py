"""Accuracy of cells, models and kinds of questions, with intervals and paired comparisons.

Intervals are those of `lawtrace.runs.legal.case_intervals`, because the questions of a case are not independent. The
denominator is all questions: refusals, unreadable replies and missing replies are not correct.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean

from lawtrace.environments.legal.case import Question
from lawtrace.runs.legal.case_intervals import Mark, share_interval
from lawtrace.runs.legal.legal_files import AnswerRow, GridCell, LegalOutcome
from lawtrace.runs.scoring.metrics import Interval, group_by
from lawtrace.runs.scoring.statistics import PairedComparison, clustered_difference, exact_mcnemar, holm_adjusted

REFERENCE = "F+LR"
"""The context that others are compared with: the strongest published baseline, retrieval without agents."""

CellAnswers = Mapping[GridCell, Sequence[AnswerRow]]
"""The answers of each cell: every question, in one order, with its trials."""


def answer_label(row: AnswerRow) -> str | None:
    """The label of an answer for agreement: the option, *refused* or *error*. None (left out) without a reply."""
    return None if row.outcome == "invalid" else row.choice or row.outcome


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


def share_by_case(rows: Iterable[AnswerRow], holds: Callable[[AnswerRow], bool]) -> Share:
    """The share of rows that satisfy ``holds``, with an interval over cases. There must be a row."""
    marks = [Mark(row.case, row.question, holds(row)) for row in rows]
    return Share(fmean(mark.value for mark in marks), share_interval(marks), len(marks))


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


@dataclass(frozen=True, slots=True)
class CellLine:
    """One cell of the grid.

    Attributes:
        accuracy, refusals: shares of all questions, with intervals over cases; ``counts``: questions by outcome.
        skill: over the best baseline without a model.
        place: 1 for the best of its model and column, 2 for the second best, else 0; ties share a place.
    """

    cell: GridCell
    accuracy: Share
    refusals: Share
    counts: Mapping[LegalOutcome, int]
    skill: float | None
    place: int


def score_cells(cells: CellAnswers, baseline: float) -> tuple[CellLine, ...]:
    """The scores of all cells by model and context; ``baseline``: the accuracy of the best baseline without a model."""
    accuracies = {cell: share_by_case(rows, is_correct) for cell, rows in cells.items()}
    rivals = group_by(cells, lambda cell: (cell.model, cell.column))
    lines: list[CellLine] = []
    for cell in chain.from_iterable(group_by(cells, lambda cell: (cell.model, cell.context)).values()):
        rows, accuracy = cells[cell], accuracies[cell]
        ranking = sorted({accuracies[other].value for other in rivals[cell.model, cell.column]}, reverse=True)[:2]
        lines.append(
            CellLine(
                cell=cell,
                accuracy=accuracy,
                refusals=share_by_case(rows, lambda row: row.outcome == "refused"),
                counts=Counter(row.outcome for row in rows),
                skill=skill(accuracy.value, baseline),
                place=ranking.index(accuracy.value) + 1 if accuracy.value in ranking else 0,
            )
        )
    return tuple(lines)


def compare_contexts(cells: CellAnswers) -> list[tuple[GridCell, PairedComparison, float]]:
    """Each cell against that of the reference context, same model and column, with Holm's p over all of them."""
    compared: list[tuple[GridCell, PairedComparison]] = []
    for cell, rows in cells.items():
        if cell.context != REFERENCE and (other := cells.get(replace(cell, context=REFERENCE))):
            pairs = zip(rows, other, strict=True)
            answers = ((row.case, row.question, is_correct(before), is_correct(row)) for row, before in pairs)
            compared.append((cell, compare_answers(answers)))
    adjusted = holm_adjusted([found.p_value for _, found in compared])
    return [(cell, found, p) for (cell, found), p in zip(compared, adjusted, strict=True)]


def skill(accuracy: float, baseline: float) -> float | None:
    """The share of the baseline's errors that a model avoids: (accuracy - baseline) / (1 - baseline). 0 equals the
    baseline, 1 is perfect, below 0 is worse than the baseline. None where the baseline is perfect."""
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else None
