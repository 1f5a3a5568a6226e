"""Documentation of tools for models: text for prompts, and JSON schemas for function calls.

It matches exactly what the simulator returns and raises, and names the event that each tool emits, so that verdicts
depend on nothing undocumented. *When* to call compliance tools is stated only with ``hints``, which reveals the rules
and is off by default.
"""

import datetime as dt
import json
from typing import NamedTuple

from lawtrace.environments.spec.clock import SECONDS_PER_DAY
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, NestedRows, Result, RowsResult, ValueResult
from lawtrace.environments.spec.open_types import OrNull
from lawtrace.environments.spec.tools import Parameter, Tool
from lawtrace.environments.spec.types import Choice, ListOf, ObjectOf, ValueType
from lawtrace.schemas.events import Json


def document(
    environment: Environment, *, hints: bool = False, start: int | None = None, length: int | None = None
) -> dict[str, Json]:
    """The documentation of all tools as JSON: name, summary, parameters, returns, exceptions and duration of each, and
    of what happens without a call.

    ``start``: the time at which the session starts, if the reader is told. ``length``: its seconds, if it has another
    length than is declared.
    """
    session = _session(start, environment.clock.length if length is None else length)
    clock = f"A call takes one second unless its documentation gives a duration. {session}"
    happening: dict[str, Json] = {}
    if environment.agenda:
        clock += " What happens without a call is not announced; look-ups show it."
        happening["happens_without_a_call"] = [one.description for one in environment.agenda]
    return {
        "object": environment.object_name,
        "description": environment.summary,
        "clock": clock,
        **happening,
        "tools": [document_tool(tool, hints=hints) for tool in environment.tools.values()],
    }


def document_tool(tool: Tool, *, hints: bool = False) -> dict[str, Json]:
    """The documentation of one tool."""
    documented: dict[str, Json] = {
        "name": tool.name,
        "summary": _summary(tool, hints=hints),
        "parameters": [_document_parameter(parameter) for parameter in tool.parameters],
        "returns": _document_returns(tool),
        "exceptions": [{"name": raised.exception, "description": raised.description} for raised in tool.raises],
    }
    if tool.fails:
        documented["success_is_false_when"] = [failure.description for failure in tool.fails]
    if tool.emits:
        documented["event"] = tool.emits
    if duration := _duration(tool):
        documented["duration"] = duration
    return documented


def docstring(tool: Tool) -> str:
    """The text of ``help()`` on a tool in a program, below its signature: its documentation."""
    return json.dumps(document_tool(tool), indent=2, ensure_ascii=False)


def _duration(tool: Tool) -> str:
    """The seconds that a call takes; empty for the default of one second."""
    return "" if isinstance(tool.duration, int) and tool.duration == 1 else f"{tool.duration} seconds"


def _session(start: int | None, seconds: int) -> str:
    length = _length(seconds)
    if start is None:
        return f"A session ends {length} after it starts."
    return (
        f"This session starts at {dt.datetime.fromtimestamp(start, dt.UTC):%Y-%m-%d %H:%M:%S} and ends {length} later."
    )


def _length(seconds: int) -> str:
    """A length of time in the largest unit that divides it."""
    for unit, size in (("days", SECONDS_PER_DAY), ("hours", 3600), ("minutes", 60)):
        if seconds % size == 0 and seconds > size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"


def _summary(tool: Tool, *, hints: bool) -> str:
    return f"{tool.summary} {tool.hint}" if hints and tool.hint else tool.summary


def _document_parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        **_document_value(parameter.description, parameter.type),
        "required": parameter.required,
    }


def _document_returns(tool: Tool) -> list[Json]:
    """The fields of the result; of a tool without state that gives no object, what the result is."""
    whole = tool.returns.value if isinstance(tool.returns, OrNull) else tool.returns
    match whole:
        case None:
            return [_document_result(tool, result) for result in tool.results]
        case ObjectOf(fields=fields, optional=optional, descriptions=said):
            described = {name: _document_value(said.get(name, ""), fields[name], name in optional) for name in fields}
            return [{"name": name, **value} for name, value in described.items()]
        case _:
            return [{"name": "result", **_document_value("", whole)}]


def _document_value(description: str, value_type: ValueType, optional: bool = False) -> dict[str, Json]:
    """The type, the fields of an object or of the objects in a list, and the description."""
    fields = _object_fields(value_type)
    return {
        "type": _type(value_type) + (", may be absent" if optional else ""),
        **({} if fields is None else {"fields": fields}),
        "description": _with_format(description, value_type),
    }


def _object_fields(value_type: ValueType) -> dict[str, Json] | None:
    """The fields of an object or of the objects in a list."""
    match value_type:
        case ListOf(items=items):
            return _object_fields(items)
        case ObjectOf(fields=fields, optional=optional, descriptions=said):
            return {name: _document_field(fields[name], said.get(name), optional=name in optional) for name in fields}
        case _:
            return None


def _document_field(value_type: ValueType, description: str | None, *, optional: bool) -> Json:
    """A field in a word or two if it has no description; an object with its fields."""
    if description:
        return _document_value(description, value_type, optional)
    fields, absent = _object_fields(value_type), ", may be absent" if optional else ""
    return _typed(value_type) + absent if fields is None else {"type": _type(value_type) + absent, "fields": fields}


def _document_result(tool: Tool, result: Result) -> Json:
    match result:
        case ValueResult():
            return {"name": result.name, **_document_value(result.description, result.type)}
        case KeyResult():
            null = ", null if it did not succeed" if tool.fails else ""
            return {"name": result.name, "type": _typed(result.type) + null, "description": result.description}
        case RowsResult():
            documented = {"name": result.name, **_document_rows(result)}
            return {**documented, "type": "object"} if result.single else documented


def _document_rows(result: RowsResult | NestedRows) -> dict[str, Json]:
    parts: dict[str, Json] = {part.name: _document_rows(part) for part in result.parts}
    fields = (_object_fields(result.type) or {}) | parts
    return {"type": "array of objects", "fields": fields, "description": result.description}


def _type(value_type: ValueType) -> str:
    return f"array of {_plural(value_type.items)}" if isinstance(value_type, ListOf) else value_type.name


def _plural(value_type: ValueType) -> str:
    return f"arrays of {_plural(value_type.items)}" if isinstance(value_type, ListOf) else f"{value_type.name}s"


def _typed(value_type: ValueType) -> str:
    """The type, with its format or its options if it has any."""
    if isinstance(value_type, Choice):
        return f"{_type(value_type)}, one of: {_options(value_type)}"
    return f"{_type(value_type)}, format {value_type.format}" if value_type.format else _type(value_type)


def _options(choice: Choice) -> str:
    """The options, in quotes where a comma stands in one."""
    quoted = any("," in option for option in choice.options)
    return ", ".join(f"'{option}'" if quoted else option for option in choice.options)


def _with_format(description: str, value_type: ValueType) -> str:
    if isinstance(value_type, Choice):
        return f"{description} One of: {_options(value_type)}.".lstrip()
    return f"{description} Format: {value_type.format}.".lstrip() if value_type.format else description


class CallSchema(NamedTuple):
    """A tool as function calling expects it. ``parameters``: JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Json]


def call_schemas(environment: Environment, *, hints: bool = False) -> list[CallSchema]:
    """The tools as function calling expects them."""
    tools = environment.tools.values()
    return [CallSchema(tool.name, _summary(tool, hints=hints), argument_schema(tool)) for tool in tools]


def argument_schema(tool: Tool) -> dict[str, Json]:
    """The JSON Schema of the arguments."""
    properties: dict[str, Json] = {
        one.name: {**one.type.schema(), "description": _with_format(one.description, one.type)}
        for one in tool.parameters
    }
    required: list[Json] = [one.name for one in tool.parameters if one.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def result_schema(tool: Tool) -> dict[str, Json]:
    """The JSON Schema of the result."""
    if tool.returns is not None:
        return tool.returns.schema()
    fields: dict[str, Json] = {result.name: _result_schema(tool, result) for result in tool.results}
    return {"type": "object", "properties": fields, "required": [*fields]}


def _result_schema(tool: Tool, result: Result) -> dict[str, Json]:
    schema = result.type.schema()
    may_fail = isinstance(result, KeyResult) and tool.fails
    if may_fail or (isinstance(result, RowsResult) and result.single):
        schema["type"] = [schema["type"], "null"]
    return {**schema, "description": result.description}
