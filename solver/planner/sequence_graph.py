"""Tool sequences as paths of a graph, and which moves can still lead to acceptance in a number of calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.trace_options import ToolPair

ToolSequence = tuple[str, ...]


class Move(NamedTuple):
    """A call that is possible in a node, and the node that it leads to."""

    tool: str
    target: int


@dataclass(frozen=True, slots=True)
class PairsAhead:
    """The pairs that can occur in a number of calls that lead from a node to acceptance, as bits.

    The pair of tools i and j of n has bit i * n + j.

    Attributes:
        rows: the first bit of the pairs that begin with a tool.
        first: for each node the tools of the first call, a bit each.
        inside: for each node the pairs within the calls.
    """

    rows: Mapping[str, int]
    first: Sequence[int]
    inside: Sequence[int]

    def after(self, tool: str, node: int) -> int:
        """The pairs, those of the tool of the call before included."""
        return self.inside[node] | self.first[node] << self.rows[tool]

    def one_call_more(self, moves: Sequence[Sequence[Move]], alive: Sequence[bool]) -> "PairsAhead":
        """The same for one call more. `alive`: for each node whether the calls after it lead to acceptance."""
        first, inside = [0] * len(moves), [0] * len(moves)
        bits = {tool: 1 << number for number, tool in enumerate(self.rows)}
        for node, out in enumerate(moves):
            tools, pairs = 0, 0
            for tool, target in out:
                if alive[target]:
                    tools |= bits[tool]
                    pairs |= self.inside[target] | self.first[target] << self.rows[tool]
            first[node], inside[node] = tools, pairs
        return PairsAhead(self.rows, first, inside)


class SequenceGraph:
    """A graph of which each path from node 0 to an accepting node is a tool sequence.

    Attributes:
        moves: for each node the possible calls.
        accepting: for each node whether a sequence may end there.
    """

    def __init__(self, environment: Environment, moves: Sequence[tuple[Move, ...]], accepting: Sequence[bool]) -> None:
        self.environment: Final = environment
        self.accepting: Final = accepting
        self.changing_tools: Final = environment.changing_tools
        self.moves: Final = moves
        self.tool_numbers: Final = {tool: number for number, tool in enumerate(environment.tools)}
        self._alive: Final = [list(accepting)]
        rows = {tool: number * len(self.tool_numbers) for tool, number in self.tool_numbers.items()}
        self._pairs_ahead: Final = [PairsAhead(rows, [0] * len(moves), [0] * len(moves))]

    def can_finish(self, node: int, remaining: int) -> bool:
        """Whether some ``remaining`` calls lead from the node to acceptance."""
        return self.finishing_nodes(remaining)[node]

    def finishing_nodes(self, remaining: int) -> Sequence[bool]:
        """For each node whether some ``remaining`` calls lead from it to acceptance."""
        while len(self._alive) <= remaining:
            nearer = self._alive[-1]
            self._alive.append([any(nearer[move.target] for move in moves) for moves in self.moves])
        return self._alive[remaining]

    def completable_moves(self, node: int, remaining: int) -> tuple[Move, ...]:
        """The moves after which acceptance is reachable in ``remaining`` calls, this one included."""
        return tuple(move for move in self.moves[node] if self.can_finish(move.target, remaining - 1))

    def accepts_sequence(self, node: int, tools: ToolSequence) -> bool:
        """Whether exactly these tools lead from the node to acceptance."""
        reached = {node}
        for tool in tools:
            reached = {move.target for one in reached for move in self.moves[one] if move.tool == tool}
        return any(self.can_finish(one, 0) for one in reached)

    def feasible_pairs(self, length: int) -> set[ToolPair]:
        """The ordered pairs of adjacent tools that occur in some accepted sequence of that length."""
        tools = list(self.tool_numbers)
        pairs = self.pairs_ahead(length).inside[0]
        return {
            (first, second)
            for row, first in enumerate(tools)
            for column, second in enumerate(tools)
            if pairs >> (row * len(tools) + column) & 1
        }

    def pair_bits(self, pairs: Iterable[ToolPair]) -> int:
        """A set of pairs as bits: the pair of tools i and j has bit i * n + j, where n is the number of tools."""
        numbers = self.tool_numbers
        return sum({1 << (numbers[first] * len(numbers) + numbers[second]) for first, second in pairs})

    def pairs_ahead(self, remaining: int) -> "PairsAhead":
        """The pairs that can occur in ``remaining`` calls that lead from a node to acceptance."""
        while len(self._pairs_ahead) <= remaining:
            finishing = self.finishing_nodes(len(self._pairs_ahead) - 1)
            self._pairs_ahead.append(self._pairs_ahead[-1].one_call_more(self.moves, finishing))
        return self._pairs_ahead[remaining]
