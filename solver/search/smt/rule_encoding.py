"""Encoding of rules over a bounded sequence of steps, of which some are open.

    encoding = RuleEncoding(environment, logic, bounds)
    encoding.push(step)                     # and pop(): the caller works with solver.push() and pop()
    encoding.kept_at_end(rule)              # the trace ends here
    encoding.may_still_be_kept(rule)        # true if some continuation keeps the rule

The truth of a formula at a step is expanded by the equations of `lawtrace.solver.logic.syntax`, on the normal form that
monitors evaluate, once for each subformula, step and values of variables. `exists x: f` is true if f is for one of the
terms that the parts of f equate x with: objects are compared, not enumerated. Where nothing
is open, a truth is a Python bool.

Rules without time and variables run their automaton. A quantified automaton runs for each term that occurs for its
variable, where it occurs.

`may_still_be_kept` takes what the future decides as favourable. An operator about the future then has two readings:
under an even number of negations it is true if a continuation could make it so, under an odd one only if every
continuation does.

A condition that cannot be encoded is left unconstrained and named in `unsupported`.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison, equations
from lawtrace.solver.logic.core import holds_without_events
from lawtrace.solver.logic.safety import finds
from lawtrace.solver.logic.terms import BoundVariable, Term
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.search.smt.open_values import SymbolicValue, Unsupported
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.search.smt.symbolic_trace import Values
from lawtrace.solver.search.smt.symbolic_windows import TimeBounds
from lawtrace.solver.search.smt.term_encoding import Future, Place, TermEncoding

Rule = Automaton | FirstOrderRule


@dataclass(frozen=True, slots=True)
class _Node:
    """What is known of a subformula: its free variables, and whether it is about the future."""

    variables: tuple[str, ...]
    future: bool


class RuleEncoding(TermEncoding):
    """The truth of rules over steps."""

    def __init__(self, environment: Environment, logic: SymbolicLogic, bounds: TimeBounds) -> None:
        super().__init__(environment, logic, bounds)
        self._nodes: Final[dict[int, _Node]] = {}
        self._distinct: Final[dict[s.Formula, _Node]] = {}

    # Rules

    def kept_at_end(self, rule: Rule) -> Truth:
        """The truth that the trace keeps the rule, if it ends here. What is owed then is not kept."""
        return self._rule(rule, Future.NONE)

    def may_still_be_kept(self, rule: Rule) -> Truth:
        """The truth that the rule may still be kept; it holds if a continuation keeps the rule."""
        return self._rule(rule, Future.POSSIBLE)

    def _rule(self, rule: Rule, future: Future) -> Truth:
        self._kept_alive[id(rule)] = rule
        if isinstance(rule, Automaton):
            return self._automaton(rule, future)
        if not self.length:
            return future is not Future.NONE or holds_without_events(rule.normal)
        return self._truth(rule.normal, 0, {}, future)

    # Automata

    def _automaton(self, automaton: Automaton, future: Future) -> Truth:
        if not automaton.is_quantified:
            return self._accepted(automaton, {}, future)
        (variable,) = automaton.alphabet.variables
        instances = list[Truth]()
        for occurs, value in self._occurrences(automaton, instances):
            accepted = self._accepted(automaton, {variable: value}, future)
            instances.append(self.logic.any([self.logic.negate(occurs), accepted]))
        return self.logic.all(instances)

    def _accepted(self, automaton: Automaton, values: Values, future: Future) -> Truth:
        here = self._states(automaton, values)
        accepting = (
            automaton.accepting
            if future is Future.NONE
            else [state for state in range(len(automaton.table)) if automaton.can_accept(state)]
        )
        if len(accepting) > len(automaton.table) / 2:
            return self.logic.negate(
                self.logic.any(here[state] for state in range(len(automaton.table)) if state not in accepting)
            )
        return self.logic.any(here[state] for state in sorted(accepting))

    def _states(self, automaton: Automaton, values: Values) -> list[Truth]:
        """For each state the truth that the automaton is in it after the steps."""
        self._kept_alive[id(automaton)] = automaton
        key = (id(automaton), *map(self._key, values.values()))
        first = self.length
        while first and key not in self._known[first]:
            first -= 1
        if not first:
            self._known[0][key] = [state == automaton.initial for state in range(len(automaton.table))]
        for position in range(first, self.length):
            here = self._known[position][key]
            arrivals: list[list[Truth]] = [[] for _ in automaton.table]
            for letter, met in self._letters(automaton, position, values):
                for state, truth in enumerate(here):
                    if truth is not False:
                        arrivals[automaton.step(state, letter)].append(self.logic.all([truth, met]))
            self._known[position + 1][key] = [self.logic.any(alternatives) for alternatives in arrivals]
        return self._known[self.length][key]

    def _letters(self, automaton: Automaton, position: int, values: Values) -> Iterator[tuple[int, Truth]]:
        """The letters that a step may be, each with its truth."""
        others: list[Truth] = []
        for call in self._calls[position]:
            bits = automaton.alphabet.by_tool.get(call.tool, ())
            if not bits:
                continue
            others.append(call.made)
            place = Place(position, self._times[position], call)
            letters: list[tuple[int, Truth]] = [(0, call.made)]
            for bit, atom in bits:
                met = self._meets(atom, place, values)
                split = [(letter | bit, self.logic.all([truth, met])) for letter, truth in letters]
                split += [(letter, self.logic.all([truth, self.logic.negate(met)])) for letter, truth in letters]
                letters = [(letter, truth) for letter, truth in split if truth is not False]
            yield from ((letter, truth) for letter, truth in letters if letter in automaton.alphabet.columns)
        nothing = self.logic.negate(self.logic.any(others))
        if nothing is not False:
            yield 0, nothing

    def _occurrences(self, automaton: Automaton, instances: list[Truth]) -> list[tuple[Truth, SymbolicValue]]:
        """The values that occur for the variable, each with the truth that it does.

        For values that cannot be encoded an unconstrained truth is added to the `instances`.
        """
        found: dict[Hashable, tuple[list[Truth], SymbolicValue]] = {}
        for calls in self._calls:
            for call in calls:
                for path, spread, _ in automaton.alphabet.bound_fields.get(call.tool, ()):
                    try:
                        read = self._elements(self._reader.field(call, path), spread=spread)
                    except Unsupported as error:
                        instances.append(self._unconstrained(f"`{call.tool}`, `{path}`: {error}"))
                        continue
                    for there, value in read:
                        occurs = self.logic.all([call.made, there])
                        if occurs is not False:
                            found.setdefault(self._key(value), ([], value))[0].append(occurs)
        return [(self.logic.any(truths), value) for truths, value in found.values()]

    # Formulas

    def _node(self, formula: s.Formula) -> _Node:
        """Equal subformulas, also of different rules, are one node, so that their truth is found once."""
        if id(formula) not in self._nodes:
            if formula not in self._distinct:
                future = any(isinstance(part, s.Until | s.Next) for part in s.subformulas(formula))
                self._distinct[formula] = _Node(tuple(sorted(s.free_variables(formula))), future)
            self._nodes[id(formula)] = self._distinct[formula]
            self._kept_alive[id(formula)] = formula
        return self._nodes[id(formula)]

    def _truth(self, formula: s.Formula, i: int, values: Values, future: Future) -> Truth:
        """The truth of a formula in normal form at step i."""
        if isinstance(formula, s.Top | s.Bottom):
            return isinstance(formula, s.Top)
        node = self._node(formula)
        if not node.future:
            future = Future.NONE
        known = self._known[self.length if node.future else i + 1]
        key = (id(node), i, future, *(self._key(values[name]) for name in node.variables))
        if key not in known:
            known[key] = self._expanded(formula, i, values, future)
        return known[key]

    def _expanded(self, formula: s.Formula, i: int, values: Values, future: Future) -> Truth:
        match formula:
            case s.Atom():
                return self._atom(formula, i, values)
            case s.Compare(comparison):
                return self._compared(comparison, Place(i, self._times[i], None), values)
            case s.Not(operand):
                return self.logic.negate(self._truth(operand, i, values, future.opposite()))
            case s.And(parts):
                return self.logic.all(self._truth(part, i, values, future) for part in parts)
            case s.Or(parts):
                return self.logic.any(self._truth(part, i, values, future) for part in parts)
            case s.Exists(_, body):
                return self._exists(body, i, values, future)
            case s.Next(operand, window):
                if i + 1 == self.length:
                    return future is Future.POSSIBLE and self._may_open(window, i)
                inside = self._inside(window, i, i + 1)
                return self.logic.all(self._lazily(inside, lambda: self._truth(operand, i + 1, values, future)))
            case s.Yesterday(operand, window):
                if not i:
                    return False
                inside = self._inside(window, i - 1, i)
                return self.logic.all(self._lazily(inside, lambda: self._truth(operand, i - 1, values, future)))
            case s.Until() | s.Since():
                return self._until_or_since(formula, i, values, future)
            case _:
                raise TypeError(formula)

    def _until_or_since(self, formula: s.Until | s.Since, i: int, values: Values, future: Future) -> Truth:
        """`f U g` looks at the steps from i on, `f S g` at those back to the first."""
        left, right, window, later = formula.left, formula.right, formula.window, isinstance(formula, s.Until)
        steps = range(i, self.length) if later else range(i, -1, -1)
        if window.unlimited and len(steps) > 1:  # linear: at the furthest steps first, so that the stack stays flat
            beyond: Truth = False
            for j in reversed(steps[1:]):
                beyond = self._truth(formula, j, values, future)
            met = self._truth(right, i, values, future)
            if met is True or beyond is False:
                return met
            return self.logic.any([met, self.logic.all([self._truth(left, i, values, future), beyond])])
        found: list[Truth] = []
        so_far: list[Truth] = []
        for j in steps:
            inside = self._inside(window, min(i, j), max(i, j))
            met = self.logic.all((*so_far, *self._lazily(inside, lambda j=j: self._truth(right, j, values, future))))
            if met is True:
                return True
            found.append(met)
            still = self._truth(left, j, values, future)
            if still is False:
                return self.logic.any(found)
            if still is not True:
                so_far.append(still)
        if later and future is Future.POSSIBLE:
            found.append(self.logic.all((*so_far, self._may_open(window, i))))
        return self.logic.any(found)

    def _exists(self, body: s.Formula, i: int, values: Values, future: Future) -> Truth:
        found = list[Truth]()
        for assignment in self._assignments(body, i, values, found):
            truth = self._truth(body, i, assignment, future)
            if truth is True:
                return True
            found.append(truth)
        return self.logic.any(found)

    # Which values a formula may be true for

    def _assignments(self, formula: s.Formula, i: int, values: Values, found: list[Truth]) -> list[Values]:
        """Values of the other variables of the formula that include all for which it is true at step i.

        Where a value cannot be encoded, an unconstrained truth is added to what was `found`.
        """
        names = self._node(formula).variables
        distinct: dict[Hashable, Values] = {}
        for assignment in self._finding(formula, i, values, found):
            key = tuple(self._key(assignment[name]) for name in names)
            if key not in distinct:  # without the variables of quantifiers inside
                distinct[key] = {**values, **{name: assignment[name] for name in names}}
        return list(distinct.values())

    def _finding(self, formula: s.Formula, i: int, values: Values, found: list[Truth]) -> Iterator[Values]:
        if all(name in values for name in self._node(formula).variables):
            yield values
            return
        match formula:
            case s.Atom():
                yield from self._finding_in_calls(formula, i, values, found)
            case s.Compare(Comparison(left, _, right)):
                yield from self._finding_by_equation(formula, left, right, i, values, found)
            case s.Exists(_, body):
                yield from self._finding(body, i, values, found)
            case s.And(parts):
                yield from self._finding_in_order(list(parts), i, values, found)
            case s.Or(parts):
                for part in parts:
                    yield from self._finding(part, i, values, found)
            case s.Yesterday(operand):
                if i:
                    yield from self._finding(operand, i - 1, values, found)
            case s.Since(_, right, window):
                for j in range(i, -1, -1):
                    if self._inside(window, j, i) is not False:
                        yield from self._assignments(right, j, values, found)
            case _:
                raise TypeError(formula)

    def _finding_in_order(self, parts: list[s.Formula], i: int, values: Values, found: list[Truth]) -> Iterator[Values]:
        """The values for which all parts may be true: each part is asked when it finds its other variables."""
        bound = frozenset(values)
        waiting = [part for part in parts if not set(self._node(part).variables) <= bound]
        if not waiting:
            yield values
            return
        ready = [part for part in waiting if finds(part, bound)]
        first = min(ready, key=lambda part: not isinstance(part, s.Atom | s.Compare))
        others = [part for part in waiting if part is not first]
        for assignment in self._assignments(first, i, values, found):
            if self._node(first).future or self._truth(first, i, assignment, Future.NONE) is not False:
                yield from self._finding_in_order(others, i, assignment, found)

    def _finding_in_calls(self, atom: s.Atom, i: int, values: Values, found: list[Truth]) -> Iterator[Values]:
        for call in self._calls[i]:
            if call.tool != atom.tool:
                continue
            assignments: list[Values] = [values]
            for name, path, spread in equations(atom.condition):
                if name in assignments[0]:
                    continue
                try:
                    read = self._elements(self._reader.field(call, path), spread=spread)
                except Unsupported as error:
                    found.append(self._unconstrained(f"`{atom}`: {error}"))
                    read = []
                assignments = [{**one, name: value} for one in assignments for _, value in read]
                if not assignments:
                    break
            yield from assignments

    def _finding_by_equation(
        self, formula: s.Compare, left: Term, right: Term, i: int, values: Values, found: list[Truth]
    ) -> Iterator[Values]:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, BoundVariable) and one.name not in values:
                try:
                    read = self._elements(self._value(other, Place(i, self._times[i], None), values), spread=False)
                except Unsupported as error:
                    found.append(self._unconstrained(f"`{formula}`: {error}"))
                    read = []
                yield from ({**values, one.name: value} for _, value in read)
                return
