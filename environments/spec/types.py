"""The kinds of value that fields, parameters and results have, and how each looks from outside.

Inside, money is a whole number of cents, a date its day number and a moment its number of minutes: all are exact, and
a solver can reason about them. Outside, they look as a caller expects them: ``22.6``, ``"2025-12-14"`` and
``"2025-12-14 09:30"``. A kind translates between the two, and says in JSON Schema what it accepts.

Two things can be wrong with a value from outside. Its JSON type may be wrong (:class:`WrongType`): no such call exists
and the tool never sees it. Or its type is right and its format is not (:class:`WrongFormat`): the tool documents an
exception for that.
"""

import datetime as dt
import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from lawtrace.environments.events import Json

MINUTES_PER_DAY = 24 * 60

Value = Any
"""A value as the inside holds it: bool, int, str, a tuple of str, None for *not given*, or an expression of a logic."""


class WrongType(Exception):
    """The JSON type of a value is not what the kind accepts."""


class WrongFormat(Exception):
    """The JSON type is right; the content is not in the format of the kind."""


class ValueType(Protocol):
    """How one kind of value looks inside and outside."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> str | None:
        """The format as a reader is shown it, if there is one: ``YYYY-MM-DD``."""
        ...

    @abstractmethod
    def decode(self, value: Json) -> Value:
        """The inside form. Raises WrongType or WrongFormat, each with a reason that names what was expected."""

    @abstractmethod
    def encode(self, value: Value) -> Json:
        """The outside form of an inside value."""

    @abstractmethod
    def schema(self) -> dict[str, Json]:
        """What the kind accepts, as JSON Schema."""


@dataclass(frozen=True, slots=True)
class _Text:
    name: str = "string"
    shape: str | None = None

    def decode(self, value: Json) -> str:
        if not isinstance(value, str):
            raise WrongType(f"expected a string, not {_json_type_of(value)}")
        return value

    def encode(self, value: Value) -> Json:
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A string in a fixed format; ``shape`` shows it to a reader (``XXX-XXXX-XXXX``)."""

    shape: str
    expression: str
    name: str = "string"

    def decode(self, value: Json) -> str:
        text = TEXT.decode(value)
        if not re.fullmatch(self.expression, text, re.ASCII):
            raise WrongFormat(f"{text[:40]!r} is not in the format {self.shape!r}")
        return text

    def encode(self, value: Value) -> Json:
        return value

    def schema(self) -> dict[str, Json]:
        whole = f"(?:{self.expression})" if "|" in self.expression else self.expression
        return {"type": "string", "pattern": f"^{whole}$"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few strings."""

    options: tuple[str, ...]
    name: str = "string"
    shape: str | None = None

    def decode(self, value: Json) -> str:
        text = TEXT.decode(value)
        if text not in self.options:
            raise WrongFormat(f"{text[:40]!r} is not one of {list(self.options)}")
        return text

    def encode(self, value: Value) -> Json:
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "string", "enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class _Boolean:
    name: str = "boolean"
    shape: str | None = None

    def decode(self, value: Json) -> bool:
        if not isinstance(value, bool):
            raise WrongType(f"expected true or false, not {_json_type_of(value)}")
        return value

    def encode(self, value: Value) -> Json:
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class _Integer:
    name: str = "integer"
    shape: str | None = None

    def decode(self, value: Json) -> int:
        number = _number(value)
        if not number.is_integer():
            raise WrongFormat(f"{number} is not a whole number")
        return int(number)

    def encode(self, value: Value) -> Json:
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "integer"}


@dataclass(frozen=True, slots=True)
class _Money:
    """An amount in a currency with two decimals. Inside: cents."""

    name: str = "number"
    shape: str | None = None

    def decode(self, value: Json) -> int:
        number = _number(value)
        if abs(number) > 1e10:  # beyond this a float no longer holds cents to the tolerance below
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
class _Date:
    """A calendar day. Outside: YYYY-MM-DD. Inside: its day number."""

    name: str = "string"
    shape: str | None = "YYYY-MM-DD"

    def decode(self, value: Json) -> int:
        text = TEXT.decode(value)
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise WrongFormat(f"{text[:40]!r} is not in the format 'YYYY-MM-DD'")
        try:
            return dt.date.fromisoformat(text).toordinal()
        except ValueError as error:
            raise WrongFormat(f"{text!r} is not a day of the calendar") from error

    def encode(self, value: Value) -> Json:
        return dt.date.fromordinal(value).isoformat()

    def schema(self) -> dict[str, Json]:
        return {"type": "string", "format": "date"}


@dataclass(frozen=True, slots=True)
class _Time:
    """A time of day, in the environment's own time. Outside: HH:mm. Inside: minutes since midnight."""

    name: str = "string"
    shape: str | None = "HH:mm"

    def decode(self, value: Json) -> int:
        text = TEXT.decode(value)
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text, re.ASCII):
            raise WrongFormat(f"{text[:40]!r} is not a time of day in the format 'HH:mm'")
        return int(text[:2]) * 60 + int(text[3:])

    def encode(self, value: Value) -> Json:
        return f"{value // 60:02d}:{value % 60:02d}"

    def schema(self) -> dict[str, Json]:
        return {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}


@dataclass(frozen=True, slots=True)
class _Moment:
    """A minute of a day, in the environment's own time. Outside: YYYY-MM-DD HH:mm. Inside: minutes since year 1."""

    name: str = "string"
    shape: str | None = "YYYY-MM-DD HH:mm"

    def decode(self, value: Json) -> int:
        text = TEXT.decode(value)
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", text, re.ASCII):
            raise WrongFormat(f"{text[:40]!r} is not in the format 'YYYY-MM-DD HH:mm'")
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError as error:
            raise WrongFormat(f"{text!r} is not a minute of the calendar") from error
        return moment.toordinal() * MINUTES_PER_DAY + moment.hour * 60 + moment.minute

    def encode(self, value: Value) -> Json:
        day, minute = divmod(value, MINUTES_PER_DAY)
        return f"{dt.date.fromordinal(day).isoformat()} {minute // 60:02d}:{minute % 60:02d}"

    def schema(self) -> dict[str, Json]:
        return {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$"}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose items are all of one kind, which has strings outside."""

    items: ValueType
    name: str = "array"

    @property
    def shape(self) -> str | None:
        return self.items.shape

    def decode(self, value: Json) -> tuple[Value, ...]:
        if not isinstance(value, list):
            raise WrongType(f"expected a list of strings, not {_json_type_of(value)}")
        decoded: list[Value] = []
        malformed: WrongFormat | None = None
        for item in value:
            try:
                decoded.append(self.items.decode(item))
            except WrongFormat as error:
                malformed = malformed or error  # a later item of a wrong type weighs more
        if malformed:
            raise malformed
        return tuple(decoded)

    def encode(self, value: Value) -> Json:
        return [self.items.encode(item) for item in cast("Sequence[Value]", value)]

    def schema(self) -> dict[str, Json]:
        return {"type": "array", "items": self.items.schema()}


TEXT = _Text()
BOOLEAN = _Boolean()
INTEGER = _Integer()
MONEY = _Money()
DATE = _Date()
MOMENT = _Moment()
TIME = _Time()
TEXTS = ListOf(TEXT)


def is_text_type(kind: ValueType) -> bool:
    """Whether values of the kind are strings inside, or lists of them; else they are numbers or truths."""
    return isinstance(kind, _Text | Pattern | Choice | ListOf)


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
