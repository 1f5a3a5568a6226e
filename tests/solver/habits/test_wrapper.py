"""When a wrapper call is made, what its arguments are, and what it is called."""

from collections.abc import Sequence

import pytest

from lawtrace.schemas.events import Json
from lawtrace.schemas.habits import EVERY, Habit, Place, WrapperArgument, WrapperCall
from lawtrace.solver.habits.wrapper import print_wrapped, wrap_program
from tests.support.parcel_office import OFFICE, send_all

FIND, SEND = "FindParcel", "SendParcel"
READ = (WrapperArgument("parcel_id", "read"),)
FRAGILE = WrapperArgument("kind", "fixed", "fragile")
EVENTS = (WrapperArgument("events", "events"),)
INSURED = (WrapperArgument("insurer_id", "read"), WrapperArgument("value", "read"))
LIST = WrapperCall("ListInsurers", (), "before", SEND)
INSURE = WrapperCall("InsureParcel", INSURED, "before", SEND)

Made = tuple[str, dict[str, Json]]


def calls_of(*wrapper_calls: WrapperCall, parcels: int = 1) -> list[Made]:
    case = send_all(*["sturdy"] * parcels, rules=())
    wrapped = wrap_program(OFFICE, case.initial, case.requested, Habit(wrapper_calls))
    assert not wrapped.died
    return [(event.tool, dict(event.arguments)) for event in wrapped.events]


def tools_of(calls: Sequence[Made]) -> list[str]:
    return [tool for tool, _ in calls]


@pytest.mark.parametrize(
    ("place", "around", "tools"),
    [
        ("before", EVERY, ["+", FIND, "+", SEND, "+", FIND, "+", SEND]),
        ("before", FIND, ["+", FIND, SEND, "+", FIND, SEND]),
        ("after", EVERY, [FIND, "+", SEND, "+", FIND, "+", SEND, "+"]),
        ("after", SEND, [FIND, SEND, "+", FIND, SEND, "+"]),
    ],
)
def test_place_of_a_wrapper_call(place: Place, around: str, tools: list[str]) -> None:
    made = calls_of(WrapperCall("ListInsurers", (), place, around), parcels=2)
    assert tools_of(made) == ["ListInsurers" if tool == "+" else tool for tool in tools]


def test_argument_of_the_same_table_is_read_from_the_call_and_options_are_fixed() -> None:
    made = calls_of(WrapperCall("DeclareParcel", (*READ, FRAGILE), "before", SEND), parcels=2)
    declared = [arguments for tool, arguments in made if tool == "DeclareParcel"]
    assert declared == [{"parcel_id": f"P-{number}", "kind": "fragile"} for number in (1, 2)]


def test_key_is_read_from_the_result_of_the_call() -> None:
    made = calls_of(WrapperCall("InspectParcel", READ, "after", FIND))
    assert made[1] == ("InspectParcel", {"parcel_id": "P-1"})


def test_call_without_its_argument_is_not_made() -> None:
    made = calls_of(WrapperCall("InspectParcel", READ, "before"), INSURE)
    assert tools_of(made) == [FIND, "InspectParcel", SEND], (
        "no parcel is known before the first look-up, no insurer at all"
    )


def test_compliance_lookup_gives_a_call_for_every_row() -> None:
    made = calls_of(LIST, INSURE)
    assert made[1:4] == [
        ("ListInsurers", {}),
        ("InsureParcel", {"insurer_id": "I-1", "value": 10.0}),
        ("InsureParcel", {"insurer_id": "I-2", "value": 10.0}),
    ]


def test_events_are_those_not_recorded_yet() -> None:
    made = calls_of(WrapperCall("RecordAuditEvent", EVENTS, "after", SEND), parcels=2)
    assert [arguments for tool, arguments in made if tool == "RecordAuditEvent"] == [{"events": ["PARCEL_SENT"]}] * 2


def test_refused_compliance_call_does_not_end_the_program() -> None:
    case = send_all("sturdy", rules=())
    habit = Habit((WrapperCall("RecordAuditEvent", EVENTS, "before", FIND),))
    wrapped = wrap_program(OFFICE, case.initial, case.requested, habit)
    assert wrapped.events[0].error is not None
    assert not wrapped.died
    assert print_wrapped(OFFICE, habit, wrapped).splitlines() == [
        "# RecordAuditEvent before every FindParcel",
        "try:",
        "    ParcelOffice.RecordAuditEvent(events=[])",
        "except Exception:",
        "    pass",
        "r2 = ParcelOffice.FindParcel(label='label 1')",
        "ParcelOffice.SendParcel(parcel_id=r2['parcels'][0]['parcel_id'], value=10.0)",
    ]


def test_missing_result_ends_the_program() -> None:
    case = send_all("sturdy", "sturdy", rules=())
    one_parcel = send_all("sturdy", rules=()).initial
    wrapped = wrap_program(OFFICE, one_parcel, case.requested, Habit())
    assert wrapped.died
    assert len(wrapped.events) == 3
    assert "r3['parcels'][0]['parcel_id']" in print_wrapped(OFFICE, Habit(), wrapped).splitlines()[-1]


def test_names() -> None:
    record = WrapperCall("RecordAuditEvent", EVENTS, "after")
    habit = Habit((record, WrapperCall("DeclareParcel", (*READ, FRAGILE), "before"), LIST, INSURE))
    assert habit.name == (
        "DeclareParcel(kind='fragile') before every call, ListInsurers and InsureParcel before every SendParcel, "
        "RecordAuditEvent after every call"
    )
    assert Habit().name == "only the requested calls"
