"""What tools accept and return, as far as a guard needs to know it: JSON Schemas by name."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Final, cast

from lawtrace.environments.domains.loader import Domain, load_domain
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.runtime.documentation import call_schemas, result_schema
from lawtrace.environments.spec.declaration import Environment

Schema = Mapping[str, Json]

ANYTHING: Final[Schema] = {}


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool.

    Attributes:
        name: of the tool.
        arguments: the JSON Schema of its arguments.
        result: the JSON Schema of its result; empty if it is unknown.
    """

    name: str
    arguments: Schema = field(default_factory=dict[str, Json])
    result: Schema = field(default_factory=dict[str, Json])

    def argument(self, name: str) -> tuple[Schema | None, bool]:
        """The schema of an argument, None if there is no such argument, and whether it can be left out."""
        properties = self.arguments.get("properties")
        listed = self.arguments.get("required")
        required = listed if isinstance(listed, list) else []
        if isinstance(properties, Mapping) and name in properties:
            found = properties[name]
            return found if isinstance(found, Mapping) else ANYTHING, name not in required
        closed = isinstance(properties, Mapping) and self.arguments.get("additionalProperties") is False
        return None if closed else ANYTHING, True

    def required(self, given: Mapping[str, Json]) -> list[str]:
        """The arguments that a call must have and that are not given."""
        listed = self.arguments.get("required")
        return [str(name) for name in listed if name not in given] if isinstance(listed, list) else []

    def kind(self, name: str) -> str:
        """What an argument may be, in a word or two: ``string``, ``one of 'a', 'b'``."""
        schema, _ = self.argument(name)
        allowed, kinds = (schema or {}).get("enum"), (schema or {}).get("type")
        if isinstance(allowed, list):
            return f"one of {', '.join(map(repr, allowed))}"
        return " or ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds or "value")


Tools = Domain | Environment | str | PathLike[str] | Mapping[str, Any] | Iterable[Any]
"""An environment, its name or folder; or schemas of OpenAI, Anthropic or MCP, Python functions, or names of tools; or a
mapping from names to the JSON Schemas of arguments."""


def read_tools(tools: Tools) -> dict[str, ToolSchema]:
    """The tools by name. Raises InputError naming the entry that is no tool, or that occurs twice."""
    if isinstance(tools, str | PathLike):
        tools = load_domain(str(tools))
    if isinstance(tools, Domain):
        tools = tools.environment
    if isinstance(tools, Environment):
        schemas = call_schemas(tools)
        return {name: ToolSchema(name, schemas[name], result_schema(tool)) for name, tool in tools.tools.items()}
    if isinstance(tools, Mapping):
        named = cast("Mapping[str, Any]", tools)
        return {name: ToolSchema(name, _schema(schema, name)) for name, schema in named.items()}
    found: dict[str, ToolSchema] = {}
    for number, entry in enumerate(tools, 1):
        tool = _read_tool(entry, number)
        if tool.name in found:
            raise InputError(f"tool {tool.name!r} occurs twice; give each tool its own name")
        found[tool.name] = tool
    return found


def _read_tool(entry: object, number: int) -> ToolSchema:
    if isinstance(entry, ToolSchema):
        return entry
    if isinstance(entry, str):
        return ToolSchema(entry)
    if isinstance(entry, Mapping):
        outer = cast("Mapping[str, Any]", entry)
        inner: Mapping[str, Any] = outer.get("function", outer) if isinstance(outer.get("function"), Mapping) else outer
        name = inner.get("name")
        if not isinstance(name, str) or not name:
            raise InputError(f"tool {number}: it has no name; expected a schema of OpenAI, Anthropic or MCP")
        written = next((inner[key] for key in ("parameters", "input_schema", "inputSchema") if key in inner), None)
        result = next((inner[key] for key in ("outputSchema", "output_schema") if key in inner), None)
        return ToolSchema(name, _schema(written, name), _schema(result, name))
    if callable(entry):
        return _from_function(entry, number)
    raise InputError(f"tool {number}: a {type(entry).__name__} is no tool; expected a schema, a function or a name")


def _from_function(function: Callable[..., Any], number: int) -> ToolSchema:
    name = getattr(function, "__name__", "")
    if not name:
        raise InputError(f"tool {number}: the function has no name; give its schema")
    parameters = inspect.signature(function).parameters.values()
    properties: dict[str, Json] = {}
    required: list[Json] = []
    closed = True
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            closed = False
            continue
        properties[parameter.name] = _TYPES.get(parameter.annotation, {})
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return ToolSchema(name, {"properties": properties, "required": required, "additionalProperties": not closed})


_TYPES: Final[dict[object, dict[str, Json]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    dict: {"type": "object"},
}


def _schema(written: object, name: str) -> dict[str, Json]:
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise InputError(f"tool {name!r}: its schema is not a JSON object")
    return dict(cast("Mapping[str, Json]", written))
