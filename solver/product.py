"""The product of facts with rules: where every walk of calls may still end well.

A node is what the search remembers of a situation (`solver.facts`) and the state of each automaton. A move is a call as
the rules see it: a tool, and which of the conditions on its arguments and result are met. What facts leave out
(amounts, balances, which row) is settled when a walk gets its arguments.

For each node and each number of remaining calls, a backward pass knows whether acceptance can still be reached, so a
search that only takes such moves never walks into a dead end (DESIGN.md, *Automata, not recursion*).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from environments.declaration import Environment
from solver.facts import FactGraph, fact_graph
from solver.interest import Interest
from solver.ltlf import Automaton
from solver.situations import Situation

__all__ = ["Move", "Product"]


@dataclass(frozen=True, slots=True)
class Move:
    """A call that can be made from a node, and the node it leads to. `met`: see `solver.interest.Interest`."""

    tool: str
    target: int
    met: int = 0


_Node = tuple[int, tuple[int, ...]]


class Product:
    """The reachable part of facts x automata for one environment.

    Nodes are numbers; node 0 is the start. Where traces can begin with different facts, it stands for all of them,
    and the first move decides.

    Attributes:
        moves: for each node the calls from there.
        interest: what the automata look at in calls.
        graph: the facts.
    """

    def __init__(self, environment: Environment, automata: Sequence[Automaton]) -> None:
        self.environment = environment
        self.interest = Interest(automata)
        self.graph: FactGraph = fact_graph(environment, self.interest)
        self._automata = tuple(automaton for automaton in automata if not automaton.quantified)
        self._columns: dict[tuple[str, int], list[int]] = {}
        self.moves: list[tuple[Move, ...]] = []
        self._accepting: list[bool] = []
        self._numbers: dict[_Node, int] = {}
        self._explore()
        self._alive: list[list[bool]] = [self._accepting]

    @property
    def required_rows(self) -> Mapping[str, int]:
        """How many rows of each table an initial state should hold, so that no call is out of reach for want of one."""
        return self.graph.abstraction.caps

    def can_finish(self, node: int, remaining: int) -> bool:
        """Whether some ``remaining`` calls lead from the node to acceptance by every automaton."""
        while len(self._alive) <= remaining:
            nearer = self._alive[-1]
            self._alive.append([any(nearer[move.target] for move in moves) for moves in self.moves])
        return self._alive[remaining][node]

    def live_moves(self, node: int, remaining: int) -> list[Move]:
        """The moves after which the rest of a walk of ``remaining`` calls can still be completed."""
        return [move for move in self.moves[node] if self.can_finish(move.target, remaining - 1)]

    def adjacent_pairs(self, length: int) -> set[tuple[str, str]]:
        """The ordered pairs of adjacent tools that occur in some accepted walk of that length."""
        pairs: set[tuple[str, str]] = set()
        layer: dict[int, set[str]] = {0: set()}
        for remaining in range(length, 0, -1):
            following: dict[int, set[str]] = {}
            for node, arrived_by in layer.items():
                for move in self.live_moves(node, remaining):
                    pairs.update((previous, move.tool) for previous in arrived_by)
                    following.setdefault(move.target, set()).add(move.tool)
            layer = following
        return pairs

    def start(self, situation: Situation) -> int | None:
        """The node of a situation before the first call; None if it is not among those that are known."""
        return self._node(situation, tuple(automaton.initial for automaton in self._automata))

    def after(self, node: int, situation: Situation) -> int | None:
        """The node of a situation, whose last call was made at a node; None if it is not among those that are known.

        That the call was a move of the product is not demanded: a fourth row that the caller knows is as good as the
        third, and only the facts of the situation itself tell how many are left.
        """
        event = situation.events[-1]
        met = self.interest.met(event)
        if self.graph.abstraction.counts_only:
            targets = [move.target for move in self.moves[node] if move.tool == event.tool and move.met == met]
            if len(targets) <= 1:
                return next(iter(targets), None)
        stepped = self._stepped(self._nodes[node][1], event.tool, met)
        return None if stepped is None else self._node(situation, stepped)

    def carries(self, node: int, tools: tuple[str, ...]) -> bool:
        """Whether a walk can be completed from a node with exactly these tools, by what the product knows."""
        here = {node}
        for tool in tools:
            here = {move.target for node in here for move in self.moves[node] if move.tool == tool}
        return any(self._accepting[node] for node in here)

    def _node(self, situation: Situation, states: tuple[int, ...]) -> int | None:
        facts = self.graph.numbers.get(self.graph.abstraction.facts(situation))
        return None if facts is None else self._numbers.get((facts, states))

    def _explore(self) -> None:
        initial = tuple(automaton.initial for automaton in self._automata)
        self._nodes: list[_Node] = []
        starts = [self._number((facts, initial), several=len(self.graph.starts) > 1) for facts in self.graph.starts]
        for node in self._nodes:  # the list grows while it is read: breadth first
            facts, states = node
            self._accepting.append(self._accepts(facts, states))
            moves: dict[Move, None] = {}
            for edge in self.graph.edges[facts] if facts >= 0 else ():
                stepped = self._stepped(states, edge.tool, edge.met)
                if stepped is not None:
                    moves[Move(edge.tool, self._number((edge.target, stepped)), edge.met)] = None
            self.moves.append(tuple(moves))
        if len(starts) > 1:
            self.moves[0] = tuple(dict.fromkeys(move for start in starts for move in self.moves[start]))
            self._accepting[0] = any(self._accepting[start] for start in starts)

    def _number(self, node: _Node, *, several: bool = False) -> int:
        if several and not self._nodes:
            self._nodes.append((_ANY, ()))
        if node not in self._numbers:
            self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return self._numbers[node]

    def _accepts(self, facts: int, states: tuple[int, ...]) -> bool:
        if facts == _ANY or not self.graph.keeping[facts]:
            return False
        return all(state in automaton.accepting for automaton, state in zip(self._automata, states, strict=True))

    def _stepped(self, states: tuple[int, ...], tool: str, met: int) -> tuple[int, ...] | None:
        letters = self._letters(tool, met)
        stepped: list[int] = []
        for automaton, state, column in zip(self._automata, states, letters, strict=True):
            following = automaton.table[state][column]
            if automaton.distances[following] is None:
                return None
            stepped.append(following)
        return tuple(stepped)

    def _letters(self, tool: str, met: int) -> list[int]:
        """For each automaton the column of a completed call of the tool that meets those conditions."""
        if (tool, met) not in self._columns:
            conditions = self.interest.conditions.get(tool, ())
            true = {condition for number, condition in enumerate(conditions) if met >> number & 1}
            self._columns[tool, met] = [
                automaton.alphabet.columns[
                    sum(
                        bit
                        for bit, atom in automaton.alphabet.by_tool.get(tool, ())
                        if atom.condition is None or atom.condition in true
                    )
                ]
                for automaton in self._automata
            ]
        return self._columns[tool, met]


_ANY = -1
"""The facts of node 0 where traces can begin with different ones."""
