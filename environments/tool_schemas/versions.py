"""Tools whose schemas changed in the course of a log, for instance from one session of a guard to the next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lawtrace.environments.tool_schemas.json_types import object_of
from lawtrace.environments.tool_schemas.schemas import ToolSchema, is_same
from lawtrace.schemas.errors import InputError


def join_versions(schemas: Iterable[ToolSchema]) -> list[ToolSchema]:
    """Each tool of a log once. One whose schema changed gets a schema that admits what any of the versions does.

    Raises InputError if the versions also change schemas to which they refer.
    """
    versions: dict[str, list[ToolSchema]] = {}
    for schema in schemas:
        known = versions.setdefault(schema.name, [])
        if not any(is_same(schema, one) for one in known):
            known.append(schema)
    return [known[0] if len(known) == 1 else _joined_versions(known) for known in versions.values()]


def _joined_versions(versions: Sequence[ToolSchema]) -> ToolSchema:
    first, results = versions[0], [version.result for version in versions]
    known = [result for result in results if result is not None]
    places = "; ".join(version.place for version in versions)
    return replace(
        first,
        parameters=_any_of([version.parameters for version in versions], first),
        result=_any_of(known, first) if len(known) == len(results) else None,
        notes=(*first.notes, f"arguments: those of each version of its schema are accepted ({places})"),
    )


def _any_of(schemas: Sequence[Mapping[str, Any]], tool: ToolSchema) -> Mapping[str, Any]:
    """A schema that admits what one of these does. Schemas that they refer to stand in the outermost one."""
    different = [schema for number, schema in enumerate(schemas) if schema not in schemas[:number]]
    if len(different) == 1:
        return different[0]
    shared: dict[str, Any] = {}
    for name in ("$defs", "definitions"):
        for schema in different:
            for key, value in object_of(schema.get(name)).items():
                if shared.setdefault(name, {}).setdefault(key, value) != value:
                    raise InputError(
                        f"{tool.place}: the schema of {tool.name!r} changes in the course of the log, and so does "
                        f"{key!r}, to which it refers; name a file with the schemas to judge by"
                    )
    options = [{key: value for key, value in schema.items() if key not in shared} for schema in different]
    return {"anyOf": options, **shared}
