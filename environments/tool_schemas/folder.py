"""The folder of an environment to begin with: the tools as schemas and as a declaration, a policy and rules."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lawtrace.environments.spec.open_types import NUMBER
from lawtrace.environments.spec.types import BOOLEAN, DATE, INTEGER, TEXT, Choice, ListOf, ObjectOf, ValueType
from lawtrace.environments.toml_file import toml_text
from lawtrace.environments.tool_schemas.forms import as_mcp
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool
from lawtrace.schemas.errors import InputError

TOOLS: Final = "tools.json"

_WORLD: Final = """\
# The tools as data (docs/environments.md#reference). While no tables are declared, the folder is for audits, and
# tools.json counts. Declare tables, then say for each tool where its arguments come from, what it refuses, changes and
# answers:
#
# [tables.orders.fields]
# order_id = "text"
# status = ["pending", "cancelled"]
#
# [tools.cancel_order]
# parameters.order_id = {{ key = "orders" }}
# fails = [{{ when = 'order.status != "pending"', text = "The order is not pending." }}]
# effects = [{{ update = "orders", set.status = '"cancelled"' }}]
# results.success = {{ success = true }}
summary = {summary}
"""

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
    title = folder.resolve().name
    contents = {
        folder / "environment.toml": _WORLD.format(summary=toml_text(f"The tools of {title}.")) + _declared(schemas),
        tools: json.dumps({"tools": [as_mcp(one) for one in schemas]}, indent=2, ensure_ascii=False) + "\n",
        folder / "regulation.toml": _REGULATION.format(title=toml_text(f"Policy of {title}")),
        folder / "rules.toml": _RULES.format(formula=toml_text(f"G({_spelled(_example(schemas).name)} -> O user)")),
    }
    written = [path for path in contents if path == tools or not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in written:
            path.write_text(contents[path], encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    return written


def _declared(schemas: Sequence[ToolSchema]) -> str:
    """The tools as tables of TOML: what their schemas say, to be completed."""
    lines: list[str] = []
    for schema in schemas:
        tool = declare_tool(schema).tool
        summary = toml_text(" ".join(tool.summary.split()))
        lines += ["", f"[tools.{_key(tool.name)}]", f"summary = {summary}", f"step = {summary}"]
        for one in tool.parameters:
            kind, known = _type_text(one.type)
            parts = [f"type = {kind}", f"text = {toml_text(' '.join(one.description.split()))}"]
            parts += [] if one.required else ["optional = true"]
            note = "" if known else "  # the schema leaves the type open"
            lines.append(f"parameters.{_key(one.name)} = {{ {', '.join(parts)} }}{note}")
        if isinstance(tool.returns, ObjectOf):
            lines.append(f"# results: {', '.join(f'{name} ({one.name})' for name, one in tool.returns.fields.items())}")
    return "\n".join([*lines, ""])


def _type_text(value_type: ValueType) -> tuple[str, bool]:
    """A type as a declaration has it, and whether the declaration can say it."""
    names: dict[ValueType, str] = {INTEGER: "integer", BOOLEAN: "boolean", DATE: "date", NUMBER: "money", TEXT: "text"}
    match value_type:
        case Choice(options):
            return json.dumps([*options], ensure_ascii=False), True
        case ListOf(items):
            inner, known = _type_text(items)
            return f"{{ list = {inner} }}", known
        case ObjectOf(fields, optional) if fields:
            inside = {name: _type_text(one) for name, one in fields.items()}
            marked = {
                name: f"{{ type = {text}, optional = true }}" if name in optional else text
                for name, (text, _) in inside.items()
            }
            text = ", ".join(f"{_key(name)} = {one}" for name, one in marked.items())
            return f"{{ object = {{ {text} }} }}", all(known for _, known in inside.values())
        case _:
            return toml_text(names.get(value_type, "text")), value_type in names


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else toml_text(name)


def _example(schemas: Sequence[ToolSchema]) -> ToolSchema:
    """A tool for the example: one that says that it destroys something, else one that does not only read."""
    marked = [one for one in schemas if one.annotations.get("destructiveHint") is True]
    writing = [one for one in schemas if one.annotations.get("readOnlyHint") is not True]
    return [*marked, *writing, *schemas][0]


def _spelled(tool: str) -> str:
    """The name of a tool as formulas have it: in backquotes unless it is surely no word of their language."""
    plain = re.fullmatch(r"[A-Za-z]+(_[A-Za-z0-9]+)+|([A-Z][a-z0-9]+){2,}", tool) and not tool.isupper()
    return tool if plain else f"`{tool}`"
