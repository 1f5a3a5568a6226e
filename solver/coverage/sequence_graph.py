"""The walks of one length as a graph over arrays: which pairs they have, and what walks can gather at most.

A state is a node of the product together with the tool that led there, so that an edge knows the ordered pair of
adjacent tools that it makes. Arrays are indexed by state and edge; what is asked of all states at once costs one
operation of numpy for each remaining call.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.tool_sequences import ToolSequence, adjacent_pairs

NO_INDEX: Final = -1
"""In place of a state: no such edge. In place of a pair: the first call of a walk makes none."""

UNREACHABLE: Final = -(1 << 40)
Weights = NDArray[np.int64]
"""A whole number for each feasible pair, in the order of `Graph.pairs`."""


@dataclass(frozen=True, slots=True)
class SequenceEdge:
    """A call after a state: the tool, the state it leads to, and the number of the pair it makes."""

    tool: str
    target: int
    pair: int


class SequenceGraph:
    """The accepted walks of ``length`` tools of a product. State 0 is the start.

    Attributes:
        length: calls in each walk.
        pairs: the pairs that occur in some accepted walk, sorted.
        edges: for each state the calls that can follow, in the order of the tools.
        alive: ``alive[remaining][state]``: whether that many further calls can end in acceptance.
    """

    def __init__(self, product: Product, length: int) -> None:
        self.length: Final = length
        self.pairs: Final = tuple(sorted(product.feasible_pairs(length)))
        self._pair_numbers = {pair: number for number, pair in enumerate(self.pairs)}
        states: dict[tuple[int, str], int] = {(0, ""): 0}
        queue = [(0, "")]
        edges: list[list[SequenceEdge]] = []
        for node, last in queue:  # grows while it is read: breadth first
            out: list[SequenceEdge] = []
            for move in product.moves[node]:
                pair = self._pair_numbers.get((last, move.tool), NO_INDEX)
                if last and pair == NO_INDEX:
                    continue  # no accepted walk of this length makes this pair
                if (move.target, move.tool) not in states:
                    states[move.target, move.tool] = len(queue)
                    queue.append((move.target, move.tool))
                out.append(SequenceEdge(move.tool, states[move.target, move.tool], pair))
            edges.append(out)
        self.edges: Final = edges
        most = max(1, *map(len, edges))
        self._targets = np.full((len(queue), most), NO_INDEX, dtype=np.int64)
        self._made = np.full((len(queue), most), NO_INDEX, dtype=np.int64)
        for state, out in enumerate(edges):
            for place, edge in enumerate(out):
                self._targets[state, place] = edge.target
                self._made[state, place] = edge.pair
        ends = [product.can_finish(node, 0) for node, _ in queue]
        self.alive: Final = [np.array(ends, dtype=np.bool_)]
        for _ in range(length):
            nearer = self.alive[-1]
            self.alive.append(np.any((self._targets != NO_INDEX) & nearer[self._targets], axis=1))

    def best_weights(self, weights: Weights) -> list[NDArray[np.int64]]:
        """For each number of remaining calls and each state, the most that a rest of a walk can gather, at best.

        Counts a pair that comes again again, so it is an upper bound; a negative number where no rest ends well.
        """
        made = np.where(self._made == NO_INDEX, 0, weights[self._made])
        most = [np.where(self.alive[0], 0, UNREACHABLE)]
        for _ in range(self.length):
            after = np.where(self._targets == NO_INDEX, UNREACHABLE, most[-1][self._targets] + made)
            most.append(after.max(axis=1))
        return most

    def column(self, walk: ToolSequence) -> frozenset[int]:
        """The numbers of the pairs of a walk."""
        return frozenset(self._pair_numbers[pair] for pair in adjacent_pairs(walk))
