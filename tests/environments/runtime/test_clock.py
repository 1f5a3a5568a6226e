"""Simulated time: times of events, durations of calls, terms that read the time, and the end of a session."""

import datetime as dt
from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.runtime.session import SESSION_ENDED, Session
from lawtrace.environments.runtime.simulation import call_duration, simulate_call
from lawtrace.environments.spec import NOW, Clock, Tool, argument, value_of
from lawtrace.environments.spec.clock import DEFAULT_LENGTH, DEFAULT_START, EPOCH_MOMENT
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.terms import reads_time
from lawtrace.environments.spec.types import DATE, MOMENT
from lawtrace.schemas.errors import InputError
from tests.support.incident_room import EMPTY, INCIDENT_ROOM, INCIDENTS, START

OPEN, NOTIFY, ARCHIVE, WAIT = (INCIDENT_ROOM.tools[name] for name in ("Open", "Notify", "Archive", "Wait"))


def test_each_event_has_the_time_at_which_its_call_began() -> None:
    session = Session(INCIDENT_ROOM, EMPTY)
    session.call("Open", {"title": "leak"})
    session.call("Wait", {"minutes": 3})
    session.call("Wait", {"minutes": 0})
    session.call("Shout", {})
    session.pass_time(30)
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
    session.pass_time(90)
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


def test_a_duration_is_never_negative() -> None:
    tools = {"Wait": replace(WAIT, raises=(WAIT.raises[0],), duration=argument("minutes") - 5)}
    environment = replace(INCIDENT_ROOM, tools=tools)
    for minutes, seconds in ((3, 0), (9, 4)):
        event, _ = simulate_call(environment, EMPTY, "Wait", {"minutes": minutes}, START)
        assert call_duration(environment, event) == seconds


def test_the_default_clock_starts_in_march_2026_and_counts_a_second_a_call() -> None:
    environment = replace(INCIDENT_ROOM, tools={"List": INCIDENT_ROOM.tools["List"]}, clock=Clock())
    session = Session(environment, EMPTY)
    assert session.call("List", {}).event.time == DEFAULT_START == 1772442000
    assert (session.now, session.end) == (DEFAULT_START + 1, DEFAULT_START + DEFAULT_LENGTH)


def test_declarations_say_whether_they_read_the_time() -> None:
    assert INCIDENT_ROOM.reads_time
    assert reads_time(argument("minutes") > NOW)
    assert not replace(INCIDENT_ROOM, tools={"Wait": WAIT}).reads_time


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


def test_terms_print_the_time_in_words() -> None:
    assert str(ARCHIVE.raises[1].when).endswith("(incident.opened + 30) > the current moment)")
    assert NOW.compile(PLAIN)(EvaluationScope(EMPTY, {}, 17)) == 17


@pytest.mark.parametrize(("name", "time"), [("banking", 9), ("smart_home", None), ("telehealth", None)])
def test_sessions_of_the_built_in_environments_start_at_their_field(name: str, time: int | None) -> None:
    environment = load_domain(name).environment
    state = environment.populate(Random(3))
    session = next(state.rows("session")).values
    start = dt.datetime.fromtimestamp(environment.clock.start(state), dt.UTC)
    text = MOMENT.encode(session["now"]) if time is None else f"{DATE.encode(session['today'])} {time:02d}:00"
    assert f"{start:%Y-%m-%d %H:%M}" == text
