"""The tools that a server lists, imported with their schemas, and the rules that can be checked with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lawtrace.environments.literals import fields_of
from lawtrace.environments.tool_schemas.forms import is_wrapped, read_forms
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool, make_environment
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import SPEAKERS, Json
from lawtrace.solver.guard.step_counting import counts_steps
from lawtrace.solver.rules import Rule, check_rules

PLACE: Final = "tools/list"
_READ: Final = ("name", "description", "inputSchema", "outputSchema")


@dataclass(frozen=True, slots=True)
class ImportedTools:
    """The tools of one listing.

    Attributes:
        schemas: by name.
        unreadable: why a listed tool cannot be judged, by name.
        wrapped: tools that return their result as the only field of an object.
        names: of everything listed.
    """

    schemas: Mapping[str, ToolSchema] = field(default_factory=dict[str, ToolSchema])
    unreadable: Mapping[str, str] = field(default_factory=dict[str, str])
    wrapped: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def why_unusable(self, rule: Rule) -> str | None:
        """Why a rule cannot be checked with these tools; None if it can."""
        named = rule.tools - SPEAKERS.keys()
        if known := next((name for name in sorted(named) if name in self.unreadable), None):
            return self.unreadable[known]
        if missing := sorted(named - self.names):
            return f"the server has no tool {missing[0]!r}"
        try:
            check_rules([rule], make_environment("tools", [self.schemas[name] for name in sorted(named)]))
        except InputError as error:
            return str(error)
        return None

    def changed_since(self, earlier: "ImportedTools", tool: str) -> str | None:
        """How a tool differs from what it was; None if rules see no difference."""
        if tool in self.unreadable:
            return self.unreadable[tool]
        then, now = earlier.schemas.get(tool), self.schemas.get(tool)
        if then is None or now is None:
            return None if then is now else f"the tool {tool!r} {'vanished' if now is None else 'appeared'}"
        if (then.parameters, then.result) != (now.parameters, now.result):
            return f"the schema of the tool {tool!r} changed"
        return None


def import_tools(listed: Sequence[Json]) -> ImportedTools:
    """Import a whole list of tools. Never raises because of what a server lists."""
    schemas: dict[str, ToolSchema] = {}
    unreadable: dict[str, str] = {}
    wrapped: set[str] = set()
    for number, entry in enumerate(listed, 1):
        written: dict[str, Any] = fields_of(entry)
        name = written.get("name")
        if not isinstance(name, str):
            continue
        try:
            read = {key: written[key] for key in _READ if key in written}
            schema = next(iter(read_forms({"tools": [read]}, f"{PLACE}, tool {number}")))
            declare_tool(schema)
        except (InputError, StopIteration, ValueError, TypeError, RecursionError) as error:
            unreadable[name] = f"the schema of the tool {name!r} cannot be read: {error or type(error).__name__}"
            continue
        known = schemas.setdefault(name, schema)
        if (known.parameters, known.result) != (schema.parameters, schema.result):
            unreadable[name] = f"the server lists two tools with the name {name!r}"
        if name in SPEAKERS:
            unreadable[name] = f"the tool {name!r} has the name by which rules mean messages"
        if is_wrapped(fields_of(written.get("outputSchema"))):
            wrapped.add(name)
    names = frozenset({*schemas, *unreadable})
    usable = {name: schema for name, schema in schemas.items() if name not in unreadable}
    return ImportedTools(usable, unreadable, frozenset(wrapped), names)


def concerned_tools(rule: Rule, names: frozenset[str]) -> frozenset[str]:
    """The tools whose calls can matter to a rule. `names`: of all tools."""
    named = rule.tools - SPEAKERS.keys()
    return named | names if counts_steps(rule) else named
