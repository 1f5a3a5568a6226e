"""Tools as a Python program has them."""

from enum import Enum
from typing import Any, Literal

import pytest

from lawtrace.environments.tool_schemas.given_tools import read_given_tools
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import InputError

STRING = {"type": "string"}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"key": STRING}, "required": ["key"]}


class Cabin(Enum):
    ECONOMY = "economy"
    BUSINESS = "business"


def book(key: str, seats: int = 1, cabin: Cabin = Cabin.ECONOMY, meal: Literal["none", "all"] | None = None) -> None:
    """Book a flight."""


def quoted(key: "str", unknown: "Missing" = None, *, more: object = None) -> None: ...  # type: ignore[name-defined] # noqa: F821


def test_the_signature_of_a_function_is_its_schema() -> None:
    (tool,) = read_given_tools([book])
    assert (tool.name, tool.description, tool.result) == ("book", "Book a flight.", None)
    assert (tool.argument("key"), tool.argument("seats")[0]) == ((STRING, False), {"type": "integer", "default": 1})
    assert {"enum": ["economy", "business"], "default": "economy"}.items() <= (tool.argument("cabin")[0] or {}).items()
    assert tool.argument("meal")[0] == {"anyOf": [{"enum": ["none", "all"], "type": "string"}, {"type": "null"}]}
    assert tool.argument("nothing") == (None, True)
    assert tool.missing({"seats": 1}) == ["key"]


def test_annotations_that_cannot_be_read_leave_arguments_open() -> None:
    (tool,) = read_given_tools([quoted])
    assert [tool.argument(name) for name in ("key", "unknown", "more")] == [({}, False), ({}, True), ({}, True)]


FORMS: list[object] = [
    {"type": "function", "function": {"name": "read", "description": "", "parameters": OBJECT}},
    {"name": "read", "parameters": OBJECT},
    {"name": "read", "input_schema": OBJECT},
    {"name": "read", "inputSchema": OBJECT, "outputSchema": {"type": "object"}},
    {"functionDeclarations": [{"name": "read", "parameters": OBJECT}]},
    {"toolSpec": {"name": "read", "inputSchema": {"json": OBJECT}}},
    ToolSchema("read", "", OBJECT, None, "here"),
]


@pytest.mark.parametrize("entry", FORMS)
def test_every_form_of_a_schema_is_read(entry: object) -> None:
    (tool,) = read_given_tools([entry])
    assert (tool.name, tool.parameters) == ("read", OBJECT)


def test_names_alone_and_schemas_by_name_are_tools() -> None:
    assert [tool.name for tool in read_given_tools(["read", {"name": "write"}])] == ["read", "write"]
    (tool,) = read_given_tools({"read": OBJECT})
    assert (tool.name, tool.kind("key"), tool.kind("other")) == ("read", "string", "value")


def test_the_same_tool_may_be_given_twice() -> None:
    assert [tool.name for tool in read_given_tools([book, "read", book])] == ["book", "read"]


class Nameless:
    def __call__(self) -> None: ...


WRONG: list[tuple[object, str]] = [
    (3, "tool 1: a int is no tool"),
    (None, "tool 1: a NoneType is no tool"),
    ({}, "tool 1: it has no name"),
    ({"name": ""}, "tool 1: it has no name"),
    ({"name": 3, "parameters": {}}, "tool 1: it has no name"),
    ({"name": "read", "parameters": "key"}, "tool 'read': its schema is not a JSON object"),
    ({"function": {"name": "read", "parameters": [1]}}, "tool 'read': its schema is not a JSON object"),
    (Nameless(), "tool 1: the function has no name"),
]


@pytest.mark.parametrize(("entry", "message"), WRONG)
def test_errors_say_which_entry_is_no_tool(entry: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_given_tools([entry])
