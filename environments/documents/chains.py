"""The best chain of candidates: for numbers that run through a text, of pages or of paragraphs."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Candidate = TypeVar("Candidate")

_LOOK_BACK = 150


def best_chain(
    candidates: Sequence[Candidate],
    begin: Callable[[Candidate], float],
    follow: Callable[[Candidate, Candidate], float | None],
) -> list[Candidate]:
    """The chain of the greatest sum; empty if none is above zero.

    A chain is chosen as a whole, so a number that was lost or misread ends nothing.

    Args:
        begin: what a candidate adds as the first one.
        follow: what a candidate adds behind another; None if it cannot follow.
    """
    best: list[tuple[float, int]] = []  # sum, place of the one before
    for at, one in enumerate(candidates):
        found = (begin(one), -1)
        for earlier in range(max(0, at - _LOOK_BACK), at):
            added = follow(candidates[earlier], one)
            if added is not None and best[earlier][0] + added > found[0]:
                found = (best[earlier][0] + added, earlier)
        best.append(found)
    at = max(range(len(best)), key=lambda place: best[place][0], default=-1)
    if at >= 0 and best[at][0] <= 0:
        return []
    chain: list[Candidate] = []
    while at >= 0:
        chain.append(candidates[at])
        at = best[at][1]
    return chain[::-1]
