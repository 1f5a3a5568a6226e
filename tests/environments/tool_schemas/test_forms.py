"""Tool schemas of every form make the same tools; what cannot be read is said."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from lawtrace.environments.runtime.documentation import document_tool
from lawtrace.environments.tool_schemas.reading import is_tool_source, read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import declare_tool
from lawtrace.schemas.errors import InputError

ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {"room": {"type": "string", "description": "Which."}, "nights": {"type": "integer"}},
    "required": ["room"],
}
CHAT = {"type": "function", "function": {"name": "book", "description": "Books.", "parameters": ARGUMENTS}}
ANTHROPIC = {"name": "book", "description": "Books.", "input_schema": ARGUMENTS}
MCP = {"name": "book", "description": "Books.", "inputSchema": ARGUMENTS, "annotations": {"destructiveHint": True}}
CAPITALS = {
    "type": "OBJECT",
    "properties": {"room": {"type": "STRING", "description": "Which."}, "nights": {"type": "INTEGER"}},
    "required": ["room"],
}


@pytest.mark.parametrize(
    "value",
    [
        [CHAT],
        {"model": "m", "tools": [CHAT], "messages": [{"role": "user", "content": "Hi"}]},
        [{"type": "function", "name": "book", "description": "Books.", "parameters": ARGUMENTS, "strict": True}],
        {"functions": [{"name": "book", "description": "Books.", "parameters": ARGUMENTS}]},
        [ANTHROPIC],
        {"tools": [MCP]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
        [{"functionDeclarations": [{"name": "book", "description": "Books.", "parameters": CAPITALS}]}],
        [{"toolSpec": {"name": "book", "description": "Books.", "inputSchema": {"json": ARGUMENTS}}}],
        {"book": {**ARGUMENTS, "description": "Books."}},
        {"book": {"description": "Books.", "parameters": ARGUMENTS}},
        {**ARGUMENTS, "title": "book", "description": "Books."},
        {"samples": [{"id": 1, "events": [{"event": "model", "tools": [CHAT["function"]]}]}]},
        {"spans": [{"attributes": [{"key": "gen_ai.tool.definitions", "value": {"stringValue": json.dumps([CHAT])}}]}]},
    ],
)
def test_each_form_gives_the_same_tool(value: object, tmp_path: Path) -> None:
    path = tmp_path / "schemas"
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    (schema,) = read_tool_schemas([str(path)])
    tool = declare_tool(schema).tool
    assert (tool.name, tool.summary) == ("book", "Books.")
    assert [(one.name, one.type.name, one.required) for one in tool.parameters] == [
        ("room", "string", True),
        ("nights", "integer", False),
    ]
    assert tool.parameter("room").description == "Which."
    assert is_tool_source(str(path))


def test_documentation_shows_results_and_what_is_said_of_fields(tmp_path: Path) -> None:
    paid = {"description": "In cents.", "type": "integer"}
    rooms = {"type": "array", "items": {"type": "object", "properties": {"paid": paid, "free": {"type": "boolean"}}}}
    result = {"type": "object", "properties": {"rooms": rooms, "paid": paid}, "required": ["rooms"]}
    state = {"type": "string", "enum": ["free", "all"], "default": "all"}
    arguments = {"type": "object", "properties": {"state": state}}
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "list", "inputSchema": arguments, "outputSchema": result}]), encoding="utf-8")
    documented = document_tool(declare_tool(read_tool_schemas([str(path)])[0]).tool)
    (parameter,) = cast("list[dict[str, str]]", documented["parameters"])
    assert parameter["description"] == 'Default: "all". One of: free, all.'
    fields = {"paid": {"type": "integer, may be absent", "description": "In cents."}, "free": "boolean, may be absent"}
    assert documented["returns"] == [
        {"name": "rooms", "type": "array of objects", "fields": fields, "description": ""},
        {"name": "paid", "type": "integer, may be absent", "description": "In cents."},
    ]


def test_lines_and_files_are_joined_and_the_same_schema_counts_once(tmp_path: Path) -> None:
    lines, other = tmp_path / "log.jsonl", tmp_path / "other.json"
    rename = json.loads(json.dumps(ANTHROPIC)) | {"name": "cancel"}
    lines.write_text("\n".join(json.dumps({"tools": [tool]}) for tool in (CHAT, rename, CHAT)), encoding="utf-8")
    other.write_text(json.dumps([MCP]), encoding="utf-8")
    assert [one.name for one in read_tool_schemas([str(lines), str(other)])] == ["book", "cancel"]


def test_two_tools_of_one_name_are_an_error_with_both_places(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps([CHAT]), encoding="utf-8")
    second.write_text(json.dumps([{"name": "book", "input_schema": {"type": "object"}}]), encoding="utf-8")
    with pytest.raises(InputError, match=r"'book', one at .*a\.json, tool 1, another at .*b\.json, tool 1"):
        read_tool_schemas([str(first), str(second)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "no tool schemas"),
        ("[1, 2]", "no tool schemas"),
        ('[{"role": "user", "content": "Hi"}]', "no tool schemas"),
        ('{"tools": [', "not JSON"),
        ('{"tools": [{"name": "user", "parameters": {}}]}', "by which rules mean messages"),
    ],
)
def test_what_holds_no_tools_is_said(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_tool_schemas([str(path)])


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file not found"):
        read_tool_schemas([str(tmp_path / "none.json")])


def test_tools_of_the_provider_and_tools_without_arguments_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps([{"type": "web_search"}, {"type": "custom", "name": "run"}, CHAT]), encoding="utf-8")
    found = [declare_tool(one) for one in read_tool_schemas([str(path)])]
    assert [one.tool.name for one in found] == ["web_search", "run", "book"]
    assert [one.left_open for one in found] == [
        ("web_search, it is the provider's, without a schema of its arguments",),
        ("run, it has no schema of its arguments",),
        (),
    ]
