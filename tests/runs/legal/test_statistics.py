"""Agreement, paired tests and intervals, each against a known value or a property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.legal.rows import AnswerRow, LegalOutcome
from lawtrace.runs.legal.statistics import cohen_kappa, compare_cells, interval_by_case, label_of

LABELS = st.lists(st.sampled_from(["Yes", "No", "refused", None]), min_size=1, max_size=30)


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


def test_kappa_of_a_table_worked_by_hand() -> None:
    """20 both yes, 5 only the first, 10 only the second, 15 both no: agreement 0.7, by chance 0.5."""
    left = ["y"] * 25 + ["n"] * 25
    right = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(left, right) == pytest.approx(0.4)


@given(LABELS)
def test_full_agreement_is_one_unless_there_is_nothing_to_disagree_about(labels: list[str | None]) -> None:
    said = {label for label in labels if label is not None}
    assert cohen_kappa(labels, labels) == (pytest.approx(1.0) if len(said) > 1 else None)


@given(LABELS, st.randoms(use_true_random=False))
def test_kappa_is_symmetric_and_knows_no_order(labels: list[str | None], random: st.DataObject) -> None:
    other = labels[::-1]
    kappa = cohen_kappa(labels, other)
    assert cohen_kappa(other, labels) == (None if kappa is None else pytest.approx(kappa))
    places = list(range(len(labels)))
    random.shuffle(places)  # pyright: ignore
    shuffled = cohen_kappa([labels[p] for p in places], [other[p] for p in places])
    assert shuffled == (None if kappa is None else pytest.approx(kappa))


def test_refusals_agree_with_refusals_and_missing_answers_with_nothing() -> None:
    assert [label_of(row("q", outcome)) for outcome in ("correct", "wrong", "refused", "error", "invalid")] == [
        "Yes",
        "No",
        "refused",
        "error",
        None,
    ]
    assert cohen_kappa(["a", "b", None], ["a", "b", "a"]) == pytest.approx(1.0)
    assert cohen_kappa([None], ["a"]) is None


def test_a_comparison_counts_what_only_one_got_right() -> None:
    left = [row("1", "correct", "a"), row("2", "correct", "a"), row("3", "wrong", "b"), row("4", "invalid", "b")]
    right = [row("1", "refused", "a"), row("2", "correct", "a"), row("3", "correct", "b"), row("4", "wrong", "b")]
    found = compare_cells(left, right)
    assert (found.only_left, found.only_right, found.difference, found.p) == (1, 1, 0.0, 1.0)
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high


@pytest.mark.slow
@given(st.dictionaries(st.text(min_size=1), st.lists(st.integers(0, 1), min_size=1), min_size=2, max_size=6))
def test_an_interval_drawn_by_case_lies_between_the_worst_and_the_best_case(values: dict[str, list[int]]) -> None:
    interval = interval_by_case(values)
    assert interval is not None
    means = [sum(members) / len(members) for members in values.values()]
    assert min(means) - 1e-9 <= interval.low <= interval.high <= max(means) + 1e-9
    assert interval_by_case(values) == interval
    assert interval_by_case({"one": [1, 0]}) is None
