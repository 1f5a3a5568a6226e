"""Terms: what conditions compare. A term has a value on an event, or none.

    field                   an argument, or `result`, then steps into the JSON value: `amount`, `result.payees.0.id`;
                            in backquotes where it is no plain name: `result.`first-name``
    by.principal            who acts; also `by.role` and `by.session`
    "text", 12.5, true      literals; `["rent", "energy"]` is a list of them
    72h                     a span of time, in seconds
    x                       a variable of a quantifier
    f.date                  an element of a list, named by `any f in ...`, and steps into it
    now                     the time of the event
    a + b, a - b, a * b, a / b
    f(a, ...)               one of `FUNCTIONS`

`result` never names an argument. The name of a field after a list stands for the list of these fields of its rows:
``"P-1" in result.payees.payee_id``. A term without a value (a missing field, a division by zero, a date that is none)
makes the comparison that it stands in false.

Kinds are those of JSON, and *time*: `now`, `date(...)`, and their sums with numbers of seconds. Integers and fractions
are one kind, and `true` is not the number 1. A text that is compared with a time is read as a date of ISO 8601, in UTC
unless it names a zone.
"""

import json
import math
import posixpath
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, TypeGuard

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.windows import Span

RESULT: Final = "result"
"""The first name of a field of the result instead of an argument."""

BY: Final = "by"
"""The first name of `ACTOR_FIELDS`. Other paths that begin with it are of an argument of this name."""

ACTOR_FIELDS: Final = frozenset({(BY, "principal"), (BY, "role"), (BY, "session")})
"""The paths of who acts."""

RESERVED_IN_CONDITIONS: Final = frozenset({"and", "or", "not", "in", "true", "false", "now", "any", "all"})


Bindings = Mapping[str, Json]
"""The values of variables and of elements, by name."""

NO_BINDINGS: Final[Bindings] = MappingProxyType({})


class Missing:
    """The value of a term that has none. It is not a JSON value; null is one."""


MISSING: Final = Missing()
_SHORT: Final = 8
"""Lists up to this length are scanned instead of indexed."""
NUMBERED: Final = "\x1f"
"""Stands between the name of a renamed variable and its number. Rules cannot have it in names, and in printed texts it
is escaped."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EMAIL: Final = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@(?:[\w-]+\.)+[\w-]+")
_VARIABLE: Final = re.compile(rf"{_NAME.pattern}({NUMBERED}[0-9]+)?")


class Time(float):
    """A point in time, in seconds; see `Event.time`."""

    __slots__ = ()


Value = Json | Time | Missing


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path into the call: an argument name or ``result``, then steps into the JSON value."""

    path: tuple[str | int, ...]

    def __post_init__(self) -> None:
        if not self.path or isinstance(self.path[0], int):
            raise FormulaError(
                f"a field starts with the name of an argument or with `{RESULT}`, not with {self.path!r}"
            )
        _check_steps(self.path)

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        first = self.path[0]
        if first == BY and self.path in ACTOR_FIELDS:
            return getattr(event.by, str(self.path[1]), None) or MISSING
        value: Value = event.result if first == RESULT else event.arguments.get(str(first), MISSING)
        return value if len(self.path) == 1 else step_into(value, self.path[1:])

    def __str__(self) -> str:
        return path_text(self.path)


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal: true, false, a number or a string."""

    content: Scalar
    boolean: bool = field(init=False, repr=False)  # Python says True == 1; as literals of a rule the two differ

    def __post_init__(self) -> None:
        if isinstance(self.content, float) and not math.isfinite(self.content):
            raise FormulaError(f"{self.content} is not a number that a condition can be written with")
        object.__setattr__(self, "boolean", isinstance(self.content, bool))

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return self.content

    def __str__(self) -> str:
        return json.dumps(self.content, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class LiteralList:
    """A list of literals, as in ``category in ["rent", "energy"]``."""

    items: tuple[LiteralValue, ...]

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return [item.content for item in self.items]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True, slots=True)
class SpanLiteral:
    """A fixed span of time as a number of seconds: ``24h``."""

    span: Span

    def __post_init__(self) -> None:
        if not self.span.fixed:
            raise FormulaError(
                f"`{self.span}` has no fixed length: calendar spans belong in windows, `O[<= {self.span}]`"
            )

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return self.span.seconds

    def __str__(self) -> str:
        return str(self.span)


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """The variable of a quantifier."""

    name: str

    def __post_init__(self) -> None:
        if not _VARIABLE.fullmatch(self.name) or self.name in RESERVED_IN_CONDITIONS or self.name == RESULT:
            raise FormulaError(f"`{self.name}` cannot name the variable of a quantifier")

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return bindings.get(self.name, MISSING)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a list, named by ``any`` or ``all``, with steps into it."""

    name: str
    path: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        _check_steps((self.name, *self.path))

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return step_into(bindings.get(self.name, MISSING), self.path)

    def __str__(self) -> str:
        return path_text((self.name, *self.path))


@dataclass(frozen=True, slots=True)
class Now:
    """The time of the event."""

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return MISSING if event.time is None else Time(event.time)

    def __str__(self) -> str:
        return "now"


@dataclass(frozen=True, slots=True)
class Position:
    """The index of the step, from 0. Only formulas name it, not the conditions of atoms."""

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return bindings.get(str(self), MISSING)

    def __str__(self) -> str:
        return "position"


class Computed:
    """A leaf whose value is computed from earlier events and passed in the bindings under its text: an aggregate."""

    __slots__ = ()

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return bindings.get(str(self), MISSING)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two terms and an operation. Sums of a text and a number, and other mixtures, have no value."""

    left: "Term"
    operator: Literal["+", "-", "*", "/"]
    right: "Term"

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        return calculate(self.operator, self.left.value(event, bindings), self.right.value(event, bindings))

    def __str__(self) -> str:
        loose = self.operator in "+-"
        left, right = str(self.left), str(self.right)
        if isinstance(self.left, Arithmetic) and not loose and self.left.operator in "+-":
            left = f"({left})"
        if isinstance(self.right, Arithmetic) and (not loose or self.right.operator in "+-"):
            right = f"({right})"
        return f"{left} {self.operator} {right}"


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of `FUNCTIONS` with its arguments."""

    function: str
    arguments: "tuple[Term, ...]"

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise FormulaError(f"unknown function `{self.function}`: there is {', '.join(sorted(FUNCTIONS))}")
        expected = FUNCTIONS[self.function].arity
        if len(self.arguments) != expected:
            raise FormulaError(f"`{self.function}` takes {expected} value(s), not {len(self.arguments)}")

    def value(self, event: Event, bindings: Bindings = NO_BINDINGS) -> Value:
        values = [argument.value(event, bindings) for argument in self.arguments]
        return FUNCTIONS[self.function].apply(*values)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


Leaf = FieldPath | LiteralValue | LiteralList | SpanLiteral | BoundVariable | Element | Now | Position | Computed
Term = Leaf | Arithmetic | FunctionCall


def _check_steps(path: Sequence[str | int]) -> None:
    for step in path:
        if isinstance(step, str) and (not step or "`" in step or "\n" in step):
            raise FormulaError(f"`{step}` cannot name an argument or a field of a result in a condition")


def path_text(path: Sequence[str | int]) -> str:
    """A path as rules write it: names that are not plain stand in backquotes."""
    return ".".join(f"`{step}`" if isinstance(step, str) and not _is_plain(step) else str(step) for step in path)


def _is_plain(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name not in RESERVED_IN_CONDITIONS


def step_into(value: Value, steps: Sequence[str | int]) -> Value:
    """The part of a JSON value at the end of some steps."""
    for step in steps:
        if isinstance(value, Mapping) and isinstance(step, str):
            value = value.get(step, MISSING)
        elif isinstance(value, list) and isinstance(step, str):
            value = [row[step] for row in value if isinstance(row, Mapping) and step in row]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return MISSING
    return value


Kind = Literal["boolean", "number", "string", "list", "null", "object", "time"]

NAMES: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "boolean": "a boolean",
        "number": "a number",
        "string": "a text",
        "list": "a list",
        "null": "null",
        "object": "an object",
        "time": "a time",
    }
)
"""The kinds in messages."""


_KINDS: Final[Mapping[type, Kind]] = MappingProxyType(
    {bool: "boolean", int: "number", float: "number", str: "string", list: "list", NoneType: "null", Time: "time"}
)


def kind_of(value: Value) -> Kind | None:
    """The kind of a value; None if there is none."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    return None if isinstance(value, Missing) else "list" if isinstance(value, list) else "object"


def json_equal(one: Value, other: Value) -> bool:
    """Deep equality of values of one kind; true is not 1."""
    if type(one) is str and type(other) is str:
        return one == other
    if kind_of(one) != kind_of(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(json_equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(json_equal(value, other[name]) for name, value in one.items())
    return one == other


def is_value(value: object) -> TypeGuard[Scalar]:
    """Whether it can be the value of a variable: a string, a JSON number or a boolean."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def parse_date(text: str) -> Time | Missing:
    """The time that a text of ISO 8601 names, in UTC unless it names a zone; a day without an hour is its midnight."""
    try:
        parsed = datetime.fromisoformat(text.strip())
        return Time((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return MISSING


_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
)


def calculate(sign: str, left: Value, right: Value) -> Value:
    """Arithmetic on numbers and times: time - time is a number of seconds, time +- number a time."""
    if "time" in (kind_of(left), kind_of(right)):
        left, right = as_time(left), as_time(right)
    kinds = kind_of(left), kind_of(right)
    gives_time = (kinds == ("time", "number") and sign in "+-") or (kinds == ("number", "time") and sign == "+")
    if not (gives_time or kinds == ("number", "number") or (kinds == ("time", "time") and sign == "-")):
        return MISSING
    try:
        result = _ARITHMETIC[sign](left, right)
    except (ZeroDivisionError, OverflowError):
        return MISSING
    if isinstance(result, float) and not math.isfinite(result):
        return MISSING
    return Time(result) if gives_time else result


def as_time(value: Value) -> Value:
    """A text as the date it names; other values as they are."""
    return parse_date(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Function:
    """A function of terms.

    Attributes:
        accepts: the kinds of its arguments; of others it has no value.
        gives: the kind of its value.
        compute: the value, for arguments of these kinds.
        arity: how many arguments it takes.
    """

    accepts: tuple[Kind, ...]
    gives: Kind
    compute: Callable[..., Value]
    arity: int = 1

    def apply(self, *arguments: Any) -> Value:  # noqa: ANN401
        """The value for any arguments."""
        fits = all(kind_of(argument) in self.accepts for argument in arguments)
        return self.compute(*arguments) if fits else MISSING


def _number(value: str | float) -> Value:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return MISSING
    return number if math.isfinite(number) else MISSING


def _date(value: str | float) -> Value:
    return parse_date(value) if isinstance(value, str) else Time(value)


def _calendar_parts(value: str | Time) -> datetime | None:
    time = as_time(value)
    try:
        return datetime.fromtimestamp(time, UTC) if isinstance(time, Time) else None
    except (OverflowError, ValueError, OSError):
        return None


def _years(earlier: str | Time, later: str | Time) -> Value:
    first, last = _calendar_parts(earlier), _calendar_parts(later)
    if first is None or last is None:
        return MISSING
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def _days(earlier: str | Time, later: str | Time) -> Value:
    first, last = _calendar_parts(earlier), _calendar_parts(later)
    return MISSING if first is None or last is None else (last.date() - first.date()).days


def _absolute(value: float) -> Value:
    return abs(value)


def _values(fields: Mapping[str, Json]) -> Value:
    return [*fields.values()]


def _plain(text: str) -> Value:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _path(text: str) -> Value:
    return posixpath.normpath(unicodedata.normalize("NFKC", text).strip().replace("\\", "/"))


def _emails(text: str) -> Value:
    return [*_EMAIL.findall(str(_plain(text)))]


def _pairs(one: list[Json], other: list[Json]) -> Value:
    return [[*pair] for pair in zip(one, other, strict=True)] if len(one) == len(other) else MISSING


def _of_numbers(compute: Callable[[list[Any]], Value]) -> Callable[[list[Json]], Value]:
    """The function of a list; it has no value if an element is no number."""
    return lambda items: compute(items) if all(kind_of(item) == "number" for item in items) else MISSING


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "len": Function(("string", "list", "object"), "number", len),
        "lower": Function(("string",), "string", str.casefold),
        "abs": Function(("number",), "number", _absolute),
        "number": Function(("number", "string"), "number", _number),
        "date": Function(("string", "number", "time"), "time", _date),
        "years": Function(("string", "time"), "number", _years, 2),
        "days": Function(("string", "time"), "number", _days, 2),
        "largest": Function(("list",), "number", _of_numbers(lambda items: max(items, default=MISSING))),
        "smallest": Function(("list",), "number", _of_numbers(lambda items: min(items, default=MISSING))),
        "total": Function(("list",), "number", _of_numbers(sum)),
        "values": Function(("object",), "list", _values),
        "plain": Function(("string",), "string", _plain),
        "path": Function(("string",), "string", _path),
        "emails": Function(("string",), "list", _emails),
        "pairs": Function(("list",), "list", _pairs, 2),
    }
)
"""`len` of a text, list or object; `lower` case of a text; `abs` of a number; the `number` that a text spells; the time
that a text or a number of seconds means (`date`); the completed `years` and the midnights (`days`) from one time to
another; the `largest`, the `smallest` and the `total` of a list of numbers; the `values` of the fields of an object, as
a list; a text without differences of case, spaces and forms of characters (`plain`), a `path` of a file without
detours, and the `emails` in a text, each whole; the `pairs` of the elements of two lists, by position."""


def elements_of(value: Value) -> Sequence[Json]:
    """What `in`, `any` and `all` go over: the elements of a list, or the names of the fields of an object."""
    return value if isinstance(value, list) else [*value] if isinstance(value, Mapping) else ()


class IndexedList(list[Json]):
    """A list with constant-time membership for scalars."""

    __slots__ = ("_known",)

    def __init__(self, elements: Sequence[Json]) -> None:
        super().__init__(elements)
        self._known = frozenset((kind_of(element), element) for element in elements if is_value(element))

    def has(self, value: Scalar) -> bool:
        return (kind_of(value), value) in self._known


def with_list_index(event: Event) -> Event:
    """The same event for queries about many values: long lists in its arguments are indexed once."""
    long = {
        name: IndexedList(value)
        for name, value in event.arguments.items()
        if isinstance(value, list) and len(value) > _SHORT
    }
    return replace(event, arguments={**event.arguments, **long}) if long else event


def leaves(term: Term) -> tuple[Leaf, ...]:
    """The fields, literals and variables that a term is built from."""
    match term:
        case Arithmetic(left, _, right):
            return *leaves(left), *leaves(right)
        case FunctionCall(_, arguments):
            return tuple(leaf for argument in arguments for leaf in leaves(argument))
        case _:
            return (term,)


def map_leaves(term: Term, change: Callable[[Leaf], Term]) -> Term:
    """The term with each leaf replaced."""
    match term:
        case Arithmetic(left, sign, right):
            return Arithmetic(map_leaves(left, change), sign, map_leaves(right, change))
        case FunctionCall(function, arguments):
            return FunctionCall(function, tuple(map_leaves(argument, change) for argument in arguments))
        case _:
            return change(term)
