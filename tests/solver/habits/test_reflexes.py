"""When a reflex acts, what its arguments are, and what it is called."""

from collections.abc import Sequence

import pytest

from lawtrace.schemas.events import Json
from lawtrace.schemas.habits import CHANGING, EVERY, Habit, Reflex, ReflexArgument, ReflexCall
from lawtrace.solver.habits.wrapper import call_chains, print_wrapped, wrap_program
from tests.support.parcel_office import OFFICE, send_all

READ = ReflexArgument("parcel_id", "read")
FRAGILE = ReflexArgument("kind", "fixed", "fragile")
EVENT, EVENTS = ReflexArgument("events", "event"), ReflexArgument("events", "events")
INSPECT = ReflexCall("InspectParcel", (READ,))
DECLARE = ReflexCall("DeclareParcel", (READ, FRAGILE))
LIST = ReflexCall("ListInsurers")
INSURE = ReflexCall("InsureParcel", (ReflexArgument("insurer_id", "read"), ReflexArgument("value", "read")))
RECORD, RECORD_ALL = ReflexCall("RecordAuditEvent", (EVENT,)), ReflexCall("RecordAuditEvent", (EVENTS,))

Made = tuple[str, dict[str, Json]]


def calls_of(*reflexes: Reflex, parcels: int = 1) -> list[Made]:
    case = send_all(*["sturdy"] * parcels, rules=())
    wrapped = wrap_program(OFFICE, case.initial, case.requested, Habit(reflexes))
    assert not wrapped.died
    return [(event.tool, dict(event.arguments)) for event in wrapped.events]


def tools_of(calls: Sequence[Made]) -> list[str]:
    return [tool for tool, _ in calls]


FIND, SEND = "FindParcel", "SendParcel"


@pytest.mark.parametrize(
    ("place", "around", "once", "tools"),
    [
        ("before", EVERY, False, ["+", FIND, "+", SEND, "+", FIND, "+", SEND]),
        ("before", EVERY, True, ["+", FIND, SEND, FIND, SEND]),
        ("before", CHANGING, False, [FIND, "+", SEND, FIND, "+", SEND]),
        ("before", FIND, False, ["+", FIND, SEND, "+", FIND, SEND]),
        ("after", SEND, True, [FIND, SEND, "+", FIND, SEND]),
        ("after", SEND, False, [FIND, SEND, "+", FIND, SEND, "+"]),
        ("end", EVERY, True, [FIND, SEND, FIND, SEND, "+"]),
        ("end", SEND, False, [FIND, SEND, FIND, SEND, "+", "+"]),
    ],
)
def test_place_of_a_reflex(place: str, around: str, once: bool, tools: list[str]) -> None:
    reflex = Reflex((LIST,), place, around, once)  # pyright: ignore[reportArgumentType]
    assert tools_of(calls_of(reflex, parcels=2)) == ["ListInsurers" if tool == "+" else tool for tool in tools]


def test_argument_of_the_same_table_is_read_from_the_call_and_options_are_fixed() -> None:
    made = calls_of(Reflex((DECLARE,), "before", SEND), parcels=2)
    declared = [arguments for tool, arguments in made if tool == "DeclareParcel"]
    assert declared == [{"parcel_id": f"P-{number}", "kind": "fragile"} for number in (1, 2)]


def test_key_is_read_from_the_result_of_the_call() -> None:
    assert calls_of(Reflex((INSPECT,), "after", FIND))[1] == ("InspectParcel", {"parcel_id": "P-1"})


def test_reflex_does_not_act_without_its_argument() -> None:
    made = calls_of(Reflex((INSPECT,), "before"), Reflex((INSURE,), "before", SEND))
    assert tools_of(made) == [FIND, "InspectParcel", SEND], (
        "no parcel is known before the first look-up, no insurer at all"
    )


def test_lookups_of_a_reflex_give_a_call_for_every_row() -> None:
    made = calls_of(Reflex((LIST, INSURE), "before", SEND))
    assert made[1:4] == [
        ("ListInsurers", {}),
        ("InsureParcel", {"insurer_id": "I-1", "value": 10.0}),
        ("InsureParcel", {"insurer_id": "I-2", "value": 10.0}),
    ]


def test_events_of_the_call_and_of_all_calls() -> None:
    one = [
        arguments["events"]
        for tool, arguments in calls_of(Reflex((RECORD,), "after"), parcels=2)
        if tool not in {FIND, SEND}
    ]
    assert one == [["PARCEL_SENT"], ["PARCEL_SENT"]]
    assert calls_of(Reflex((RECORD_ALL,), "end", once=True), parcels=2)[-1][1] == {"events": ["PARCEL_SENT"] * 2}


def test_refused_compliance_call_does_not_end_the_program() -> None:
    case = send_all("sturdy", rules=())
    habit = Habit((Reflex((RECORD_ALL,), "before", FIND),))
    wrapped = wrap_program(OFFICE, case.initial, case.requested, habit)
    assert wrapped.events[0].error is not None
    assert not wrapped.died
    assert print_wrapped(OFFICE, habit, wrapped).splitlines() == [
        "# RecordAuditEvent(events=all events so far) before every FindParcel",
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
    habit = Habit(
        (Reflex((RECORD,), "after"), Reflex((DECLARE,), "before", SEND), Reflex((LIST, INSURE), "before", once=True))
    )
    assert habit.name == (
        "DeclareParcel(kind='fragile') before every SendParcel, ListInsurers and InsureParcel at the start, "
        "RecordAuditEvent after every call"
    )
    assert Habit().name == "only the requested calls"


def test_calls_of_a_tool_have_every_option_and_the_lookups_that_it_needs() -> None:
    chains = {name: list(call_chains(OFFICE, OFFICE.tools[name])) for name in ("InsureParcel", "DeclareParcel")}
    assert (LIST, INSURE) in chains["InsureParcel"]
    kinds = {str(one.value) for calls in chains["DeclareParcel"] for call in calls for one in call.arguments}
    assert kinds == {"None", "fragile", "sturdy"}
