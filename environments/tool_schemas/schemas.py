"""The schema of a tool, and the environment that schemas make."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.open_types import ANY, OrNull
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ObjectOf, ValueType
from lawtrace.environments.tool_schemas.json_types import NO_TYPE, SchemaReader
from lawtrace.environments.tool_schemas.outcomes import outcome_of
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import SPEAKERS, CallOutcome, Json

RESULT: Final = "result"
_RECORDED: Final = FromUser(OneOf(()))
"""The source of arguments that are only ever recorded."""


class NoToolsError(InputError):
    """A source has no tools. ``is_empty``: nor anything that could be one."""

    is_empty = False


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as some document describes it.

    Attributes:
        parameters: JSON Schema of the object of arguments.
        result: JSON Schema of the result; None if the document says nothing of it.
        annotations: hints of MCP, such as ``readOnlyHint``.
        place: where it is described.
        notes: what was lost on the way from the document to the schema.
        error_texts: patterns for the beginning of results that are texts of errors.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    result: Mapping[str, Any] | None
    place: str
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()
    error_texts: tuple[str, ...] = ()

    def outcome(self, result: Json, error: str | None) -> tuple[CallOutcome, str | None]:
        """The outcome of a call that was made, and the error if it raised; see `outcome_of`."""
        unclear = self.result is not None and isinstance(result, dict) and ("error" in result or "isError" in result)
        returns = SchemaReader(self.result).read(self.result, RESULT) if self.result and unclear else None
        promised = returns.fields if isinstance(returns, ObjectOf) else ()
        return outcome_of(result, error, promised, self.error_texts)

    def argument(self, name: str) -> tuple[Mapping[str, Any] | None, bool]:
        """The schema of an argument, None if there is no such argument, and whether it can be left out."""
        properties = self.parameters.get("properties")
        if name in fields_of(properties):
            return fields_of(fields_of(properties)[name]), name not in items_of(self.parameters.get("required"))
        closed = isinstance(properties, dict) and self.parameters.get("additionalProperties") is False
        return (None if closed else {}), True

    def missing(self, given: Mapping[str, Any]) -> list[str]:
        """The arguments that a call must have and that are not given."""
        return [str(name) for name in items_of(self.parameters.get("required")) if name not in given]

    def kind(self, name: str) -> str:
        """What an argument may be, in a word or two: ``string``, ``one of 'a', 'b'``."""
        schema = self.argument(name)[0] or {}
        if allowed := items_of(schema.get("enum")):
            return f"one of {', '.join(map(repr, allowed))}"
        return " or ".join(map(str, items_of(schema.get("type")))) or str(schema.get("type") or "value")


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A tool without state. ``left_open``: one line for each parameter, or the result, that has parts of any value."""

    tool: Tool
    left_open: tuple[str, ...]


def declare_tool(schema: ToolSchema) -> DeclaredTool:
    """The tool of a schema. Raises InputError if the schema of its arguments is not one of an object."""
    left_open = [f"{schema.name}, {note}" for note in schema.notes]
    reader = SchemaReader(schema.parameters)
    closed: dict[str, object] = {"type": "object", "properties": {}, "additionalProperties": False}
    arguments = reader.read({**closed, **schema.parameters}, "")
    arguments = arguments.value if isinstance(arguments, OrNull) else arguments
    if not isinstance(arguments, ObjectOf):
        raise InputError(f"{schema.place}: the arguments of {schema.name!r} must be an object, not {arguments.name}")
    parameters = tuple(_parameter(schema, name, part, arguments) for name, part in arguments.fields.items())
    known = tuple(note.partition(":")[0] for note in schema.notes)
    left_open += _lines(schema.name, reader.left_open, known)
    if unspoken := [name for name in (schema.name, *arguments.fields) if re.search(r"[`\n]", name) or not name]:
        left_open.append(f"{schema.name}, {unspoken[0]!r}: rules cannot write this name")
    if RESULT in arguments.fields:
        left_open.append(f"{schema.name}, result: this parameter cannot be read, because rules mean the result by it")
    returns = None
    if schema.result is not None:
        reader = SchemaReader(schema.result)
        returns = reader.read(schema.result, RESULT)
        returns = None if returns is ANY else returns
        left_open += _lines(schema.name, reader.left_open, known)
    tool = Tool(schema.name, schema.description, parameters, returns=returns, error_texts=schema.error_texts)
    return DeclaredTool(tool, tuple(left_open))


def make_environment(name: str, schemas: Sequence[ToolSchema], title: str = "") -> Environment:
    """The environment of these tools. Raises InputError naming both places if two have one name."""
    return Environment(
        name=name,
        title=title or name,
        object_name="tools",
        summary=f"The tools of {title or name}.",
        entities={},
        tools={one.name: declare_tool(one).tool for one in unique_schemas(schemas)},
        populate=_refuse(name),
        simulated=False,
    )


def unique_schemas(schemas: Sequence[ToolSchema]) -> list[ToolSchema]:
    """Each tool once; the same schema may stand in several files. Raises InputError if two differ, or none is left."""
    found: dict[str, ToolSchema] = {}
    for schema in schemas:
        known = found.setdefault(schema.name, schema)
        if not is_same(known, schema):
            raise InputError(
                f"two tools have the name {schema.name!r}, one at {known.place}, another at {schema.place}; rename "
                "one, or name only one of them"
            )
        if schema.name in SPEAKERS:
            raise InputError(
                f"{schema.place}: a tool has the name {schema.name!r}, by which rules mean messages; rename it "
                "here and in the recorded calls"
            )
    return [*found.values()]


def is_same(one: ToolSchema, other: ToolSchema) -> bool:
    """Whether two schemas of a tool admit the same, as far as they say it alike."""
    return (one.parameters, one.result) == (other.parameters, other.result)


def environment_name(text: str) -> str:
    """A name for an environment from a name of a folder or a file: lower-case letters, digits and ``_``."""
    found = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return found if re.match(r"[a-z]", found) else f"tools_{found}".rstrip("_")


def _refuse(name: str) -> Callable[[Random], State]:
    def populate(_: Random) -> State:
        raise InputError(
            f"the environment {name!r} has tools without state, so calls cannot be simulated; audit, rules check, "
            "rules extract, env show and env check take it. Declare tables and effects for the rest "
            "(docs/environments.md)"
        )

    return populate


def _parameter(schema: ToolSchema, name: str, value_type: ValueType, arguments: ObjectOf) -> Parameter:
    given = fields_of(fields_of(schema.parameters.get("properties")).get(name)).get("default")
    description = arguments.descriptions.get(name, "")
    if given is not None:
        description = f"{description} Default: {json.dumps(given)}.".lstrip()
    required = name not in arguments.optional
    return Parameter(name, value_type, description, _RECORDED, required=required, malformed=None)


def _lines(tool: str, notes: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """One line for each parameter, or for the result; without those that are known to have no type."""
    found: dict[str, dict[str, None]] = {}
    for note in notes:
        place, _, why = note.removeprefix(".").partition(": ")
        if place == "*":
            place, why = "arguments", "others than these are accepted, too, and rules cannot read them"
        if place not in known or why != NO_TYPE:
            found.setdefault(re.split(r"(?<=.)[.\[]", place)[0], {})[f"{place}: {why}"] = None
    return [f"{tool}, {_joined([*whys])}" for whys in found.values()]


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(texts[:3]) + (f"; {len(texts) - 3} more" if len(texts) > 3 else "")
