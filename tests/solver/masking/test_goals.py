"""Calls of a goal, and order-dependent traces without a goal."""

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.schemas.events import FromResult, Json, Origin, SaidByUser
from lawtrace.solver.masking.goals import depends_on_order, goal_calls
from lawtrace.solver.masking.wording import describe_outcome, describe_step
from lawtrace.solver.traces import PlannedCall, Trace, resolve_path
from tests.support.small_clinic import ADA, STATE, WORLD

ENVIRONMENT = WORLD.environment
Step = tuple[str, dict[str, Json], dict[str, FromResult]]

FIND: Step = ("SearchDoctors", {"keywords": "Ada Stone"}, {})
DOCTOR = {"doctor_id": FromResult(0, ("doctors", 0, "doctor_id"))}
BOOK: Step = ("ScheduleAppointment", {"date": "2026-03-03", "time": "09:00", "reason": "blood test"}, DOCTOR)
MADE = {"appointment_id": FromResult(1, ("appointment_id",))}
VIEW: Step = ("ManageAppointments", {"action": "view"}, MADE)
CANCEL: Step = ("ManageAppointments", {"action": "cancel"}, MADE)
REVIEW: Step = ("LeaveReview", {"rating": 4, "review_content": "Good."}, DOCTOR)


def move(date: str) -> Step:
    return "ManageAppointments", {"action": "update", "date": date, "time": "10:00"}, MADE


def trace_of(*steps: Step) -> Trace:
    session, calls = Session(ENVIRONMENT, STATE), list[PlannedCall]()
    for tool, said, looked_up in steps:
        arguments = dict(said)
        for name, origin in looked_up.items():
            arguments[name] = resolve_path(calls[origin.step].event.result, origin.path)
        event = session.call(tool, arguments).event
        assert event.completed
        origins: dict[str, Origin] = {**{name: SaidByUser() for name in said}, **looked_up}
        calls.append(PlannedCall(event, origins))
    return Trace(STATE, tuple(calls), session.state)


def test_look_ups_are_not_part_of_a_goal() -> None:
    trace = trace_of(FIND, BOOK, VIEW, CANCEL, REVIEW)
    assert goal_calls(ENVIRONMENT, STATE, trace.calls) == (0, 1, 3, 4)
    assert [describe_outcome(ENVIRONMENT, trace.calls, number) is None for number in range(5)] == [
        True,
        False,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("steps", "depends"),
    [
        ((FIND, BOOK, REVIEW), False),
        ((FIND, BOOK, CANCEL), False),
        ((FIND, BOOK, REVIEW, move("2026-03-04"), VIEW), False),
        ((FIND, BOOK, move("2026-03-04"), move("2026-03-03")), True),
        ((FIND, BOOK, move("2026-03-04"), CANCEL), True),
    ],
)
def test_order_dependent_changes_have_no_goal(steps: tuple[Step, ...], depends: bool) -> None:
    assert (depends_on_order(ENVIRONMENT, trace_of(*steps)) is not None) is depends


def test_each_action_has_its_own_wording() -> None:
    trace = trace_of(FIND, BOOK, VIEW, move("2026-03-04"), CANCEL)
    thing = 'the appointment with the doctor found with the keywords "Ada Stone" on 2026-03-03 at 09:00'
    assert [describe_step(ENVIRONMENT, trace.calls, number) for number in (2, 3, 4)] == [
        f"View {thing}.",
        f"Update {thing} to 2026-03-04 at 10:00.",
        f"Cancel {thing}.",
    ]
    assert describe_outcome(ENVIRONMENT, trace.calls, 4) == f"T{thing[1:]} has been cancelled."
    assert trace.calls[1].event.arguments["doctor_id"] == ADA
