"""Types of the values of fields, parameters and results.

Internally, money is a whole number of cents, a date its day number and a moment its number of minutes or seconds: all
exact, and suitable for a solver. Callers see the external form: ``22.6``, ``"2025-12-14"`` and ``"2025-12-14 09:30"``.
A type converts between the two, and describes what it accepts in JSON Schema.

A value can be wrong in two ways. With a wrong JSON type (:class:`WrongType`) the call is rejected, and the tool never
sees it. A wrong format (:class:`WrongFormat`) raises the exception that the tool documents for it.
"""

import datetime as dt
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

MINUTES_PER_DAY = 24 * 60
_SECONDS_PER_DAY = MINUTES_PER_DAY * 60
_EPOCH = dt.date(1970, 1, 1).toordinal() * _SECONDS_PER_DAY
MOMENT_FORMS = tuple(
    f"YYYY-MM-DD{between}HH:mm{seconds}{zone}"
    for between in " T"
    for seconds in (":ss", "")
    for zone in ("Z", "+00:00", "")
)
"""How moments are written."""

Value = Any
"""A value in internal form: bool, int, str, a tuple of values, a `Record`, None for *not given*, or an expression of a
logic."""


class WrongValue(Exception):
    """A value does not fit its type. ``path`` leads to the wrong part of it: ``[1].date``; empty for the whole."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path.removeprefix('.')}: {message}" if path else message)
        self.message = message
        self.path = path

    def inside(self, step: str) -> Self:
        """The same error for a value that has this one at that step."""
        return type(self)(self.message, step + self.path)


class WrongType(WrongValue):
    """The JSON type of a value is wrong."""


class WrongFormat(WrongValue):
    """The JSON type of a value is right, but its format is wrong."""


class Record:
    """An object in internal form: immutable, equal and hashable by content. ``record[name]`` is None for an absent
    field."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = {name: value for name, value in values.items() if value is not None}

    def __getitem__(self, name: str) -> Value:
        return self.values.get(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.values == other.values

    def __hash__(self) -> int:
        return hash(frozenset(self.values.items()))

    def __repr__(self) -> str:
        return f"Record({self.values})"


@dataclass(frozen=True, slots=True)
class ValueType(ABC):
    """A type: conversion between internal and external form. ``format`` documents a format: ``YYYY-MM-DD``."""

    format: str | None = field(default=None, kw_only=True)

    @abstractmethod
    def decode(self, value: Json) -> Value:
        """Convert to internal form. Raises WrongType or WrongFormat, naming what was expected."""

    def encode(self, value: Value) -> Json:
        """Convert to external form."""
        return value

    @abstractmethod
    def schema(self) -> dict[str, Json]:
        """The accepted values, as JSON Schema."""

    @property
    def name(self) -> str:
        """The JSON type."""
        return str(self.schema()["type"])

    @property
    def parts(self) -> "tuple[ValueType, ...]":
        """The types of the items or fields; none for a scalar."""
        return ()

    @property
    def can_be_malformed(self) -> bool:
        """Whether a value of the right JSON type can be in a wrong format."""
        if self.parts:
            return any(part.can_be_malformed for part in self.parts)
        schema = self.schema()
        return bool({"pattern", "enum", "format"} & set(schema)) or self.name in {"number", "integer"}


@dataclass(frozen=True, slots=True)
class _Text(ValueType):
    def decode(self, value: Json) -> str:
        if not isinstance(value, str):
            raise WrongType(f"expected a string, not {_json_type_of(value)}")
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "string"}


def _formatted(value: Json, expression: str, form: str) -> str:
    """A text that has a format."""
    text = TEXT.decode(value)
    if not re.fullmatch(expression, text, re.ASCII):
        raise WrongFormat(f"{text[:40]!r} is not in the format {form!r}")
    return text


@dataclass(frozen=True, slots=True)
class Pattern(ValueType):
    """A string in a fixed format, documented as ``format`` (``XXX-XXXX-XXXX``)."""

    format: str = ""
    expression: str = ".*"

    def decode(self, value: Json) -> str:
        return _formatted(value, self.expression, self.format)

    def schema(self) -> dict[str, Json]:
        whole = f"(?:{self.expression})" if "|" in self.expression else self.expression
        return {"type": "string", "pattern": f"^{whole}$"}


@dataclass(frozen=True, slots=True)
class Choice(ValueType):
    """One of the given strings."""

    options: tuple[str, ...]

    def decode(self, value: Json) -> str:
        text = TEXT.decode(value)
        if text not in self.options:
            raise WrongFormat(f"{text[:40]!r} is not one of {list(self.options)}")
        return text

    def schema(self) -> dict[str, Json]:
        return {"type": "string", "enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class _Boolean(ValueType):
    def decode(self, value: Json) -> bool:
        if not isinstance(value, bool):
            raise WrongType(f"expected true or false, not {_json_type_of(value)}")
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class _Integer(ValueType):
    def decode(self, value: Json) -> int:
        number = _number(value)
        if not number.is_integer():
            raise WrongFormat(f"{number} is not a whole number")
        return int(number)

    def schema(self) -> dict[str, Json]:
        return {"type": "integer"}


@dataclass(frozen=True, slots=True)
class _Money(ValueType):
    """An amount in a currency with two decimals. Internally cents."""

    def decode(self, value: Json) -> int:
        number = _number(value)
        if abs(number) > 1e10:  # beyond this a float is not exact to the tolerance below
            raise WrongFormat(f"{number} is beyond what an account can hold")
        cents = round(number * 100)
        # Callers add amounts as floats, so 0.1 + 0.2 must still be thirty cents; a tenth of a cent must not.
        if abs(cents - number * 100) > 1e-3:
            raise WrongFormat(f"{number} has more than two decimals")
        return cents

    def encode(self, value: Value) -> Json:
        return value / 100

    def schema(self) -> dict[str, Json]:
        return {"type": "number"}


@dataclass(frozen=True, slots=True)
class Calendar(ValueType):
    """A day or a moment in the environment's time zone, as a text of ISO 8601 in one form.

    Internal: the number of its units since year 1; the last part of the form is the unit. So texts are in its order.
    """

    format: str = "YYYY-MM-DD"

    @property
    def unit(self) -> int:
        """The seconds of a unit."""
        return 1 if "ss" in self.format else 60 if "mm" in self.format else _SECONDS_PER_DAY

    def decode(self, value: Json) -> int:
        text = _formatted(value, self._expression, self.format)
        try:
            time = dt.datetime.fromisoformat(text)
        except ValueError as error:
            unit = {1: "second", 60: "minute"}.get(self.unit, "day")
            raise WrongFormat(f"{text!r} is not a {unit} of the calendar") from error
        in_day = (time.hour * 60 + time.minute) * 60 + time.second
        return (time.toordinal() * _SECONDS_PER_DAY + in_day) // self.unit

    def encode(self, value: Value) -> Json:
        day, second = divmod(value * self.unit, _SECONDS_PER_DAY)
        text = self.format.replace("YYYY-MM-DD", dt.date.fromordinal(day).isoformat())
        for part, number in (("HH", second // 3600), ("mm", second // 60 % 60), ("ss", second % 60)):
            text = text.replace(part, f"{number:02d}")
        return text

    def schema(self) -> dict[str, Json]:
        return {"type": "string", **({"format": "date"} if self == DATE else {"pattern": f"^{self._expression}$"})}

    @property
    def _expression(self) -> str:
        return re.sub("[YMDHms]+", lambda part: rf"\d{{{len(part[0])}}}", self.format.replace("+", r"\+"))

    def seconds(self, value: Value) -> Value:
        """The seconds since 1970 at a value in internal form."""
        return (value - _EPOCH // self.unit) * self.unit


@dataclass(frozen=True, slots=True)
class _Time(ValueType):
    """A time of day in the environment's time zone. External: HH:mm. Internal: minutes since midnight."""

    format: str | None = field(default="HH:mm", kw_only=True)

    def decode(self, value: Json) -> int:
        text = _formatted(value, r"([01]\d|2[0-3]):[0-5]\d", "HH:mm")
        return int(text[:2]) * 60 + int(text[3:])

    def encode(self, value: Value) -> Json:
        return f"{value // 60:02d}:{value % 60:02d}"

    def schema(self) -> dict[str, Json]:
        return {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}


@dataclass(frozen=True, slots=True)
class ListOf(ValueType):
    """A list of items of one type."""

    items: ValueType

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", self.items.format)

    @property
    def parts(self) -> tuple[ValueType, ...]:
        return (self.items,)

    def decode(self, value: Json) -> tuple[Value, ...]:
        if not isinstance(value, list):
            raise WrongType(f"expected a list of {self.items.name}s, not {_json_type_of(value)}")
        return tuple(_decoded((f"[{place}]", self.items, item) for place, item in enumerate(value)))

    def encode(self, value: Value) -> Json:
        return [self.items.encode(item) for item in cast("Sequence[Value]", value)]

    def schema(self) -> dict[str, Json]:
        return {"type": "array", "items": self.items.schema()}


@dataclass(frozen=True, slots=True)
class ObjectOf(ValueType):
    """An object with named fields, each of its type. Inside, a `Record`.

    Attributes:
        optional: the fields that may be absent.
        others: the type of fields with other names, if there may be some. Only tools without state have such objects.
        descriptions: what is said of fields.
    """

    fields: Mapping[str, ValueType]
    optional: tuple[str, ...] = ()
    others: ValueType | None = None
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    def __post_init__(self) -> None:
        for name in self.optional:
            if name not in self.fields:
                raise InputError(f"an object has the optional field {name!r}, which is not one of {list(self.fields)}")

    def __hash__(self) -> int:
        return hash((*self.fields.items(), self.optional, self.others))

    @property
    def parts(self) -> tuple[ValueType, ...]:
        return (*self.fields.values(), *(() if self.others is None else (self.others,)))

    def decode(self, value: Json) -> Record:
        if not isinstance(value, dict):
            raise WrongType(f"expected an object, not {_json_type_of(value)}")
        types = {**self.fields}
        for name in value:
            if name not in self.fields:
                if self.others is None:
                    raise WrongType(f"there is no such field; the fields are {list(self.fields)}", f".{name}")
                types[name] = self.others
        given = [name for name in types if value.get(name) is not None]
        for name in self.fields:
            if name not in given and name not in self.optional:
                raise WrongType("the field is missing", f".{name}")
        decoded = _decoded((f".{name}", types[name], value[name]) for name in given)
        return Record(dict(zip(given, decoded, strict=True)))

    def encode(self, value: Value) -> Json:
        types = self.fields if self.others is None else {**dict.fromkeys(value.values, self.others), **self.fields}
        return {name: part.encode(value[name]) for name, part in types.items() if value[name] is not None}

    def schema(self) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {name: part.schema() for name, part in self.fields.items()},
            "required": [name for name in self.fields if name not in self.optional],
            "additionalProperties": False if self.others is None else self.others.schema(),
        }


def _decoded(parts: Iterable[tuple[str, ValueType, Json]]) -> list[Value]:
    """The parts of a value, each with its step. A wrong type of a later part takes precedence over a wrong format."""
    decoded: list[Value] = []
    malformed: WrongFormat | None = None
    for step, value_type, value in parts:
        try:
            decoded.append(value_type.decode(value))
        except WrongType as error:
            raise error.inside(step) from error
        except WrongFormat as error:
            malformed = malformed or error.inside(step)
    if malformed:
        raise malformed
    return decoded


TEXT = _Text()
BOOLEAN = _Boolean()
INTEGER = _Integer()
MONEY = _Money()
DATE = Calendar()
MOMENT = Calendar("YYYY-MM-DD HH:mm")
TIME = _Time()
TEXTS = ListOf(TEXT)


def is_text_type(value_type: ValueType) -> bool:
    """Whether values are strings internally, or lists of them, rather than numbers, booleans or objects."""
    return (
        is_text_type(value_type.items)
        if isinstance(value_type, ListOf)
        else isinstance(value_type, _Text | Pattern | Choice)
    )


def has_objects(value_type: ValueType) -> bool:
    """Whether values are objects, or contain some."""
    return isinstance(value_type, ObjectOf) or any(map(has_objects, value_type.parts))


def scalar_types(value_type: ValueType) -> Iterator[ValueType]:
    """The types of the scalars in a value, one for each field and for the items of each list."""
    if not value_type.parts:
        yield value_type
    for part in value_type.parts:
        yield from scalar_types(part)


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongType(f"expected a number, not {_json_type_of(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise WrongFormat("the number is not finite")
    if abs(value) > 2**53:  # beyond this a float skips whole numbers
        raise WrongFormat("the number is too large")
    return float(value)


def _json_type_of(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"


def scalars_in(value: Json, value_type: ValueType) -> Iterator[tuple[Json, ValueType]]:
    """The scalars in a value in external form, each with its type."""
    match value_type, value:
        case ListOf(items=items), list():
            for item in value:
                yield from scalars_in(item, items)
        case ObjectOf(fields=fields), dict():
            for name, part in value.items():
                yield from scalars_in(part, fields.get(name, TEXT))
        case _:
            yield value, value_type


def type_at(value_type: ValueType, steps: Sequence[str | int]) -> ValueType | None:
    """The type of a part of a value; a name leads from a list to that field of its items. None where there is none."""
    match value_type, [*steps]:
        case _, []:
            return value_type
        case ListOf(items=items), [int(), *rest]:
            return type_at(items, rest)
        case ListOf(items=items), rest:
            found = type_at(items, rest)
            return None if found is None else ListOf(found)
        case ObjectOf(fields=fields), [name, *rest] if name in fields:
            return type_at(fields[str(name)], rest)
        case ObjectOf(others=ValueType() as others), [_, *rest]:
            return type_at(others, rest)
        case _:
            return None


def usual_internal(value_type: ValueType) -> Value:
    """A value in internal form that stands for any; lists have one item."""
    match value_type:
        case ListOf(items=items):
            return (usual_internal(items),)
        case ObjectOf(fields=fields):
            return Record({name: usual_internal(part) for name, part in fields.items()})
        case Choice(options=options):
            return options[0]
        case _ if is_text_type(value_type):
            return ""
        case _:
            return value_type == BOOLEAN or 1
