"""Tools in Python source are read from signatures and docstrings, and nothing of the source runs."""

import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from lawtrace.environments.tool_schemas.reading import read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import declare_tool
from lawtrace.schemas.errors import InputError

DESK = '''
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, Optional, TypedDict
import datetime
from pydantic import BaseModel, Field
from .models import Guest
from somewhere import Unknown

raise SystemExit("this must not run")

Board = Literal["half", "full"]


class Address(TypedDict):
    town: str
    street: NotRequired[str]


@dataclass
class Room:
    number: int
    beds: int = 2


class Booking(BaseModel):
    key: str = Field(..., description="Its key.")
    rooms: list[Room]
    board: Board = "half"
    price: float


class Base:
    def ping(self) -> bool:
        """Says whether it is there."""


class Desk(Base):
    def __init__(self, path: str) -> None: ...

    def book(self, guest: Guest, address: Optional[Address], board: Board, until: datetime.date, *, fast: bool = False,
             tags: "dict[str, int] | None" = None, other: Unknown = None) -> Booking:
        """Books a room.

        Args:
            guest: Who comes.
            board (Board): What they eat,
                and when.

        Returns:
            The booking.
        """

    def rooms(self) -> list[Room]: ...

    def greet(self, name) -> str: ...

    @property
    def size(self) -> int: ...

    def _hidden(self) -> None: ...
'''
MODELS = """
from enum import Enum
from typing import NamedTuple

class Level(str, Enum):
    GOLD = "gold"
    NONE = "none"

class Guest(NamedTuple):
    name: str
    level: Level = Level.NONE
"""


def write(folder: Path, **sources: str) -> Path:
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(dedent(text), encoding="utf-8")
    return folder


def test_a_class_gives_a_tool_for_each_public_method(tmp_path: Path) -> None:
    write(tmp_path, desk=DESK, models=MODELS)
    schemas = {one.name: one for one in read_tool_schemas([f"{tmp_path}/desk.py:Desk"])}
    assert [*schemas] == ["book", "rooms", "greet", "ping"]
    declared = declare_tool(schemas["book"])
    tool = declared.tool
    assert tool.summary == "Books a room."
    assert {one.name: one.description for one in tool.parameters if one.description} == {
        "guest": "Who comes.",
        "board": "What they eat, and when.",
    }
    assert {one.name: one.type.schema() for one in tool.parameters if one.required} == {
        "guest": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "level": {"type": "string", "enum": ["gold", "none"]}},
            "required": ["name"],
            "additionalProperties": False,
        },
        "board": {"type": "string", "enum": ["half", "full"]},
        "until": {"type": "string", "format": "date"},
    }
    assert tool.returns is not None
    room = {"number": {"type": "integer"}, "beds": {"type": "integer"}}
    assert tool.returns.schema()["properties"] == {
        "key": {"type": "string"},
        "rooms": {
            "type": "array",
            "items": {"type": "object", "properties": room, "required": ["number"], "additionalProperties": False},
        },
        "board": {"type": "string", "enum": ["half", "full"]},
        "price": {"type": "number"},
    }
    assert declared.left_open == ("book, other: the type Unknown is not known here",)


def test_a_text_as_a_result_may_hold_json_and_is_not_declared(tmp_path: Path) -> None:
    write(tmp_path, desk=DESK, models=MODELS)
    returns = {one.name: declare_tool(one).tool.returns for one in read_tool_schemas([f"{tmp_path}/desk.py:Desk"])}
    assert returns["greet"] is None
    assert returns["rooms"] is not None


SERVER = '''
from typing import Annotated

@server.tool(name="look-up", description="x")
async def look_up(
    key: str, ctx: Context, bank: Annotated[Bank, Depends("bank")], run: "RunContext[int]" = None
) -> float:
    """Looks it up.

    :param key: Which one.
    """

@function_tool
def other(): ...

def helper(): ...
'''
LISTS = """
TOOLS = [
    {"name": "find", "description": "x", "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}}}
]

def helper(): ...
"""
CLASSES = '''
class Input(BaseModel):
    to: list[str] = Field(description="Whom.")

class Send(BaseTool):
    """Sends."""
    name: str = "send_it"
    args_schema: type[BaseModel] = Input
    def _run(self, to, manager=None) -> str: ...

class Look(Tool):
    @staticmethod
    def invoke(data, key): ...
    @staticmethod
    def get_info():
        return {"type": "function", "function": {"name": "look", "parameters": {"type": "object",
                "properties": {"key": {"type": "string"}}}}}
'''


@pytest.mark.parametrize(
    ("source", "tools"),
    [
        (SERVER, {"look-up": ["key"], "other": []}),
        (LISTS, {"find": ["q"]}),
        (CLASSES, {"send_it": ["to"], "look": ["key"]}),
        ("def one(a, *, b=1): ...\ndef _two(): ...", {"one": ["a", "b"]}),
    ],
)
def test_a_file_gives_its_functions_lists_and_described_classes(source: str, tools: Any, tmp_path: Path) -> None:
    write(tmp_path, tools=source)
    found = [declare_tool(one).tool for one in read_tool_schemas([f"{tmp_path}/tools.py"])]
    assert {tool.name: [one.name for one in tool.parameters] for tool in found} == tools


def test_a_module_is_found_by_its_name_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    write(tmp_path / "shop", __init__="raise SystemExit", desk=DESK, models=MODELS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert len(read_tool_schemas(["shop.desk:Desk"])) == 4


def test_types_that_refer_to_themselves_end(tmp_path: Path) -> None:
    source = """
        Tree = dict[str, "Tree"]

        @dataclass
        class Node:
            inner: "list[Node]"

        def walk(tree: Tree, node: Node): ...
    """
    write(tmp_path, tools=source)
    (schema,) = read_tool_schemas([f"{tmp_path}/tools.py"])
    assert declare_tool(schema).left_open == (
        "walk, tree: the type Tree, which refers to itself, is not known here",
        "walk, tree.*: fields of any name",
        "walk, node.inner[]: refers to itself, #/$defs/Node",
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tools.py", "no functions; name a class"),
        ("tools.py:None_", "there is no class 'None_'; it has Empty"),
        ("tools.py:Empty", "has no public methods"),
        ("broken.py", "broken.py, line 1: not Python"),
        ("none.py", "file not found"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, tools="class Empty: ...", broken="def (:")
    with pytest.raises(InputError, match=said):
        read_tool_schemas([f"{tmp_path}/{name}"])


def test_a_missing_module_is_said() -> None:
    with pytest.raises(InputError, match="module not found"):
        read_tool_schemas(["no_such_package.tools:Desk"])
