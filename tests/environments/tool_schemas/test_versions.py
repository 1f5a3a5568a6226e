"""Tools whose schemas change in the course of a log."""

import json
from pathlib import Path
from typing import Any

from lawtrace.environments.spec.open_types import ANY
from lawtrace.environments.spec.types import INTEGER, TEXT
from lawtrace.environments.tool_schemas.reading import read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


def versions(path: Path, *schemas: dict[str, Any], **more: Any) -> list[ToolSchema]:
    lines = [{"note": "tools", "tools": [{"name": "pay", "inputSchema": one, **more}]} for one in schemas]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return read_tool_schemas([str(path)])


def test_a_field_of_some_versions_is_optional_and_one_of_all_has_a_type_for_all(tmp_path: Path) -> None:
    old, new = schema(amount={"type": "integer"}), schema(amount={"type": "integer"}, note={"type": "string"})
    (tool,) = versions(tmp_path / "log.jsonl", old, new, old)
    declared = declare_tool(tool)
    assert {one.name: (one.type, one.required) for one in declared.tool.parameters} == {
        "amount": (INTEGER, True),
        "note": (TEXT, False),
    }
    assert any("those of each version" in line and "line 2" in line for line in declared.left_open)


def test_the_same_schema_in_all_sessions_is_that_schema(tmp_path: Path) -> None:
    (tool,) = versions(tmp_path / "log.jsonl", schema(amount={}), schema(amount={}), outputSchema=schema(ok={}))
    assert (tool.parameters, tool.result, tool.notes) == (schema(amount={}), schema(ok={}), ())


def test_schemas_to_which_versions_refer_are_kept_unless_they_change(tmp_path: Path) -> None:
    def referring(kind: str, **more: Any) -> dict[str, Any]:
        return {**schema(money={"$ref": "#/$defs/Money"}, **more), "$defs": {"Money": {"type": kind}}}

    (tool,) = versions(tmp_path / "log.jsonl", referring("integer"), referring("integer", note={"type": "string"}))
    assert [one.type for one in declare_tool(tool).tool.parameters] == [INTEGER, TEXT]
    (tool,) = versions(tmp_path / "log.jsonl", referring("integer"), referring("string"))
    assert [one.type for one in declare_tool(tool).tool.parameters] == [ANY]
