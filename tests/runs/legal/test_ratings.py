"""Human evaluation: the same sample for every rater, and agreement beyond chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.legal.ratings import RatingRow, draw_sample, rater_scores, rating_agreement
from tests.support.legal.small_cases import BOOK


def rated(rater: str, question: str, faithful: bool, clear: bool = True) -> RatingRow:
    return RatingRow(rater=rater, question=question, faithfulness=faithful, clarity=clear, expertise=True)


@given(st.integers(1, 10), st.integers())
def test_a_sample_is_drawn_by_seed_without_repeats(count: int, seed: int) -> None:
    sample = draw_sample(BOOK.cases, count, seed)
    ids = [question.id for _, question in sample]
    assert len(set(ids)) == len(ids) == min(count, 4)
    assert draw_sample(BOOK.cases, count, seed) == sample


def test_raters_and_their_agreement() -> None:
    rows = [
        *(rated("ann", f"q{n}", faithful) for n, faithful in enumerate([True, True, False, False])),
        *(rated("bob", f"q{n}", faithful) for n, faithful in enumerate([True, False, False, False])),
        rated("ann", "q9", True),
    ]
    ann, bob = rater_scores(rows)
    assert (ann.rated, ann.shares["faithfulness"], bob.shares["faithfulness"]) == (5, 0.6, 0.25)
    faithful, clear, _ = rating_agreement(rows)
    assert (faithful.questions, faithful.unanimous) == (4, 0.75)
    assert faithful.kappa == pytest.approx(0.5)
    assert (clear.unanimous, clear.kappa) == (1.0, None)
    assert rating_agreement(rows[:4]) == []
