"""Scores by the metric of a task, and of pairs of twins."""

import pytest

from lawtrace.environments.legal.case import Case, Question, TaskMetric, Twin
from lawtrace.runs.legal.legal_files import AnswerRow
from lawtrace.runs.legal.task_metrics import score_tasks


def question(number: int, answer: str, *, pair: str = "") -> Question:
    options = {"Yes": "Yes", "No": "No"} if answer in ("Yes", "No") else {}
    twin = Twin(pair=pair, topic="t", subject="s", asks="kept", facts=(), deciding=(), proof=()) if pair else None
    return Question(id=f"q{number}", text="Is it so?", options=options, answer=answer, decision=True, twin=twin)


def answered(asked: Question, said: str | None, case: str) -> AnswerRow:
    outcome = "refused" if said is None else "correct" if said == asked.answer else "wrong"
    return AnswerRow(
        case=case,
        question=asked.id,
        model="m",
        context="F",
        retriever="bm25",
        depth=1,
        passages=(),
        outcome=outcome,
        choice=said,
    )


@pytest.mark.parametrize(
    ("metric", "right", "said", "score"),
    [
        ("exact_match", ["High Court", "Crown Court"], ["High Court", None], 0.5),
        ("balanced_accuracy", ["Yes", "Yes", "Yes", "No"], ["Yes", "Yes", "Yes", "Yes"], 0.5),
        ("balanced_accuracy", ["Yes", "Yes", "Yes", "No"], ["Yes", None, "No", "No"], (1 / 3 + 1) / 2),
        ("f1", ["carrier, sender", "carrier"], ["Sender", "carrier,recipient"], 2 * 2 / (3 + 3)),
        ("f1", ["carrier"], [None], 0.0),
    ],
)
def test_a_task_is_scored_by_its_metric(
    metric: TaskMetric, right: list[str], said: list[str | None], score: float
) -> None:
    questions = [question(number, answer) for number, answer in enumerate(right)]
    case = Case(id="task", chunks=(), questions=tuple(questions), metric=metric)
    rows = [answered(asked, choice, "task") for asked, choice in zip(questions, said, strict=True)]
    (found,) = score_tasks([case], rows)
    assert (found.task, found.metric, found.of) == ("task", metric, len(right))
    assert found.value == pytest.approx(score)


def test_a_pair_is_right_if_both_twins_are() -> None:
    twins = [question(number, "No" if number % 2 else "Yes", pair=f"p{number // 2}") for number in range(4)]
    cases = [Case(id="a", chunks=(), questions=tuple(twins[:2])), Case(id="b", chunks=(), questions=tuple(twins[2:]))]
    rows = [answered(asked, "Yes" if place != 1 else "No", "ab"[place // 2]) for place, asked in enumerate(twins)]
    (found,) = score_tasks(cases, rows)
    assert (found.metric, found.value, found.of) == ("both right", 0.5, 2)
    assert found.interval is not None
    assert found.interval.low < 0.5 < found.interval.high
