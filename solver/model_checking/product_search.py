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

from lawtrace.solver.ltlf import (
    Always,
    Automaton,
    ForAll,
    Formula,
    Not,
    Or,
    Top,
    atoms_of,
    compile_formula,
    rename_variable,
)
from lawtrace.solver.ltlf.conditions import (
    AndCondition,
    Comparison,
    Condition,
    NotCondition,
    OrCondition,
    condition_variables,
)
from lawtrace.solver.model_checking.call_scopes import AbstractCall, AbstractTrace, CallScope

NODE_LIMIT: Final = 20_000
"""The nodes that one search may make: about a second. Rule sets that people write need a few hundred at most."""

BREADTH_FIRST_LIMIT: Final = 1_000
"""The nodes that a search may make in the hope for a shortest trace; after that, any trace will do."""

MAX_CONDITIONS_PER_TOOL: Final = 8
"""On one tool, in the automata of one search: each condition doubles the steps of its tool."""

ACCEPTING_SINK: Final = -1
"""The state of an automaton that accepts whatever follows. As an index it finds the last entry of a column."""

REJECTING_SINK: Final = -2
"""The state of an automaton that rejects whatever follows."""


class Component:
    """An automaton as a search reads it, with its certain states collapsed.

    Attributes:
        start: the first state.
        accepting: the states in which a trace may end.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton: Final = automaton
        self.initial: Final = self._collapsed(automaton.initial)
        self.accepting: Final = automaton.accepting | {ACCEPTING_SINK}
        self._columns: Final[dict[int, tuple[int, ...]]] = {}

    def column(self, step: AbstractCall) -> tuple[int, ...]:
        """The state after the step, by the state before; the last entry says that what is settled stays settled.

        The entries of states that collapse are never read; there, any step seems to change nothing.
        """
        letter = step.letter(self.automaton.alphabet)
        if letter not in self._columns:
            after = [
                self._collapsed(self.automaton.step(state, letter)) if self._collapsed(state) == state else state
                for state in range(len(self.automaton.table))
            ]
            self._columns[letter] = (*after, ACCEPTING_SINK)
        return self._columns[letter]

    def accepts(self, trace: AbstractTrace) -> bool:
        """Whether the automaton accepts the trace."""
        letters = (step.letter(self.automaton.alphabet) for step in trace)
        return self.automaton.run(letters) in self.automaton.accepting

    def distance_estimate(self, state: int) -> int:
        """How much is still to happen before nothing can go wrong any more, as a rough guess."""
        return 0 if state == ACCEPTING_SINK else 1 + (self.automaton.distance(state) or 0)

    def _collapsed(self, state: int) -> int:
        match self.automaton.verdict(state):
            case "satisfied":
                return ACCEPTING_SINK
            case "violated":
                return REJECTING_SINK
            case "holding" | "open":
                return state


@dataclass(frozen=True, slots=True)
class Found:
    """A trace that all accept, whether it is known that no other is shorter, and after how many nodes it was found."""

    trace: AbstractTrace
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
    scope: CallScope, components: Sequence[Component], limit: int = NODE_LIMIT, *, shortest: bool = True
) -> Found | Exhausted | Undecided:
    """A trace of the scope, possibly empty, that all components accept.

    With ``shortest``, breadth-first to begin with, so that the trace is a shortest one. Where that takes too many
    nodes, a second walk goes where most is settled: of twenty checks that must all precede one action, in any order,
    it makes one after the other instead of trying every subset.
    """
    if shortest:
        answer = _best_first_search(scope, components, min(limit, BREADTH_FIRST_LIMIT), breadth_first=True)
        if not isinstance(answer, Undecided) or limit <= BREADTH_FIRST_LIMIT:
            return answer
    return _best_first_search(scope, components, limit, breadth_first=False)


_Column = tuple[int, ...]
_States = tuple[int, ...]
_Node = tuple[int, _States]
_MovedColumns = tuple[tuple[int, _Column], ...]
_StepKind = tuple[AbstractCall, _MovedColumns]


@dataclass(frozen=True, slots=True)
class _Move:
    """A step and what it does: the place it leads to, and the columns of the components that it can move."""

    step: AbstractCall
    target: int
    columns: _MovedColumns


def _best_first_search(
    scope: CallScope, components: Sequence[Component], limit: int, *, breadth_first: bool
) -> Found | Exhausted | Undecided:
    """Nodes in the order in which they are met; or those in which most is settled first."""
    if any(_conditions(tool, components)[MAX_CONDITIONS_PER_TOOL:] for tool in scope.tools):
        return Undecided(f"more than {MAX_CONDITIONS_PER_TOOL} conditions on one tool", 0)
    accepting = [component.accepting for component in components]
    start: _Node = (0, tuple(component.initial for component in components))
    if REJECTING_SINK in start[1]:
        return Exhausted(1)
    if _all_accept(accepting, start[1]):
        return Found((), shortest=True, nodes=1)
    kinds = _step_kinds(scope, components)
    moves: dict[int, list[_Move]] = {}
    reached: dict[_Node, tuple[_Node, AbstractCall] | None] = {start: None}
    waiting: list[tuple[int, int, _Node]] = [(0, 0, start)]
    while waiting:
        _, _, node = heapq.heappop(waiting)
        state, states = node
        if state not in moves:
            moves[state] = _moves_at(scope, state, kinds)
        for move in moves[state]:
            after = _after(move, states)
            if after is None or (move.target, after) in reached:
                continue
            following: _Node = (move.target, after)
            reached[following] = (node, move.step)
            if _all_accept(accepting, after):
                return Found(_trace(reached, following), breadth_first, len(reached))
            if len(reached) > limit:
                return Undecided(f"more than {limit} states", len(reached))
            urgency = 0 if breadth_first else _distance_estimate(components, after)
            heapq.heappush(waiting, (urgency, len(reached), following))
    return Exhausted(len(reached))


def _after(move: _Move, states: _States) -> _States | None:
    """The states after a move, None if one of them is lost."""
    after = list(states)
    for number, column in move.columns:
        after[number] = state = column[states[number]]
        if state == REJECTING_SINK:
            return None
    return tuple(after)


def _step_kinds(scope: CallScope, components: Sequence[Component]) -> list[_StepKind]:
    """The steps with what they do to the components; of steps of one tool that do the same only the first."""
    kinds: dict[object, _StepKind] = {}
    for step in _steps(scope, components):
        columns = [component.column(step) for component in components]
        moving = tuple((number, column) for number, column in enumerate(columns) if not _is_self_loop(column))
        kinds.setdefault((step.tool if step.completed else None, moving), (step, moving))
    return [*kinds.values()]


def _moves_at(scope: CallScope, state: int, kinds: Sequence[_StepKind]) -> list[_Move]:
    """The possible moves at a place; of steps that nothing tells apart there only the first."""
    known: dict[object, _Move] = {}
    for step, moving in kinds:
        target = scope.successor(state, step)
        if target is not None:
            known.setdefault((target, moving), _Move(step, target, moving))
    return [*known.values()]


def _steps(scope: CallScope, components: Sequence[Component]) -> Iterator[AbstractCall]:
    """Every step that the components could tell apart: completed calls first, then with few conditions met."""
    for completed in (True, False):
        for tool in scope.tools:
            conditions = _conditions(tool, components)
            for size in range(len(conditions) + 1):
                for met in combinations(conditions, size):
                    yield AbstractCall(tool, completed, frozenset(met))


def _conditions(tool: str, components: Sequence[Component]) -> list[Condition]:
    """The conditions that the components have on a tool, each once."""
    atoms = [atom for component in components for _, atom in component.automaton.alphabet.by_tool.get(tool, ())]
    return list(dict.fromkeys(atom.condition for atom in atoms if atom.condition is not None))


def _is_self_loop(column: _Column) -> bool:
    """Whether a step with this column changes no state (the last entry stands for none, see `Component.column`)."""
    return column[:-1] == tuple(range(len(column) - 1))


def _all_accept(accepting: Sequence[frozenset[int]], states: Sequence[int]) -> bool:
    return all(state in ends for state, ends in zip(states, accepting, strict=True))


def _distance_estimate(components: Sequence[Component], states: Sequence[int]) -> int:
    return sum(component.distance_estimate(state) for component, state in zip(components, states, strict=True))


def _trace(reached: dict[_Node, tuple[_Node, AbstractCall] | None], node: _Node) -> AbstractTrace:
    steps: list[AbstractCall] = []
    while (step := reached[node]) is not None:
        node, step = step
        steps.append(step)
    return tuple(reversed(steps))


def instance_bodies(formulas: Sequence[Formula]) -> list[Formula]:
    """What formulas say of the value that is followed: quantified ones without their quantifier, over one variable."""
    names = [formula.variable for formula in formulas if isinstance(formula, ForAll)]
    return [rename_variable(formula, names[0]).body if isinstance(formula, ForAll) else formula for formula in formulas]


def overapproximation(body: Formula) -> Formula:
    """What holds of the value followed on every trace that keeps the rule with this body."""
    if not any(atom.variables for atom in atoms_of([body])):
        return body
    occurrences = [
        atom
        for atom in atoms_of([body])
        if atom.condition is not None and not _satisfiable_without_value(atom.condition, True)
    ]
    if not occurrences:
        return Top()
    return Or(body, Always(Not(Or(*occurrences) if len(occurrences) > 1 else occurrences[0])))


def keeping_component(automaton: Automaton) -> Component:
    """A component that every trace passes that keeps the rule of an automaton; of other traces, hardly any."""
    formula = automaton.formula
    return Component(compile_formula(overapproximation(formula.body)) if isinstance(formula, ForAll) else automaton)


def _satisfiable_without_value(condition: Condition, truth: bool) -> bool:
    """Whether a condition can have that truth for a value that does not occur."""
    match condition:
        case Comparison() if condition_variables(condition):
            return not truth
        case NotCondition(part):
            return _satisfiable_without_value(part, not truth)
        case AndCondition(parts) | OrCondition(parts):
            every = isinstance(condition, AndCondition) is truth
            return (all if every else any)(_satisfiable_without_value(part, truth) for part in parts)
        case _:
            return True
