"""Tool schemas of what a Python program has: names, schemas in any known form, functions."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_jsonable_python

from lawtrace.environments.tool_schemas.forms import PARAMETERS, read_forms
from lawtrace.environments.tool_schemas.outcomes import read_error_texts
from lawtrace.environments.tool_schemas.schemas import ToolSchema, unique_schemas
from lawtrace.schemas.errors import InputError


def read_given_tools(tools: Mapping[str, Any] | Iterable[Any]) -> list[ToolSchema]:
    """The tools, each once.

    Args:
        tools: a mapping from names to JSON Schemas of arguments; a mapping with entries in ``tools`` and patterns for
            results that are texts of errors in ``error_texts``; or entries, each a name, a function, a `ToolSchema` or
            a schema in one of the forms of `lawtrace.environments.tool_schemas.forms`.

    Raises InputError naming the entry that is no tool, or two that differ and have one name.
    """
    if isinstance(tools, Mapping):
        named = cast("Mapping[str, Any]", tools)
        if isinstance(entries := named.get("tools"), list | tuple):
            texts = read_error_texts(named.get("error_texts"), "tools")
            return [replace(one, error_texts=texts) for one in read_given_tools(cast("list[Any]", entries))]
        return [ToolSchema(name, "", _schema(schema, name), None, f"tool {name!r}") for name, schema in named.items()]
    return unique_schemas([one for number, entry in enumerate(tools, 1) for one in _read(entry, f"tool {number}")])


def _read(entry: object, place: str) -> list[ToolSchema]:
    if isinstance(entry, ToolSchema):
        return [entry]
    if isinstance(entry, str):
        return [ToolSchema(entry, "", {}, None, place)]
    if isinstance(entry, Mapping):
        fields = dict(cast("Mapping[str, Any]", entry))
        inner: dict[str, Any] = fields["function"] if isinstance(fields.get("function"), dict) else fields
        for name in PARAMETERS:
            if name in inner:
                _schema(inner[name], inner.get("name"))
        found = [*read_forms(fields, place)] or [*read_forms({"description": "", **fields}, place)]
        if not found or not all(tool.name for tool in found):
            raise InputError(f"{place}: it has no name; expected a schema of OpenAI, Anthropic or MCP")
        return found
    if callable(entry):
        return [_of_function(entry, place)]
    raise InputError(f"{place}: a {type(entry).__name__} is no tool; expected a schema, a function or a name")


def _of_function(function: Callable[..., Any], place: str) -> ToolSchema:
    name = getattr(function, "__name__", "")
    if not name:
        raise InputError(f"{place}: the function has no name; give its schema")
    try:
        signature = inspect.signature(function, eval_str=True)
    except Exception:  # noqa: BLE001 (an annotation as text may name what is not there, or be no expression)
        signature = inspect.signature(function)
    properties: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    required: list[str] = []
    closed = True
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            closed = False
            continue
        properties[parameter.name] = _of_type(parameter.annotation)
        shared |= properties[parameter.name].pop("$defs", {})
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif parameter.default is not None:
            with suppress(ValueError):
                properties[parameter.name]["default"] = to_jsonable_python(parameter.default)
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": not closed}
    schema |= {"$defs": shared} if shared else {}
    return ToolSchema(name, inspect.getdoc(function) or "", schema, None, place)


def _of_type(annotation: Any) -> dict[str, Any]:  # noqa: ANN401
    """The JSON Schema of a type; empty for one without."""
    if annotation is inspect.Parameter.empty or isinstance(annotation, str):
        return {}
    try:
        return TypeAdapter(annotation).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError):
        return {}


def _schema(written: object, name: object) -> dict[str, Any]:
    if not isinstance(written, Mapping | None):
        raise InputError(f"tool {name!r}: its schema is not a JSON object")
    return dict(cast("Mapping[str, Any]", written or {}))
