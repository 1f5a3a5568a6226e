"""Values that depend on what Z3 chooses, beside JSON values and times: what a term of a rule can be over open calls.

A term has *alternatives*: values under conditions that exclude each other; where none of these holds, it has no value.
Numbers are whole numbers over a scale (money: hundredths), so arithmetic is exact, where the language computes with
floats. Texts are indices into the pool of `SymbolicLogic`, dates and moments the numbers of their type.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import z3

from lawtrace.environments.spec.clock import SECONDS_PER_DAY
from lawtrace.environments.spec.logic import Cases
from lawtrace.environments.spec.open_types import NUMBER
from lawtrace.environments.spec.types import (
    BOOLEAN,
    INTEGER,
    MINUTES_PER_DAY,
    MONEY,
    TIME,
    Calendar,
    ListOf,
    ObjectOf,
    ValueType,
)
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.logic.terms import Kind, Missing, Time, kind_of
from lawtrace.solver.logic.terms import Value as Concrete
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic


def calendar_numbers(kind: ValueType) -> range | None:
    """The internal forms of a type whose external form is a text in ascending order; None for others."""
    if isinstance(kind, Calendar):
        units = SECONDS_PER_DAY // kind.unit
        return range(units, (dt.date.max.toordinal() + 1) * units)
    return range(MINUTES_PER_DAY) if kind == TIME else None


class Unsupported(Exception):
    """A part of a rule that cannot be encoded; the message says which."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbolic:
    """A scalar that depends on the model: the expression over the scale.

    Attributes:
        calendar: of a text that is a date, a moment or a time of day: its type, whose internal form the expression has.
    """

    kind: Literal["boolean", "number", "string", "time"]
    expression: Any
    scale: int = 1
    calendar: ValueType | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OpenList:
    """A list: items in order, each with the truth that it is there. `counted`: an item stands for one element only."""

    items: "tuple[tuple[Truth, SymbolicValue], ...]"
    counted: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class OpenObject:
    """An object: the alternatives of each field."""

    fields: "Mapping[str, Alternatives]"


SymbolicValue = Concrete | Symbolic | OpenList | OpenObject
Alternatives = Sequence[tuple[Truth, SymbolicValue]]
NO_VALUE: Final[Alternatives] = ()


def singleton(value: SymbolicValue) -> Alternatives:
    """The alternatives of a value that is always there."""
    return NO_VALUE if isinstance(value, Missing) else ((True, value),)


def is_open(value: SymbolicValue) -> bool:
    return isinstance(value, Symbolic | OpenList | OpenObject)


def value_kind(value: SymbolicValue) -> Kind | None:
    """The kind of the value, as `kind_of`."""
    match value:
        case Symbolic():
            return value.kind
        case OpenList():
            return "list"
        case OpenObject():
            return "object"
        case _:
            return kind_of(value)


def from_internal(logic: SymbolicLogic, value_type: ValueType, value: Any) -> SymbolicValue:  # noqa: ANN401 (internal form)
    """A value in internal form, maybe an expression, as rules see it."""
    if isinstance(value_type, ListOf):
        items = [
            each for item in cast("Sequence[Any]", value) for each in alternatives_of(logic, value_type.items, item)
        ]
        if any(here is not True or is_open(item) for here, item in items):
            return OpenList(tuple(items))
        return cast("Concrete", [item for _, item in items])
    if isinstance(value_type, ObjectOf):
        fields = {
            name: alternatives_of(logic, part, value[name])
            for name, part in value_type.fields.items()
            if value[name] is not None
        }
        certain = all(len(found) == 1 and found[0][0] is True and not is_open(found[0][1]) for found in fields.values())
        return cast("Concrete", value_type.encode(value)) if certain else OpenObject(fields)
    if z3.is_expr(value):
        value = _constant(logic, value_type, value)
    if not z3.is_expr(value):
        return value_type.encode(value)
    if value_type in (MONEY, INTEGER, NUMBER):
        return Symbolic("number", value, cast("int", value_type.decode(1)))
    if value_type == BOOLEAN:
        return Symbolic("boolean", value)
    return Symbolic("string", value, calendar=None if calendar_numbers(value_type) is None else value_type)


def alternatives_of(logic: SymbolicLogic, value_type: ValueType, value: Any) -> Alternatives:  # noqa: ANN401 (internal form)
    """The alternatives of a value in internal form."""
    if not isinstance(value, Cases):
        return singleton(from_internal(logic, value_type, value))
    cases = ((truth, one) for truth, one in value.cases if one is not None)
    return [(truth, from_internal(logic, value_type, one)) for truth, one in cases]


def _constant(logic: SymbolicLogic, value_type: ValueType, value: Any) -> Any:  # noqa: ANN401 (internal form)
    """The value of an expression that is a constant; else the expression."""
    if z3.is_true(value) or z3.is_false(value):
        return z3.is_true(value)
    if not z3.is_int_value(value):
        return value
    number = value.as_long()
    is_text = value_type not in (MONEY, INTEGER, NUMBER) and calendar_numbers(value_type) is None
    return logic.word(number) if is_text else number


def open_time(seconds: Any) -> SymbolicValue:  # noqa: ANN401 (a number or an expression)
    """A time in seconds as a value."""
    return Symbolic("time", seconds) if z3.is_expr(seconds) else Time(seconds)
