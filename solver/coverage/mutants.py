"""Mutants: a compliant trace with one change.

    drop, move, swap, duplicate    a compliance call is left out, moved, exchanged with its neighbour, called twice
    argument, result               a value that a rule compares with a constant is changed; a list of events is wrong
    late, early                    a call comes one second outside a window of a rule (`timed_mutants`)
    other object                   a value that a rule compares between calls is replaced (`value_mutants`)
    limit                          a sum, count or amount passes a limit of a rule by one unit (`value_mutants`)

A mutant says which calls to make with which pauses; the simulator executes it. A changed result is substituted
afterwards.
"""

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import FromTrace
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.findings import MutationKind
from lawtrace.solver.logic.conditions import (
    Comparison,
    Condition,
    comparisons_in,
    condition_leaves,
    condition_variables,
    operands,
    subconditions,
)
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.logic.terms import RESULT, Element, FieldPath, LiteralList, LiteralValue, leaves
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

MutantCall = tuple[str, Mapping[str, Json]]
"""A tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A trace with one change.

    Attributes:
        change: the change in words.
        calls: the calls to make.
        answers: by index of call, the result to substitute.
        pauses: by index of call, the seconds that pass before it.
    """

    kind: MutationKind
    change: str
    calls: tuple[MutantCall, ...]
    answers: Mapping[int, Json] = field(default_factory=dict[int, Json])
    pauses: Mapping[int, int] = field(default_factory=dict[int, int])


def calls_of(trace: Trace) -> tuple[MutantCall, ...]:
    """The calls of a trace."""
    return tuple((event.tool, event.arguments) for event in trace.events)


def step_name(trace: Trace, index: int) -> str:
    """A call in words, by its tool and its number."""
    return f"{trace.events[index].tool} (call {index + 1})"


def call_mutants(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[Mutant]:
    """Every single change of a compliance call and of the values that rules compare with constants."""
    calls = calls_of(trace)
    for index, event in enumerate(trace.events):
        if event.tool in environment.compliance_tools:
            yield from _order_mutants(calls, index)
        values = list(_field_mutations(rules, event))
        changes = list(_list_mutations(environment, event))
        for place, value in values:
            name = str(place.path[0])
            if name in event.arguments and name != RESULT:
                changes.append((name, _replace_at(event.arguments[name], place.path[1:], value)))
        for name, value in {str(change): change for change in changes}.values():
            yield with_value("argument", trace, index, FieldPath((name,)), value)
        for place, value in values:
            if place.path[0] == RESULT:
                yield with_value("result", trace, index, place, value)


def with_value(kind: MutationKind, trace: Trace, index: int, place: FieldPath, value: Json) -> Mutant:
    """The trace with another value at a place of a call, which must be there."""
    calls, name, path = calls_of(trace), str(place.path[0]), place.path[1:]
    if name == RESULT:
        change = f"{step_name(trace, index)} answering {place} = {_shown(value)}"
        return Mutant(kind, change, calls, {index: _replace_at(trace.events[index].result, path, value)})
    tool, arguments = calls[index]
    changed = {**arguments, name: _replace_at(arguments.get(name), path, value)}
    change = f"{step_name(trace, index)} with {place} = {_shown(value)}"
    return Mutant(kind, change, (*calls[:index], (tool, changed), *calls[index + 1 :]))


def value_in(event: Event, place: FieldPath) -> Json:
    """The value at a place of a call; None if there is none."""
    first, *rest = place.path
    return _value_at(event.result if first == RESULT else event.arguments.get(str(first)), rest)


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else repr(value)


def _order_mutants(calls: Sequence[MutantCall], index: int) -> Iterator[Mutant]:
    step = f"{calls[index][0]} (call {index + 1})"
    rest = [*calls[:index], *calls[index + 1 :]]
    yield Mutant("drop", f"{step} dropped", tuple(rest))
    yield Mutant("duplicate", f"{step} called twice", (*calls[: index + 1], *calls[index:]))
    for target in range(len(calls)):
        if abs(target - index) == 1:
            kind: MutationKind = "swap"
            change = f"{step} exchanged with call {target + 1}"
        elif target != index:
            kind, change = "move", f"{step} moved to place {target + 1}"
        else:
            continue
        yield Mutant(kind, change, (*rest[:target], calls[index], *rest[target:]))


def _list_mutations(environment: Environment, event: Event) -> Iterator[tuple[str, Json]]:
    """Wrong lists of events: each event omitted if others remain, and an event that never happened added."""
    for parameter in environment.tools[event.tool].parameters:
        value = event.arguments.get(parameter.name)
        if not isinstance(parameter.source, FromTrace) or not isinstance(value, list):
            continue
        for index in range(len(value)):
            if len(value) > 1:
                yield parameter.name, [*value[:index], *value[index + 1 :]]
        unknown = [name for name in environment.event_names if name not in value]
        yield parameter.name, [unknown[0] if unknown else "SOMETHING_ELSE"]


def _field_mutations(rules: Sequence[Rule], event: Event) -> Iterator[tuple[FieldPath, Json]]:
    """Other values of the fields that rules read, except in comparisons with variables."""
    atoms = [atom for rule in rules for atom in atoms_of([rule.parsed]) if atom.tool == event.tool]
    conditions = [atom.condition for atom in atoms if atom.condition is not None]
    found = (leaf for condition in conditions for leaf in condition_leaves(condition))
    read = {str(leaf.path[0]) for leaf in found if isinstance(leaf, Element) and leaf.path}
    fields: dict[FieldPath, list[Json]] = {}
    for condition in conditions:
        for place in sorted(_fields_without_variables(condition), key=str):
            fields.setdefault(place, []).extend(_constants(condition))
    for place, constants in fields.items():
        now = value_in(event, place)
        for value in (*_other_values(now, constants), *_changed_fields(now, constants, read)):
            yield place, value


def _fields_without_variables(condition: Condition) -> set[FieldPath]:
    """The fields in it, without those of comparisons with variables."""
    return {
        leaf
        for part in subconditions(condition)
        if not isinstance(part, Comparison) or not condition_variables(part)
        for term in operands(part)
        for leaf in leaves(term)
        if isinstance(leaf, FieldPath)
    }


def _constants(condition: Condition) -> Iterator[Json]:
    for comparison in comparisons_in(condition):
        for operand in operands(comparison):
            if isinstance(operand, LiteralValue):
                yield operand.content
            elif isinstance(operand, LiteralList):
                yield from (item.content for item in operand.items)


def _other_values(value: Json, constants: Sequence[Json]) -> list[Json]:
    """Other values of the same type: for a number those around the constants, for a list one item less or more."""
    others: list[Json]
    match value:
        case bool():
            others = [not value]
        case int() | float():
            near = [number for number in constants if isinstance(number, int | float) and not isinstance(number, bool)]
            others = [other for number in near or [value] for other in (number - 1, number, number + 1)]
        case str():
            others = [*(text for text in constants if isinstance(text, str)), f"not {value}"]
        case list():
            others = [[*value[:index], *value[index + 1 :]] for index in range(len(value))]
            if not any(isinstance(item, dict) for item in value):
                others.append([*value, *(constant for constant in constants[:1] if constant not in value)])
        case _:
            others = []
    return [other for index, other in enumerate(others) if other != value and other not in others[:index]]


def _changed_fields(value: Json, constants: Sequence[Json], read: Set[str]) -> Iterator[Json]:
    """A list of objects with a constant in a field of one of them, of those that rules read."""
    for index, item in enumerate(value if isinstance(value, list) else ()):
        for name in [name for name in item if name in read] if isinstance(item, dict) else ():
            for other in _other_values(_value_at(item, (name,)), constants):
                if other in constants:
                    yield _replace_at(value, (index, name), other)


def _value_at(value: Json, path: Sequence[str | int]) -> Json:
    """The value at the end of the path; None if there is none."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _replace_at(whole: Json, path: Sequence[str | int], value: Json) -> Json:
    """The JSON value with another value at the end of the path, which must exist."""
    if not path:
        return value
    first, *rest = path
    if isinstance(whole, dict):
        return {**whole, str(first): _replace_at(whole.get(str(first)), rest, value)}
    assert isinstance(whole, list)
    assert isinstance(first, int)
    return [*whole[:first], _replace_at(whole[first], rest, value), *whole[first + 1 :]]
