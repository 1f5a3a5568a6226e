"""Walks: the tools of a trace, chosen before their arguments.

A walk is drawn from the product, so it can always be completed. Of several random candidates the one that covers most
wanted pairs wins; that is enough to reach every feasible pair of banking in well under forty traces (``lawtrace traces
coverage`` prints in how many).
"""

from collections.abc import Set as AbstractSet
from itertools import pairwise
from random import Random

from environments.errors import SearchError
from solver.product import Move, Product

__all__ = ["draw_walk", "pairs_of"]

CANDIDATES = 30
Pair = tuple[str, str]


def pairs_of(tools: tuple[str, ...]) -> set[Pair]:
    """The ordered pairs of adjacent tools (P Eq. 1)."""
    return set(pairwise(tools))


def draw_walk(product: Product, length: int, random: Random, wanted: AbstractSet[Pair]) -> tuple[str, ...]:
    """A walk of ``length`` tools that ends in acceptance, with as many of the wanted pairs as a few tries find.

    Raises SearchError if no walk of that length exists.
    """
    if not product.can_finish(0, length):
        shorter = next((other for other in range(length, 60) if product.can_finish(0, other)), None)
        remedy = (
            f"the shortest that exists from here on has {shorter}" if shorter else "loosen the rules or the profile"
        )
        raise SearchError(
            f"environment {product.environment.name!r}: no compliant trace of {length} calls exists; {remedy}"
        )
    walks = [_one_walk(product, length, random, wanted) for _ in range(CANDIDATES if wanted else 1)]
    return max(walks, key=lambda walk: len(pairs_of(walk) & wanted))


def _one_walk(product: Product, length: int, random: Random, wanted: AbstractSet[Pair]) -> tuple[str, ...]:
    node, walk, here = 0, list[str](), set[Pair]()
    for remaining in range(length, 0, -1):
        moves = product.live_moves(node, remaining)
        weights = [_weight(product, move, walk, wanted, here) for move in moves]
        move = random.choices(moves, weights)[0]
        if walk:
            here.add((walk[-1], move.tool))
        walk.append(move.tool)
        node = move.target
    return tuple(walk)


def _weight(product: Product, move: Move, walk: list[str], wanted: AbstractSet[Pair], here: set[Pair]) -> float:
    # Uniform choice prefers look-ups, which are always possible: tools that change something get twice the weight.
    weight = 2.0 if move.tool in product.environment.changing_tools else 1.0
    pair = (walk[-1], move.tool) if walk else None
    if pair in wanted and pair not in here:
        weight *= 4
    return weight
