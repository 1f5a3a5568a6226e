"""Tool schemas from files: JSON in any of the known forms, JSON lines, or Python source.

Python is read, never imported or run.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lawtrace.environments.literals import fields_of
from lawtrace.environments.tool_schemas.forms import read_forms, search_forms
from lawtrace.environments.tool_schemas.python_tools import read_python_tools
from lawtrace.environments.tool_schemas.schemas import ToolSchema, is_same, unique_schemas
from lawtrace.schemas.errors import InputError, input_errors
from lawtrace.schemas.events import Json


def read_tool_schemas(sources: Sequence[str]) -> list[ToolSchema]:
    """The tools of all sources, each once. Raises InputError for a source without tools, and for two that differ.

    Args:
        sources: files of JSON, ``FILE.py`` (functions), ``FILE.py:Class`` or ``package.module:Class``.
    """
    return unique_schemas([schema for source in sources for schema in _read(source)])


def is_tool_source(source: str) -> bool:
    """Whether a source looks like tool schemas: Python, or JSON."""
    path, _, name = source.rpartition(":")
    if source.endswith(".py") or (path and name.isidentifier() and not Path(source).exists()):
        return True
    try:
        with Path(source).open(encoding="utf-8-sig", errors="replace") as file:
            return re.match(r"\s*(\{|\[\s*\{)", file.read(4096)) is not None
    except OSError:
        return False


def _read(source: str) -> list[ToolSchema]:
    path, _, name = source.rpartition(":")
    if source.endswith(".py"):
        return read_python_tools(_existing(Path(source)), None)
    if path and name.isidentifier() and not Path(source).exists():
        return read_python_tools(_existing(Path(path)) if path.endswith(".py") else _find_module(path), name)
    found = _read_json(_existing(Path(source)))
    if not found:
        raise InputError(
            f"{source}: no tool schemas; expected tools of OpenAI, Anthropic, MCP, Gemini or Bedrock, or JSON schemas "
            "by name (docs/environments.md)"
        )
    return found


def _read_json(path: Path) -> list[ToolSchema]:
    """The tools in a file of one JSON value, or of a value a line. In logs they are searched for."""
    try:
        with input_errors(path), path.open(encoding="utf-8-sig") as file:
            first = _parsed(next((line for line in file if line.strip()), ""))
            if first is None:
                file.seek(0)
                return _tools(json.load(file), str(path))
            return _join_versions(tool for place, value in _lines(path, first, file) for tool in _tools(value, place))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from error


def _tools(value: Json, place: str) -> list[ToolSchema]:
    return [*read_forms(value, place)] or [*search_forms(value, place)]


def _join_versions(schemas: Iterable[ToolSchema]) -> list[ToolSchema]:
    """Each tool of a log once. One whose schema changed gets a schema that admits what any of the versions does."""
    found: dict[str, list[ToolSchema]] = {}
    for schema in schemas:
        known = found.setdefault(schema.name, [])
        if not any(is_same(schema, one) for one in known):
            known.append(schema)
    return [_joined(known) if len(known) > 1 else known[0] for known in found.values()]


def _joined(versions: Sequence[ToolSchema]) -> ToolSchema:
    defs: dict[str, Json] = {}
    for name, part in [pair for one in versions for pair in fields_of(one.parameters.get("$defs")).items()]:
        defs[name] = part if defs.get(name, part) == part else {}  # one that changes is left open
    results = [one.result for one in versions if one.result is not None]
    places = "; ".join(one.place for one in versions)
    return replace(
        versions[0],
        parameters={"anyOf": [one.parameters for one in versions], "$defs": defs},
        result={"anyOf": results} if len(results) == len(versions) else None,
        notes=(*versions[0].notes, f"arguments: those of each version of its schema are accepted ({places})"),
    )


def _lines(path: Path, first: Json, rest: Iterable[str]) -> Iterator[tuple[str, Json]]:
    yield str(path), first
    for number, line in enumerate(rest, 2):
        if line.strip():
            yield f"{path}, line {number}", json.loads(line)


def _parsed(line: str) -> Json:
    """The value of a line that is a whole object or list; None for any other."""
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"{path}: file not found")
    return path


def _find_module(name: str) -> Path:
    """The source file of a module, found by its name without importing anything."""
    parts = name.split(".")
    for root in dict.fromkeys(["", *sys.path]):
        for found in (Path(root, *parts).with_suffix(".py"), Path(root, *parts, "__init__.py")):
            if found.is_file():
                return found
    raise InputError(f"{name}: module not found here or on Python's path; write FILE.py:Class")
