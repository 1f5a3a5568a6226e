"""Repeated trials, paired tests and Holm adjustment, compared with brute force and closed forms."""

import random
from collections.abc import Mapping, Sequence
from itertools import combinations, repeat
from math import comb
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.scoring.statistics import (
    clustered_difference,
    compare_paired,
    holm_adjusted,
    max_common_trials,
    pass_at_k,
    pass_hat_k,
)
from lawtrace.schemas.verdict_rows import Outcome, Verdict


def rows(trials: Mapping[str, Sequence[Outcome]]) -> list[Verdict]:
    return [
        Verdict(
            task=task,
            style="goal",
            model="m",
            trial=number,
            outcome=outcome,
            goal_reached=None,
            rules=(),
            differences=(),
            failure_modes=(),
            reason="",
        )
        for task, outcomes in trials.items()
        for number, outcome in enumerate(outcomes)
    ]


def flat(outcomes: Sequence[Outcome]) -> list[Verdict]:
    return rows({f"t{number}": [outcome] for number, outcome in enumerate(outcomes)})


GOOD = cast("Outcome", "safe_success")
BAD = cast("Outcome", "unsafe_success")


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_both_estimates_average_over_the_subsets_of_k_trials(passes: list[bool], k: int) -> None:
    outcomes: list[Outcome] = [GOOD if one else BAD for one in passes]
    verdicts = rows({"t": outcomes})
    if k > len(passes):
        assert pass_at_k(verdicts, k) is None
        assert pass_hat_k(verdicts, k) is None
        return
    subsets = list(combinations(passes, k))
    assert pass_at_k(verdicts, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert pass_hat_k(verdicts, k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


def test_invalid_trials_are_excluded() -> None:
    verdicts = rows({"a": [GOOD, "invalid", BAD], "b": [GOOD, GOOD, GOOD]})
    assert max_common_trials(verdicts) == 2
    assert pass_at_k(verdicts, 2) == pytest.approx(1.0)
    assert pass_hat_k(verdicts, 2) == pytest.approx(0.5)
    assert pass_at_k(verdicts, 3) is None
    assert max_common_trials(rows({"a": ["invalid"], "b": [GOOD]})) == 0


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5))
def test_mcnemar_is_the_exact_binomial_test_on_discordant_pairs(lost: int, won: int, same: int) -> None:
    first: list[Outcome] = [*repeat(GOOD, lost), *repeat(BAD, won), *repeat(GOOD, same)]
    second: list[Outcome] = [*repeat(BAD, lost), *repeat(GOOD, won), *repeat(GOOD, same)]
    compared = compare_paired(flat(first), flat(second))
    if lost + won + same == 0:
        assert compared is None
        return
    assert compared is not None
    assert (compared.first_only, compared.second_only, compared.pairs) == (lost, won, lost + won + same)
    flips, fewer = lost + won, min(lost, won)
    tail = sum(comb(flips, number) for number in range(fewer + 1)) / 2**flips
    assert compared.p_value == pytest.approx(min(1.0, 2 * tail))
    assert compared.difference == pytest.approx((won - lost) / compared.pairs)
    if compared.interval:
        assert compared.interval.low <= compared.difference <= compared.interval.high


def test_pairs_judged_on_one_side_only_are_excluded() -> None:
    compared = compare_paired(flat([GOOD, GOOD, "invalid"]), flat([GOOD, "invalid", GOOD]))
    assert compared is not None
    assert compared.pairs == 1
    assert compared.interval is None
    assert compare_paired(flat([GOOD]), []) is None


def test_resampling_keeps_the_attempts_of_a_task_together() -> None:
    # Ten tasks with eight equal trials each carry the information of ten trials; resampling trials would count 80.
    outcomes: list[list[Outcome]] = [[GOOD] * 8 if number % 2 else [BAD] * 8 for number in range(10)]
    never: list[Outcome] = [BAD] * 8
    many = rows({f"t{number}": trials for number, trials in enumerate(outcomes)})
    few = rows({f"t{number}": trials[:1] for number, trials in enumerate(outcomes)})
    nothing = rows({f"t{number}": never for number in range(10)})
    wide, narrow = compare_paired(nothing, few), compare_paired(nothing, many)
    assert wide is not None
    assert narrow is not None
    assert wide.interval == narrow.interval
    assert wide.interval is not None
    assert wide.interval.high - wide.interval.low > 0.4


@given(st.lists(st.floats(0, 1), max_size=8))
def test_adjusted_values_keep_their_order_and_never_decrease(values: list[float]) -> None:
    adjusted = holm_adjusted(values)
    assert all(before <= after <= 1 for before, after in zip(values, adjusted, strict=True))
    for one, other in combinations(range(len(values)), 2):
        if values[one] < values[other]:
            assert adjusted[one] <= adjusted[other]


def test_holm_on_a_hand_computed_example() -> None:
    assert holm_adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


CLUSTERS = st.lists(st.tuples(st.integers(1, 40), st.floats(-1, 1)), min_size=2, max_size=15)


@given(CLUSTERS)
def test_interval_and_p_value_of_a_clustered_difference_agree(clusters: list[tuple[int, float]]) -> None:
    found = clustered_difference([size * mean for size, mean in clusters], [size for size, _ in clusters], 0.01)
    assert found is not None
    low, high = found.interval.low, found.interval.high
    assert low < high
    assert low - 1e-9 <= found.value <= high + 1e-9
    assert (found.p_value < 0.05) == (not low <= 0 <= high) or found.p_value == pytest.approx(0.05)
    assert clustered_difference([1.0], [3], 0.01) is None


def test_with_clusters_of_equal_size_it_is_the_t_test_of_their_means() -> None:
    """Means 0.1, 0.2, 0.3, 0.4: standard error 0.0645, 3 degrees of freedom, t = 3.873, p = 0.0305."""
    found = clustered_difference([1.0, 2.0, 3.0, 4.0], [10, 10, 10, 10], 0.001)
    assert found is not None
    assert (found.value, found.p_value) == (pytest.approx(0.25), pytest.approx(0.0305, abs=1e-4))
    assert found.interval.low == pytest.approx(0.25 - 3.1824 * 0.0645497, abs=1e-4)


@pytest.mark.parametrize(("cases", "spread"), [(2, 0.0), (5, 0.1), (15, 0.0), (15, 0.1)])
def test_an_interval_of_no_difference_holds_zero_in_at_least_93_percent(cases: int, spread: float) -> None:
    generator = random.Random(cases)
    held = 0
    for _ in range(1000):
        sizes = [15 + 10 * case for case in range(cases)]
        means = [generator.gauss(0, spread) for _ in sizes]
        sums = [
            sum(generator.choices((1, -1, 0), (0.12 + mean / 2, 0.12 - mean / 2, 0.76), k=size))
            for size, mean in zip(sizes, (max(-0.2, min(0.2, mean)) for mean in means), strict=True)
        ]
        found = clustered_difference(sums, sizes, 1 / sum(sizes))
        assert found is not None
        held += found.interval.low <= 0 <= found.interval.high
    assert held >= 930
