"""Rules and tools as parameters of Inspect's approvers and scorers."""

from pathlib import Path

from lawtrace.environments.tool_schemas.reading import is_tool_source
from lawtrace.runs.audit.audit import Audit, audit
from lawtrace.schemas.errors import InputError


def open_audit(rules: str | None, tools: str | list[str] | None, *, complete: bool = False) -> Audit:
    """An audit by these rules, of records that come one by one.

    ``tools``: a built-in environment, the folder of one, or files with tool schemas. ``rules``: by default those of the
    environment. Raises InputError if they do not fit together.
    """
    if not tools:
        raise InputError("name the tools: a built-in environment, its folder, or files with tool schemas")
    sources = [tools] if isinstance(tools, str) else tools
    opened = [*map(Path, sources)] if all(map(is_tool_source, sources)) else sources[0]
    return audit(None if rules is None else Path(rules).expanduser(), [], opened, complete=complete)
