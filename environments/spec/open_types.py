"""Types of tools without state: what schemas say and a simulator cannot draw.

They describe recorded values. Rules read them, and audits check them; an environment with state cannot have them.
"""

from dataclasses import dataclass

from lawtrace.environments.spec.types import ObjectOf, Value, ValueType, WrongFormat, WrongType
from lawtrace.schemas.events import Json


@dataclass(frozen=True, slots=True)
class _Any(ValueType):
    """Any JSON value, in internal form as it is."""

    def decode(self, value: Json) -> Value:
        return value

    def schema(self) -> dict[str, Json]:
        return {}

    @property
    def name(self) -> str:
        return "any value"


@dataclass(frozen=True, slots=True)
class _Number(ValueType):
    """A number with any decimals. Internally millionths, rounded."""

    def decode(self, value: Json) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WrongType(f"expected a number, not {type(value).__name__}")
        try:
            return round(value * 1_000_000)
        except (OverflowError, ValueError) as error:
            raise WrongFormat("the number is not finite") from error

    def encode(self, value: Value) -> Json:
        return value / 1_000_000

    def schema(self) -> dict[str, Json]:
        return {"type": "number"}

    @property
    def can_be_malformed(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class OrNull(ValueType):
    """A value of a type, or null."""

    value: ValueType

    @property
    def name(self) -> str:
        return f"{self.value.name} or null"

    @property
    def parts(self) -> tuple[ValueType, ...]:
        return (self.value,)

    def decode(self, value: Json) -> Value:
        return None if value is None else self.value.decode(value)

    def encode(self, value: Value) -> Json:
        return None if value is None else self.value.encode(value)

    def schema(self) -> dict[str, Json]:
        return {"anyOf": [self.value.schema(), {"type": "null"}]}


ANY = _Any()
NUMBER = _Number()


def leaves_open(value_type: ValueType) -> bool:
    """Whether some part of a value is left open: any value, null, or fields with any name."""
    if isinstance(value_type, _Any | OrNull) or (isinstance(value_type, ObjectOf) and value_type.others is not None):
        return True
    return any(map(leaves_open, value_type.parts))


def needs_no_state(value_type: ValueType) -> bool:
    """Whether only tools without state can have such values."""
    return leaves_open(value_type) or value_type == NUMBER or any(map(needs_no_state, value_type.parts))
