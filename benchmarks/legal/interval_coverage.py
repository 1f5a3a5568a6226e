"""Coverage and power of intervals and paired tests over few cases, in simulation.

    python benchmarks/legal/interval_coverage.py [DRAWS]

Cases have the sizes of the published dataset. The accuracy of a case is drawn from a beta distribution, so that two
answers of a case have the given correlation. Several paired tests judge the same draws.
"""

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lawtrace.runs.legal.case_intervals import Mark, share_interval
from lawtrace.runs.scoring.metrics import wilson_interval
from lawtrace.runs.scoring.statistics import (
    clustered_difference,
    clustered_interval,
    effective_clusters,
    exact_mcnemar,
    t_quantile,
)

SIZES = (71, 70, 75, 55, 33, 45, 32, 37, 66, 77, 15, 50, 37, 252, 35)
CASES = (2, 5, 9, 15)
CORRELATIONS = (0.0, 0.02, 0.05, 0.1)
ACCURACIES = (0.6, 0.85)


def case_accuracies(generator: random.Random, cases: int, accuracy: float, correlation: float) -> Iterator[float]:
    for _ in range(cases):
        if correlation == 0:
            yield accuracy
        else:
            strength = (1 - correlation) / correlation
            yield generator.betavariate(accuracy * strength, (1 - accuracy) * strength)


def draw(generator: random.Random, cases: int, accuracy: float, correlation: float) -> list[Mark]:
    return [
        Mark(str(case), f"{case}/{question}", float(generator.random() < of))
        for case, of in enumerate(case_accuracies(generator, cases, accuracy, correlation))
        for question in range(SIZES[case])
    ]


def share_coverage(cases: int, accuracy: float, correlation: float, draws: int) -> tuple[float, float, int]:
    """The share of intervals that hold the accuracy, their mean width, and how many are narrower than Wilson's."""
    generator = random.Random(1)
    held, width, narrower = 0, 0.0, 0
    for _ in range(draws):
        marks = draw(generator, cases, accuracy, correlation)
        interval = share_interval(marks)
        binomial = wilson_interval(sum(mark.value for mark in marks), len(marks))
        assert interval is not None
        assert binomial is not None
        held += interval.low <= accuracy <= interval.high
        width += interval.high - interval.low
        narrower += interval.high - interval.low < binomial.high - binomial.low - 1e-9
    return held / draws, width / draws, narrower


@dataclass(frozen=True)
class Draws:
    """Simulated comparisons: for each draw and case the questions that only one side answers correctly."""

    sizes: np.ndarray
    lost: np.ndarray
    won: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        return (self.won - self.lost).sum(1) / self.sizes.sum()


def draw_pairs(cases: int, correlation: float, gain: float, draws: int) -> Draws:
    """Both sides answer the same questions, half of which are as hard for one as for the other. The accuracies of a
    case, 60 % and that plus the gain in the mean, are drawn apart for each side."""
    generator, sizes = np.random.default_rng(3), np.array(SIZES[:cases])

    def accuracies(mean: float) -> np.ndarray:
        if correlation == 0:
            return np.full((draws, cases), mean)
        strength = (1 - correlation) / correlation
        return generator.beta(mean * strength, (1 - mean) * strength, (draws, cases))

    first, second = accuracies(0.6), accuracies(0.6 + gain)
    only_first = np.maximum(0, first - second) / 2 + first * (1 - second) / 2
    only_second = np.maximum(0, second - first) / 2 + second * (1 - first) / 2
    lost = generator.binomial(sizes, only_first)
    return Draws(sizes, lost, generator.binomial(sizes - lost, np.clip(only_second / (1 - only_first), 0, 1)))


def finds_ours(found: Draws) -> np.ndarray:
    """The comparison of reports: a t interval with a cluster-robust variance."""
    results: list[bool] = []
    for lost, won in zip(found.lost, found.won, strict=True):
        of = clustered_difference((won - lost).tolist(), found.sizes.tolist(), 1 / int(found.sizes.sum()))
        assert of is not None
        results.append(of.p_value < 0.05)
    return np.array(results)


def finds_with_prior(found: Draws) -> np.ndarray:
    """A variance that a prior correlation of 0.05 moderates, with the weight of three cases."""
    sizes, whole, mean = found.sizes, found.sizes.sum(), found.mean
    independent = ((found.won + found.lost).sum(1) - whole * mean**2 + 1) / whole**2
    freedom = effective_clusters(sizes.tolist()) - 1
    residuals = found.won - found.lost - mean[:, None] * sizes
    robust = (residuals**2 / (1 - sizes / whole)).sum(1) / whole**2 / independent
    prior = 1 + ((sizes**2).sum() / whole - 1) * 0.05
    effect = np.maximum(1, (3 * prior + freedom * robust) / (3 + freedom))
    return np.abs(mean) > t_quantile(3 + freedom) * np.sqrt(independent * effect)


def finds_bootstrap(found: Draws) -> np.ndarray:
    """The percentile bootstrap over cases, of the first 500 draws."""
    gains = found.won - found.lost
    intervals = [clustered_interval(of.tolist(), found.sizes.tolist()) for of in gains[:500]]
    return np.array([not of.low <= 0 <= of.high for of in intervals if of is not None])


def finds_sign_flips(found: Draws) -> np.ndarray:
    """The permutation test that exchanges the sides of whole cases; with five cases and fewer it finds nothing."""
    signs = np.random.default_rng(4).choice([1, -1], (len(found.sizes), 999))
    gains = found.won - found.lost
    above = (np.abs(gains @ signs) >= np.abs(gains.sum(1))[:, None]).sum(1)
    return (above + 1) / 1000 <= 0.05


def finds_mcnemar(found: Draws) -> np.ndarray:
    """McNemar's exact test, which takes all questions for independent."""
    lost, won = found.lost.sum(1), found.won.sum(1)
    return np.array([exact_mcnemar(int(one), int(other)) < 0.05 for one, other in zip(lost, won, strict=True)])


TESTS: dict[str, Callable[[Draws], np.ndarray]] = {
    "t, cluster-robust (ours)": finds_ours,
    "t, moderated by a prior": finds_with_prior,
    "bootstrap over cases": finds_bootstrap,
    "sign flips of cases": finds_sign_flips,
    "McNemar": finds_mcnemar,
}


def print_tests(draws: int) -> None:
    """Coverage (100 % less the false positives) and power of each test, in %, a column for each correlation."""
    for title, gain, counts in (
        ("Coverage of no difference", 0.0, CASES),
        ("Power for +5 points", 0.05, (9, 15)),
        ("Power for +10 points", 0.1, (9, 15)),
    ):
        print(f"\n{title}, %; correlations {', '.join(map(str, CORRELATIONS))}")
        for cases in counts:
            for name, finds in TESTS.items():
                found = [finds(draw_pairs(cases, correlation, gain, draws)).mean() for correlation in CORRELATIONS]
                shown = [100 * (1 - share if gain == 0 else share) for share in found]
                print(f"{cases:5} cases  {name:26}", *(f"{share:6.1f}" for share in shown))


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{draws} draws; coverage of 95 % intervals in %, mean width in points")
    print("cases  accuracy  correlation  share  width  narrower than Wilson's")
    for cases in CASES:
        for accuracy in ACCURACIES:
            for correlation in CORRELATIONS:
                held, width, narrower = share_coverage(cases, accuracy, correlation, draws)
                print(
                    f"{cases:5}  {accuracy:8}  {correlation:11}  {100 * held:5.1f}  {100 * width:5.1f}  {narrower:22}"
                )
    print_tests(draws)


if __name__ == "__main__":
    main()
