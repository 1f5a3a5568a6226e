"""Tool sequences as paths of a graph, and which moves can still lead to acceptance in a number of calls."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.planner.trace_spec import ToolPair

ToolSequence = tuple[str, ...]


class Move(NamedTuple):
    """A call that is possible in a node, and the node that it leads to."""

    tool: str
    target: int


class SequenceGraph:
    """A graph of which each path from node 0 to an accepting node is a tool sequence.

    Attributes:
        moves: for each node the possible calls.
    """

    def __init__(self, environment: Environment, moves: Sequence[tuple[Move, ...]], accepting: Sequence[bool]) -> None:
        self.environment: Final = environment
        self.changing_tools: Final = environment.changing_tools
        self.moves: Final = moves
        self._alive: Final = [list(accepting)]
        self._completable: Final[dict[tuple[int, int], tuple[Move, ...]]] = {}
        self._through: Final[dict[ToolPair, SequenceGraph]] = {}

    def can_finish(self, node: int, remaining: int) -> bool:
        """Whether some ``remaining`` calls lead from the node to acceptance."""
        while len(self._alive) <= remaining:
            nearer = self._alive[-1]
            self._alive.append([any(nearer[move.target] for move in moves) for moves in self.moves])
        return self._alive[remaining][node]

    def completable_moves(self, node: int, remaining: int) -> tuple[Move, ...]:
        """The moves after which acceptance is reachable in ``remaining`` calls, this one included."""
        key = (node, remaining)
        if key not in self._completable:
            self._completable[key] = tuple(m for m in self.moves[node] if self.can_finish(m.target, remaining - 1))
        return self._completable[key]

    def accepts_sequence(self, node: int, tools: ToolSequence) -> bool:
        """Whether exactly these tools lead from the node to acceptance."""
        nodes = {node}
        for tool in tools:
            nodes = {move.target for node in nodes for move in self.moves[node] if move.tool == tool}
        return any(self.can_finish(node, 0) for node in nodes)

    def feasible_pairs(self, length: int) -> set[ToolPair]:
        """The ordered pairs of adjacent tools that occur in some accepted sequence of that length."""
        pairs: set[ToolPair] = set()
        layer: dict[int, set[str]] = {0: set()}
        for remaining in range(length, 0, -1):
            following: dict[int, set[str]] = {}
            for node, previous_tools in layer.items():
                for move in self.completable_moves(node, remaining):
                    pairs.update((previous, move.tool) for previous in previous_tools)
                    following.setdefault(move.target, set()).add(move.tool)
            layer = following
        return pairs

    def through(self, pair: ToolPair) -> "SequenceGraph":
        """The graph of the sequences that contain the pair."""
        if pair not in self._through:
            self._through[pair] = self._made_through(pair)
        return self._through[pair]

    def _made_through(self, pair: ToolPair) -> "SequenceGraph":
        # A node and how much of the pair there is: nothing, its first tool as the last call, or all of it.
        nodes = [(0, 0)]
        numbers = {nodes[0]: 0}
        moves: list[tuple[Move, ...]] = []
        for node, seen in nodes:  # the list grows during the loop
            out: list[Move] = []
            for tool, target in self.moves[node]:
                done = seen == 2 or (seen == 1 and tool == pair[1])
                reached = (target, 2 if done else int(tool == pair[0]))
                if reached not in numbers:
                    numbers[reached] = len(nodes)
                    nodes.append(reached)
                out.append(Move(tool, numbers[reached]))
            moves.append(tuple(out))
        accepting = [seen == 2 and self.can_finish(node, 0) for node, seen in nodes]
        return SequenceGraph(self.environment, moves, accepting)
