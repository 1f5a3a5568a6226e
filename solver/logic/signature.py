"""Signatures: what the declaration of an environment says of the values that rules are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.open_types import OrNull
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import MOMENT, ListOf, ObjectOf, ValueType
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.logic.terms import Kind


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declaration says of a value. What it leaves open is None.

    Attributes:
        kind: the kind.
        elements: of a list.
        fields: of an object; others do not exist unless `others` says what they are.
        date: whether a text can be a date.
    """

    kind: Kind | None = None
    elements: "Declared | None" = None
    fields: "Mapping[str, Declared] | None" = None
    date: bool = True
    others: "Declared | None" = None


ANYTHING: Final = Declared()
NUMBER: Final = Declared("number")
TEXT: Final = Declared("string")
TIME: Final = Declared("time")


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """The arguments of a tool, and its result."""

    arguments: Mapping[str, Declared]
    result: Declared = ANYTHING


Signature = Mapping[str, ToolSignature]
"""The tools by name."""

MESSAGES: Final[Signature] = {
    speaker: ToolSignature({"text": TEXT, "words": Declared("list", TEXT)}) for speaker in SPEAKERS
}
"""Messages of the user and the agent, which every rule may be about."""


@lru_cache(maxsize=64)
def environment_signature(environment: Environment) -> Signature:
    """What an environment declares, and messages."""
    tools = {
        name: ToolSignature(
            {parameter.name: _of_type(parameter.type) for parameter in tool.parameters},
            _of_result(tool, simulated=environment.simulated),
        )
        for name, tool in environment.tools.items()
    }
    return {**MESSAGES, **tools}


def _of_result(tool: Tool, *, simulated: bool) -> Declared:
    if not simulated:
        return ANYTHING if tool.returns is None else _of_type(tool.returns)
    return Declared("object", fields={result.name: _of_type(result.type) for result in tool.results})


def _of_type(value_type: ValueType) -> Declared:
    match value_type:
        case OrNull(value=inner):
            return _of_type(inner)
        case ListOf(items=items):
            return Declared("list", _of_type(items))
        case ObjectOf(fields=fields, others=others):
            known = {name: _of_type(part) for name, part in fields.items()}
            return Declared("object", fields=known, others=None if others is None else _of_type(others))
        case _:
            return _of_scalar(value_type)


def _of_scalar(value_type: ValueType) -> Declared:
    schema = value_type.schema()
    match schema.get("type"):
        case "number" | "integer":
            return NUMBER
        case "string":
            return Declared("string", date=value_type == MOMENT or not {"enum", "pattern"} & schema.keys())
        case "boolean":
            return Declared("boolean")
        case _:
            return ANYTHING
