"""What models read about the tools, made from the declaration: documentation for prompts, schemas for function calls.

The documentation promises exactly what the simulator returns and raises, and names the event that each tool emits, so
that nothing a verdict depends on is left to guessing. *When* the compliance tools should be called is told only with
``hints``, which gives the rules away and is off by default.
"""

from environments.declaration import Environment, Parameter, RowsResult, Tool, ValueResult
from environments.events import Json
from environments.kinds import Choice, Kind, Pattern

__all__ = ["call_schemas", "document", "document_tool"]


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
        "returns": [_document_result(result) for result in tool.results],
        "exceptions": [{"name": raised.exception, "description": raised.description} for raised in tool.raises],
    }
    if tool.fails:
        documented["success_is_false_when"] = [failure.description for failure in tool.fails]
    if tool.emits:
        documented["event"] = tool.emits
    return documented


def _summary(tool: Tool, *, hints: bool) -> str:
    return f"{tool.summary} {tool.hint}" if hints and tool.hint else tool.summary


def _document_parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "type": parameter.kind.name if parameter.kind.name != "array" else "array of strings",
        "description": _with_format(parameter.description, parameter.kind),
        "required": parameter.required,
    }


def _document_result(result: RowsResult | ValueResult) -> Json:
    if isinstance(result, ValueResult):
        return {"name": result.name, "type": result.kind.name, "description": result.description}
    fields: dict[str, Json] = {}
    for name in result.fields:
        field = result.entity.fields[name]
        shape = f", format {field.kind.shape}" if isinstance(field.kind, Pattern) else ""
        fields[name] = field.kind.name + shape + (", may be absent" if field.optional else "")
    return {"name": result.name, "type": "array of objects", "fields": fields, "description": result.description}


def _with_format(description: str, kind: Kind) -> str:
    match kind:
        case Pattern():
            return f"{description} Format: {kind.shape}."
        case Choice():
            return f"{description} One of: {', '.join(kind.options)}."
        case _ if kind.schema().get("format") == "date":
            return f"{description} Format: YYYY-MM-DD."
        case _:
            return description


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
