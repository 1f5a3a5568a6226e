"""The product of what a caller can know with the rules: where every walk of calls may still end well.

A node is an abstract state: how many rows of each table the caller has looked up (capped where more makes no
difference), which events are still to be recorded, and the state of each automaton. The abstraction is derived from
the declaration: a tool that needs two accounts can be called once two are known; a tool with a list of pending events
once one is pending; a look-up teaches one row. What it leaves out (amounts, balances, which row) is settled when a
walk gets its arguments.

For each node and each number of remaining calls, a backward pass knows whether acceptance can still be reached, so a
search that only takes such moves never walks into a dead end (DESIGN.md, *Automata, not recursion*).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from environments.declaration import Environment, FromLookup, FromTrace, Tool
from environments.errors import SearchError
from solver.ltlf import Automaton

__all__ = ["Move", "Product"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known and pending: rows looked up by table (capped), and the names of events not yet recorded."""

    known: tuple[int, ...]
    pending: frozenset[str]


@dataclass(frozen=True, slots=True)
class Move:
    """A call that can be made from a node, and the node it leads to."""

    tool: str
    target: int


class Product:
    """The reachable part of facts x automata for one environment. Nodes are numbers; node 0 is the start."""

    def __init__(self, environment: Environment, automata: Sequence[Automaton]) -> None:
        self.environment = environment
        self._automata = tuple(automata)
        self._needs = {name: _references(tool) for name, tool in environment.tools.items()}
        caps = Counter[str]()
        for needs in self._needs.values():
            caps |= needs
        self._tables = tuple(sorted(caps))
        self._caps = tuple(caps[table] for table in self._tables)
        self.moves: list[tuple[Move, ...]] = []
        self._accepting: list[bool] = []
        self._explore()
        self._alive: list[list[bool]] = [self._accepting]

    @cached_property
    def required_rows(self) -> Mapping[str, int]:
        """How many rows of each table an initial state must hold for the abstraction to be true of it."""
        return dict(zip(self._tables, self._caps, strict=True))

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

    def _explore(self) -> None:
        start = (Facts((0,) * len(self._tables), frozenset()), tuple(automaton.initial for automaton in self._automata))
        numbers = {start: 0}
        queue = [start]
        for facts, states in queue:  # the queue grows while it is read: breadth first
            self._accepting.append(
                all(state in automaton.accepting for automaton, state in zip(self._automata, states, strict=True))
            )
            moves: list[Move] = []
            for name in self.environment.tools:
                after = self._after(facts, name)
                stepped = self._stepped(states, name)
                if after is None or stepped is None:
                    continue
                if (after, stepped) not in numbers:
                    numbers[after, stepped] = len(queue)
                    queue.append((after, stepped))
                moves.append(Move(name, numbers[after, stepped]))
            self.moves.append(tuple(moves))

    def _after(self, facts: Facts, name: str) -> Facts | None:
        tool = self.environment.tools[name]
        known = dict(zip(self._tables, facts.known, strict=True))
        if any(known[table] < count for table, count in self._needs[name].items()):
            return None
        pending = facts.pending
        if any(isinstance(parameter.source, FromTrace) for parameter in tool.parameters):
            if not pending:
                return None
            pending = frozenset[str]()
        if tool.emits:
            pending |= {tool.emits}
        for result in tool.teaching:
            if result.entity.table in known:
                known[result.entity.table] += 1
        capped = tuple(min(known[table], cap) for table, cap in zip(self._tables, self._caps, strict=True))
        return Facts(capped, pending)

    def _stepped(self, states: tuple[int, ...], name: str) -> tuple[int, ...] | None:
        stepped: list[int] = []
        for automaton, state in zip(self._automata, states, strict=True):
            letter = automaton.mask_of(name)
            if letter is None:
                raise SearchError(
                    f"a rule looks at the arguments or the result of {name} ({automaton.formula}); the search plans "
                    "with tools alone so far: leave this rule out for synthesis, it can still judge"
                )
            following = automaton.step(state, letter)
            if not automaton.live(following):
                return None
            stepped.append(following)
        return tuple(stepped)


def _references(tool: Tool) -> Counter[str]:
    """How many different rows of each table one call of the tool refers to."""
    return Counter(
        parameter.source.entity.table for parameter in tool.parameters if isinstance(parameter.source, FromLookup)
    )
