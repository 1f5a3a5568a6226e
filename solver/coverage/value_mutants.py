"""Mutants of the values that rules compare between calls: other objects, and one unit over a limit.

*Other object*: a field that a rule equates with a variable gets another value of the same kind: one that the variable
has in another call of the trace, and one that it has nowhere. *Limit*: a number, a date, a sum or a count is changed by
as little as changes the truth of a comparison of a rule; a unit is the smallest step of the type, a cent of an amount.

Left out: limits on `count(for x: f)`, on arithmetic with sums, and on comparisons with `now` and `position`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import ValueResult
from lawtrace.environments.spec.samplers import FiniteSampler
from lawtrace.environments.spec.tools import FromLookup, FromUser
from lawtrace.environments.spec.types import INTEGER, ListOf, ValueType, WrongFormat, WrongType, type_at
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.coverage.mutants import Mutant, calls_of, step_name, value_in, with_value
from lawtrace.solver.coverage.timed_mutants import Tools, time_of, with_surroundings
from lawtrace.solver.logic import terms as t
from lawtrace.solver.logic.conditions import MIRRORED, Comparison, Operator, compare, comparisons_in, equation
from lawtrace.solver.logic.syntax import Atom, Compare, EventAggregate, Formula, atoms_of, subformulas, term_variables
from lawtrace.solver.monitoring.totals import summarise
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

MAX_ADDED_CALLS: Final = 12
"""How many calls are added to reach a limit on their number."""
_NEAREST: Final[Mapping[Operator, tuple[int, int]]] = MappingProxyType(
    {"<": (0, -1), "<=": (1, 0), ">": (0, 1), ">=": (-1, 0)}
)
"""How far from the limit a comparison is false, and how far it is true, at the nearest."""


@dataclass(frozen=True, slots=True)
class FieldOfTool:
    """A field of the calls of a tool."""

    tool: str
    field: t.FieldPath


@dataclass(frozen=True, slots=True)
class _Bound:
    """A field of the calls of a tool, and what a rule compares it with: a term, or a field of other calls."""

    place: FieldOfTool
    operator: Operator
    limit: t.Term | FieldOfTool


def value_mutants(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[Mutant]:
    """The other objects and the passed limits of a trace, each change once."""
    seen: set[str] = set()
    for rule in rules:
        variables = tracked_fields(rule.parsed)
        for mutant in (
            *_object_mutants(environment, variables, trace),
            *_bound_mutants(environment, rule.parsed, variables, trace),
            *_aggregate_mutants(environment, rule.parsed, trace),
        ):
            changed = f"{mutant.kind}: {mutant.calls} {mutant.answers}"
            if changed not in seen:
                seen.add(changed)
                yield mutant


def tracked_fields(formula: Formula) -> dict[str, list[FieldOfTool]]:
    """For each variable of a rule the fields that are equated with it."""
    places: dict[str, dict[FieldOfTool, None]] = {}
    for atom in atoms_of([formula]):
        for comparison in comparisons_in(atom.condition):
            if (equated := equation(comparison)) is not None:
                places.setdefault(equated[0], {})[FieldOfTool(atom.tool, equated[1])] = None
    return {name: list(found) for name, found in places.items()}


def values_of(places: Iterable[FieldOfTool], events: Iterable[Event]) -> list[Scalar]:
    """The values in these fields of the calls, in order, each once."""
    found: dict[tuple[bool, Scalar], Scalar] = {}
    for event in events:
        for place in places:
            value = place.field.value(event) if place.tool == event.tool else None
            for item in value if isinstance(value, list) else [value]:
                if t.is_value(item):
                    found[isinstance(item, bool), item] = item
    return list(found.values())


def _object_mutants(
    environment: Environment, variables: Mapping[str, Sequence[FieldOfTool]], trace: Trace
) -> Iterator[Mutant]:
    for places in variables.values():
        known = values_of(places, trace.events)
        for index, event in enumerate(trace.events):
            for place in places:
                value = value_in(event, place.field) if place.tool == event.tool else None
                if value is None:
                    continue
                own = value if isinstance(value, list) else [value]
                others = [other for other in known if other not in own][:1]
                others += [other for other in _new_values(environment, trace, place, value) if other not in known][:1]
                for other in others:
                    changed: Json = [other, *value[1:]] if isinstance(value, list) else other
                    yield with_value("other object", trace, index, place.field, changed)


def _new_values(environment: Environment, trace: Trace, place: FieldOfTool, value: Json) -> Iterator[Scalar]:
    """Values that the field could have instead."""
    name = str(place.field.path[0])
    if name == t.RESULT or len(place.field.path) > 1:
        if isinstance(value, str):
            yield f"not {value}"
        return
    parameter = environment.tools[place.tool].parameter(name)
    item = parameter.type.items if isinstance(parameter.type, ListOf) else parameter.type
    found: Iterable[object] = ()
    if isinstance(parameter.source, FromLookup):
        entity = parameter.source.entity
        found = (row.values[entity.key] for row in trace.initial.rows(entity.table))
    elif isinstance(parameter.source, FromUser) and isinstance(parameter.source.sampler, FiniteSampler):
        found = parameter.source.sampler.candidates(trace.initial)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found = (item.decode(value) + 1,)
    for candidate in map(item.encode, found):
        if t.is_value(candidate):
            yield candidate


def _bound_mutants(
    environment: Environment, formula: Formula, variables: Mapping[str, Sequence[FieldOfTool]], trace: Trace
) -> Iterator[Mutant]:
    """A field changed so that a comparison with another call's value, or of a variable, changes its truth."""
    for bound in dict.fromkeys(_bounds(formula, variables)):
        kind = _type_of(environment, bound.place)
        for index, event in enumerate(trace.events):
            if event.tool != bound.place.tool:
                continue
            others = [*trace.events[:index], *trace.events[index + 1 :]]
            now = _units(kind, value_in(event, bound.place.field))
            if isinstance(bound.limit, FieldOfTool):
                values: Iterable[t.Value] = values_of([bound.limit], others)
            else:
                values = _term_values(bound.limit, variables, others)
            limits = [_units(kind, value) for value in values]
            if now is None:
                continue
            wanted = [_across(now, bound.operator, limit) for limit in limits if limit is not None]
            for side in ([goal for goal in wanted if goal > now], [goal for goal in wanted if goal < now]):
                if side:
                    nearest = min(side) if side[0] > now else max(side)
                    yield with_value("limit", trace, index, bound.place.field, kind.encode(nearest))


def _bounds(formula: Formula, variables: Mapping[str, Sequence[FieldOfTool]]) -> Iterator[_Bound]:
    """The orders that a rule demands of a field and a value of another call, or of a variable and a constant."""
    for node in subformulas(formula):
        if isinstance(node, Atom):
            for comparison in comparisons_in(node.condition):
                for field, operator, term in _sides(comparison):
                    if isinstance(field, t.FieldPath) and operator not in ("==", "!=") and term_variables(term):
                        own = FieldOfTool(node.tool, field)
                        yield _Bound(own, operator, term)
                        if isinstance(term, t.BoundVariable):
                            for place in variables.get(term.name, ()):
                                yield _Bound(place, MIRRORED[operator], own)
        elif isinstance(node, Compare):
            for variable, operator, term in _sides(node.comparison):
                if isinstance(variable, t.BoundVariable):
                    for place in variables.get(variable.name, ()):
                        yield _Bound(place, operator, term)


def _sides(comparison: Comparison) -> Iterator[tuple[t.Term, Operator, t.Term]]:
    """A comparison of two values read from left to right, and from right to left."""
    if comparison.operator in MIRRORED:
        yield comparison.left, comparison.operator, comparison.right
        yield comparison.right, MIRRORED[comparison.operator], comparison.left


def _term_values(
    term: t.Term, variables: Mapping[str, Sequence[FieldOfTool]], events: Sequence[Event]
) -> list[t.Value]:
    """The values of a term of constants and at most one variable."""
    if not events or any(isinstance(leaf, t.Now | t.Position | t.Computed | t.FieldPath) for leaf in t.leaves(term)):
        return []
    names = sorted(term_variables(term))
    if not names:
        return [term.value(events[0])]
    if names[1:]:
        return []
    return [term.value(events[0], {names[0]: value}) for value in values_of(variables.get(names[0], ()), events)]


def _across(now: int, operator: Operator, limit: int) -> int:
    """The nearest number to the limit for which the comparison with it has the other truth."""
    where_true, where_false = _NEAREST.get(operator, (1, 0))
    return limit + (where_true if compare(now, operator, limit) else where_false)


def _aggregate_mutants(environment: Environment, formula: Formula, trace: Trace) -> Iterator[Mutant]:
    """For each call that counts, the least change of it with which a sum or count passes its limit."""
    for node, around in with_surroundings(formula):
        if not isinstance(node, Compare):
            continue
        for aggregate, operator, term in _sides(node.comparison):
            if isinstance(aggregate, EventAggregate):
                for index, event in enumerate(trace.events):
                    if event.tool == aggregate.atom.tool:
                        yield from _passed(environment, aggregate, operator, term, around, trace, index)


def _passed(
    environment: Environment,
    aggregate: EventAggregate,
    operator: Operator,
    term: t.Term,
    around: Tools | None,
    trace: Trace,
    index: int,
) -> Iterator[Mutant]:
    """The mutant of the call, for the step at which the least change is enough."""
    counts, field = aggregate.function == "count", aggregate.term
    if counts:
        kind = INTEGER
    elif isinstance(field, t.FieldPath):
        kind = _type_of(environment, FieldOfTool(aggregate.atom.tool, field))
    else:
        return
    bindings = _own_bindings(aggregate.atom, trace.events[index])
    found: list[tuple[int, int]] = []
    for step in range(index, len(trace.events)):
        if (trace.events[step].tool not in around) if around else (step != (0 if around is None else index)):
            continue
        now = _units(kind, _aggregated(aggregate, trace.events, step, bindings))
        limit = _units(kind, _value_at(term, trace.events, step, bindings))
        if index in _counted(aggregate, trace.events, step, bindings) and now is not None and limit is not None:
            found.append((now, _across(now, operator, limit)))
    for now, goal in sorted(found, key=lambda pair: abs(pair[1] - pair[0]))[:1]:
        if counts:
            yield from _recounted(environment, aggregate, trace, index, goal - now)
        else:
            assert isinstance(field, t.FieldPath)
            value = _units(kind, value_in(trace.events[index], field))
            if value is not None:
                changed = value + goal - now if aggregate.function == "sum" else goal
                yield with_value("limit", trace, index, field, kind.encode(changed))


def _recounted(
    environment: Environment, aggregate: EventAggregate, trace: Trace, index: int, change: int
) -> Iterator[Mutant]:
    """So many calls more after this one, with other values if these are counted; or so many less up to this one."""
    calls, (tool, arguments) = calls_of(trace), calls_of(trace)[index]
    if change < 0:
        alike = [number for number in range(index + 1) if trace.events[number].tool == tool][change:]
        rest = tuple(call for number, call in enumerate(calls) if number not in alike)
        yield Mutant("limit", f"{-change} calls of {tool} up to call {index + 1} dropped", rest)
        return
    if change > MAX_ADDED_CALLS:
        return
    added = [(tool, arguments)] * change
    field = aggregate.term
    if aggregate.distinct:
        name, *inside = field.path if isinstance(field, t.FieldPath) else (t.RESULT,)
        if not isinstance(field, t.FieldPath) or name == t.RESULT or inside:
            return
        known = values_of([FieldOfTool(tool, field)], trace.events)
        value = arguments.get(str(name))
        new = [v for v in _new_values(environment, trace, FieldOfTool(tool, field), value) if v not in known]
        added = [(tool, {**arguments, str(name): other}) for other in new[:change]]
    if len(added) == change:
        more = f"{change} calls more" + (f" with other values of {field}" if aggregate.distinct else "")
        yield Mutant("limit", f"{step_name(trace, index)}, {more}", (*calls[: index + 1], *added, *calls[index + 1 :]))


def _counted(aggregate: EventAggregate, events: Sequence[Event], step: int, bindings: t.Bindings) -> list[int]:
    """The calls that an aggregate is about at a step."""
    first = 0
    if aggregate.since is not None:
        resets = [place for place in range(step + 1) if aggregate.since.matches(events[place], bindings)]
        first = resets[-1] + 1 if resets else 0
    return [
        place
        for place in range(first, step + 1)
        if aggregate.atom.matches(events[place], bindings)
        and aggregate.window.contains(time_of(events[place]), time_of(events[step]))
    ]


def _aggregated(aggregate: EventAggregate, events: Sequence[Event], step: int, bindings: t.Bindings) -> t.Value:
    """The value of an aggregate at a step; averages are left out."""
    counted = [events[place] for place in _counted(aggregate, events, step, bindings)]
    if aggregate.term is None:
        return len(counted)
    values = [value for event in counted if t.is_value(value := aggregate.term.value(event, bindings))]
    if aggregate.distinct:
        values = [*{(isinstance(value, bool), value): value for value in values}.values()]
    return t.MISSING if aggregate.function == "avg" else summarise(aggregate.function, values)


def _value_at(term: t.Term, events: Sequence[Event], step: int, bindings: t.Bindings) -> t.Value:
    """The value of the other side of a comparison, in which aggregates can occur, too."""
    computed = {
        str(leaf): value
        for leaf in t.leaves(term)
        if isinstance(leaf, EventAggregate) and t.is_value(value := _aggregated(leaf, events, step, bindings))
    }
    return term.value(events[step], {**bindings, **computed})


def _own_bindings(atom: Atom, event: Event) -> dict[str, Json]:
    """The values of variables that an event itself says."""
    found: dict[str, Json] = {}
    for comparison in comparisons_in(atom.condition):
        if (equated := equation(comparison)) is not None and not equated[2]:
            found[equated[0]] = value_in(event, equated[1])
    return found


def _type_of(environment: Environment, place: FieldOfTool) -> ValueType:
    """The declared type of a field; of the fields of rows, whole numbers."""
    tool, path = environment.tools[place.tool], place.field.path
    if path[0] != t.RESULT:
        return type_at(tool.parameter(str(path[0])).type, path[1:]) or INTEGER
    values = {result.name: result.type for result in tool.results if isinstance(result, ValueResult)}
    shown = values.get(str(path[1])) if len(path) > 1 else None
    return (type_at(shown, path[2:]) if shown else None) or INTEGER


def _units(kind: ValueType, value: t.Value) -> int | None:
    """A value as a number of the smallest steps of its type; None if it is no number, date or time."""
    if value is None or isinstance(value, t.Missing):
        return None
    try:
        decoded = kind.decode(value)
    except (WrongType, WrongFormat):
        return None
    return decoded if isinstance(decoded, int) and not isinstance(decoded, bool) else None
