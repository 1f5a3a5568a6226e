"""What rules read of parts that a tool without state leaves open, and whether a recorded call has it.

Where a declaration says what a value is, a missing field or another kind of value is a gap in the record
(`lawtrace.runs.audit.missing_data`). Where it says nothing, a comparison with what is not there would be false,
silently. So the rule is undetermined there. Null is known: it is no value, and comparisons with it are false.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.open_types import ANY, OrNull
from lawtrace.environments.spec.types import ListOf, ObjectOf, ValueType
from lawtrace.schemas.events import Event, Json, event_labels
from lawtrace.solver.logic import terms
from lawtrace.solver.logic.conditions import TEXTS, Comparison, Condition, ElementCondition, IsTrue, condition_parts
from lawtrace.solver.logic.syntax import Atom, EventAggregate, Formula, aggregates_of, subformulas
from lawtrace.solver.logic.terms import NAMES

_EACH: Final = -1
"""Stands in a path for each element of a list, or each name of a field of an object."""
Steps = tuple[str | int, ...]
Kinds = tuple[terms.Kind, ...]
_CONTAINERS: Final[Kinds] = ("list", "object")


@dataclass(frozen=True, slots=True)
class OpenRead:
    """A part of a call that a rule reads and the declaration leaves open.

    Attributes:
        kinds: the kinds of value that the condition can be true of; empty for any.
        attempted: whether the condition is about calls that did not complete, too.
    """

    tool: str
    path: Steps
    type: ValueType
    kinds: Kinds = ()
    attempted: bool = False

    def __str__(self) -> str:
        return terms.path_text([step for step in self.path if step != _EACH])


@dataclass(frozen=True, slots=True)
class LostRead:
    """A part that a call does not have.

    Attributes:
        event: the index of the call among the events.
        reason: what is missing, for readers.
        read: what the rule reads.
    """

    event: int
    reason: str
    read: str


class OpenReads(tuple[OpenRead, ...]):
    """The open parts that one rule reads."""

    __slots__ = ()

    def lost(self, events: Sequence[Event]) -> LostRead | None:
        """The first part that a call does not have; None if each is there."""
        for read in self:
            for number, event in enumerate(events):
                if event.tool != read.tool or not (event.completed or read.attempted):
                    continue
                first, *steps = read.path
                if first != terms.RESULT and first not in event.arguments:
                    continue
                value = event.result if first == terms.RESULT else event.arguments[str(first)]
                if (why := _lost(value, read.type, tuple(steps), (first,), read.kinds)) is not None:
                    call = f"call {event_labels(events)[number]}, {read.tool}"
                    return LostRead(number, f"{call}: {why}, and the tool's schema leaves it open", str(read))
        return None


def find_open_reads(formula: Formula, environment: Environment) -> OpenReads:
    """The parts that a rule reads and the tools without state leave open; none if the environment has a state."""
    if environment.simulated:
        return OpenReads()
    found: dict[OpenRead, None] = {}
    for tool, path, kinds, attempted in _reads(formula):
        declared = environment.tools.get(tool)
        if declared is None:
            continue
        if path[0] == terms.RESULT:
            value_type = ANY if declared.returns is None else declared.returns
        else:
            value_type = next((one.type for one in declared.parameters if one.name == path[0]), ANY)
        if _is_open(value_type, path[1:]):
            found[OpenRead(tool, path, value_type, kinds, attempted)] = None
    return OpenReads(found)


def _is_open(value_type: ValueType, steps: Steps) -> bool:
    """Whether the way to a part leads through fields of any name or a value of any type, or ends in one."""
    if isinstance(value_type, OrNull):
        return _is_open(value_type.value, steps)
    if value_type == ANY or not steps:
        return value_type == ANY
    step, *rest = steps
    match value_type:
        case ListOf(items=items):
            return _is_open(items, tuple(rest) if isinstance(step, int) else steps)
        case ObjectOf(fields=fields) if step in fields:
            return _is_open(fields[str(step)], tuple(rest))
        case ObjectOf(others=others):
            return step != _EACH and others is not None
        case _:
            return False


_Read = tuple[str, Steps, Kinds, bool]


def _reads(formula: Formula) -> Iterator[_Read]:
    for node in subformulas(formula):
        if isinstance(node, Atom):
            for path, wanted in () if node.condition is None else _of_condition(node.condition, {}):
                yield node.tool, path, wanted, node.attempted
        for aggregate in aggregates_of(node):
            if isinstance(aggregate, EventAggregate) and aggregate.term is not None:
                kinds: Kinds = () if aggregate.function in ("count", "last") else ("number", "time")
                for path, wanted in _of_term(aggregate.term, kinds, {}):
                    yield aggregate.atom.tool, path, wanted, aggregate.atom.attempted


def _of_condition(condition: Condition, elements: Mapping[str, Steps]) -> Iterator[tuple[Steps, Kinds]]:
    match condition:
        case IsTrue(field):
            yield from _of_term(field, ("boolean",), elements)
        case Comparison(left, "in", right):
            yield from _of_term(left, (), elements)
            yield from _of_term(right, _CONTAINERS, elements)
        case Comparison(left, operator, right) if operator in TEXTS:
            yield from _of_term(left, ("string",), elements)
            yield from _of_term(right, ("string",), elements)
        case Comparison(left, _, right):
            yield from _of_term(left, _kinds_beside(right), elements)
            yield from _of_term(right, _kinds_beside(left), elements)
        case ElementCondition(_, name, over, _):
            yield from _of_term(over, _CONTAINERS, elements)
            path = _path(over, elements)
            elements = {**elements, **({} if path is None else {name: (*path, _EACH)})}
        case _:
            pass
    for part in condition_parts(condition):
        yield from _of_condition(part, elements)


def _of_term(term: terms.Term, kinds: Kinds, elements: Mapping[str, Steps]) -> Iterator[tuple[Steps, Kinds]]:
    match term:
        case terms.FieldPath() | terms.Element():
            if (path := _path(term, elements)) is not None:
                yield path, kinds
        case terms.Arithmetic(left, _, right):
            yield from _of_term(left, (), elements)
            yield from _of_term(right, (), elements)
        case terms.FunctionCall(function, arguments):
            for argument in arguments:
                yield from _of_term(argument, terms.FUNCTIONS[function].accepts, elements)
        case _:
            pass


def _path(term: terms.Term, elements: Mapping[str, Steps]) -> Steps | None:
    """The path of a field, or of a part of a named element; None for other terms."""
    if isinstance(term, terms.FieldPath):
        return term.path
    if isinstance(term, terms.Element) and term.name in elements:
        return (*elements[term.name], *term.path)
    return None


def _kinds_beside(other: terms.Term) -> Kinds:
    """The kinds that can be compared with a literal; any beside other terms. A text may be compared with a time."""
    kind = terms.kind_of(other.content) if isinstance(other, terms.LiteralValue) else None
    return () if kind is None else (kind,)


def _lost(value: Json, declared: ValueType, steps: Steps, before: Steps, kinds: Kinds) -> str | None:
    """Why a part is not there, if nothing declares that it may be absent; None if it is there, or known to be absent.

    ``before``: the path of the value itself.
    """
    if value is None and (before != (terms.RESULT,) or isinstance(declared, OrNull) or not steps):
        return None
    if isinstance(declared, OrNull):
        declared = declared.value
    if not steps:
        kind = terms.kind_of(value)
        if declared is not ANY or not kinds or kind is None or kind in kinds:
            return None
        return f"{terms.path_text(before)} is {NAMES[kind]}"
    step, *rest = steps
    if step == _EACH or (isinstance(value, list) and isinstance(step, str)):
        inner = declared.items if isinstance(declared, ListOf) else ANY
        items: Sequence[Json] = value if isinstance(value, list) else [*value] if isinstance(value, dict) else ()
        further = tuple(rest) if step == _EACH else steps
        found = (_lost(item, inner, further, (*before, number), kinds) for number, item in enumerate(items))
        return next((why for why in found if why is not None), None)
    if isinstance(declared, ListOf) or isinstance(value, list):
        items = value if isinstance(value, list) else ()
        inner = declared.items if isinstance(declared, ListOf) else ANY
        inside = isinstance(step, int) and step < len(items)
        return _lost(items[cast("int", step)], inner, tuple(rest), (*before, step), kinds) if inside else None
    if isinstance(declared, ObjectOf):
        if not isinstance(value, dict):
            return None
        known = declared.fields.get(str(step), declared.others)
        if known is None or (step in declared.fields and step not in value):
            return None
        declared = known
    elif declared is not ANY:
        return None
    if not isinstance(value, dict):
        return f"{terms.path_text(before)} is {NAMES[terms.kind_of(value) or 'null']} and has no part {step!r}"
    if step not in value:
        return f"{terms.path_text(before)} has no field {step!r}"
    return _lost(value[str(step)], declared, tuple(rest), (*before, step), kinds)
