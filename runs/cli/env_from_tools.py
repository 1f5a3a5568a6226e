"""``lawtrace env from-tools``: make an environment without state from tool schemas."""

from collections.abc import Sequence
from pathlib import Path

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.tool_schemas.folder import write_tools_folder
from lawtrace.environments.tool_schemas.reading import read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import DeclaredTool, declare_tool, environment_name
from lawtrace.runs.cli.output import print_json, print_note, print_result
from lawtrace.runs.report.text import visible
from lawtrace.schemas.errors import InputError

SHOWN = 10
"""How many lines of a kind are printed."""


def from_tools(*, schemas: list[str], out: Path, force: bool, as_json: bool) -> None:
    """Write the folder, and say what the declaration leaves open."""
    name = environment_name(out.resolve().name)
    if name in BUILT_IN_DOMAINS:
        raise InputError(f"{out}: would be named {name!r}, like a built-in environment; choose another folder")
    found = read_tool_schemas(schemas)
    declared = [declare_tool(one) for one in found]
    written = write_tools_folder(out, found, force=force)
    load_domain(str(out.resolve()))
    if as_json:
        print_json(
            {
                "environment": name,
                "folder": str(out),
                "tools": [one.tool.name for one in declared],
                "left_open": [line for one in declared for line in one.left_open],
                "unchecked": [line for one in declared for line in one.unchecked],
                "written": [*map(str, written)],
            }
        )
        return
    _print_lines("Left open, any value is accepted:", [line for one in declared for line in one.left_open])
    _print_lines("Not checked in audits:", [line for one in declared for line in one.unchecked])
    _print_results(declared)
    print_result(f"{len(declared)} tools. Written: {', '.join(map(str, written))}")


def _print_lines(heading: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    print_note(heading)
    for line in lines[:SHOWN]:
        print_note(f"  {visible(line)}")
    if len(lines) > SHOWN:
        print_note(f"  ... and {len(lines) - SHOWN} more; --json lists all")


def _print_results(declared: Sequence[DeclaredTool]) -> None:
    silent = sum(one.tool.returns is None for one in declared)
    if silent:
        print_note(
            f"The results of {silent} of {len(declared)} tools are not declared; give them an outputSchema in "
            "tools.json where rules read them."
        )
