"""Results: nested lists, single rows as objects, rows after the call, keys of new rows; and samplers."""

from typing import Any, cast

import pytest

from lawtrace.environments.runtime.simulation import simulate_call
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, KeyResult, NestedRows, RowsResult, Update, ValueResult
from lawtrace.environments.spec.expressions import SUCCEEDED
from lawtrace.environments.spec.samplers import FieldValue
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import argument, constant
from lawtrace.environments.spec.tools import Fails, FromLookup, FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, INTEGER, TEXT, TIME
from lawtrace.schemas.errors import InputError

ROOMS = Entity("rooms", "room", "name", {"name": Field(TEXT), "size": Field(INTEGER)})
BOOKINGS = Entity(
    "bookings", "booking", "id", {"id": Field(TEXT), "room": Field(TEXT), "at": Field(TIME)}, key_prefix="B-"
)
INVALID = Raises("InvalidRequestException", "malformed")
WHERE = Parameter("room", TEXT, "-", FromUser(FieldValue(ROOMS, "name")))
AT = Parameter(
    "at", TIME, "-", FromUser(FieldValue(BOOKINGS, "at", lambda b: b.room == argument("room"), lambda at: at + 60))
)
LIST = Tool(
    "List",
    "-",
    results=(
        RowsResult(
            "rooms",
            "The rooms.",
            ROOMS,
            lambda r: constant(True),
            ("name",),
            parts=(NestedRows("bookings", "Its bookings.", BOOKINGS, lambda r, b: b.room == r.name, ("at",)),),
            reveals_key=False,
        ),
    ),
    phrases=Phrases("List the rooms."),
)
GROW = Tool(
    "Grow",
    "-",
    parameters=(WHERE,),
    effects=(Update(ROOMS, lambda r: r.name == argument("room"), {"size": lambda r: r.size + 1}),),
    results=(
        RowsResult("before", "-", ROOMS, lambda r: r.name == argument("room"), ("size",), single=True),
        RowsResult("now", "-", ROOMS, lambda r: r.name == argument("room"), ("size",), single=True, after=True),
    ),
    phrases=Phrases("Grow."),
)
BOOK = Tool(
    "Book",
    "-",
    parameters=(WHERE, AT),
    raises=(INVALID,),
    fails=(Fails("It is midnight.", argument("at") == 0),),
    effects=(Insert(BOOKINGS, {"room": argument("room"), "at": argument("at")}),),
    results=(KeyResult("id", "-", BOOKINGS), ValueResult("success", "-", BOOLEAN, SUCCEEDED)),
    phrases=Phrases("Book."),
)
CONFIRM = Tool("Confirm", "-", parameters=(Parameter("id", TEXT, "-", FromLookup(BOOKINGS)),), phrases=Phrases("-"))
TOOLS = {tool.name: tool for tool in (LIST, GROW, BOOK, CONFIRM)}
STATE = State(
    {
        "rooms": tuple(Row({"name": name, "size": 10}) for name in ("Alder", "Birch", "Cedar")),
        "bookings": (
            Row({"id": "B-00001", "room": "Alder", "at": 540}),
            Row({"id": "B-00002", "room": "Birch", "at": 600}),
            Row({"id": "B-00003", "room": "Alder", "at": 660}, present=False),
        ),
    }
)
HOUSE = Environment("house", "House", "House", "-", {"rooms": ROOMS, "bookings": BOOKINGS}, TOOLS, lambda _: STATE)


def result_of(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", simulate_call(HOUSE, STATE, name, arguments, 0)[0].result)


def test_a_row_holds_the_rows_that_belong_to_it() -> None:
    assert result_of("List", {})["rooms"] == [
        {"name": "Alder", "bookings": [{"at": "09:00"}]},
        {"name": "Birch", "bookings": [{"at": "10:00"}]},
        {"name": "Cedar", "bookings": []},
    ]


def test_a_single_row_is_an_object_before_or_after_the_call() -> None:
    assert result_of("Grow", {"room": "Birch"}) == {"before": {"size": 10}, "now": {"size": 11}}
    assert result_of("Grow", {"room": "Yew"}) == {"before": None, "now": None}


def test_the_result_is_the_key_of_a_new_row_or_null() -> None:
    event, after = simulate_call(HOUSE, STATE, "Book", {"room": "Alder", "at": "08:30"}, 0)
    assert event.result == {"id": "B-00004", "success": True}
    assert [row.values["id"] for row in after.rows("bookings")][-1] == "B-00004"
    failed, same = simulate_call(HOUSE, STATE, "Book", {"room": "Alder", "at": "00:00"}, 0)
    assert (failed.outcome, failed.result, same) == ("failed", {"id": None, "success": False}, STATE)


def with_part(name: str, field: str) -> Tool:
    part = NestedRows(name, "-", BOOKINGS, lambda r, b: constant(True), (field,))
    rows = RowsResult("r", "-", ROOMS, lambda r: constant(True), ("name",), parts=(part,))
    return Tool("T", "-", results=(rows,), phrases=Phrases("-"))


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (Tool("T", "-", results=(KeyResult("id", "-", BOOKINGS),), phrases=Phrases("-")), "must insert exactly one"),
        (Tool("T", "-", parameters=(AT, WHERE), raises=(INVALID,), phrases=Phrases("-")), "must come before it"),
        (with_part("name", "at"), "has the field 'name' twice"),
        (with_part("p", "size"), "'p' lists the field 'size'"),
    ],
)
def test_invalid_results_are_refused(tool: Tool, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Environment("house", "House", "House", "-", HOUSE.entities, {"T": tool}, lambda _: STATE)
