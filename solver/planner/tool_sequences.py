"""Walks: the tools of a trace, chosen before their arguments.

A walk is drawn from the product, so it can always be completed. Where pairs are wanted, a beam of partial walks grows
call by call and the one that covers most wanted pairs wins; where nothing is wanted any more, one random walk is drawn.

A demanded distance from earlier walks is kept exactly: a partial walk remembers the earlier ones that it is still too
near to, and is given up when too few calls are left to get away from one. Should the beam end nowhere, a search that
goes back finds a walk if there is one.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from lawtrace.environments.errors import SearchError
from lawtrace.solver.planner.product import Product, ProductMove

BEAM_WIDTH = 30
MAX_BACKTRACKING_MOVES = 50_000
"""The moves that the search which goes back may try before it gives up."""

ToolPair = tuple[str, str]
ToolSequence = tuple[str, ...]
UnmetDistances = tuple[tuple[int, int], ...]
"""The earlier walks that a walk is still too near to: which, and at how many places the two differ so far."""


def adjacent_pairs(tools: ToolSequence) -> set[ToolPair]:
    """The ordered pairs of adjacent tools (P Eq. 1)."""
    return set(pairwise(tools))


@dataclass(frozen=True, slots=True)
class _Prefix:
    """The beginning of a walk: where it has come to, the wanted pairs it has, and whom it is too near to."""

    node: int
    near: UnmetDistances
    tools: ToolSequence = ()
    gained: frozenset[ToolPair] = frozenset()
    chance: float = field(default=0.0, compare=False)


def draw_tool_sequence(
    product: Product,
    length: int,
    random: Random,
    wanted: AbstractSet[ToolPair],
    *,
    earlier: Sequence[ToolSequence] = (),
    distance: int = 0,
    beam: int = BEAM_WIDTH,
) -> ToolSequence:
    """A walk of ``length`` tools that ends in acceptance, with as many of the wanted pairs as the beam finds.

    Args:
        earlier: walks of the same length, from each of which it differs at ``distance`` places at least.
        beam: how many beginnings are kept; it matters only where pairs are wanted.

    Raises SearchError if no walk of that length exists, or none at that distance.
    """
    if not product.can_finish(0, length):
        raise SearchError(f"environment {product.environment.name!r}: no compliant trace of {length} calls exists")
    apart = _DistanceConstraint(earlier, distance, length)
    partials = [_Prefix(0, apart.start)]
    for place in range(length):
        remaining = length - place - 1
        grown: dict[tuple[int, str, frozenset[ToolPair], UnmetDistances], _Prefix] = {}
        for partial in partials:
            for move in product.completable_moves(partial.node, remaining + 1):
                longer = _extended(product, partial, move, wanted, apart, place, random)
                if longer is not None:
                    key = (longer.node, move.tool, longer.gained, longer.near)
                    if key not in grown or grown[key].chance < longer.chance:
                        grown[key] = longer
        ranked = sorted(grown.values(), key=lambda longer: (-len(longer.gained), -longer.chance))
        partials = ranked[: beam if wanted else 1]
        if not partials:
            return _backtracking_search(product, length, random, apart)
    return partials[0].tools


def _extended(
    product: Product,
    partial: _Prefix,
    move: ProductMove,
    wanted: AbstractSet[ToolPair],
    apart: "_DistanceConstraint",
    place: int,
    random: Random,
) -> _Prefix | None:
    near = apart.after(partial.near, place, move.tool)
    if near is None:
        return None
    gained = partial.gained
    if partial.tools and (pair := (partial.tools[-1], move.tool)) in wanted:
        gained |= {pair}
    chance = random.random() ** (1 / _sampling_weight(product, move))
    return _Prefix(move.target, near, (*partial.tools, move.tool), gained, chance)


def _sampling_weight(product: Product, move: ProductMove) -> float:
    # Uniform choice prefers look-ups, which are always possible: tools that change something get twice the weight.
    return 2.0 if move.tool in product.environment.changing_tools else 1.0


class _DistanceConstraint:
    """The demand that a walk differs from each earlier one at enough places."""

    def __init__(self, earlier: Sequence[ToolSequence], distance: int, length: int) -> None:
        self.earlier = earlier
        self._distance = distance
        self._length = length
        self.start: UnmetDistances = tuple((number, 0) for number in range(len(earlier))) if distance else ()

    def after(self, near: UnmetDistances, place: int, tool: str) -> UnmetDistances | None:
        """Whom the walk is still too near to after one more tool; None if too few places are left to get away."""
        remaining = self._length - place - 1
        still: list[tuple[int, int]] = []
        for number, differs in near:
            differs += self.earlier[number][place] != tool
            if differs + remaining < self._distance:
                return None
            if differs < self._distance:
                still.append((number, differs))
        return tuple(still)

    def impossible(self, product: Product) -> SearchError:
        return SearchError(
            f"environment {product.environment.name!r}: after {len(self.earlier)} traces there is no further one of "
            f"{self._length} calls that differs from each of them at {self._places}; ask for fewer traces or "
            "a smaller distance"
        )

    @property
    def _places(self) -> str:
        return "one place" if self._distance == 1 else f"{self._distance} places"

    def undecided(self, product: Product) -> SearchError:
        return SearchError(
            f"environment {product.environment.name!r}: after {len(self.earlier)} traces none was found within "
            f"{MAX_BACKTRACKING_MOVES} moves that differs from each of them at {self._places}, and whether there is "
            "one "
            "was not decided; ask for fewer traces or a smaller distance"
        )


def _backtracking_search(product: Product, length: int, random: Random, apart: _DistanceConstraint) -> ToolSequence:
    """Depth-first, never twice into the same situation: exact, as long as it does not take too many moves."""
    hopeless: set[tuple[int, int, UnmetDistances]] = set()
    tried = 0
    ways: list[tuple[int, UnmetDistances, ToolSequence, list[ProductMove]]] = [
        (0, apart.start, (), _shuffled_moves(product, 0, length, random))
    ]
    while ways:
        node, near, tools, moves = ways[-1]
        place = len(tools)
        if place == length:
            return tools
        if not moves:
            hopeless.add((node, place, near))
            ways.pop()
            continue
        tried += 1
        if tried > MAX_BACKTRACKING_MOVES:
            raise apart.undecided(product)
        move = moves.pop()
        after = apart.after(near, place, move.tool)
        if after is None or (move.target, place + 1, after) in hopeless:
            continue
        further = _shuffled_moves(product, move.target, length - place - 1, random)
        ways.append((move.target, after, (*tools, move.tool), further))
    raise apart.impossible(product)


def _shuffled_moves(product: Product, node: int, remaining: int, random: Random) -> list[ProductMove]:
    moves = product.completable_moves(node, remaining) if remaining else []
    random.shuffle(moves)
    return moves
