"""Shares of answers that are about the same questions: what stands behind them, and how sure they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.legal.rows import AnswerRow, LegalOutcome
from lawtrace.runs.legal.shares import Share, mean_over_cases, share_by_case, share_by_question
from lawtrace.runs.metrics import Interval, wilson_interval

MARKS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), min_size=1, max_size=60)


@given(MARKS)
def test_a_share_lies_in_its_interval_and_no_order_changes_it(marks: list[tuple[str, bool]]) -> None:
    share = share_by_question(marks)
    assert share is not None
    assert share.interval is not None
    assert share.value == pytest.approx(sum(mark for _, mark in marks) / len(marks))
    assert share.interval.low - 1e-9 <= share.value <= share.interval.high + 1e-9
    again = share_by_question(marks[::-1])
    assert again is not None
    assert again.interval is not None
    assert (again.value, again.interval.low, again.interval.high) == pytest.approx(
        (share.value, share.interval.low, share.interval.high)
    )


def width(interval: Interval) -> float:
    return interval.high - interval.low


@given(MARKS)
def test_answers_to_the_same_questions_are_never_worth_more_than_as_many_to_others(
    marks: list[tuple[str, bool]],
) -> None:
    together, apart = share_by_question(marks), share_by_question((str(n), mark) for n, (_, mark) in enumerate(marks))
    assert together is not None
    assert together.interval is not None
    assert apart is not None
    assert apart.interval is not None
    assert width(together.interval) >= width(apart.interval) - 1e-9


def test_a_question_that_was_asked_more_often_is_worth_less_than_two() -> None:
    """Three answers, two of them to one question: (2 + 1)^2 / (2^2 + 1^2) = 1.8 answers, 1.2 of them true."""
    share = share_by_question([("a", True), ("a", True), ("b", False)])
    expected = wilson_interval(1.2, 1.8)
    assert share is not None
    assert share.interval is not None
    assert expected is not None
    assert (share.interval.low, share.interval.high) == pytest.approx((expected.low, expected.high))
    assert share_by_question([]) is None


def answered(case: str, number: int, outcome: LegalOutcome) -> AnswerRow:
    return AnswerRow(
        case=case,
        question=f"{case}/q{number}",
        model="offline",
        context="F",
        retriever="bm25",
        depth=1,
        passages=(),
        outcome=outcome,
    )


@pytest.mark.parametrize("outcome", ["refused", "wrong"])
def test_where_it_holds_of_all_or_of_none_the_interval_still_has_a_width(outcome: LegalOutcome) -> None:
    rows = [answered(case, number, outcome) for case in "abc" for number in range(10)]
    share = share_by_case(rows, lambda row: row.outcome == "refused")
    assert share is not None
    assert share.interval == wilson_interval(30 * share.value, 30)
    assert share.of == 30
    twice = share_by_case([*rows, *rows], lambda row: row.outcome == "refused")
    assert twice is not None
    assert twice.interval == share.interval
    assert mean_over_cases({"a": Share(1.0, None, 10), "b": Share(1.0, None, 10)}).interval is None


def test_one_case_cannot_tell_how_cases_differ() -> None:
    one = Share(0.5, None, 10)
    assert mean_over_cases({"a": one}).interval is None
    mean = mean_over_cases({"a": one, "b": Share(1.0, None, 1000)})
    assert (mean.value, mean.of) == (0.75, 1010)
