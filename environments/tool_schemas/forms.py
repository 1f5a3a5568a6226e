"""The forms in which tool lists are written as JSON, each detected from what it holds.

| form | a tool is |
| --- | --- |
| OpenAI chat | ``{"type": "function", "function": {"name", "description", "parameters"}}`` |
| OpenAI Responses, older functions | ``{"type": "function", "name", "description", "parameters"}`` |
| Anthropic | ``{"name", "description", "input_schema"}`` |
| MCP | ``{"name", "description", "inputSchema", "outputSchema", "annotations"}`` |
| Gemini | ``{"functionDeclarations": [{"name", "parameters", "response"}]}``, types in capitals |
| Bedrock | ``{"toolSpec": {"name", "inputSchema": {"json": ...}}}`` |
| OpenAPI | a document with ``paths``: each operation is a tool (`tool_schemas.openapi`) |
| JSON Schema | ``{"NAME": {schema of the arguments}, ...}``, or one schema with ``title`` |

Lists of them may stand alone, in ``tools`` or ``functions`` of an object (a request, a list of MCP), or in its
``result``. ``error_texts`` beside ``tools`` has patterns for results that are errors (`tool_schemas.outcomes`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from lawtrace.environments.literals import fields_of
from lawtrace.environments.tool_schemas.openapi import is_openapi, read_openapi
from lawtrace.environments.tool_schemas.outcomes import read_error_texts
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import Json

PARAMETERS: Final = (
    "parameters",
    "inputSchema",
    "input_schema",
    "parametersJsonSchema",
    "inputParameters",
    "input_parameters",
)
_RESULTS: Final = ("outputSchema", "output_schema", "responseJsonSchema", "response", "outputParameters")
_LISTS: Final = ("tools", "functions", "functionDeclarations", "function_declarations")
_HOLDERS: Final = ("function", "toolSpec", "tool_spec")
_ATTRIBUTE: Final = re.compile(r"(^gen_ai\.tool\.definitions|tool\.json_schema|^gen_ai\.request\.tools)$")
_WRAPPED: Final = "x-fastmcp-wrap-result"


def read_forms(value: Json, place: str) -> Iterator[ToolSchema]:
    """The tools in a JSON value; none if it has none of these forms."""
    if isinstance(value, list):
        found = [[*read_forms(item, f"{place}, tool {number}")] for number, item in enumerate(value, 1)]
        for item, tools in zip(value, found, strict=True):
            yield from tools or (_built_in(item, place) if any(found) else ())
        return
    if not isinstance(value, dict):
        return
    fields: dict[str, Any] = value
    if is_openapi(fields):
        yield from read_openapi(fields, place)
        return
    lists = [name for name in _LISTS if isinstance(fields.get(name), list)]
    if lists:
        texts = read_error_texts(fields.get("error_texts"), place)
        for tool in (tool for name in lists for tool in read_forms(fields[name], place)):
            yield replace(tool, error_texts=(*tool.error_texts, *texts))
        return
    if isinstance(fields.get("result"), dict) and isinstance(fields["result"].get("tools"), list):
        yield from read_forms(fields["result"], place)
        return
    for holder in _HOLDERS:
        if isinstance(fields.get(holder), dict) and isinstance(fields[holder].get("name"), str):
            yield _tool(fields[holder], place)
            return
    if isinstance(fields.get("name"), str) and _is_tool(fields):
        yield _tool(fields, place)
    elif isinstance(fields.get("title"), str) and _is_schema(fields):
        yield ToolSchema(fields["title"], str(fields.get("description") or ""), fields, None, place)
    elif fields and all(_is_schema(fields_of(inner)) for inner in fields.values()):
        for name, schema in fields.items():
            yield ToolSchema(name, str(schema.get("description") or ""), schema, None, f"{place}, {name!r}")
    elif fields and all(_is_tool(fields_of(inner)) for inner in fields.values()):
        for name, tool in fields.items():
            yield _tool({"name": name, **tool}, f"{place}, {name!r}")


def search_forms(value: Json, place: str) -> Iterator[ToolSchema]:
    """The tools in a log: lists of tools anywhere in the value, and attributes of spans that hold them as text."""
    pending: list[Json] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, list):
            pending += reversed(one)
            continue
        if not isinstance(one, dict):
            continue
        fields: dict[str, Any] = one
        lists = {name: fields[name] for name in _LISTS if isinstance(fields.get(name), list)}
        found = [*read_forms(lists and {**lists, "error_texts": fields.get("error_texts")}, place)]
        if isinstance(key := fields.get("key"), str) and _ATTRIBUTE.search(key):
            found += _in_text(fields_of(fields.get("value")).get("stringValue"), place)
        for key, inner in fields.items():
            if isinstance(inner, str) and _ATTRIBUTE.search(key):
                found += _in_text(inner, place)
        yield from (one for one in found if not one.notes)  # a log names tools without their schemas, too
        if not found:
            pending += reversed([*one.values()])


def _in_text(text: object, place: str) -> list[ToolSchema]:
    try:
        return [*read_forms(json.loads(text), place)] if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return []


def is_wrapped(result: Mapping[str, Any]) -> bool:
    """Whether the schema of a result says that its only field ``result`` is what the tool returns."""
    return result.get(_WRAPPED) is True and "result" in fields_of(result.get("properties"))


def as_mcp(schema: ToolSchema) -> dict[str, Json]:
    written: dict[str, Any] = {"name": schema.name, "description": schema.description}
    written["inputSchema"] = {"type": "object", **schema.parameters}
    if schema.result is not None:
        written["outputSchema"] = schema.result
    if schema.annotations:
        written["annotations"] = schema.annotations
    return written


def _built_in(value: Json, place: str) -> Iterator[ToolSchema]:
    """A tool of the provider, which has a type instead of a name: ``{"type": "web_search"}``."""
    kind = fields_of(value).get("type")
    if isinstance(kind, str):
        yield ToolSchema(kind, "", {}, None, place, notes=("it is the provider's, without a schema of its arguments",))


def _is_tool(fields: Mapping[str, Any]) -> bool:
    """A named thing with a schema of arguments, or one that says by its type that it is a tool."""
    if any(name in fields for name in (*PARAMETERS, "args_schema")):
        return True
    return (
        "name" in fields and ("description" in fields or isinstance(fields.get("type"), str)) and "role" not in fields
    )


def _is_schema(fields: Mapping[str, Any]) -> bool:
    return fields.get("type") == "object" or isinstance(fields.get("properties"), dict) or "$ref" in fields


def _tool(fields: Mapping[str, Any], place: str) -> ToolSchema:
    notes: list[str] = []
    given = next((fields[name] for name in PARAMETERS if name in fields), None)
    parameters = fields_of(fields_of(given).get("json")) or fields_of(given)
    if given is None:
        notes.append("it has no schema of its arguments")
    result = next((fields_of(fields[name]) for name in _RESULTS if isinstance(fields.get(name), dict)), None)
    if result is not None and is_wrapped(result):
        inner = {name: result[name] for name in ("$defs", "definitions") if name in result}
        result = {**fields_of(result["properties"])["result"], **inner}
    return ToolSchema(
        str(fields["name"]),
        str(fields.get("description") or ""),
        parameters,
        result,
        place,
        fields_of(fields.get("annotations")),
        tuple(notes),
    )
