"""The folder of an environment without state: the tools as schemas, and a policy and rules to begin with."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lawtrace.environments.tool_schemas.forms import as_mcp
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import InputError

TOOLS: Final = "tools.json"

_REGULATION: Final = """\
# The policy that the rules rest on, provision by provision (docs/environments.md).
id = "POLICY"
title = {title}
source = "where the policy comes from"
restated = false

[[provisions]]
citation = "Section 1"
text = "The first sentence of the policy."
"""

_RULES: Final = """\
# One table for each rule (docs/rules-language.md). This one is an example; replace it.

[[rules]]
id = "example"
formula = {formula}
regulation = "POLICY"
provisions = ["Section 1"]
rationale = "No such call before the user has said something."
"""


def write_tools_folder(folder: Path, schemas: Sequence[ToolSchema], *, force: bool = False) -> list[Path]:
    """Write the folder; returns the files written. A policy and rules that are there stay as they are.

    Raises InputError if the folder has tools already, unless ``force``, or declares them in Python.
    """
    tools, python = folder / TOOLS, folder / "__init__.py"
    if python.exists():
        raise InputError(f"{python}: declares the tools in Python; choose another folder")
    if tools.exists() and not force:
        raise InputError(f"{tools}: exists; --force replaces it, and keeps policy and rules")
    contents = {
        tools: json.dumps({"tools": [as_mcp(one) for one in schemas]}, indent=2, ensure_ascii=False) + "\n",
        folder / "regulation.toml": _REGULATION.format(title=_quoted(f"Policy of {folder.resolve().name}")),
        folder / "rules.toml": _RULES.format(formula=_quoted(f"G({_spelled(_example(schemas).name)} -> O user)")),
    }
    written = [path for path in contents if path == tools or not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in written:
            path.write_text(contents[path], encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    return written


def _example(schemas: Sequence[ToolSchema]) -> ToolSchema:
    """A tool for the example: one that says that it destroys something, else one that does not only read."""
    marked = [one for one in schemas if one.annotations.get("destructiveHint") is True]
    writing = [one for one in schemas if one.annotations.get("readOnlyHint") is not True]
    return [*marked, *writing, *schemas][0]


def _spelled(tool: str) -> str:
    """The name of a tool as formulas have it: in backquotes unless it is surely no word of their language."""
    plain = re.fullmatch(r"[A-Za-z]+(_[A-Za-z0-9]+)+|([A-Z][a-z0-9]+){2,}", tool) and not tool.isupper()
    return tool if plain else f"`{tool}`"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
