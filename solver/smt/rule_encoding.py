"""Encoding of rules over a bounded sequence of steps, of which some are open.

    encoding = RuleEncoding(environment, logic)
    encoding.push(step)                     # and pop(): the caller works with solver.push() and pop()
    encoding.kept_at_end(rule)              # the trace ends here
    encoding.may_still_be_kept(rule)        # true if some continuation keeps the rule

The truth of a formula at a step is expanded by the equations of `lawtrace.solver.ltlf.syntax`, on the normal form that
monitors evaluate, once for each subformula, step and values of variables. `exists x: f` is true if f is for one of the
terms that the parts of f equate x with: objects are compared, not enumerated. Nothing is open in a concrete trace, so
its truth is a Python bool.

Rules without time and variables run their automaton. A quantified automaton runs for each term that occurs for its
variable, where it occurs.

`may_still_be_kept` takes what the future decides as favourable. An operator about the future then has two readings:
under an even number of negations it is true if a continuation could make it so, under an odd one only if every
continuation does.

A condition that cannot be encoded is left unconstrained and named in `unsupported`.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Final, cast

import z3

from lawtrace.environments.events import Event
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.ltlf import Automaton, MetricRule
from lawtrace.solver.ltlf.conditions import (
    AndCondition,
    Comparison,
    Condition,
    ElementCondition,
    IsTrue,
    NotCondition,
    OrCondition,
    bound_fields,
    condition_variables,
    conjuncts,
    tracked_comparison,
)
from lawtrace.solver.ltlf.evaluation import Evaluator
from lawtrace.solver.ltlf.syntax import (
    And,
    Atom,
    Bottom,
    Compare,
    EventAggregate,
    Exists,
    Formula,
    Next,
    Not,
    Or,
    RelationAggregate,
    Since,
    Top,
    Until,
    Yesterday,
    free_variables,
    subformulas,
)
from lawtrace.solver.ltlf.terms import (
    Arithmetic,
    BoundVariable,
    Computed,
    Element,
    FieldPath,
    FunctionCall,
    LiteralList,
    LiteralValue,
    Now,
    Position,
    SpanLiteral,
    Term,
    Time,
    is_value,
)
from lawtrace.solver.ltlf.windows import Window
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.smt.symbolic_steps import Step, StepCall, StepReader
from lawtrace.solver.smt.symbolic_values import (
    NO_VALUE,
    Alternatives,
    Open,
    OpenList,
    SymbolicValue,
    SymbolicValues,
    Unsupported,
    elements,
    is_open,
    only,
    open_time,
)
from lawtrace.solver.smt.symbolic_windows import UNBOUNDED, Seconds, SymbolicWindows, TimeBounds

Rule = Automaton | MetricRule
Values = Mapping[str, SymbolicValue]
"""The values of variables and of elements of lists, by name."""

_NOTHING: Final = Event("", {})


class _Future(Enum):
    """How formulas read the steps after the last one."""

    NONE = "the trace ends"
    POSSIBLE = "a continuation could make it true"
    CERTAIN = "every continuation makes it true"

    def opposite(self) -> "_Future":
        """The reading under a negation."""
        match self:
            case _Future.NONE:
                return self
            case _Future.POSSIBLE:
                return _Future.CERTAIN
            case _Future.CERTAIN:
                return _Future.POSSIBLE


@dataclass(frozen=True, slots=True)
class _Node:
    """What is known of a subformula: its free variables, and whether it is about the future."""

    variables: tuple[str, ...]
    future: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a term is evaluated: a step, or one call of it."""

    position: int
    time: Seconds
    call: StepCall | None


class RuleEncoding:
    """The truth of rules over steps.

    Attributes:
        unsupported: why some condition was left unconstrained, a sentence each.
    """

    def __init__(
        self, environment: Environment, logic: SymbolicLogic, steps: Sequence[Step] = (), bounds: TimeBounds = UNBOUNDED
    ) -> None:
        self.unsupported: Final[dict[str, None]] = {}
        self.logic: Final = logic
        self._values: Final = SymbolicValues(logic)
        self._windows: Final = SymbolicWindows(logic, bounds)
        self._reader: Final = StepReader(environment, logic, self._values)
        self._bounds: Final = bounds
        self._evaluator: Final = Evaluator()
        self._calls: Final[list[tuple[StepCall, ...]]] = []
        self._times: Final[list[Seconds]] = []
        self._known: Final[list[dict[Hashable, Any]]] = [{}]  # by the number of steps that a truth depends on
        self._nodes: Final[dict[int, _Node]] = {}
        self._kept_alive: Final[dict[int, Any]] = {}  # what dictionary keys name by its id
        self._unknown = 0
        for step in steps:
            self.push(step)

    # Steps

    def push(self, step: Step) -> None:
        """Append a step."""
        self._calls.append(self._reader.calls(step))
        self._times.append(step.time)
        self._known.append({})

    def pop(self) -> None:
        """Remove the last step."""
        del self._calls[-1], self._times[-1], self._known[-1]

    @property
    def length(self) -> int:
        return len(self._calls)

    # Rules

    def kept_at_end(self, rule: Rule) -> Truth:
        """The truth that the trace keeps the rule, if it ends here. What is owed then is not kept."""
        return self._rule(rule, _Future.NONE)

    def may_still_be_kept(self, rule: Rule) -> Truth:
        """The truth that the rule may still be kept; it holds if a continuation keeps the rule."""
        return self._rule(rule, _Future.POSSIBLE)

    def _rule(self, rule: Rule, future: _Future) -> Truth:
        self._kept_alive[id(rule)] = rule
        if isinstance(rule, Automaton):
            return self._automaton(rule, future)
        if not self.length:
            return future is not _Future.NONE or rule.holds_without_events()
        return self._truth(rule.normal, 0, {}, future)

    # Automata

    def _automaton(self, automaton: Automaton, future: _Future) -> Truth:
        if not automaton.is_quantified:
            return self._accepted(automaton, {}, future)
        (variable,) = automaton.alphabet.variables
        instances = _Found([])
        for occurs, value in self._occurrences(automaton, instances):
            accepted = self._accepted(automaton, {variable: value}, future)
            instances.truths.append(self.logic.any([self.logic.negate(occurs), accepted]))
        return self.logic.all(instances.truths)

    def _accepted(self, automaton: Automaton, values: Values, future: _Future) -> Truth:
        here = self._states(automaton, values)
        accepting = (
            automaton.accepting
            if future is _Future.NONE
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
            place = _Place(position, self._times[position], call)
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

    def _occurrences(self, automaton: Automaton, instances: "_Found") -> list[tuple[Truth, SymbolicValue]]:
        """The values that occur for the variable, each with the truth that it does.

        For values that cannot be encoded an unconstrained truth is added to the `instances`.
        """
        found: dict[Hashable, tuple[list[Truth], SymbolicValue]] = {}
        for calls in self._calls:
            for call in calls:
                for path, spread, attempted in automaton.alphabet.bound_fields.get(call.tool, ()):
                    here = self.logic.all([call.made, True if attempted else call.completed])
                    try:
                        read = self._elements(self._reader.field(call, path), spread=spread)
                    except Unsupported as error:
                        instances.truths.append(self._unconstrained(f"`{call.tool}`, `{path}`: {error}"))
                        continue
                    for there, value in read:
                        occurs = self.logic.all([here, there])
                        if occurs is not False:
                            found.setdefault(self._key(value), ([], value))[0].append(occurs)
        return [(self.logic.any(truths), value) for truths, value in found.values()]

    def _elements(self, read: Alternatives, *, spread: bool) -> list[tuple[Truth, SymbolicValue]]:
        """The values that a variable can have where it is equated with a field, or its elements."""
        if spread:
            read = [(self.logic.all([a, b]), item) for a, value in read for b, item in elements(value)]
        return [(here, value) for here, value in read if isinstance(value, Open) or is_value(value)]

    # Formulas

    def _node(self, formula: Formula) -> _Node:
        if id(formula) not in self._nodes:
            future = any(isinstance(part, Until | Next) for part in subformulas(formula))
            self._nodes[id(formula)] = _Node(tuple(sorted(free_variables(formula))), future)
            self._kept_alive[id(formula)] = formula
        return self._nodes[id(formula)]

    def _truth(self, formula: Formula, i: int, values: Values, future: _Future) -> Truth:
        """The truth of a formula in normal form at step i."""
        match formula:
            case Top():
                return True
            case Bottom():
                return False
            case _:
                pass
        node = self._node(formula)
        if not node.future:
            future = _Future.NONE
        known = self._known[self.length if node.future else i + 1]
        key = (id(formula), i, future, *(self._key(values[name]) for name in node.variables))
        if key not in known:
            known[key] = self._expanded(formula, i, values, future)
        return known[key]

    def _expanded(self, formula: Formula, i: int, values: Values, future: _Future) -> Truth:
        match formula:
            case Atom():
                return self._atom(formula, i, values)
            case Compare(comparison):
                return self._compared(comparison, _Place(i, self._times[i], None), values)
            case Not(operand):
                return self.logic.negate(self._truth(operand, i, values, future.opposite()))
            case And(parts):
                return self._all(self._truth(part, i, values, future) for part in parts)
            case Or(parts):
                return self._any(self._truth(part, i, values, future) for part in parts)
            case Exists(_, body):
                return self._exists(body, i, values, future)
            case Next(operand, window):
                if i + 1 == self.length:
                    return future is _Future.POSSIBLE and self._may_open(window, i)
                inside = self._inside(window, i, i + 1)
                return self._all(self._lazily(inside, lambda: self._truth(operand, i + 1, values, future)))
            case Yesterday(operand, window):
                if not i:
                    return False
                inside = self._inside(window, i - 1, i)
                return self._all(self._lazily(inside, lambda: self._truth(operand, i - 1, values, future)))
            case Until():
                return self._until(formula, i, values, future)
            case Since():
                return self._since(formula, i, values, future)
            case _:
                raise TypeError(formula)

    def _until(self, formula: Until, i: int, values: Values, future: _Future) -> Truth:
        left, right, window = formula.left, formula.right, formula.window
        if window.unlimited and i + 1 < self.length:  # linear: at later steps first, so that the stack stays flat
            following: Truth = False
            for j in range(self.length - 1, i, -1):
                following = self._truth(formula, j, values, future)
            met = self._truth(right, i, values, future)
            if met is True or following is False:
                return met
            return self.logic.any([met, self._all([self._truth(left, i, values, future), following])])
        found: list[Truth] = []
        so_far: list[Truth] = []
        for j in range(i, self.length):
            inside = self._inside(window, i, j)
            met = self._all((*so_far, *self._lazily(inside, lambda j=j: self._truth(right, j, values, future))))
            if met is True:
                return True
            found.append(met)
            still = self._truth(left, j, values, future)
            if still is False:
                return self.logic.any(found)
            if still is not True:
                so_far.append(still)
        if future is _Future.POSSIBLE:
            found.append(self._all((*so_far, self._may_open(window, i))))
        return self.logic.any(found)

    def _since(self, formula: Since, i: int, values: Values, future: _Future) -> Truth:
        left, right, window = formula.left, formula.right, formula.window
        if window.unlimited and i:
            before: Truth = False
            for j in range(i):
                before = self._truth(formula, j, values, future)
            met = self._truth(right, i, values, future)
            if met is True or before is False:
                return met
            return self.logic.any([met, self._all([self._truth(left, i, values, future), before])])
        found: list[Truth] = []
        so_far: list[Truth] = []
        for j in range(i, -1, -1):
            inside = self._inside(window, j, i)
            met = self._all((*so_far, *self._lazily(inside, lambda j=j: self._truth(right, j, values, future))))
            if met is True:
                return True
            found.append(met)
            still = self._truth(left, j, values, future)
            if still is False:
                break
            if still is not True:
                so_far.append(still)
        return self.logic.any(found)

    def _inside(self, window: Window, earlier: int, later: int) -> Truth:
        """Whether a step is in the window from another."""
        if window.unlimited:
            return True
        known, key = self._known[later + 1], (window, earlier, later)
        if key not in known:
            times = self._times[earlier], self._times[later]
            known[key] = self._or_unknown(str(window), lambda: self._windows.contains(window, *times))
        return known[key]

    def _may_open(self, window: Window, i: int) -> Truth:
        """Whether a step after the last one can be in the window from step i."""
        if window.unlimited:
            return True
        earlier, last = self._times[i], self._times[-1]
        end = self._bounds.end
        return self._or_unknown(
            str(window),
            lambda: self.logic.all(
                [
                    self.logic.negate(self._windows.closed(window, earlier, last)),
                    True if end is None else self._windows.opened(window, earlier, end),
                ]
            ),
        )

    def _exists(self, body: Formula, i: int, values: Values, future: _Future) -> Truth:
        found = _Found([])
        for assignment in self._assignments(body, i, values, found):
            truth = self._truth(body, i, assignment, future)
            if truth is True:
                return True
            found.truths.append(truth)
        return self.logic.any(found.truths)

    # Which values a formula may be true for

    def _assignments(self, formula: Formula, i: int, values: Values, found: "_Found") -> list[Values]:
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

    def _finding(self, formula: Formula, i: int, values: Values, found: "_Found") -> Iterator[Values]:
        if all(name in values for name in self._node(formula).variables):
            yield values
            return
        match formula:
            case Atom():
                yield from self._finding_in_calls(formula, i, values, found)
            case Compare(Comparison(left, _, right)):
                yield from self._finding_by_equation(formula, left, right, i, values, found)
            case Exists(_, body):
                yield from self._finding(body, i, values, found)
            case And(parts):
                yield from self._finding_in_order(list(parts), i, values, found)
            case Or(parts):
                for part in parts:
                    yield from self._finding(part, i, values, found)
            case Yesterday(operand):
                if i:
                    yield from self._finding(operand, i - 1, values, found)
            case Since(_, right, window):
                for j in range(i, -1, -1):
                    if self._inside(window, j, i) is not False:
                        yield from self._assignments(right, j, values, found)
            case _:
                raise TypeError(formula)

    def _finding_in_order(self, parts: list[Formula], i: int, values: Values, found: "_Found") -> Iterator[Values]:
        """The values for which all parts may be true: each part is asked when it finds its other variables."""
        bound = frozenset(values)
        waiting = [part for part in parts if not set(self._node(part).variables) <= bound]
        if not waiting:
            yield values
            return
        ready = [part for part in waiting if self._evaluator.finds(part, bound)]
        first = min(ready, key=lambda part: not isinstance(part, Atom | Compare))
        others = [part for part in waiting if part is not first]
        for assignment in self._assignments(first, i, values, found):
            if self._node(first).future or self._truth(first, i, assignment, _Future.NONE) is not False:
                yield from self._finding_in_order(others, i, assignment, found)

    def _finding_in_calls(self, atom: Atom, i: int, values: Values, found: "_Found") -> Iterator[Values]:
        equated = [
            (name, path, spread)
            for part in conjuncts(atom.condition)
            if isinstance(part, Comparison) and tracked_comparison(part) is not None
            for path, spread in bound_fields(part)
            for name in condition_variables(part)
        ]
        for call in self._calls[i]:
            if call.tool != atom.tool or (not atom.attempted and call.completed is False):
                continue
            assignments: list[Values] = [values]
            for name, path, spread in equated:
                if name in assignments[0]:
                    continue
                try:
                    read = self._elements(self._reader.field(call, path), spread=spread)
                except Unsupported as error:
                    found.truths.append(self._unconstrained(f"`{atom}`: {error}"))
                    read = []
                assignments = [{**one, name: value} for one in assignments for _, value in read]
                if not assignments:
                    break
            yield from assignments

    def _finding_by_equation(
        self, formula: Compare, left: Term, right: Term, i: int, values: Values, found: "_Found"
    ) -> Iterator[Values]:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, BoundVariable) and one.name not in values:
                try:
                    read = self._elements(self._value(other, _Place(i, self._times[i], None), values), spread=False)
                except Unsupported as error:
                    found.truths.append(self._unconstrained(f"`{formula}`: {error}"))
                    read = []
                yield from ({**values, one.name: value} for _, value in read)
                return

    # Atoms and conditions

    def _atom(self, atom: Atom, i: int, values: Values) -> Truth:
        calls = [call for call in self._calls[i] if call.tool == atom.tool]
        time = self._times[i]
        return self._any(
            self._all(self._lazily(call.made, lambda call=call: self._meets(atom, _Place(i, time, call), values)))
            for call in calls
        )

    def _meets(self, atom: Atom, place: _Place, values: Values) -> Truth:
        """Whether a call that is made satisfies the atom."""
        call = place.call
        if call is None:
            raise TypeError(atom)
        names = sorted(atom.variables)
        if call.event is not None and not any(is_open(values[name]) for name in names if name in values):
            concrete = {name: cast("Any", values[name]) for name in names if name in values}
            return atom.matches(call.event, concrete)
        completed = True if atom.attempted else call.completed
        if atom.condition is None or completed is False:
            return completed
        key = (id(atom), *(self._key(values[name]) for name in names if name in values))
        if key not in call.known:
            call.known[key] = self._condition(atom.condition, atom.tool, place, values)
        return self.logic.all([completed, call.known[key]])

    def _condition(self, condition: Condition, tool: str, place: _Place, values: Values) -> Truth:
        match condition:
            case NotCondition(part):
                return self.logic.negate(self._condition(part, tool, place, values))
            case AndCondition(parts):
                return self._all(self._condition(part, tool, place, values) for part in parts)
            case OrCondition(parts):
                return self._any(self._condition(part, tool, place, values) for part in parts)
            case Comparison():
                return self._or_unknown(f"{tool}({condition})", lambda: self._comparison(condition, place, values))
            case IsTrue(field):
                return self._or_unknown(
                    f"{tool}({condition})",
                    lambda: self._values.compare(self._value(field, place, values), "==", only(True)),
                )
            case ElementCondition():
                return self._or_unknown(
                    f"{tool}({condition})", lambda: self._any_element(condition, tool, place, values)
                )

    def _any_element(self, condition: ElementCondition, tool: str, place: _Place, values: Values) -> Truth:
        cases: list[Truth] = []
        for here, found in self._value(condition.elements, place, values):
            if not isinstance(found, list | OpenList):
                continue
            met = [
                (there, self._condition(condition.part, tool, place, {**values, condition.name: item}))
                for there, item in elements(found)
            ]
            if condition.quantifier == "any":
                truth = self.logic.any(self.logic.all(pair) for pair in met)
            else:
                truth = self.logic.all(self.logic.any([self.logic.negate(a), b]) for a, b in met)
            cases.append(self.logic.all([here, truth]))
        return self.logic.any(cases)

    def _compared(self, comparison: Comparison, place: _Place, values: Values) -> Truth:
        return self._or_unknown(str(comparison), lambda: self._comparison(comparison, place, values))

    def _comparison(self, comparison: Comparison, place: _Place, values: Values) -> Truth:
        left, right = (self._value(side, place, values) for side in (comparison.left, comparison.right))
        return self._values.compare(left, comparison.operator, right)

    # Terms

    def _value(self, term: Term, place: _Place, values: Values) -> Alternatives:
        """The value of a term at a step, or of a call of it. Raises Unsupported."""
        match term:
            case FieldPath():
                return NO_VALUE if place.call is None else self._reader.field(place.call, term)
            case LiteralValue() | LiteralList() | SpanLiteral():
                return only(term.value(_NOTHING))
            case BoundVariable(name):
                return only(values[name]) if name in values else NO_VALUE
            case Element(name, path):
                return self._values.part(only(values[name]), path) if name in values else NO_VALUE
            case Now():
                return only(open_time(place.time))
            case Position():
                return only(place.position)
            case Arithmetic(left, sign, right):
                sides = self._value(left, place, values), self._value(right, place, values)
                return self._values.each(partial(self._values.calculate, sign), *sides)
            case FunctionCall(function, arguments):
                read = [self._value(argument, place, values) for argument in arguments]
                if any(not alternatives for alternatives in read):
                    return NO_VALUE
                return self._values.each(partial(self._values.apply, function), *read)
            case EventAggregate():
                return self._event_aggregate(term, place.position, values)
            case RelationAggregate():
                return self._relation_aggregate(term, place.position, values)
            case Computed():
                raise TypeError(term)

    def _event_aggregate(self, aggregate: EventAggregate, i: int, values: Values) -> Alternatives:
        entries: list[tuple[Truth, SymbolicValue]] = []
        after: Truth = True  # that no step from here to i has the event after which entries count
        for j in range(i, -1, -1):
            if aggregate.since is not None:
                after = self.logic.all(
                    [after, self.logic.negate(self._truth(aggregate.since, j, values, _Future.NONE))]
                )
            inside = self.logic.all([after, self._inside(aggregate.window, j, i)])
            if after is False:
                break
            if inside is not False:
                entries[:0] = self._entries(aggregate, j, inside, values)
        if aggregate.distinct:
            entries = list(self._values.distinct(entries))
        return self._values.summary(aggregate.function, entries)

    def _entries(self, aggregate: EventAggregate, j: int, inside: Truth, values: Values) -> Alternatives:
        """What the calls of a step contribute to an aggregate."""
        entries: list[tuple[Truth, SymbolicValue]] = []
        for call in self._calls[j]:
            if call.tool != aggregate.atom.tool:
                continue
            place = _Place(j, self._times[j], call)
            here = self.logic.all([inside, call.made, self._meets(aggregate.atom, place, values)])
            if here is False:
                continue
            read = only(0) if aggregate.term is None else self._value(aggregate.term, place, values)
            entries += [(self.logic.all([here, there]), value) for there, value in read]
        return entries

    def _relation_aggregate(self, aggregate: RelationAggregate, i: int, values: Values) -> Alternatives:
        found = _Found([])
        place = _Place(i, self._times[i], None)
        counted: list[tuple[Truth, Values]] = []
        entries: list[tuple[Truth, SymbolicValue]] = []
        for assignment in self._assignments(aggregate.formula, i, values, found):
            here = self._truth(aggregate.formula, i, assignment, _Future.NONE)
            earlier = [
                self.logic.all([there, *(self._values.same(assignment[n], other[n]) for n in aggregate.variables)])
                for there, other in counted
            ]
            here = self.logic.all([here, self.logic.negate(self.logic.any(earlier))])
            if here is False:
                continue
            counted.append((here, assignment))
            read = only(0) if aggregate.term is None else self._value(aggregate.term, place, assignment)
            entries += [(self.logic.all([here, there]), value) for there, value in read]
        if found.truths:
            raise Unsupported("an aggregate over values that are not followed")
        return self._values.summary(aggregate.function, entries)

    # Connectives

    def _all(self, truths: "Iterator[Truth] | Sequence[Truth]") -> Truth:
        """The conjunction; the rest is not evaluated after a part that is false."""
        parts: list[Truth] = []
        for truth in truths:
            if truth is False:
                return False
            parts.append(truth)
        return self.logic.all(parts)

    def _any(self, truths: "Iterator[Truth] | Sequence[Truth]") -> Truth:
        """The disjunction; the rest is not evaluated after a part that is true."""
        parts: list[Truth] = []
        for truth in truths:
            if truth is True:
                return True
            parts.append(truth)
        return self.logic.any(parts)

    def _lazily(self, condition: Truth, then: Callable[[], Truth]) -> Iterator[Truth]:
        """A truth and, unless it is false, another."""
        yield condition
        if condition is not False:
            yield then()

    def _or_unknown(self, text: str, encode: Callable[[], Truth]) -> Truth:
        try:
            return encode()
        except Unsupported as error:
            return self._unconstrained(f"`{text}`: {error}")

    def _unconstrained(self, reason: str) -> z3.BoolRef:
        self.unsupported[reason] = None
        self._unknown += 1
        return z3.Bool(f"unknown {self._unknown}")

    def _key(self, value: SymbolicValue) -> Hashable:
        """A value as part of a dictionary key."""
        if isinstance(value, Open):
            self._kept_alive[value.expression.get_id()] = value.expression
            return "open", value.kind, value.expression.get_id(), value.scale
        if is_open(value):
            self._kept_alive[id(value)] = value
            return "part", id(value)
        if is_value(value):
            return isinstance(value, bool), isinstance(value, Time), value
        return repr(value)


@dataclass(slots=True)
class _Found:
    """The truths of the instances of a quantifier."""

    truths: list[Truth]
