"""Looking for a trace that several automata accept together, without ever building their product.

A node is a place of the scope and one state for each automaton. Nodes are made when a search comes to them. What is
certain collapses first: an automaton that accepts whatever follows counts as `SETTLED`, and a node in which one can
never accept any more is not made at all. Without that, n independent rules have 3^n nodes instead of 2^n, most of
them hopeless.

There are three answers. *Found* is a trace. *Exhausted* means that every node there is has been seen and none will
do: that is a proof for traces of every length, not only up to some bound. *Undecided* means that a bound was reached.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from lawtrace.solver.analysis.scopes import Scope, Step, Trace
from lawtrace.solver.ltlf import Automaton, Condition

LIMIT: Final = 20_000
"""The nodes that one search may make: about a second. Rule sets that people write need a few hundred at most."""

BREADTH: Final = 1_000
"""The nodes that a search may make in the hope for a shortest trace; after that, any trace will do."""

MAXIMUM_CONDITIONS: Final = 8
"""On one tool, in the automata of one search: each condition doubles the steps of its tool."""

SETTLED: Final = -1
"""The state of an automaton that accepts whatever follows. As an index it finds the last entry of a column."""

LOST: Final = -2
"""The state of an automaton that rejects whatever follows."""


class Component:
    """An automaton as a search reads it, with its certain states collapsed.

    Attributes:
        start: the first state.
        accepting: the states in which a trace may end.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton: Final = automaton
        self.start: Final = self._collapsed(automaton.initial)
        self.accepting: Final = automaton.accepting | {SETTLED}
        self._columns: Final[dict[int, tuple[int, ...]]] = {}

    def column(self, step: Step) -> tuple[int, ...]:
        """The state after the step, by the state before; the last entry says that what is settled stays settled.

        The entries of states that collapse are never read; there, any step seems to change nothing.
        """
        letter = step.letter(self.automaton.alphabet)
        if letter not in self._columns:
            after = [
                self._collapsed(self.automaton.step(state, letter)) if self._collapsed(state) == state else state
                for state in range(len(self.automaton.table))
            ]
            self._columns[letter] = (*after, SETTLED)
        return self._columns[letter]

    def keeps(self, trace: Trace) -> bool:
        """Whether the automaton accepts the trace."""
        letters = (step.letter(self.automaton.alphabet) for step in trace)
        return self.automaton.run(letters) in self.automaton.accepting

    def unsettled(self, state: int) -> int:
        """How much is still to happen before nothing can go wrong any more, as a rough guess."""
        return 0 if state == SETTLED else 1 + (self.automaton.distance(state) or 0)

    def _collapsed(self, state: int) -> int:
        match self.automaton.verdict(state):
            case "satisfied":
                return SETTLED
            case "violated":
                return LOST
            case "holding" | "open":
                return state


@dataclass(frozen=True, slots=True)
class Found:
    """A trace that all accept, whether it is known that no other is shorter, and after how many nodes it was found."""

    trace: Trace
    shortest: bool
    nodes: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No trace of any length will do; so many nodes have been seen to know it."""

    nodes: int


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither a trace nor a proof that there is none; what was in the way, and after how many nodes."""

    reason: str
    nodes: int


def search(
    scope: Scope, components: Sequence[Component], limit: int = LIMIT, *, shortest: bool = True
) -> Found | Exhausted | Undecided:
    """A trace of the scope, possibly empty, that all components accept.

    With ``shortest``, breadth-first to begin with, so that the trace is a shortest one. Where that takes too many
    nodes, a second walk goes where most is settled: of twenty checks that must all precede one action, in any order,
    it makes one after the other instead of trying every subset.
    """
    if shortest:
        answer = _walk(scope, components, min(limit, BREADTH), breadth_first=True)
        if not isinstance(answer, Undecided) or limit <= BREADTH:
            return answer
    return _walk(scope, components, limit, breadth_first=False)


_Column = tuple[int, ...]
_States = tuple[int, ...]
_Node = tuple[int, _States]
_Moving = tuple[tuple[int, _Column], ...]
_Kind = tuple[Step, _Moving]


@dataclass(frozen=True, slots=True)
class _Move:
    """A step and what it does: the place it leads to, and the columns of the components that it can move."""

    step: Step
    target: int
    columns: _Moving


def _walk(
    scope: Scope, components: Sequence[Component], limit: int, *, breadth_first: bool
) -> Found | Exhausted | Undecided:
    """Nodes in the order in which they are met; or those in which most is settled first."""
    if any(_conditions(tool, components)[MAXIMUM_CONDITIONS:] for tool in scope.tools):
        return Undecided(f"more than {MAXIMUM_CONDITIONS} conditions on one tool", 0)
    accepting = [component.accepting for component in components]
    start: _Node = (0, tuple(component.start for component in components))
    if LOST in start[1]:
        return Exhausted(1)
    if _all_accept(accepting, start[1]):
        return Found((), shortest=True, nodes=1)
    kinds = _kinds(scope, components)
    moves: dict[int, list[_Move]] = {}
    reached: dict[_Node, tuple[_Node, Step] | None] = {start: None}
    waiting: list[tuple[int, int, _Node]] = [(0, 0, start)]
    while waiting:
        _, _, node = heapq.heappop(waiting)
        place, states = node
        if place not in moves:
            moves[place] = _moves(scope, place, kinds)
        for move in moves[place]:
            after = _after(move, states)
            if after is None or (move.target, after) in reached:
                continue
            following: _Node = (move.target, after)
            reached[following] = (node, move.step)
            if _all_accept(accepting, after):
                return Found(_trace(reached, following), breadth_first, len(reached))
            if len(reached) > limit:
                return Undecided(f"more than {limit} states", len(reached))
            urgency = 0 if breadth_first else _unsettled(components, after)
            heapq.heappush(waiting, (urgency, len(reached), following))
    return Exhausted(len(reached))


def _after(move: _Move, states: _States) -> _States | None:
    """The states after a move, None if one of them is lost."""
    after = list(states)
    for number, column in move.columns:
        after[number] = state = column[states[number]]
        if state == LOST:
            return None
    return tuple(after)


def _kinds(scope: Scope, components: Sequence[Component]) -> list[_Kind]:
    """The steps with what they do to the components; of steps of one tool that do the same only the first."""
    kinds: dict[object, _Kind] = {}
    for step in _steps(scope, components):
        columns = [component.column(step) for component in components]
        moving = tuple((number, column) for number, column in enumerate(columns) if not _idle(column))
        kinds.setdefault((step.tool if step.completed else None, moving), (step, moving))
    return [*kinds.values()]


def _moves(scope: Scope, place: int, kinds: Sequence[_Kind]) -> list[_Move]:
    """The possible moves at a place; of steps that nothing tells apart there only the first."""
    known: dict[object, _Move] = {}
    for step, moving in kinds:
        target = scope.following(place, step)
        if target is not None:
            known.setdefault((target, moving), _Move(step, target, moving))
    return [*known.values()]


def _steps(scope: Scope, components: Sequence[Component]) -> Iterator[Step]:
    """Every step that the components could tell apart: completed calls first, then with few conditions met."""
    for completed in (True, False):
        for tool in scope.tools:
            conditions = _conditions(tool, components)
            for size in range(len(conditions) + 1):
                for met in combinations(conditions, size):
                    yield Step(tool, completed, frozenset(met))


def _conditions(tool: str, components: Sequence[Component]) -> list[Condition]:
    """The conditions that the components have on a tool, each once."""
    atoms = [atom for component in components for _, atom in component.automaton.alphabet.by_tool.get(tool, ())]
    return list(dict.fromkeys(atom.condition for atom in atoms if atom.condition is not None))


def _idle(column: _Column) -> bool:
    """Whether a step with this column changes no state (the last entry stands for none, see `Component.column`)."""
    return column[:-1] == tuple(range(len(column) - 1))


def _all_accept(accepting: Sequence[frozenset[int]], states: Sequence[int]) -> bool:
    return all(state in ends for state, ends in zip(states, accepting, strict=True))


def _unsettled(components: Sequence[Component], states: Sequence[int]) -> int:
    return sum(component.unsettled(state) for component, state in zip(components, states, strict=True))


def _trace(reached: dict[_Node, tuple[_Node, Step] | None], node: _Node) -> Trace:
    steps: list[Step] = []
    while (way := reached[node]) is not None:
        node, step = way
        steps.append(step)
    return tuple(reversed(steps))
