"""Large tables of cases, split between the tiers."""

from collections.abc import Collection, Iterable

import pytest


def split_by_tier(names: Iterable[str], fast: Collection[str]) -> list[object]:
    """Parameters for all names; those not in ``fast`` run in the slow tier. Raises KeyError for an unknown name."""
    names = list(names)
    if unknown := set(fast) - set(names):
        raise KeyError(*sorted(unknown))
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in names]
