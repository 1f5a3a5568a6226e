"""JSON Schema becomes the nearest type; what a type cannot say is noted with its place."""

from typing import Any

import pytest

from lawtrace.environments.spec.open_types import ANY, NUMBER, OrNull
from lawtrace.environments.spec.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    TEXT,
    TEXTS,
    Choice,
    ListOf,
    ObjectOf,
    ValueType,
    WrongType,
)
from lawtrace.environments.tool_schemas.json_types import SchemaReader
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool

LEG = {"type": "object", "properties": {"number": {"type": "string"}, "on": {"type": "string", "format": "date"}}}
LEG_TYPE = ObjectOf({"number": TEXT, "on": DATE}, ("number", "on"))


@pytest.mark.parametrize(
    ("schema", "value_type"),
    [
        ({"type": "string"}, TEXT),
        ({"type": "string", "enum": ["a", "b", "a"]}, Choice(("a", "b"))),
        ({"enum": ["a", "b", None]}, OrNull(Choice(("a", "b")))),
        ({"const": "a"}, Choice(("a",))),
        ({"type": "number"}, NUMBER),
        ({"type": ["integer", "number"]}, NUMBER),
        ({"type": "array", "items": {"type": "string"}}, TEXTS),
        ({"items": {"type": "boolean"}}, ListOf(BOOLEAN)),
        (LEG, LEG_TYPE),
        ({"type": "array", "items": LEG}, ListOf(LEG_TYPE)),
        ({"type": ["string", "null"]}, OrNull(TEXT)),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, OrNull(INTEGER)),
        ({"type": "integer", "nullable": True}, OrNull(INTEGER)),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, NUMBER),
        ({"oneOf": [{"const": "a"}, {"enum": ["b"]}]}, Choice(("a", "b"))),
        ({"oneOf": [{"const": "a"}, {"type": "string"}]}, TEXT),
        ({"$ref": "#/$defs/Leg"}, LEG_TYPE),
        (
            {"allOf": [{"$ref": "#/$defs/Leg"}, {"required": ["on"]}]},
            ObjectOf({"number": TEXT, "on": DATE}, ("number",)),
        ),
        ({"prefixItems": [{"type": "string"}, {"type": "string"}]}, TEXTS),
        ({"type": "object", "additionalProperties": {"type": "number"}}, ObjectOf({}, (), NUMBER)),
        ({"type": "object"}, ObjectOf({}, (), ANY)),
        (
            {"oneOf": [LEG, {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}]},
            ObjectOf({"number": ANY, "on": DATE}, ("number", "on")),
        ),
    ],
)
def test_structure_becomes_types(schema: dict[str, Any], value_type: ValueType) -> None:
    assert SchemaReader({"$defs": {"Leg": LEG}}).read(schema, "it") == value_type


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        ({}, "it: no type"),
        ({"type": "array"}, "it[]: no type"),
        ({"type": ["string", "integer"]}, "it: string or integer"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "it: string or array"),
        ({"type": "object"}, "it.*: fields of any name"),
        ({"$ref": "#/$defs/None"}, "it: the reference #/$defs/None leads nowhere"),
        ({"$ref": "https://schemas.example/x"}, "it: the reference https://schemas.example/x leads nowhere"),
        ({"$ref": "#/$defs/Node"}, "it.next: refers to itself, #/$defs/Node"),
        ({"prefixItems": [{"type": "string"}, {"type": "integer"}]}, "it[]: items of several types"),
        ({"anyOf": [LEG, {"type": "object"}]}, "it: objects with other fields, too"),
        ({"type": "file"}, "it: the type 'file'"),
        (3, "it: not a schema"),
    ],
)
def test_what_has_no_type_is_left_open_and_noted(schema: object, note: str) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    reader = SchemaReader({"$defs": {"Node": node}})
    reader.read(schema, "it")
    assert reader.left_open == [note]


def test_notes_are_one_line_for_each_parameter() -> None:
    properties = {"what": {"type": "object", "properties": {"a": {}, "b": {"type": ["string", "integer"]}}}}
    declared = declare_tool(ToolSchema("find", "", {"properties": properties}, {"items": {}}, "here"))
    assert declared.left_open == ("find, what.a: no type; what.b: string or integer", "find, result[]: no type")


def test_an_object_with_fields_of_any_name_takes_them() -> None:
    cards = ObjectOf({"main": TEXT}, (), INTEGER)
    assert cards.encode(cards.decode({"main": "a", "a": 1})) == {"main": "a", "a": 1}
    with pytest.raises(WrongType, match=r"a: expected a number"):
        cards.decode({"main": "a", "a": "1"})


def test_small_schemas_that_make_large_types_end() -> None:
    defs = {f"d{n}": {"properties": {x: {"$ref": f"#/$defs/d{n + 1}"} for x in "ab"}} for n in range(60)}
    reader = SchemaReader({"$defs": defs})
    reader.read({"$ref": "#/$defs/d0"}, "it")
    assert any(note.endswith("too many parts") for note in reader.left_open)
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(900):
        deep = {"type": "array", "items": deep}
    reader = SchemaReader({})
    reader.read(deep, "it")
    assert [note.partition(": ")[2] for note in reader.left_open] == ["nested too deep"]


def test_a_name_that_rules_cannot_write_is_noted() -> None:
    declared = declare_tool(ToolSchema("find", "", {"properties": {"a`b": {"type": "string"}}}, None, "here"))
    assert declared.left_open == ("find, 'a`b': rules cannot write this name",)
