"""Signatures: what the declaration of an environment says of the values that rules are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, NestedRows, Result, RowsResult, ValueResult
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import MOMENT, ValueType
from lawtrace.schemas.events import SPEAKERS, Json
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
            _of_tool_result(tool, simulated=environment.simulated),
        )
        for name, tool in environment.tools.items()
    }
    return {**MESSAGES, **tools}


def _of_tool_result(tool: Tool, *, simulated: bool) -> Declared:
    if not simulated:
        return ANYTHING if tool.returns is None else _of_type(tool.returns)
    return Declared("object", fields={result.name: _of_result(result) for result in tool.results})


def _of_type(value_type: ValueType) -> Declared:
    declared = _of_schema(value_type.schema())
    return TEXT if value_type == MOMENT else declared


def _of_schema(schema: Json) -> Declared:
    if not isinstance(schema, dict):
        return ANYTHING
    if isinstance(options := schema.get("anyOf"), list):  # a value or null
        return _of_schema(options[0])
    match schema.get("type"):
        case "number" | "integer":
            return NUMBER
        case "string":
            return Declared("string", date=not {"enum", "pattern"} & set(schema))
        case "boolean":
            return Declared("boolean")
        case "array":
            return Declared("list", _of_schema(schema.get("items")))
        case "object":
            properties = schema.get("properties")
            others = schema.get("additionalProperties", True)
            return Declared(
                "object",
                fields={name: _of_schema(part) for name, part in properties.items()}
                if isinstance(properties, dict)
                else None,
                others=None if others is False else _of_schema(others),
            )
        case _:
            return ANYTHING


def _of_result(result: Result) -> Declared:
    match result:
        case ValueResult():
            return _of_type(result.type)
        case KeyResult(_, _, entity):
            return _of_type(entity.fields[entity.key].type)
        case RowsResult():
            row = _of_row(result)
            return row if result.single else Declared("list", row)


def _of_row(rows: RowsResult | NestedRows) -> Declared:
    fields = {name: _of_type(rows.entity.fields[name].type) for name in rows.fields}
    if isinstance(rows, RowsResult):
        fields |= {part.name: Declared("list", _of_row(part)) for part in rows.parts}
    return Declared("object", fields=fields)
