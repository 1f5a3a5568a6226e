"""Intervals of shares over few cases: a t interval whose variance is moderated by a prior.

The questions of a case are not independent, and there are 2 to 15 cases, so the spread between cases is hardly known:
resampling two cases gives intervals of no width. The variance here is a weighted mean of two estimates of the *design
effect* (variance over that of independent questions): one from the residuals of the cases, with as many degrees of
freedom as there are cases, less one; and a prior one, that of a correlation `CORRELATION` within cases, with
`PRIOR_CASES` degrees of freedom. Student's t with the sum of both is the quantile. This is the moderated t statistic
(Smyth 2004) for cluster-robust variances; a bootstrap has no prior, and a t interval without one spans nearly all
shares for two cases. The design effect is at least 1, so no interval is narrower than that of independent questions.

`python benchmarks/legal/interval_coverage.py` prints the coverage. Differences have no prior
(`lawtrace.runs.scoring.statistics.clustered_difference`): both sides answer the same questions.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from lawtrace.runs.scoring.metrics import Interval
from lawtrace.runs.scoring.statistics import effective_clusters, t_quantile

CORRELATION = 0.05
"""Correlation of two answers of a case that the prior assumes; offline, nine cells in ten have less than 0.035."""

PRIOR_CASES = 3.0
"""Degrees of freedom of the prior."""


class Mark(NamedTuple):
    """A value of a question of a case, with its weight."""

    case: str
    question: str
    value: float
    weight: float = 1.0


def share_interval(marks: Iterable[Mark]) -> Interval | None:
    """The 95 % interval of a weighted share of marks 0 and 1, over cases; None with fewer than two cases.

    It has the form of Wilson's, with the effective number of questions over the design effect.
    """
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    right: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for case, question, value, weight in marks:
        weights[case][question] += weight
        right[case][question] += weight * value
    if len(weights) < 2:
        return None
    sizes = [sum(of.values()) for of in weights.values()]
    sums = [sum(of.values()) for of in right.values()]
    whole = sum(sizes)
    share = sum(sums) / whole
    questions = whole**2 / sum(weight**2 for of in weights.values() for weight in of.values())
    residuals = [of - share * size for of, size in zip(sums, sizes, strict=True)]
    independent = share * (1 - share) / questions
    effect, freedom = _moderated(residuals, sizes, independent, [*map(len, weights.values())])
    return _wilson(share, questions / effect, freedom)


def _moderated(
    residuals: Sequence[float], sizes: Sequence[float], independent: float, questions: Sequence[float]
) -> tuple[float, float]:
    """The design effect and its degrees of freedom.

    Args:
        residuals: of each case, the sum of its values less what the mean predicts.
        sizes: the weight of each case.
        independent: the variance that independent questions would have; 0 if all values are equal.
        questions: the number of questions of each case.
    """
    whole = sum(sizes)
    freedom = effective_clusters(sizes) - 1
    per_case = sum(asked**2 for asked in questions) / sum(questions)
    prior = 1 + (per_case - 1) * CORRELATION
    if independent <= 0:
        return max(1.0, prior), PRIOR_CASES + freedom
    # A residual is correlated with the mean by the share of its case.
    robust = sum(of**2 / (1 - size / whole) for of, size in zip(residuals, sizes, strict=True)) / whole**2
    effect = (PRIOR_CASES * prior + freedom * robust / independent) / (PRIOR_CASES + freedom)
    return max(1.0, effect), PRIOR_CASES + freedom


def _wilson(share: float, questions: float, freedom: float) -> Interval:
    quantile = t_quantile(freedom)
    spread = quantile**2 / questions
    middle = share + spread / 2
    reach = quantile * sqrt(share * (1 - share) / questions + spread / (4 * questions))
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    return Interval(max(0.0, min(low, share)), min(1.0, max(high, share)))
