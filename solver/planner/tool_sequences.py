"""Tool sequences: the tools of a trace, chosen before their arguments.

A sequence is drawn from the product, so it always has a compliant completion. While pairs are wanted, a beam search
keeps the prefixes with the most wanted pairs; otherwise one random sequence is drawn.

Beginnings without arguments (`Conflicts`) are avoided. A required distance from earlier sequences is exact: a prefix
keeps the earlier sequences that it is still too close to, and is dropped when too few calls are left to differ enough.
If the beam runs empty, a backtracking search decides.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from random import Random
from typing import NamedTuple

from lawtrace.environments.errors import SearchError
from lawtrace.solver.planner.conflicts import Conflicts, Positions, ToolSequence
from lawtrace.solver.planner.product import Product, ProductMove

BEAM_WIDTH = 30
MAX_BACKTRACKING_MOVES = 50_000
"""The number of moves after which the backtracking search gives up."""

ToolPair = tuple[str, str]
UnmetDistances = tuple[tuple[int, int], ...]
"""The earlier sequences that a prefix is still too close to: index, and the number of differing positions so far."""


class NoArgumentsError(SearchError):
    """The rules allow tool sequences, but for none of them exist arguments, times and an initial state."""


def adjacent_pairs(tools: ToolSequence) -> set[ToolPair]:
    """The ordered pairs of adjacent tools (P Eq. 1)."""
    return set(pairwise(tools))


class _Prefix(NamedTuple):
    """A prefix: its node in the product and among the conflicts, the wanted pairs it has as a bit each, and the earlier
    sequences it is too close to.
    """

    node: int
    conflicts: Positions
    unmet: UnmetDistances
    tools: ToolSequence = ()
    pairs: int = 0
    chance: float = 0.0


def draw_tool_sequence(
    product: Product,
    length: int,
    random: Random,
    wanted: AbstractSet[ToolPair],
    *,
    earlier: Sequence[ToolSequence] = (),
    distance: int = 0,
    beam: int = BEAM_WIDTH,
    conflicts: Conflicts | None = None,
) -> ToolSequence:
    """An accepted sequence of ``length`` tools, with as many wanted pairs as the beam search finds.

    Args:
        earlier: sequences of the same length, from each of which it differs in at least ``distance`` positions.
        beam: how many prefixes are kept; it matters only while pairs are wanted.
        conflicts: beginnings to avoid.

    Raises SearchError if no sequence of that length exists, or none at that distance without a conflict.
    """
    if not product.can_finish(0, length):
        raise SearchError(f"environment {product.environment.name!r}: no compliant trace of {length} calls exists")
    distance_constraint = _DistanceConstraint(earlier, distance, length)
    conflicts = Conflicts() if conflicts is None else conflicts
    bits = {pair: 1 << number for number, pair in enumerate(sorted(wanted))}
    exponents = {name: 1 / _sampling_weight(product, name) for name in product.environment.tools}
    prefixes = [_Prefix(0, conflicts.start, distance_constraint.start)]
    for position in range(length):
        remaining = length - position - 1
        candidates: dict[tuple[int, Positions, str, int, UnmetDistances], _Prefix] = {}
        for prefix in prefixes:
            last = prefix.tools[-1] if prefix.tools else ""
            for tool, node in product.completable_moves(prefix.node, remaining + 1):
                follows = conflicts.after(prefix.conflicts, tool) if prefix.conflicts else ()
                if follows is None:
                    continue
                unmet = distance_constraint.after(prefix.unmet, position, tool) if prefix.unmet else ()
                if unmet is None:
                    continue
                pairs = prefix.pairs | bits.get((last, tool), 0)
                chance = random.random() ** exponents[tool]
                key = (node, follows, tool, pairs, unmet)
                rival = candidates.get(key)
                if rival is None or rival.chance < chance:
                    candidates[key] = _Prefix(node, follows, unmet, (*prefix.tools, tool), pairs, chance)
        ranked = sorted(candidates.values(), key=lambda prefix: (-prefix.pairs.bit_count(), -prefix.chance))
        prefixes = ranked[: beam if wanted else 1]
        if not prefixes:
            return _backtracking_search(product, length, random, distance_constraint, conflicts)
    return prefixes[0].tools


def _sampling_weight(product: Product, tool: str) -> float:
    # Uniform choice prefers look-ups, which are always possible: tools that change something get twice the weight.
    return 2.0 if tool in product.environment.changing_tools else 1.0


class _DistanceConstraint:
    """The constraint that a sequence differs from each earlier one in enough positions."""

    def __init__(self, earlier: Sequence[ToolSequence], distance: int, length: int) -> None:
        self.earlier = earlier
        self._distance = distance
        self._length = length
        self.start: UnmetDistances = tuple((number, 0) for number in range(len(earlier))) if distance else ()

    def after(self, unmet: UnmetDistances, position: int, tool: str) -> UnmetDistances | None:
        """The unmet distances after one more tool; None if too few positions are left."""
        remaining = self._length - position - 1
        remaining_unmet: list[tuple[int, int]] = []
        for number, differs in unmet:
            differs += self.earlier[number][position] != tool
            if differs + remaining < self._distance:
                return None
            if differs < self._distance:
                remaining_unmet.append((number, differs))
        return tuple(remaining_unmet)

    def infeasible_error(self, product: Product) -> SearchError:
        return SearchError(
            f"environment {product.environment.name!r}: after {len(self.earlier)} traces there is no further one of "
            f"{self._length} calls that differs from each of them in {self._positions_text}; ask for fewer traces or "
            "a smaller distance"
        )

    @property
    def _positions_text(self) -> str:
        return "one position" if self._distance == 1 else f"{self._distance} positions"

    def undecided_error(self, product: Product) -> SearchError:
        return SearchError(
            f"environment {product.environment.name!r}: after {len(self.earlier)} traces, a search of "
            f"{MAX_BACKTRACKING_MOVES} moves found none that differs from each of them in {self._positions_text}, and "
            "did not prove that there is none; ask for fewer traces or a smaller distance"
        )


def _backtracking_search(
    product: Product, length: int, random: Random, distance_constraint: _DistanceConstraint, conflicts: Conflicts
) -> ToolSequence:
    """Depth first with memoised dead ends: exact, up to a limit of moves."""
    dead_ends: set[tuple[int, Positions, int, UnmetDistances]] = set()
    tried = 0
    stack: list[tuple[int, Positions, UnmetDistances, ToolSequence, list[ProductMove]]] = [
        (0, conflicts.start, distance_constraint.start, (), _shuffled_moves(product, 0, length, random))
    ]
    while stack:
        node, reached, unmet, tools, moves = stack[-1]
        position = len(tools)
        if position == length:
            return tools
        if not moves:
            dead_ends.add((node, reached, position, unmet))
            stack.pop()
            continue
        tried += 1
        if tried > MAX_BACKTRACKING_MOVES:
            raise distance_constraint.undecided_error(product)
        move = moves.pop()
        after, follows = distance_constraint.after(unmet, position, move.tool), conflicts.after(reached, move.tool)
        if after is None or follows is None or (move.target, follows, position + 1, after) in dead_ends:
            continue
        further = _shuffled_moves(product, move.target, length - position - 1, random)
        stack.append((move.target, follows, after, (*tools, move.tool), further))
    if conflicts and not distance_constraint.start:
        raise NoArgumentsError(
            f"environment {product.environment.name!r}: no compliant trace of {length} calls was found: the rules "
            "allow sequences of tools, but the initial states have no arguments and times for them "
            f"({len(conflicts)} beginnings are excluded); give them more rows, or amounts a smaller domain"
        )
    raise distance_constraint.infeasible_error(product)


def _shuffled_moves(product: Product, node: int, remaining: int, random: Random) -> list[ProductMove]:
    moves = list(product.completable_moves(node, remaining)) if remaining else []
    random.shuffle(moves)
    return moves
