"""Conditions: the constraints of an atom on the arguments and the result of one call.

A condition is a boolean expression over one event e. With v(e) for the value of an operand, missing or not:

    e |= x                  iff  v(x) is exactly true                      (only a field can stand alone)
    e |= x == y, x != y     iff  both values are there, of one kind, and equal / not equal
    e |= x <  y  (<= > >=)  iff  both values are there, and both are numbers or both are strings
    e |= x in y             iff  both values are there, y is a list, and some element of it equals x
    e |= not c, c and d, c or d          as in propositional logic

So a comparison with a missing or ill-typed value is false, and `not (a == b)` differs from `a != b` exactly there:
evaluation is total and never raises. Kinds are those of JSON; integers and fractions are one kind, and `true` is not
the number 1.

In a quantified rule (`forall x: ...`, see `lawtrace.solver.ltlf.syntax`) the variable may only occur as `field == x`,
`x == field` and `x in field`. So the event determines the values for which a comparison with x is true; for all others
it is false, as with a missing value. `x != field` would be true of values that never occur, so it is not allowed; use
`not (x == field)`.

A field is the name of an argument, or ``result``, followed by steps into the JSON value: ``amount``,
``payee.name``, ``result.authorized``, ``result.payees.0.payee_id``. ``result`` therefore never names an argument. The
name of a field after a list stands for the list of these fields of its rows: ``"P-1" in result.payees.payee_id``.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeGuard

from lawtrace.environments.errors import FormulaError
from lawtrace.environments.events import Event, Json

RESULT: Final = "result"
"""The first name of a field of the result instead of an argument."""

WORDS: Final = "words"
"""The argument of a message that holds its words in lower case; a bare string refers to it."""

RESERVED_IN_CONDITIONS: Final = frozenset({"and", "or", "not", "in", "true", "false"})

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in"]

Scalar = bool | int | float | str
"""A literal, or a value of the variable of a quantified rule."""


class _Missing:
    """The value of a field that the event does not have. It is not a JSON value; null is one."""


_MISSING: Final = _Missing()
_SHORT: Final = 8
"""Lists up to this length are scanned instead of indexed."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class FieldPath:
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
            elif isinstance(value, list) and isinstance(step, str):
                value = [row[step] for row in value if isinstance(row, Mapping) and step in row]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return _MISSING
        return value

    def __str__(self) -> str:
        return ".".join(map(str, self.path))


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal: true, false, a number or a string."""

    value: Scalar
    boolean: bool = field(init=False, repr=False)  # Python says True == 1; as literals of a rule the two differ

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise FormulaError(f"{self.value} is not a number that a condition can be written with")
        object.__setattr__(self, "boolean", isinstance(self.value, bool))

    def __str__(self) -> str:
        return json.dumps(self.value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class LiteralList:
    """A list of literals, as in ``category in ["rent", "energy"]``."""

    items: tuple[LiteralValue, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """The variable of a quantified rule. Without a value it is missing."""

    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in RESERVED_IN_CONDITIONS or self.name == RESULT:
            raise FormulaError(f"`{self.name}` cannot name the variable of a quantified rule")

    def __str__(self) -> str:
        return self.name


Operand = FieldPath | LiteralValue | LiteralList | BoundVariable


def _value(operand: Operand, event: Event, of: Scalar | None) -> Json | _Missing:
    """The value of an operand; `of` is the value of the variable, None if it has no value."""
    match operand:
        case FieldPath():
            return operand.value(event)
        case BoundVariable():
            return _MISSING if of is None else of
        case LiteralValue(value):
            return value
        case LiteralList(items):
            return [item.value for item in items]


def _kind(value: Json | _Missing) -> str | None:
    """The JSON kind of a value; None if there is no value. ``bool`` is tested first, because it is an int in Python."""
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


def _json_equal(one: Json, other: Json) -> bool:
    """Deep equality of JSON values of one type; true is not 1."""
    if _kind(one) != _kind(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_json_equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_json_equal(value, other[name]) for name, value in one.items())
    return one == other


_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


@dataclass(frozen=True, slots=True)
class IsTrue:
    """A bare field: its value is exactly true."""

    field: FieldPath
    level: ClassVar[int] = 4

    def holds(self, event: Event, of: Scalar | None = None) -> bool:
        return self.field.value(event) is True

    def __str__(self) -> str:
        return str(self.field)


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Operand
    operator: Operator
    right: Operand
    level: ClassVar[int] = 4

    def __post_init__(self) -> None:
        operands = (self.left, self.right)
        if not any(isinstance(operand, BoundVariable) for operand in operands):
            return
        if self.operator == "in":
            sound = isinstance(self.left, BoundVariable) and isinstance(self.right, FieldPath)
        else:
            sound = self.operator == "==" and any(isinstance(operand, FieldPath) for operand in operands)
        if not sound:
            name = next(operand for operand in operands if isinstance(operand, BoundVariable))
            remedy = f"; write `not ({self.left} == {self.right})`" if self.operator == "!=" else ""
            raise FormulaError(
                f"`{self}`: the variable `{name}` can stand as `field == {name}` or `{name} in field`, "
                f"where field is an argument or part of the result{remedy}"
            )

    def holds(self, event: Event, of: Scalar | None = None) -> bool:
        left, right = _value(self.left, event, of), _value(self.right, event, of)
        if isinstance(left, _Missing) or isinstance(right, _Missing):
            return False
        if self.operator == "in":
            if isinstance(right, _IndexedList) and is_value(left):
                return right.has(left)
            return isinstance(right, list) and any(_json_equal(left, element) for element in right)
        kind = _kind(left)
        if kind != _kind(right):
            return False
        if self.operator in ("==", "!="):
            return _json_equal(left, right) == (self.operator == "==")
        return kind in ("number", "string") and _ORDERS[self.operator](left, right)

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class NotCondition:
    """`not c`."""

    part: "Condition"
    level: ClassVar[int] = 3

    def holds(self, event: Event, of: Scalar | None = None) -> bool:
        return not self.part.holds(event, of)

    def __str__(self) -> str:
        return f"not {_parenthesised(self.part, self.level)}"


@dataclass(frozen=True, slots=True)
class AndCondition:
    """`c and d and ...`."""

    parts: "tuple[Condition, ...]"
    level: ClassVar[int] = 2

    def holds(self, event: Event, of: Scalar | None = None) -> bool:
        return all(part.holds(event, of) for part in self.parts)

    def __str__(self) -> str:
        return " and ".join(_parenthesised(part, self.level + 1) for part in self.parts)


@dataclass(frozen=True, slots=True)
class OrCondition:
    """`c or d or ...`."""

    parts: "tuple[Condition, ...]"
    level: ClassVar[int] = 1

    def holds(self, event: Event, of: Scalar | None = None) -> bool:
        return any(part.holds(event, of) for part in self.parts)

    def __str__(self) -> str:
        return " or ".join(_parenthesised(part, self.level + 1) for part in self.parts)


Condition = IsTrue | Comparison | NotCondition | AndCondition | OrCondition


def _parenthesised(part: Condition, level: int) -> str:
    """The text of a part, in parentheses if it binds less tightly than its context."""
    return str(part) if part.level >= level else f"({part})"


class _IndexedList(list[Json]):
    """A list with constant-time membership for scalars."""

    __slots__ = ("_known",)

    def __init__(self, elements: Sequence[Json]) -> None:
        super().__init__(elements)
        self._known = frozenset((_kind(element), element) for element in elements if is_value(element))

    def has(self, value: Scalar) -> bool:
        return (_kind(value), value) in self._known


def with_list_index(event: Event) -> Event:
    """The same event for queries about many values: long lists in its arguments are indexed once."""
    long = {
        name: _IndexedList(value)
        for name, value in event.arguments.items()
        if isinstance(value, list) and len(value) > _SHORT
    }
    return replace(event, arguments={**event.arguments, **long}) if long else event


def condition_parts(condition: Condition) -> tuple[Condition, ...]:
    """The direct parts of a condition; a comparison has none."""
    match condition:
        case IsTrue() | Comparison():
            return ()
        case NotCondition(part):
            return (part,)
        case AndCondition(parts) | OrCondition(parts):
            return parts


def condition_fields(condition: Condition) -> frozenset[FieldPath]:
    """Every field that the condition reads."""
    match condition:
        case IsTrue(only):
            return frozenset({only})
        case Comparison(left, _, right):
            return frozenset(operand for operand in (left, right) if isinstance(operand, FieldPath))
        case _:
            return frozenset[FieldPath]().union(*map(condition_fields, condition_parts(condition)))


def condition_variables(condition: Condition) -> frozenset[str]:
    """The names of the variables that the condition reads."""
    match condition:
        case IsTrue():
            return frozenset()
        case Comparison(left, _, right):
            return frozenset(operand.name for operand in (left, right) if isinstance(operand, BoundVariable))
        case _:
            return frozenset[str]().union(*map(condition_variables, condition_parts(condition)))


def is_value(value: object) -> TypeGuard[Scalar]:
    """Whether it can be the value of a variable: a string, a JSON number or a boolean."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def bound_fields(condition: Condition) -> tuple[tuple[FieldPath, bool], ...]:
    """The fields that are compared with a variable, each with whether its elements are compared."""
    match condition:
        case IsTrue():
            return ()
        case Comparison(BoundVariable(), operator, FieldPath() as met) | Comparison(
            FieldPath() as met, operator, BoundVariable()
        ):
            return ((met, operator == "in"),)
        case Comparison():
            return ()
        case _:
            return tuple(dict.fromkeys(met for part in condition_parts(condition) for met in bound_fields(part)))


def map_operands(condition: Condition, change: Callable[[Operand], Operand]) -> Condition:
    """The condition with each operand of each comparison replaced."""
    match condition:
        case IsTrue():
            return condition
        case Comparison(left, operator, right):
            return Comparison(change(left), operator, change(right))
        case NotCondition(part):
            return NotCondition(map_operands(part, change))
        case AndCondition(parts):
            return AndCondition(tuple(map_operands(part, change) for part in parts))
        case OrCondition(parts):
            return OrCondition(tuple(map_operands(part, change) for part in parts))
