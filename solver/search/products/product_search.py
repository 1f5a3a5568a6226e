"""Search for a trace that several automata accept, in their product built on the fly.

A node is a state of the scope and one state of each automaton. Nodes are created when the search reaches them. An
automaton that accepts every continuation is in `ACCEPTING_SINK`, and a node in which an automaton accepts no
continuation is not created. Without that, n independent rules have 3^n nodes instead of 2^n, most of them dead.

Every answer is a trace, a proof for traces of every length (all nodes were visited, and none accepts), or unknown.

Quantified rules are instantiated for one value, the same for all rules. A trace breaks `forall x: f` if f is false for
some value that occurs. So a search for traces that break one rule and keep others may follow a value for which that
rule is broken; the others hold for every value, hence for this one. Nothing is claimed for a value that does not occur.
Therefore

    traces that break the rule    are among those on which f is false for the value followed
    traces that keep the rule     are among those on which f is true for it, or on which it does not occur

where *does not occur* is over-approximated as well: no condition holds that could not hold without the value. A rule
without such a condition may apply to no value in any trace. So *no trace does this* remains a safe claim with
quantified rules.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.conditions import (
    AndCondition,
    Comparison,
    Condition,
    NotCondition,
    OrCondition,
    condition_variables,
)
from lawtrace.solver.logic.normal_form import rename_variables
from lawtrace.solver.logic.syntax import Always, ForAll, Formula, Not, Or, Top, atoms_of
from lawtrace.solver.search.problem import Budget, Found, Proof, Unknown
from lawtrace.solver.search.products.call_scopes import AbstractCall, AbstractTrace, CallScope

NODE_LIMIT: Final = 20_000
"""The nodes of one search: about a second. Typical rule sets need a few hundred."""

BREADTH_FIRST_LIMIT: Final = 1_000
"""The nodes of the breadth-first phase, which finds a shortest trace."""

MAX_CONDITIONS_PER_TOOL: Final = 8
"""The conditions on one tool in one search; each doubles the steps of its tool."""

ACCEPTING_SINK: Final = -1
"""The state of an automaton that accepts every continuation. As an index it selects the last entry of a column."""

REJECTING_SINK: Final = -2
"""The state of an automaton that rejects every continuation."""


class Component:
    """A component automaton of the product, with its sinks merged.

    Attributes:
        initial: the first state.
        accepting: the states in which a trace may end.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton: Final = automaton
        self.initial: Final = self._collapsed(automaton.initial)
        self.accepting: Final = automaton.accepting | {ACCEPTING_SINK}
        self._columns: Final[dict[int, tuple[int, ...]]] = {}

    def column(self, step: AbstractCall) -> tuple[int, ...]:
        """The next state by the state before; the last entry keeps the accepting sink.

        Entries of merged states are never read; there the step seems to change nothing.
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
        """A rough estimate of the events until the accepting sink."""
        return 0 if state == ACCEPTING_SINK else 1 + (self.automaton.distances[state] or 0)

    def _collapsed(self, state: int) -> int:
        match self.automaton.verdicts[state]:
            case "satisfied":
                return ACCEPTING_SINK
            case "violated":
                return REJECTING_SINK
            case "holding" | "open":
                return state


@dataclass(frozen=True, slots=True)
class FoundSteps(Found[AbstractTrace]):
    """A trace that all components accept. ``shortest``: whether it is known that none is shorter."""

    shortest: bool


ProductAnswer = FoundSteps | Proof[AbstractTrace] | Unknown


def search(
    scope: CallScope, components: Sequence[Component], budget: Budget, *, shortest: bool = True
) -> ProductAnswer:
    """A trace of the scope, possibly empty, that all components accept.

    With ``shortest``, the search begins breadth first, so that the trace is a shortest one. If that takes too many
    nodes, a best-first search follows the nodes closest to the accepting sinks: of twenty checks that must precede one
    action in any order, it makes one after the other instead of trying every subset.
    """
    if shortest:
        few = Budget(BREADTH_FIRST_LIMIT)
        answer = _best_first_search(scope, components, few, breadth_first=True)
        budget.spend(few.steps - few.left)
        if not isinstance(answer, Unknown):
            return answer
    return _best_first_search(scope, components, budget, breadth_first=False)


_Column = tuple[int, ...]
_States = tuple[int, ...]
_Node = tuple[int, _States]
_MovedColumns = tuple[tuple[int, _Column], ...]
_StepKind = tuple[AbstractCall, _MovedColumns]


@dataclass(frozen=True, slots=True)
class _Move:
    """A step, the state of the scope that it leads to, and the columns of the components that it can move."""

    step: AbstractCall
    target: int
    columns: _MovedColumns


def _best_first_search(
    scope: CallScope, components: Sequence[Component], budget: Budget, *, breadth_first: bool
) -> ProductAnswer:
    """Breadth first, or the node with the smallest distance estimate first."""
    if any(_conditions(tool, components)[MAX_CONDITIONS_PER_TOOL:] for tool in scope.tools):
        return Unknown(f"there are more than {MAX_CONDITIONS_PER_TOOL} conditions on one tool")
    accepting = [component.accepting for component in components]
    start: _Node = (0, tuple(component.initial for component in components))
    budget.spend()
    if REJECTING_SINK in start[1]:
        return Proof(scope=scope.name, nodes=1)
    if _all_accept(accepting, start[1]):
        return FoundSteps((), shortest=True)
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
            enough = budget.spend()
            if _all_accept(accepting, after):
                return FoundSteps(_trace(reached, following), breadth_first)
            if not enough:
                return Unknown(f"there are more than {budget.steps} states")
            priority = 0 if breadth_first else _distance_estimate(components, after)
            heapq.heappush(waiting, (priority, len(reached), following))
    return Proof(scope=scope.name, nodes=len(reached))


def _after(move: _Move, states: _States) -> _States | None:
    """The states after a move; None if one of them is a rejecting sink."""
    after = list(states)
    for number, column in move.columns:
        after[number] = state = column[states[number]]
        if state == REJECTING_SINK:
            return None
    return tuple(after)


def _step_kinds(scope: CallScope, components: Sequence[Component]) -> list[_StepKind]:
    """The steps with their columns; of several steps of one tool with equal columns only the first."""
    kinds: dict[object, _StepKind] = {}
    for step in _steps(scope, components):
        columns = [component.column(step) for component in components]
        moving = tuple((number, column) for number, column in enumerate(columns) if not _is_self_loop(column))
        kinds.setdefault((step.tool if step.completed else None, moving), (step, moving))
    return [*kinds.values()]


def _moves_at(scope: CallScope, state: int, kinds: Sequence[_StepKind]) -> list[_Move]:
    """The moves in a state of the scope; of several indistinguishable ones only the first."""
    known: dict[object, _Move] = {}
    for step, moving in kinds:
        target = scope.successor(state, step)
        if target is not None:
            known.setdefault((target, moving), _Move(step, target, moving))
    return [*known.values()]


def _steps(scope: CallScope, components: Sequence[Component]) -> Iterator[AbstractCall]:
    """Every step that the components could distinguish: completed calls first, then few conditions first."""
    for completed in (True, False):
        for tool in scope.tools:
            conditions = _conditions(tool, components)
            for size in range(len(conditions) + 1):
                for met in combinations(conditions, size):
                    yield AbstractCall(tool, completed, frozenset(met))


def _conditions(tool: str, components: Sequence[Component]) -> list[Condition]:
    """The distinct conditions that the components have on a tool."""
    atoms = [atom for component in components for _, atom in component.automaton.alphabet.by_tool.get(tool, ())]
    return list(dict.fromkeys(atom.condition for atom in atoms if atom.condition is not None))


def _is_self_loop(column: _Column) -> bool:
    """Whether a step with this column changes no state (for the last entry see `Component.column`)."""
    return column[:-1] == tuple(range(len(column) - 1))


def _all_accept(accepting: Sequence[frozenset[int]], states: Sequence[int]) -> bool:
    return all(state in ends for state, ends in zip(states, accepting, strict=True))


def _distance_estimate(components: Sequence[Component], states: Sequence[int]) -> int:
    return sum(component.distance_estimate(state) for component, state in zip(components, states, strict=True))


def _trace(reached: dict[_Node, tuple[_Node, AbstractCall] | None], node: _Node) -> AbstractTrace:
    steps: list[AbstractCall] = []
    while (origin := reached[node]) is not None:
        node, step = origin
        steps.append(step)
    return tuple(reversed(steps))


def instance_bodies(formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas for the value followed: quantified ones without their quantifier, over one shared variable."""
    names = [formula.variables[0] for formula in formulas if isinstance(formula, ForAll)]
    return [
        rename_variables(formula.body, {formula.variables[0]: names[0]}) if isinstance(formula, ForAll) else formula
        for formula in formulas
    ]


def overapproximation(body: Formula) -> Formula:
    """A formula that holds, for the value followed, on every trace that keeps the rule with this body."""
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
    """A component that accepts every trace that keeps the automaton's rule, and few others."""
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
