"""Tool sequences: the tools of a trace, chosen before their arguments.

A sequence is drawn from the product, so it always has a compliant completion. While pairs are wanted, a beam search
keeps the prefixes with the most wanted pairs; otherwise one random sequence is drawn.

Beginnings without arguments (`Conflicts`) are avoided. A required distance from earlier sequences is exact: a prefix
keeps the earlier sequences that it is still too close to, and is dropped when too few calls are left to differ enough.
If the beam runs empty, a backtracking search decides.
"""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.trace_options import ToolPair
from lawtrace.solver.planner.conflicts import Conflicts, Positions
from lawtrace.solver.planner.sequence_graph import Move, SequenceGraph, ToolSequence

BEAM_WIDTH = 12
"""How many beginnings are kept while pairs are wanted."""
MAX_BACKTRACKING_MOVES = 50_000
"""The number of moves after which the backtracking search gives up."""

UnmetDistances = tuple[tuple[int, int], ...]
"""The earlier sequences that a prefix is still too close to: index, and the number of differing positions so far."""


class NoArgumentsError(SearchError):
    """The rules allow tool sequences, but for none of them exist arguments, times and an initial state."""


class _Prefix(NamedTuple):
    """A prefix: its node in the graph and among the conflicts, the wanted pairs it has as bits, and the earlier
    sequences it is too close to.
    """

    node: int
    conflicts: Positions
    unmet: UnmetDistances
    tools: ToolSequence = ()
    pairs: int = 0


_Extension = tuple[int, Positions, UnmetDistances, str, int]
"""A prefix with one more call, by what matters for the rest: node, conflicts, unmet distances, tool, wanted pairs."""


def draw_tool_sequence(
    graph: SequenceGraph,
    length: int,
    random: Random,
    wanted: AbstractSet[ToolPair],
    *,
    earlier: Sequence[ToolSequence] = (),
    distance: int = 0,
    conflicts: Conflicts | None = None,
    start: int = 0,
) -> ToolSequence:
    """An accepted sequence of ``length`` tools, with as many wanted pairs as the beam search finds.

    Args:
        earlier: sequences of the same length, from each of which it differs in at least ``distance`` positions.
        conflicts: beginnings to avoid.
        start: the node in which the sequence begins.

    Raises SearchError if no sequence of that length exists, or none at that distance without a conflict.
    """
    if not graph.can_finish(start, length):
        raise SearchError(f"environment {graph.environment.name!r}: no compliant trace of {length} calls exists")
    constraint = _DistanceConstraint(earlier, distance, length)
    drawing = _Drawing(graph, length, random, constraint, Conflicts() if conflicts is None else conflicts, start)
    found = drawing.beam_search(wanted)
    return drawing.backtracking_search() if found is None else found


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

    def error(self, graph: SequenceGraph, *, proved: bool) -> SearchError:
        """That there is no (further) sequence, or that none was found."""
        if not self.start:
            found = "exists" if proved else f"was found in a search of {MAX_BACKTRACKING_MOVES} moves"
            name = graph.environment.name
            return SearchError(f"environment {name!r}: no compliant trace of {self._length} calls {found}")
        positions = "one position" if self._distance == 1 else f"{self._distance} positions"
        apart = f"that differs from each of them in {positions}"
        if proved:
            found = f" there is no further one of {self._length} calls {apart}"
        else:
            found = (
                f", a search of {MAX_BACKTRACKING_MOVES} moves found none {apart}, and did not prove that there is none"
            )
        return SearchError(
            f"environment {graph.environment.name!r}: after {len(self.earlier)} traces{found}; "
            "ask for fewer traces or a smaller distance"
        )


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The search for one sequence. `start`: the node in which it begins."""

    graph: SequenceGraph
    length: int
    random: Random
    constraint: _DistanceConstraint
    conflicts: Conflicts
    start: int

    def beam_search(self, wanted: AbstractSet[ToolPair]) -> ToolSequence | None:
        """A sequence with many of the wanted pairs, or a random one if none are wanted; None if the beam runs empty."""
        bits = self.graph.pair_bits(wanted)
        prefixes = [_Prefix(self.start, self.conflicts.start, self.constraint.start)]
        for remaining in range(self.length - 1, -1, -1):
            prefixes = self._best(self._extensions(prefixes, remaining, bits), BEAM_WIDTH if wanted else 1)
            if not prefixes:
                return None
        return prefixes[0].tools

    def _extensions(
        self, prefixes: Sequence[_Prefix], remaining: int, wanted: int
    ) -> list[list[tuple[_Extension, ToolSequence]]]:
        """The extensions of prefixes by one call, each with the tools before it, by their rank.

        The rank is an upper bound of the wanted pairs of the whole sequence: those that it has, and those that can
        still follow, but no more than there are calls left. So a wanted pair is found where the graph has one and no
        conflict excludes it.
        """
        ranks: list[list[tuple[_Extension, ToolSequence]]] = [[] for _ in range(self.length + 1)]
        finishing = self.graph.finishing_nodes(remaining)
        numbers, ahead = self.graph.tool_numbers, self.graph.pairs_ahead(remaining) if wanted else None
        for node, reached, too_close, tools, pairs in prefixes:
            missing, had = wanted & ~pairs, pairs.bit_count()
            row = numbers[tools[-1]] * len(numbers) if tools else 0
            follow_last = missing >> row if tools else 0
            for tool, target, positions in self.conflicts.allowed_moves(self.graph, node, reached):
                if not finishing[target]:
                    continue
                unmet = self.constraint.after(too_close, len(tools), tool) if too_close else ()
                if unmet is None:
                    continue
                seen, rank, still = pairs, had, missing
                if follow_last >> numbers[tool] & 1:
                    pair = 1 << (row + numbers[tool])
                    seen, rank, still = pairs | pair, had + 1, missing ^ pair
                if ahead is not None:
                    rank += min((still & ahead.after(tool, target)).bit_count(), remaining)
                ranks[rank].append(((target, positions, unmet, tool, seen), tools))
        return ranks

    def _best(self, ranks: Sequence[Sequence[tuple[_Extension, ToolSequence]]], count: int) -> list[_Prefix]:
        """Extensions of the highest ranks, drawn at random among equals. Of several that have the same future, one."""
        kept: list[_Prefix] = []
        for extensions in reversed(ranks):
            drawn: dict[_Extension, tuple[float, ToolSequence]] = {}
            for extension, tools in extensions:
                chance = self._chance(extension[3])
                if extension not in drawn or drawn[extension][0] < chance:
                    drawn[extension] = chance, tools
            ordered = sorted([(-chance, extension, tools) for extension, (chance, tools) in drawn.items()])
            kept += [
                _Prefix(node, positions, unmet, (*tools, tool), pairs)
                for _, (node, positions, unmet, tool, pairs), tools in ordered[: count - len(kept)]
            ]
            if len(kept) == count:
                break
        return kept

    def _chance(self, tool: str) -> float:
        """The largest one is taken. Uniform choice prefers look-ups, which are always possible: tools that change
        something have twice the weight.
        """
        chance = self.random.random()
        return math.sqrt(chance) if tool in self.graph.changing_tools else chance

    def backtracking_search(self) -> ToolSequence:
        """Depth first with memoised dead ends: exact, up to a limit of moves."""
        dead_ends: set[tuple[int, Positions, int, UnmetDistances]] = set()
        tried = 0
        first = self.start, self.conflicts.start, self.constraint.start
        stack: list[tuple[int, Positions, UnmetDistances, ToolSequence, list[Move]]] = [
            (*first, (), self._shuffled_moves(self.start, self.length))
        ]
        while stack:
            node, reached, unmet, tools, moves = stack[-1]
            position = len(tools)
            if position == self.length:
                return tools
            if not moves:
                dead_ends.add((node, reached, position, unmet))
                stack.pop()
                continue
            tried += 1
            if tried > MAX_BACKTRACKING_MOVES:
                raise self.constraint.error(self.graph, proved=False)
            move = moves.pop()
            after = self.constraint.after(unmet, position, move.tool)
            follows = self.conflicts.after(reached, move.tool)
            if after is None or follows is None or (move.target, follows, position + 1, after) in dead_ends:
                continue
            further = self._shuffled_moves(move.target, self.length - position - 1)
            stack.append((move.target, follows, after, (*tools, move.tool), further))
        if self.conflicts.start and not self.constraint.start:
            raise NoArgumentsError(
                f"environment {self.graph.environment.name!r}: no compliant trace of {self.length} calls was found: "
                "the rules allow sequences of tools, but the initial states have no arguments and times for them "
                f"({len(self.conflicts)} beginnings are excluded); give them more rows, or amounts a smaller domain"
            )
        raise self.constraint.error(self.graph, proved=True)

    def _shuffled_moves(self, node: int, remaining: int) -> list[Move]:
        moves = list(self.graph.completable_moves(node, remaining)) if remaining else []
        self.random.shuffle(moves)
        return moves
