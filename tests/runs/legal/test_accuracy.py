"""Shares of answers, their intervals, and agreement."""

import pytest

from lawtrace.runs.legal.accuracy import answer_label, compare_answers, is_correct, share_by_case
from lawtrace.runs.legal.legal_files import AnswerRow, LegalOutcome
from lawtrace.runs.scoring.agreement import cohen_kappa
from lawtrace.runs.scoring.metrics import wilson_interval


def row(question: str, outcome: LegalOutcome, case: str = "case") -> AnswerRow:
    return AnswerRow(
        case=case,
        question=question,
        model="m",
        context="F",
        retriever="bm25",
        depth=1,
        passages=(),
        outcome=outcome,
        choice="Yes" if outcome == "correct" else "No" if outcome == "wrong" else None,
    )


@pytest.mark.parametrize("outcome", ["refused", "wrong"])
def test_shares_of_zero_and_one_have_an_interval_of_positive_width(outcome: LegalOutcome) -> None:
    rows = [row(f"{case}/q{number}", outcome, case) for case in "abc" for number in range(10)]
    share = share_by_case(rows, lambda row: row.outcome == "refused")
    alone = wilson_interval(30 * share.value, 30)
    assert share.interval is not None
    assert alone is not None
    assert share.interval.low <= alone.low <= share.value <= alone.high <= share.interval.high
    assert share.interval != alone
    assert share.of == 30
    twice = share_by_case([*rows, *rows], lambda row: row.outcome == "refused")
    assert twice.interval == share.interval


def test_kappa_of_a_worked_example() -> None:
    """20 both yes, 5 only the first, 10 only the second, 15 both no: agreement 0.7, by chance 0.5."""
    left = ["y"] * 25 + ["n"] * 25
    right = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(left, right) == pytest.approx(0.4)


def test_refusals_agree_and_missing_answers_are_left_out() -> None:
    assert [answer_label(row("q", outcome)) for outcome in ("correct", "wrong", "refused", "error", "invalid")] == [
        "Yes",
        "No",
        "refused",
        "error",
        None,
    ]
    assert cohen_kappa(["a", "b", None], ["a", "b", "a"]) == pytest.approx(1.0)
    assert cohen_kappa([None], ["a"]) is None


def test_a_comparison_counts_discordant_answers() -> None:
    left = [row("1", "correct", "a"), row("2", "correct", "a"), row("3", "wrong", "b"), row("4", "invalid", "b")]
    right = [row("1", "refused", "a"), row("2", "correct", "a"), row("3", "correct", "b"), row("4", "wrong", "b")]
    pairs = zip(left, right, strict=True)
    found = compare_answers((one.case, one.question, is_correct(other), is_correct(one)) for one, other in pairs)
    assert (found.second_only, found.first_only, found.difference) == (1, 1, 0.0)
    assert found.p_value == pytest.approx(1.0)
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high
