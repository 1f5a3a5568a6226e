"""``lawtrace env from-tools``: make an environment without state from tool schemas."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.tool_schemas.folder import write_tools_folder
from lawtrace.environments.tool_schemas.reading import find_tool_schemas
from lawtrace.environments.tool_schemas.schemas import declare_tool, environment_name
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import visible
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain

SHOWN = 10
"""How many lines of a kind are printed."""


def from_tools(
    schemas: Annotated[
        list[str],
        typer.Argument(
            help="OpenAPI; JSON of MCP, OpenAI, ...; FILE.py; FILE.py:CLASS; package.module:CLASS; folders."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the environment.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the tools there; keep policy and rules.")] = False,
) -> CommandResult:
    """Make an environment for audits from tool schemas.

    Python is read, never run. What the schemas leave open is listed.
    """
    name = environment_name(out.resolve().name)
    if name in BUILT_IN_DOMAINS:
        raise InputError(f"{out}: would be named {name!r}, like a built-in environment; choose another folder")
    sources = find_tool_schemas(schemas)
    found = sources.schemas
    declared = [declare_tool(one) for one in found]
    written = write_tools_folder(out, found, force=force)
    load_domain(str(out.resolve()))
    left_open = [line for one in declared for line in one.left_open]
    silent = sum(one.tool.returns is None for one in declared)
    shown = [Note("Left open, any value is accepted:")] if left_open else []
    shown += [Note(f"  {visible(line)}") for line in left_open[:SHOWN]]
    if len(left_open) > SHOWN:
        shown.append(Note(f"  ... and {len(left_open) - SHOWN} more; --json lists all"))
    if silent:
        shown.append(
            Note(
                f"The results of {silent} of {len(declared)} tools are not declared; give them an outputSchema in "
                "tools.json where rules read them."
            )
        )
    shown += [Note(f"Left out: {visible(line)}") for line in sources.without]
    return CommandResult(
        {
            "environment": name,
            "folder": str(out),
            "tools": [one.tool.name for one in declared],
            "left_open": left_open,
            "left_out": [*sources.without],
            "written": [*map(str, written)],
        },
        (*shown, f"{len(declared)} tools. Written: {', '.join(map(str, written))}"),
    )
