"""Conditions: what an atom may ask of the arguments and the result of one call.

A condition is a boolean expression over one event e. With v(e) for the value of an operand, missing or not:

    e |= x                  iff  v(x) is exactly true                      (only a field can stand alone)
    e |= x == y, x != y     iff  both values are there, of one kind, and equal / not equal
    e |= x <  y  (<= > >=)  iff  both values are there, and both are numbers or both are strings
    e |= x in y             iff  both values are there, y is a list, and some element of it equals x
    e |= not c, c and d, c or d          as in propositional logic

So a comparison with a missing or ill-typed value is false, and `not (a == b)` differs from `a != b` exactly there:
evaluation is total and never raises. Kinds are those of JSON; a whole and a broken number are one kind, and
`true` is not the number 1.

A field is the name of an argument, or ``result``, followed by steps into the JSON value: ``amount``,
``payee.name``, ``result.authorized``, ``result.payees.0.payee_id``. ``result`` therefore never names an argument.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

from environments.errors import FormulaError
from environments.events import Event, Json

__all__ = [
    "RESULT",
    "All",
    "Anyone",
    "Comparison",
    "Condition",
    "Constant",
    "Field",
    "IsTrue",
    "ListOf",
    "No",
    "Operand",
    "Operator",
    "condition_fields",
    "condition_parts",
]

RESULT: Final = "result"
"""The first name of a field that looks at the result of the call instead of at an argument."""

RESERVED_IN_CONDITIONS: Final = frozenset({"and", "or", "not", "in", "true", "false"})

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in"]


class _Missing:
    """The value of a field that the event does not have. It is no JSON value, and null is one."""


_MISSING: Final = _Missing()
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Field:
    """A path into the call: an argument name or ``result``, then steps into the JSON value."""

    path: tuple[str | int, ...]

    def __post_init__(self) -> None:
        if not self.path or isinstance(self.path[0], int):
            raise FormulaError(
                f"a field starts with the name of an argument or with `{RESULT}`, not with {self.path!r}"
            )
        for step in self.path:
            if isinstance(step, str) and (not _NAME.fullmatch(step) or step in RESERVED_IN_CONDITIONS):
                raise FormulaError(f"`{step}` cannot name an argument or a field of a result in a condition")

    def value(self, event: Event) -> Json | _Missing:
        first, *steps = self.path
        value: Json | _Missing = event.result if first == RESULT else event.arguments.get(str(first), _MISSING)
        for step in steps:
            if isinstance(value, Mapping) and isinstance(step, str):
                value = value.get(step, _MISSING)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return _MISSING
        return value

    def __str__(self) -> str:
        return ".".join(map(str, self.path))


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: true, false, a number or a string."""

    value: bool | int | float | str
    boolean: bool = field(init=False, repr=False)  # Python says True == 1; as literals of a rule the two differ

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise FormulaError(f"{self.value} is not a number that a condition can be written with")
        object.__setattr__(self, "boolean", isinstance(self.value, bool))

    def __str__(self) -> str:
        return json.dumps(self.value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of literals, as in ``category in ["rent", "energy"]``."""

    items: tuple[Constant, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.items))}]"


Operand = Field | Constant | ListOf


def _value(operand: Operand, event: Event) -> Json | _Missing:
    match operand:
        case Field():
            return operand.value(event)
        case Constant(value):
            return value
        case ListOf(items):
            return [item.value for item in items]


def _kind(value: Json | _Missing) -> str | None:
    """The JSON kind of a value; None where there is no value. ``bool`` goes first, because Python counts it as int."""
    match value:
        case _Missing():
            return None
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "list"
        case None:
            return "null"
        case _:
            return "object"


def _same(one: Json, other: Json) -> bool:
    """Equality of JSON values of one kind: deep, and true is not 1."""
    if _kind(one) != _kind(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    return one == other


_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


@dataclass(frozen=True, slots=True)
class IsTrue:
    """A field that stands alone: its value is exactly true."""

    field: Field
    level: ClassVar[int] = 4

    def holds(self, event: Event) -> bool:
        return self.field.value(event) is True

    def __str__(self) -> str:
        return str(self.field)


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Operand
    operator: Operator
    right: Operand
    level: ClassVar[int] = 4

    def holds(self, event: Event) -> bool:
        left, right = _value(self.left, event), _value(self.right, event)
        if isinstance(left, _Missing) or isinstance(right, _Missing):
            return False
        if self.operator == "in":
            return isinstance(right, list) and any(_same(left, element) for element in right)
        kind = _kind(left)
        if kind != _kind(right):
            return False
        if self.operator in ("==", "!="):
            return _same(left, right) == (self.operator == "==")
        return kind in ("number", "string") and _ORDERS[self.operator](left, right)

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class No:
    """`not c`."""

    part: "Condition"
    level: ClassVar[int] = 3

    def holds(self, event: Event) -> bool:
        return not self.part.holds(event)

    def __str__(self) -> str:
        return f"not {_within(self.part, self.level)}"


@dataclass(frozen=True, slots=True)
class All:
    """`c and d and ...`."""

    parts: "tuple[Condition, ...]"
    level: ClassVar[int] = 2

    def holds(self, event: Event) -> bool:
        return all(part.holds(event) for part in self.parts)

    def __str__(self) -> str:
        return " and ".join(_within(part, self.level + 1) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Anyone:
    """`c or d or ...`."""

    parts: "tuple[Condition, ...]"
    level: ClassVar[int] = 1

    def holds(self, event: Event) -> bool:
        return any(part.holds(event) for part in self.parts)

    def __str__(self) -> str:
        return " or ".join(_within(part, self.level + 1) for part in self.parts)


Condition = IsTrue | Comparison | No | All | Anyone


def _within(part: Condition, level: int) -> str:
    """The text of a part, in parentheses where it binds less tightly than its place demands."""
    return str(part) if part.level >= level else f"({part})"


def condition_parts(condition: Condition) -> tuple[Condition, ...]:
    """The direct parts of a condition; a comparison has none."""
    match condition:
        case IsTrue() | Comparison():
            return ()
        case No(part):
            return (part,)
        case All(parts) | Anyone(parts):
            return parts


def condition_fields(condition: Condition) -> frozenset[Field]:
    """Every field that the condition looks at."""
    match condition:
        case IsTrue(only):
            return frozenset({only})
        case Comparison(left, _, right):
            return frozenset(operand for operand in (left, right) if isinstance(operand, Field))
        case _:
            return frozenset[Field]().union(*map(condition_fields, condition_parts(condition)))
