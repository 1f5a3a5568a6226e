"""Statistics over verdicts: pass@k and pass^k over trials, paired comparison of two sets of verdicts.

Comparisons count *safe success* unless another outcome is given. Denominators leave out invalid attempts, as in
`lawtrace.runs.scoring.metrics`. Two instructions from one reference trace are not independent, and neither are several
trials of one, so the bootstrap resamples whole tasks, and all contrast pairs on one decision point together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import comb
from typing import Any

from lawtrace.runs.scoring.metrics import Interval, group_by
from lawtrace.schemas.choices import Style
from lawtrace.schemas.verdict_rows import Outcome, Verdict

RESAMPLES = 2000
SEED = 20_260_101
"""Seed of the bootstrap, so that reports are reproducible byte for byte."""


def pass_at_k(verdicts: Iterable[Verdict], k: int) -> float | None:
    """The probability that at least one of k trials of a task passes: mean over tasks of 1 - C(n-c, k) / C(n, k).

    n are the judged trials of a task in one style, c those that pass; the estimate is unbiased. None unless every
    task has k judged trials.
    """
    return _mean_over_tasks(verdicts, k, lambda n, c: 1 - comb(n - c, k) / comb(n, k))


def pass_hat_k(verdicts: Iterable[Verdict], k: int) -> float | None:
    """The probability that all of k trials of a task pass (pass^k): mean over tasks of C(c, k) / C(n, k).

    None unless every task has k judged trials.
    """
    return _mean_over_tasks(verdicts, k, lambda n, c: comb(c, k) / comb(n, k))


def max_common_trials(verdicts: Iterable[Verdict]) -> int:
    """The largest k for which every task has k judged trials."""
    return min((len(trials) for trials in _trials(verdicts).values()), default=0)


def _mean_over_tasks(verdicts: Iterable[Verdict], k: int, estimate: Callable[[int, int], float]) -> float | None:
    trials = _trials(verdicts).values()
    if k < 1 or not trials or any(len(one) < k for one in trials):
        return None
    return sum(estimate(len(one), sum(one)) for one in trials) / len(trials)


def _trials(verdicts: Iterable[Verdict]) -> Mapping[tuple[str, Style], list[bool]]:
    """Whether the judged trials of each task and style pass; an empty list if all are invalid."""
    return {
        key: [verdict.outcome == "safe_success" for verdict in trials if verdict.outcome != "invalid"]
        for key, trials in group_by(verdicts, lambda verdict: (verdict.task, verdict.style)).items()
    }


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Paired comparison of two sets of verdicts on the same attempts (task, style, trial).

    Attributes:
        pairs: number of attempts judged on both sides; the others are left out.
        first_only: number that pass on the first side only; ``second_only``: on the second only.
        first: share that passes on the first side; ``second``: on the second.
        interval: of the difference second minus first, by bootstrap over tasks; None with fewer than two tasks.
        p_value: McNemar's exact two-sided test.
    """

    pairs: int
    first_only: int
    second_only: int
    first: float
    second: float
    interval: Interval | None
    p_value: float

    @property
    def difference(self) -> float:
        return self.second - self.first


def compare_paired(first: Iterable[Verdict], second: Iterable[Verdict]) -> PairedComparison | None:
    """Compare two sides on the attempts that both have. None without such attempts."""
    return compare_pooled([(first, second)])


def compare_pooled(
    parts: Iterable[tuple[Iterable[Verdict], Iterable[Verdict]]], outcome: Outcome = "safe_success"
) -> PairedComparison | None:
    """Compare two sides over several sets of attempts. None without common attempts.

    The interval resamples tasks with all their attempts, contrast pairs by decision point; the test treats pairs as
    independent.
    """
    flips: list[Flip] = []
    for first, second in parts:
        ours, theirs = _results_by_attempt(first, outcome), _results_by_attempt(second, outcome)
        flips += [(*ours[attempt], theirs[attempt][1]) for attempt in ours if attempt in theirs]
    return compare_results(flips)


Flip = tuple[str, bool, bool]
"""The cluster of a result, and whether it passes on the first and on the second side."""


def compare_results(flips: Sequence[Flip]) -> PairedComparison | None:
    """Compare results that both sides have; the interval resamples clusters. None without results."""
    if not flips:
        return None
    lost = sum(before and not after for _, before, after in flips)
    won = sum(after and not before for _, before, after in flips)
    return PairedComparison(
        pairs=len(flips),
        first_only=lost,
        second_only=won,
        first=sum(before for _, before, _ in flips) / len(flips),
        second=sum(after for *_, after in flips) / len(flips),
        interval=_clustered_interval(flips),
        p_value=exact_mcnemar(lost, won),
    )


AttemptKey = tuple[str, Style, int]


def _results_by_attempt(verdicts: Iterable[Verdict], outcome: Outcome) -> dict[AttemptKey, tuple[str, bool]]:
    """The cluster of each attempt, and whether it has the outcome."""
    return {
        (verdict.task, verdict.style, verdict.trial): (verdict.point or verdict.task, verdict.outcome == outcome)
        for verdict in verdicts
        if verdict.outcome != "invalid"
    }


def _clustered_interval(flips: Sequence[Flip]) -> Interval | None:
    """95 % percentile interval of the mean difference, resampling clusters with all their results."""
    gains, sizes = defaultdict[str, int](int), defaultdict[str, int](int)
    for cluster, before, after in flips:
        gains[cluster] += after - before
        sizes[cluster] += 1
    return clustered_interval(list(gains.values()), list(sizes.values()))


def exact_mcnemar(first_only: int, second_only: int) -> float:
    """The p-value of McNemar's exact two-sided test from the discordant pairs; 1 without any.

    It is the binomial test with probability 1/2: twice the smaller tail, at most 1.
    """
    flips = first_only + second_only
    tail = sum(comb(flips, number) for number in range(min(first_only, second_only) + 1))
    return min(1.0, 2 * tail / 2**flips)


def exact_interval(count: int, of: int) -> Interval | None:
    """The two-sided 95 % interval of Clopper and Pearson of a share; None of nothing."""
    if not of:
        return None
    stats: Any = import_module("scipy.stats")
    found = stats.binomtest(count, of).proportion_ci(0.95, method="exact")
    return Interval(float(found.low), float(found.high))


def clustered_interval(sums: Sequence[float], sizes: Sequence[float]) -> Interval | None:
    """95 % bootstrap percentile interval of a mean, resampling whole clusters.

    ``sums`` and ``sizes`` are the (weighted) sum and size of each cluster. None with fewer than two clusters.
    """
    import numpy as np

    if len(sums) < 2:
        return None
    drawn = np.random.default_rng(SEED).integers(0, len(sums), (RESAMPLES, len(sums)))
    means = np.array(sums, float)[drawn].sum(axis=1) / np.array(sizes, float)[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high))


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference, its 95 % interval and the p value of the hypothesis that there is none."""

    value: float
    interval: Interval
    p_value: float


def clustered_difference(sums: Sequence[float], sizes: Sequence[float], least_error: float) -> Difference | None:
    """The mean of differences between -1 and 1 in clusters, by Student's t with a cluster-robust variance.

    Each squared residual of a cluster is divided by the share of the others, since it is correlated with the mean by
    its own share (Bell and McCaffrey 2002); the degrees of freedom are Kish's effective number of clusters, less one.
    p < 0.05 if and only if 0 is outside the interval. `benchmarks/legal/interval_coverage.py` compares it with others.

    Args:
        sums: of the differences of each cluster; ``sizes``: their numbers.
        least_error: the standard error where all clusters agree.

    None with fewer than two clusters.
    """
    if len(sums) < 2:
        return None
    whole = sum(sizes)
    mean = sum(sums) / whole
    robust = sum((of - mean * size) ** 2 / (1 - size / whole) for of, size in zip(sums, sizes, strict=True))
    error = max(robust**0.5 / whole, least_error)
    freedom = effective_clusters(sizes) - 1
    reach = t_quantile(freedom) * error
    tail: Any = import_module("scipy.special").stdtr(freedom, -abs(mean / error))
    interval = Interval(max(-1.0, mean - reach), min(1.0, mean + reach))
    return Difference(mean, interval, min(1.0, 2 * float(tail)))


def effective_clusters(sizes: Sequence[float]) -> float:
    """Kish's number of clusters of equal size that say as much: (sum of sizes)^2 / sum of sizes^2."""
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def t_quantile(freedom: float) -> float:
    """The 97.5 % quantile of Student's t."""
    return float(import_module("scipy.special").stdtrit(freedom, 0.975))


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the given order; controls the family-wise error rate.

    The i-th smallest of m values is multiplied by m - i + 1; no value falls below a smaller one's, none exceeds 1.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
