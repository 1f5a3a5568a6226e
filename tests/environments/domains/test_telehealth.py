"""Effects and results of the telehealth tools: availability, created rows, the clock of the state."""

from random import Random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.telehealth import ENVIRONMENT
from lawtrace.environments.runtime.simulation import compile_tool
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.types import MINUTES_PER_DAY
from lawtrace.schemas.events import Json
from tests.support.small_clinic import ADA, BEN, CONSULTATION, HELD, PLANNED, STATE, do, tables


def found(filters: dict[str, Json] | None = None, state: State = STATE) -> dict[str, list[str]]:
    """The doctors that a search finds, with the starts of the slots it shows."""
    doctors = cast("dict[str, Any]", do("SearchDoctors", filters or {}, state)[0].result)["doctors"]
    return {doctor["doctor_id"]: [slot["start"] for slot in doctor["available_slots"]] for doctor in doctors}


def details(event_result: Json) -> dict[str, Any]:
    return cast("dict[str, Any]", event_result)["appointment_details"]


FREE = ["2026-03-03 09:00", "2026-03-03 10:00", "2026-03-04 10:00"]


def test_a_search_shows_the_slots_that_are_free_and_ahead() -> None:
    assert found() == {ADA: FREE, BEN: ["2026-03-03 09:00"]}


@pytest.mark.parametrize(
    ("filters", "doctors"),
    [
        ({"keywords": "ada"}, [ADA]),
        ({"keywords": "STONE"}, [ADA, BEN]),
        ({"keywords": "cardio"}, [BEN]),
        ({"location": "Larchfield"}, [BEN]),
        ({"keywords": "stone", "location": "harbour"}, [ADA]),
        ({"date": "2026-03-04"}, [ADA]),
        ({"date": "2026-03-01"}, []),
        ({"keywords": "surgery"}, []),
    ],
)
def test_every_filter_that_is_given_is_applied(filters: dict[str, Json], doctors: list[str]) -> None:
    assert list(found(filters)) == doctors


def test_an_appointment_moves_to_a_free_slot_and_frees_its_own() -> None:
    event, moved = do("ManageAppointments", {"appointment_id": PLANNED, "action": "update", "time": "10:00"})
    assert details(event.result) == {
        "appointment_id": PLANNED,
        "doctor_id": ADA,
        "date": "2026-03-03",
        "time": "10:00",
        "reason": "vaccination",
        "status": "confirmed",
    }
    assert found(state=moved)[ADA] == ["2026-03-03 09:00", "2026-03-03 11:00", "2026-03-04 10:00"]


@pytest.mark.parametrize(
    "change",
    [
        {"appointment_id": PLANNED, "action": "update", "time": "12:00"},
        {"appointment_id": PLANNED, "action": "update", "date": "2026-03-04"},
        {"appointment_id": PLANNED, "action": "update", "date": "2026-03-01", "time": "09:00"},
        {"appointment_id": HELD, "action": "update", "date": "2026-03-03", "time": "09:00"},
        {"appointment_id": HELD, "action": "cancel"},
        {"appointment_id": PLANNED, "action": "view", "time": "10:00"},
    ],
)
def test_an_impossible_update_changes_nothing_and_shows_the_details(change: dict[str, Json]) -> None:
    event, after = do("ManageAppointments", change)
    assert event.completed
    assert tables(after) == tables(STATE)
    row = tables(STATE)["appointments"][change["appointment_id"]]
    assert details(event.result) == {name: value for name, value in row.items() if name != "conclusions"}


def test_a_consultation_begins_now_and_its_doctor_answers() -> None:
    event, consulting = do("ConsultDoctor", {"doctor_id": BEN, "reason": "a cough"})
    assert event.result == {"consultation_id": "C-00002"}
    assert tables(consulting)["consultations"]["C-00002"]["started"] == "2026-03-02 12:00"
    for consultation, name in ((CONSULTATION, "Ada Stone"), ("C-00002", "Ben Stone")):
        message: dict[str, Json] = {"consultation_id": consultation, "message_content": "Thank you!"}
        event, after = do("SendMessage", message, consulting)
        response = cast("dict[str, Any]", event.result)["doctor_response"]
        assert response.startswith(f"{name}: ")
        assert tables(after)["messages"]["M-00001"] == {"message_id": "M-00001", **message, "doctor_response": response}


def test_kinds_of_tools_are_those_of_the_published_domain() -> None:
    assert len(ENVIRONMENT.tools) == 13
    assert ENVIRONMENT.compliance_tools == {"CheckAuthorization", "RecordAuditEvent"}
    assert ENVIRONMENT.critical_tools == {
        "CheckAuthorization",
        "RecordAuditEvent",
        "ConsultDoctor",
        "ScheduleAppointment",
        "ManageAppointments",
        "RequestPrescription",
        "SendMessage",
    }
    assert set(ENVIRONMENT.event_names) == {
        "PHI_ACCESS",
        "CONSULT_DOCTOR",
        "PRESCRIPTION_REQUEST",
        "APPOINTMENT_MANAGEMENT",
    }


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_initial_states_have_the_rows_that_traces_need(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    search = compile_tool(ENVIRONMENT.tools["SearchDoctors"])
    names = [row.values["name"] for row in state.rows("doctors")]
    for name in names:
        arguments = {"keywords": name, "location": None, "date": None}
        assert len(search.rows_found("doctors", state, arguments, 0)) == 1
    now = next(state.rows("session")).values["now"]
    assert all(row.values["start"] > now for row in state.rows("slots"))
    by_status = {row.values["status"]: row.values for row in state.rows("appointments")}
    assert set(by_status) == {"completed", "confirmed", "cancelled"}
    starts = {(row.values["doctor_id"], row.values["start"]) for row in state.rows("slots")}
    planned = by_status["confirmed"]
    assert (planned["doctor_id"], planned["date"] * MINUTES_PER_DAY + planned["time"]) in starts
    assert by_status["completed"]["date"] * MINUTES_PER_DAY < now
