"""Simulated time: times of events, durations of calls, terms that read the time, and the end of a session."""

from dataclasses import replace

import pytest

from lawtrace.environments.runtime.session import SESSION_ENDED, Session
from lawtrace.environments.spec import Clock, Tool, argument, value_of
from lawtrace.environments.spec.clock import EPOCH_MOMENT
from lawtrace.schemas.errors import InputError
from tests.support.incident_room import EMPTY, INCIDENT_ROOM, INCIDENTS, START

OPEN, NOTIFY, ARCHIVE, WAIT = (INCIDENT_ROOM.tools[name] for name in ("Open", "Notify", "Archive", "Wait"))


def test_each_event_has_the_time_at_which_its_call_began() -> None:
    session = Session(INCIDENT_ROOM, EMPTY)
    session.call("Open", {"title": "leak"})
    session.call("Wait", {"minutes": 3})
    session.call("Wait", {"minutes": 0})
    session.call("Shout", {})
    session.advance_time(30)
    session.call("Notify", {"incident_id": "I-00001"})
    outcomes = [(event.tool, event.outcome, (event.time or 0) - START) for event in session.events]
    assert outcomes == [
        ("Open", "completed", 0),
        ("Wait", "completed", 20),
        ("Wait", "raised", 200),
        ("Shout", "rejected", 201),
        ("Notify", "completed", 232),
    ]
    assert session.now == START + 233


def test_effects_results_and_refusals_read_the_time() -> None:
    session = Session(INCIDENT_ROOM, EMPTY)
    session.advance_time(90)
    assert session.call("Open", {"title": "leak"}).event.result == {
        "incident_id": "I-00001",
        "opened": "2026-05-04 08:01",
    }
    assert [row.values["opened"] for row in session.state.rows("incidents")] == [(START + 90) // 60 + EPOCH_MOMENT]
    early = session.call("Archive", {"incident_id": "I-00001"}).event
    assert (early.outcome, early.error) == (
        "raised",
        "InvalidRequestException: The incident is less than half an hour old.",
    )
    session.call("Wait", {"minutes": 30})
    assert session.call("Archive", {"incident_id": "I-00001"}).event.completed
    notice = session.call("Notify", {"incident_id": "I-00001"}).event
    assert notice.result == {"notice_id": "N-00001", "day": "2026-05-04", "time": notice.time}


def test_calls_after_the_end_of_the_session_are_rejected() -> None:
    session = Session(INCIDENT_ROOM, EMPTY)
    session.call("Open", {"title": "leak"})
    assert session.end == START + 3600
    session.call("Wait", {"minutes": 90})
    late = session.call("Open", {"title": "outage"}).event
    assert (late.outcome, late.error) == (
        "rejected",
        f"{SESSION_ENDED}: the session has ended; no more calls are possible",
    )
    assert len(session.state.tables["incidents"]) == 1
    assert session.end == session.now == START + 20 + 90 * 60 + 1


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        (replace(WAIT, duration=-1), "its duration must not be negative, but is -1 s"),
        (replace(WAIT, duration=argument("hours")), "a term uses the argument 'hours'"),
        (
            replace(WAIT, duration=value_of(INCIDENTS, lambda i: i.title == "leak", "opened", 0)),
            "its duration reads the table 'incidents'",
        ),
    ],
)
def test_wrong_durations_are_named(tool: Tool, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        replace(INCIDENT_ROOM, tools={tool.name: tool})


def test_a_session_must_have_a_length() -> None:
    with pytest.raises(InputError, match="clock: the length must be positive, not 0 s"):
        replace(INCIDENT_ROOM, clock=Clock(length=0))
