"""Tool schemas from files: JSON or YAML in any of the known forms, JSON lines, Python source, or folders of these.

Python is read, never imported or run.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lawtrace.environments.literals import fields_of
from lawtrace.environments.tool_schemas.forms import read_forms, search_forms
from lawtrace.environments.tool_schemas.python_tools import read_python_tools
from lawtrace.environments.tool_schemas.schemas import NoToolsError, ToolSchema, is_same, unique_schemas
from lawtrace.schemas.errors import InputError, input_errors
from lawtrace.schemas.events import Json

_YAML: Final = (".yaml", ".yml")
_SUFFIXES: Final = frozenset({".py", ".json", ".jsonl", *_YAML})
"""The files of a folder that are read."""


@dataclass(frozen=True, slots=True)
class FoundTools:
    """The tools of some sources, each once. ``without``: the files of folders in which there are none, and why."""

    schemas: list[ToolSchema]
    without: tuple[str, ...] = ()


def read_tool_schemas(sources: Sequence[str]) -> list[ToolSchema]:
    """The tools of all sources, each once; see `find_tool_schemas`."""
    return find_tool_schemas(sources).schemas


def find_tool_schemas(sources: Sequence[str]) -> FoundTools:
    """The tools of all sources, each once. Raises InputError for a source without tools, and for two that differ.

    Args:
        sources: files of JSON or YAML, ``FILE.py`` (functions), ``FILE.py:Class``, ``package.module:Class``, or folders
            of such files, in which files without tools are left out.
    """
    found: list[ToolSchema] = []
    without: list[str] = []
    for source in sources:
        before = len(found)
        for file in _files_in(Path(source)) if Path(source).is_dir() else [source]:
            try:
                found += _read(file)
            except NoToolsError as error:
                if file == source and not (len(sources) > 1 and error.is_empty):
                    raise
                without.append(str(error))
        if len(found) == before and Path(source).is_dir():
            raise InputError(f"{source}: no tools in its files of Python, JSON and YAML{_listed(without)}")
    if not found:
        raise InputError(f"{', '.join(sources)}: no tools")
    return FoundTools(unique_schemas(found), tuple(without))


def _listed(reasons: Sequence[str]) -> str:
    return "".join(f"\n  {reason}" for reason in reasons[:5])


def _files_in(folder: Path) -> list[str]:
    """The files of a folder that may have tools; tests and what is hidden have none."""
    inside = (file for file in sorted(folder.rglob("*")) if file.suffix in _SUFFIXES and file.is_file())
    hidden = re.compile(r"\.|__pycache__$|tests?$|test_|conftest\.")
    return [str(file) for file in inside if not any(map(hidden.match, file.relative_to(folder).parts))]


def is_tool_source(source: str) -> bool:
    """Whether a source looks like tool schemas: Python, or JSON, or a folder or a file of YAML."""
    path, _, name = source.rpartition(":")
    if source.endswith((".py", *_YAML)) or (path and name.isidentifier() and not Path(source).exists()):
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
    file = _existing(Path(source))
    found = _read_yaml(file) if file.suffix in _YAML else _read_json(file)
    if not found:
        raise NoToolsError(
            f"{source}: no tool schemas; expected tools of OpenAI, Anthropic, MCP, Gemini or Bedrock, OpenAPI, or JSON "
            "schemas by name (docs/environments.md)"
        )
    return found


def _read_yaml(path: Path) -> list[ToolSchema]:
    from lawtrace.environments.yaml_text import parse_yaml  # not at the top: a guard reads no YAML

    try:
        with input_errors(path):
            return _tools(parse_yaml(path.read_text(encoding="utf-8-sig")), str(path))
    except ValueError as error:
        raise InputError(f"{path}: not YAML, or with aliases: {error}") from error


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
