"""Scores by the metric of a task, beside accuracy: pairs of twins, balanced accuracy, exact match, F1.

Refusals and unreadable answers are wrong in each. F1 compares the labels of an answer, joined by commas, with the right
ones, over all questions together; balanced accuracy is the mean over right answers of the share that is answered right.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.case import Case, Question
from lawtrace.runs.legal.case_intervals import Mark, share_interval
from lawtrace.runs.legal.legal_files import AnswerRow, GridCell
from lawtrace.runs.legal.twins.shortcuts import twins_in
from lawtrace.runs.scoring.metrics import Interval


@dataclass(frozen=True, slots=True)
class TaskScore:
    """The score of a cell on one task.

    Attributes:
        of: the questions or pairs, each counted once for every trial.
        interval: of pairs, over cases; None for a single case, and for other metrics.
    """

    task: str
    metric: str
    cell: GridCell
    value: float
    of: int
    interval: Interval | None = None


def score_tasks(cases: Sequence[Case], answers: Sequence[AnswerRow]) -> list[TaskScore]:
    """A score for each cell and task with a metric, and one for all twins, in the order of the answers."""
    cells: dict[GridCell, list[AnswerRow]] = defaultdict(list)
    for row in answers:
        cells[row.cell].append(row)
    return [score for cell, rows in cells.items() for score in _score_cell(cases, cell, rows)]


def _score_cell(cases: Sequence[Case], cell: GridCell, rows: Sequence[AnswerRow]) -> list[TaskScore]:
    found: list[TaskScore] = []
    pair_of = {one.id: one.twin.pair for twins in twins_in(cases) for one in twins if one.twin}
    pairs: dict[tuple[str, str, int], list[bool]] = defaultdict(list)
    for row in rows:
        if row.question in pair_of:
            pairs[row.case, pair_of[row.question], row.trial].append(row.outcome == "correct")
    if pairs:
        marks = [Mark(case, pair, float(all(right))) for (case, pair, _), right in pairs.items()]
        value = fmean(mark.value for mark in marks)
        found.append(TaskScore("twins", "both right", cell, value, len(marks), share_interval(marks)))
    for case in cases:
        asked = {question.id: question for question in case.questions}
        own = [(asked[row.question], row) for row in rows if row.case == case.id]
        if case.metric and own:
            found.append(TaskScore(case.id, case.metric, cell, _METRICS[case.metric](own), len(own)))
    return found


_Answered = Sequence[tuple[Question, AnswerRow]]


def _exact_match(rows: _Answered) -> float:
    return fmean(row.outcome == "correct" for _, row in rows)


def _balanced_accuracy(rows: _Answered) -> float:
    by_answer: dict[str, list[bool]] = defaultdict(list)
    for question, row in rows:
        by_answer[question.answer].append(row.outcome == "correct")
    return fmean(fmean(right) for right in by_answer.values())


def _f1(rows: _Answered) -> float:
    right = [_labels(question.options.get(question.answer, question.answer)) for question, _ in rows]
    said = [_labels(question.options.get(row.choice or "", row.choice or "")) for question, row in rows]
    both = sum(len(one & other) for one, other in zip(right, said, strict=True))
    named = sum(map(len, right)) + sum(map(len, said))
    return 2 * both / named if named else 0.0


def _labels(text: str) -> set[str]:
    return {" ".join(label.casefold().split()) for label in text.split(",")} - {""}


_METRICS = {"exact_match": _exact_match, "balanced_accuracy": _balanced_accuracy, "f1": _f1}
