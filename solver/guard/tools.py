"""The tools that a guard stands in front of."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from lawtrace.environments.runtime.documentation import argument_schema, result_schema
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.tool_schemas.given_tools import read_given_tools
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.solver.declarations.loader import Domain

Tools = Domain | Environment | str | PathLike[str] | Mapping[str, Any] | Iterable[Any]
"""An environment, its name or folder; or what `read_given_tools` reads: schemas of OpenAI, Anthropic or MCP, functions,
names, or a mapping from names to the JSON Schemas of arguments."""


def read_tools(tools: Environment | Mapping[str, Any] | Iterable[Any]) -> dict[str, ToolSchema]:
    """The tools by name. Raises InputError naming the entry that is no tool, or that has the name of another."""
    if isinstance(tools, Environment):
        return {
            name: replace(
                ToolSchema(name, tool.summary, argument_schema(tool), result_schema(tool), f"{tools.name}, {name}"),
                error_texts=tool.error_texts,
            )
            for name, tool in tools.tools.items()
        }
    return {tool.name: tool for tool in read_given_tools(tools)}
