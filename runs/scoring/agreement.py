"""Agreement between raters: Cohen's and Fleiss' kappa."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean


def cohen_kappa(left: Sequence[str | None], right: Sequence[str | None]) -> float | None:
    """Cohen's kappa of two raters over the same items, in the same order: 1 is full agreement, 0 is chance.

    Pairs with a None are left out. None if no pair is left, or if both raters use a single, common label.
    """
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    if not pairs:
        return None
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    lefts, rights = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(lefts[label] * rights[label] for label in lefts) / len(pairs) ** 2
    return (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else None


def mean_cohen_kappa(raters: Sequence[Sequence[str | None]]) -> float | None:
    """The mean of Cohen's kappa over the pairs of raters; None if it is undefined for every pair."""
    kappas = [cohen_kappa(one, other) for one, other in combinations(raters, 2)]
    known = [kappa for kappa in kappas if kappa is not None]
    return fmean(known) if known else None


def fleiss_kappa(ratings: Sequence[Sequence[str]]) -> float | None:
    """Fleiss' kappa: ``ratings[item]`` holds the labels of one item, the same number for each; raters may vary.

    1 is full agreement, 0 is chance. None with fewer than two raters, or if only one label occurs.
    """
    if not ratings or len(ratings[0]) < 2:
        return None
    raters = len(ratings[0])
    counts = [Counter(labels) for labels in ratings]
    observed = fmean((sum(count * count for count in of.values()) - raters) / (raters * (raters - 1)) for of in counts)
    total = Counter(label for labels in ratings for label in labels)
    chance = sum((count / total.total()) ** 2 for count in total.values())
    return (observed - chance) / (1 - chance) if chance < 1 else None
