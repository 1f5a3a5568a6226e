"""Encoding of conditions, terms and aggregates at a step of which something is open."""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from typing import Final

from lawtrace.environments.spec.types import Value as Truth
from lawtrace.schemas.events import Event
from lawtrace.solver.logic import conditions as c
from lawtrace.solver.logic import terms as t
from lawtrace.solver.logic.syntax import Atom, EventAggregate, Formula, RelationAggregate
from lawtrace.solver.search.smt.open_values import (
    NO_VALUE,
    Alternatives,
    SymbolicValue,
    Unsupported,
    open_time,
    singleton,
    value_kind,
)
from lawtrace.solver.search.smt.symbolic_trace import StepCall, SymbolicTrace, Values
from lawtrace.solver.search.smt.symbolic_values import elements
from lawtrace.solver.search.smt.symbolic_windows import Seconds

_NOTHING: Final = Event("", {})


class Future(Enum):
    """How formulas read the steps after the last one."""

    NONE = "the trace ends"
    POSSIBLE = "a continuation could make it true"
    CERTAIN = "every continuation makes it true"

    def opposite(self) -> "Future":
        """The reading under a negation."""
        match self:
            case Future.NONE:
                return self
            case Future.POSSIBLE:
                return Future.CERTAIN
            case Future.CERTAIN:
                return Future.POSSIBLE


@dataclass(frozen=True, slots=True)
class Place:
    """Where a term is evaluated: a step, or one call of it."""

    position: int
    time: Seconds
    call: StepCall | None


class TermEncoding(SymbolicTrace):
    """The truth of conditions and the values of terms. What formulas are true, a subclass says."""

    def _truth(self, formula: Formula, i: int, values: Values, future: Future) -> Truth:
        """The truth of a formula in normal form at step i."""
        raise NotImplementedError

    def _assignments(self, formula: Formula, i: int, values: Values, found: list[Truth]) -> list[Values]:
        """Values of the other variables of the formula that include all for which it is true at step i.

        Where a value cannot be encoded, an unconstrained truth is added to what was `found`.
        """
        raise NotImplementedError

    def _atom(self, atom: Atom, i: int, values: Values) -> Truth:
        calls = [call for call in self._calls[i] if call.tool == atom.tool]
        time = self._times[i]
        return self.logic.any(
            self.logic.all(self._lazily(call.made, lambda call=call: self._meets(atom, Place(i, time, call), values)))
            for call in calls
        )

    def _meets(self, atom: Atom, place: Place, values: Values) -> Truth:
        """Whether a call that is made satisfies the atom."""
        call = place.call
        if call is None:
            raise TypeError(atom)
        names = sorted(atom.variables)
        if atom.condition is None:
            return True
        key = (atom, *(self._key(values[name]) for name in names if name in values))
        if key not in call.known:
            call.known[key] = self._condition(atom.condition, atom.tool, place, values)
        return call.known[key]

    def _condition(self, condition: c.Condition, tool: str, place: Place, values: Values) -> Truth:
        match condition:
            case c.NotCondition(part):
                return self.logic.negate(self._condition(part, tool, place, values))
            case c.AndCondition(parts):
                return self.logic.all(self._condition(part, tool, place, values) for part in parts)
            case c.OrCondition(parts):
                return self.logic.any(self._condition(part, tool, place, values) for part in parts)
            case c.Comparison():
                known = {} if place.call is None else place.call.known
                key = (condition, *(self._key(values[name]) for name in _names_in(condition) if name in values))
                if key not in known:
                    known[key] = self._or_unknown(
                        f"{tool}({condition})", lambda: self._comparison(condition, place, values)
                    )
                return known[key]
            case c.IsTrue(field):
                return self._or_unknown(
                    f"{tool}({condition})",
                    lambda: self._values.compare(self._value(field, place, values), "==", singleton(True)),
                )
            case c.ElementCondition():
                return self._or_unknown(
                    f"{tool}({condition})", lambda: self._any_element(condition, tool, place, values)
                )

    def _any_element(self, condition: c.ElementCondition, tool: str, place: Place, values: Values) -> Truth:
        cases: list[Truth] = []
        for here, found in self._value(condition.elements, place, values):
            if value_kind(found) not in ("list", "object"):
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

    def _compared(self, comparison: c.Comparison, place: Place, values: Values) -> Truth:
        return self._or_unknown(str(comparison), lambda: self._comparison(comparison, place, values))

    def _comparison(self, comparison: c.Comparison, place: Place, values: Values) -> Truth:
        left, right = (self._value(side, place, values) for side in (comparison.left, comparison.right))
        return self._values.compare(left, comparison.operator, right)

    def _value(self, term: t.Term, place: Place, values: Values) -> Alternatives:
        """The value of a term at a step, or of a call of it. Raises Unsupported."""
        match term:
            case t.FieldPath():
                return NO_VALUE if place.call is None else self._reader.field(place.call, term)
            case t.LiteralValue() | t.LiteralList() | t.SpanLiteral():
                return singleton(term.value(_NOTHING))
            case t.BoundVariable(name):
                return singleton(values[name]) if name in values else NO_VALUE
            case t.Element(name, path):
                return self._values.part(singleton(values[name]), path) if name in values else NO_VALUE
            case t.Now():
                return singleton(open_time(place.time))
            case t.Position():
                return singleton(place.position)
            case t.Arithmetic(left, sign, right):
                sides = self._value(left, place, values), self._value(right, place, values)
                return self._values.each(partial(self._values.calculate, sign), *sides)
            case t.FunctionCall(function, arguments):
                read = [self._value(argument, place, values) for argument in arguments]
                if any(not alternatives for alternatives in read):
                    return NO_VALUE
                return self._values.each(partial(self._values.apply, function), *read)
            case EventAggregate():
                return self._event_aggregate(term, place.position, values)
            case RelationAggregate():
                return self._relation_aggregate(term, place.position, values)
            case t.Computed():
                raise TypeError(term)

    def _event_aggregate(self, aggregate: EventAggregate, i: int, values: Values) -> Alternatives:
        entries: list[tuple[Truth, SymbolicValue]] = []
        after: Truth = True  # that no step from here to i has the event after which entries count
        for j in range(i, -1, -1):
            if aggregate.since is not None:
                after = self.logic.all([after, self.logic.negate(self._truth(aggregate.since, j, values, Future.NONE))])
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
            place = Place(j, self._times[j], call)
            here = self.logic.all([inside, call.made, self._meets(aggregate.atom, place, values)])
            if here is False:
                continue
            read = singleton(0) if aggregate.term is None else self._value(aggregate.term, place, values)
            entries += [(self.logic.all([here, there]), value) for there, value in read]
        return entries

    def _relation_aggregate(self, aggregate: RelationAggregate, i: int, values: Values) -> Alternatives:
        found = list[Truth]()
        place = Place(i, self._times[i], None)
        counted: list[tuple[Truth, Values]] = []
        entries: list[tuple[Truth, SymbolicValue]] = []
        for assignment in self._assignments(aggregate.formula, i, values, found):
            here = self._truth(aggregate.formula, i, assignment, Future.NONE)
            earlier = [
                self.logic.all([there, *(self._values.same(assignment[n], other[n]) for n in aggregate.variables)])
                for there, other in counted
            ]
            here = self.logic.all([here, self.logic.negate(self.logic.any(earlier))])
            if here is False:
                continue
            counted.append((here, assignment))
            read = singleton(0) if aggregate.term is None else self._value(aggregate.term, place, assignment)
            entries += [(self.logic.all([here, there]), value) for there, value in read]
        if found:
            raise Unsupported("an aggregate over values that are not followed")
        return self._values.summary(aggregate.function, entries)


@lru_cache(maxsize=4096)
def _names_in(comparison: c.Comparison) -> tuple[str, ...]:
    """The names of the variables and elements that a comparison reads."""
    leaves = c.condition_leaves(comparison)
    return tuple(sorted({leaf.name for leaf in leaves if isinstance(leaf, t.BoundVariable | t.Element)}))
