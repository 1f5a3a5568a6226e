"""What models read about the tools, made from the declaration: documentation for prompts, schemas for function calls.

The documentation promises exactly what the simulator returns and raises, and names the event that each tool emits, so
that nothing a verdict depends on is left to guessing. *When* the compliance tools should be called is told only with
``hints``, which gives the rules away and is off by default.
"""

from collections.abc import Mapping
from functools import lru_cache

from environments.declaration import Environment, KeyResult, Parameter, Part, Result, RowsResult, Tool, ValueResult
from environments.events import Json
from environments.kinds import Choice, Kind

__all__ = ["call_schemas", "docstrings", "document", "document_tool"]


def document(environment: Environment, *, hints: bool = False) -> dict[str, Json]:
    """The documentation of all tools as JSON: name, summary, parameters, returns and exceptions of each."""
    return {
        "object": environment.object_name,
        "description": environment.summary,
        "tools": [document_tool(tool, hints=hints) for tool in environment.tools.values()],
    }


def document_tool(tool: Tool, *, hints: bool = False) -> dict[str, Json]:
    """The documentation of one tool."""
    documented: dict[str, Json] = {
        "name": tool.name,
        "summary": _summary(tool, hints=hints),
        "parameters": [_document_parameter(parameter) for parameter in tool.parameters],
        "returns": [_document_result(tool, result) for result in tool.results],
        "exceptions": [{"name": raised.exception, "description": raised.description} for raised in tool.raises],
    }
    if tool.fails:
        documented["success_is_false_when"] = [failure.description for failure in tool.fails]
    if tool.emits:
        documented["event"] = tool.emits
    return documented


@lru_cache(maxsize=64)
def docstrings(environment: Environment) -> Mapping[str, str]:
    """What ``help()`` says in a program: of the object, by its name, and of each tool."""
    texts = {environment.object_name: environment.summary}
    for tool in environment.tools.values():
        parameters = ", ".join(
            f"{parameter.name}: {_type(parameter.kind)}{'' if parameter.required else ' = None'}"
            for parameter in tool.parameters
        )
        results = ", ".join(result.name for result in tool.results)
        lines = [f"{tool.name}({parameters}) -> {{{results}}}", "", tool.summary]
        lines += [
            f"    {parameter.name}: {_with_format(parameter.description, parameter.kind)}"
            for parameter in tool.parameters
        ]
        lines += [f"Raises {raised.exception}: {raised.description}" for raised in tool.raises]
        texts[tool.name] = "\n".join(lines)
    return texts


def _summary(tool: Tool, *, hints: bool) -> str:
    return f"{tool.summary} {tool.hint}" if hints and tool.hint else tool.summary


def _document_parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "type": _type(parameter.kind),
        "description": _with_format(parameter.description, parameter.kind),
        "required": parameter.required,
    }


def _document_result(tool: Tool, result: Result) -> Json:
    match result:
        case ValueResult():
            return {"name": result.name, "type": _type(result.kind), "description": result.description}
        case KeyResult():
            kind = result.entity.fields[result.entity.key].kind
            null = ", null if it did not succeed" if tool.fails else ""
            return {"name": result.name, "type": _typed(kind) + null, "description": result.description}
        case RowsResult():
            documented = {"name": result.name, **_document_rows(result)}
            return {**documented, "type": "object"} if result.single else documented


def _document_rows(result: RowsResult | Part) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for name in result.fields:
        field = result.entity.fields[name]
        fields[name] = _typed(field.kind) + (", may be absent" if field.optional else "")
    for part in result.parts if isinstance(result, RowsResult) else ():
        fields[part.name] = _document_rows(part)
    return {"type": "array of objects", "fields": fields, "description": result.description}


def _type(kind: Kind) -> str:
    return kind.name if kind.name != "array" else "array of strings"


def _typed(kind: Kind) -> str:
    """The type, and the format where a value has one."""
    return f"{_type(kind)}, format {kind.shape}" if kind.shape else _type(kind)


def _with_format(description: str, kind: Kind) -> str:
    if isinstance(kind, Choice):
        return f"{description} One of: {', '.join(kind.options)}."
    return f"{description} Format: {kind.shape}." if kind.shape else description


def call_schemas(environment: Environment, *, hints: bool = False) -> dict[str, dict[str, Json]]:
    """For each tool the JSON Schema of its arguments, as function calling expects it."""
    schemas: dict[str, dict[str, Json]] = {}
    for tool in environment.tools.values():
        properties: dict[str, Json] = {}
        for parameter in tool.parameters:
            properties[parameter.name] = {
                **parameter.kind.schema(),
                "description": _with_format(parameter.description, parameter.kind),
            }
        schemas[tool.name] = {
            "type": "object",
            "description": _summary(tool, hints=hints),
            "properties": properties,
            "required": [parameter.name for parameter in tool.parameters if parameter.required],
            "additionalProperties": False,
        }
    return schemas
