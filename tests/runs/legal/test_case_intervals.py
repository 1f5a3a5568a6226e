"""Intervals over few cases: never narrower than for independent questions."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.legal.case_intervals import Mark, share_interval
from lawtrace.runs.scoring.metrics import Interval, wilson_interval

ANSWERS = st.lists(st.tuples(st.sampled_from("abcde"), st.booleans()), min_size=2, max_size=60)


def marks(answers: list[tuple[str, bool]]) -> list[Mark]:
    return [Mark(case, f"{case}/{place}", right) for place, (case, right) in enumerate(answers)]


def width(interval: Interval) -> float:
    return interval.high - interval.low


@given(ANSWERS)
def test_an_interval_is_never_narrower_than_that_of_independent_questions(answers: list[tuple[str, bool]]) -> None:
    found = share_interval(marks(answers))
    right = sum(right for _, right in answers)
    alone = wilson_interval(right, len(answers))
    assert alone is not None
    if len({case for case, _ in answers}) < 2:
        assert found is None
    else:
        assert found is not None
        assert found.low <= alone.low + 1e-9
        assert alone.high - 1e-9 <= found.high
        assert found.low <= right / len(answers) <= found.high


@given(ANSWERS)
def test_repeated_answers_do_not_narrow_it(answers: list[tuple[str, bool]]) -> None:
    once, thrice = share_interval(marks(answers)), share_interval(3 * marks(answers))
    if once is not None:
        assert thrice is not None
        assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))


def test_cases_that_differ_widen_it() -> None:
    alike = [(case, place < 20) for case in "abcde" for place in range(40)]
    apart = [(case, place < 40 * (case in "ab") + 20 * (case == "c")) for case in "abcde" for place in range(40)]
    first, second = share_interval(marks(alike)), share_interval(marks(apart))
    assert first is not None
    assert second is not None
    assert 3 * width(first) < width(second)


@pytest.mark.slow
@pytest.mark.parametrize("cases", [2, 9, 15])
@pytest.mark.parametrize("correlation", [0.0, 0.02, 0.05])
def test_the_coverage_in_simulation_is_the_stated_one(cases: int, correlation: float) -> None:
    generator = random.Random(cases)
    held = 0
    for _ in range(400):
        answers: list[tuple[str, bool]] = []
        for case in range(cases):
            strength = (1 - correlation) / correlation if correlation else 0.0
            accuracy = generator.betavariate(0.6 * strength, 0.4 * strength) if correlation else 0.6
            answers += [(str(case), generator.random() < accuracy) for _ in range(20 + 5 * case)]
        interval = share_interval(marks(answers))
        assert interval is not None
        held += interval.low <= 0.6 <= interval.high
    assert held >= 0.93 * 400
