"""The agenda: what happens without a call, in which order, and when it is seen."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from lawtrace.environments import spec as s
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.effects import Effect
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.schemas.errors import InputError
from tests.support.proof_desk import CASES, LETTERS, PROOF_DESK, PROOFS, SENT, desk_state


def made(initial: State, *calls: tuple[str, str] | int) -> Session:
    """A session with these calls about a case, and pauses in seconds."""
    session = Session(PROOF_DESK, initial)
    for call in calls:
        if isinstance(call, int):
            session.advance_time(call)
        else:
            arguments: dict[str, Any] = {"case_id": call[1]} | ({"hour": 12} if call[0] == "ScheduleLetter" else {})
            assert session.call(call[0], arguments).event.completed, call
    return session


def read(session: Session, case: str = "C-1") -> tuple[bool, bool]:
    """What a look-up shows: proven, withdrawn."""
    result = cast("dict[str, Any]", session.call("ReadCase", {"case_id": case}).event.result)
    return result["proven"], result["withdrawn"]


def test_what_is_due_happens_before_a_call_that_begins_in_that_second() -> None:
    initial = desk_state(proofs=[("C-1", 10)])
    assert read(made(initial, 10 * 60 - 1)) == (False, False)
    session = made(initial, 10 * 60)
    assert read(session) == (True, False)
    assert [*session.state.rows("proofs")] == []
    assert read(session, "C-2") == (False, False)


def test_what_comes_due_during_a_slow_call_is_seen_from_the_next_call_on() -> None:
    session = made(desk_state(proofs=[("C-1", 10)]), ("Study", "C-1"))
    assert session.events[0].result == {"proven": False}
    assert read(session) == (True, False)


def test_a_call_starts_what_happens_an_hour_later() -> None:
    session = made(desk_state(), 90, ("AskForProof", "C-1"), ("Study", "C-1"))
    assert read(session) == (False, False)
    session.advance_time(30 * 60)
    assert read(session) == (True, False)


@pytest.mark.parametrize(
    ("proof", "withdrawal", "proven"), [(5, 10, False), (10, 5, True), (5, 5, False)], ids=["first", "last", "together"]
)
def test_the_earliest_happens_first_and_of_the_same_time_what_is_declared_first(
    proof: int, withdrawal: int, proven: bool
) -> None:
    session = made(desk_state(proofs=[("C-1", proof)], withdrawals=[("C-1", withdrawal)]), 20 * 60)
    assert read(session) == (proven, True)


def test_a_row_that_was_deleted_does_not_happen() -> None:
    assert len([*made(desk_state(), ("ScheduleLetter", "C-1"), 5 * 3600).state.rows("sent")]) == 1
    cancelled = made(desk_state(), ("ScheduleLetter", "C-1"), ("CancelLetters", "C-1"), 5 * 3600)
    withdrawn = made(desk_state(withdrawals=[("C-1", 30)]), ("ScheduleLetter", "C-1"), 5 * 3600)
    for session in (cancelled, withdrawn):
        assert [*session.state.rows("sent"), *session.state.rows("letters")] == []


def test_a_difference_of_states_does_not_depend_on_when_a_session_ended() -> None:
    initial = desk_state(proofs=[("C-1", 10), ("C-2", 9 * 60)])
    early, late = made(initial), made(initial, 3600)
    assert early.state != late.state
    assert compare_states(PROOF_DESK, initial, early.state, late.state) == ()
    sent = made(initial, 3600, ("SendLetter", "C-1")).state
    scheduled = made(initial, ("ScheduleLetter", "C-1")).state
    assert compare_states(PROOF_DESK, initial, sent, scheduled) == ()
    assert [one.table for one in compare_states(PROOF_DESK, initial, sent, early.state)] == ["sent"]


def test_a_table_that_a_compliance_tool_changes_by_what_it_plans_is_no_goal_of_its_own() -> None:
    ask = replace(PROOF_DESK, tools={name: PROOF_DESK.tools[name] for name in ("AskForProof", "FindCase")})
    assert ask.compliance_tables == {"proofs", "cases"}
    assert "AskForProof" not in ask.changing_tools
    assert PROOF_DESK.changed_tables(PROOF_DESK.tools["ScheduleLetter"]) == {"letters", "sent"}


def test_a_state_in_a_file_without_planned_things_has_none() -> None:
    whole = encode_state(desk_state(proofs=[("C-1", 10)]), PROOF_DESK.entities)
    assert decode_state(whole, PROOF_DESK.entities) == desk_state(proofs=[("C-1", 10)])
    del whole["proofs"]
    assert decode_state(whole, PROOF_DESK.entities) == desk_state()


def test_the_documentation_says_what_happens_without_a_call() -> None:
    documented = document(PROOF_DESK)
    assert documented["happens_without_a_call"] == [happening.description for happening in PROOF_DESK.agenda]
    assert "look-ups show it" in str(documented["clock"])
    assert "happens_without_a_call" not in document(replace(PROOF_DESK, agenda=()))


def test_a_queue_lists_in_order_of_arrival_what_a_desk_sees() -> None:
    rows = cast("dict[str, Any]", Session(PROOF_DESK, desk_state()).call("ShowCases", {}).event.result)["cases"]
    assert [row["case_id"] for row in rows] == ["C-1", "C-2", "C-3"]
    assert rows[0] == {"case_id": "C-1", "person": "Ada Berg", "kind": "access", "received": "2026-03-02 07:21"}


def happening(*effects: Effect, entity: s.Entity = PROOFS, at: str = "at") -> s.Happening:
    return s.Happening("It happens.", entity, at, effects or (s.change(CASES, proven=True),))


PLACES = s.table("places", "place", prefix="P-", place_id=s.TEXT, at=s.MOMENT)


@pytest.mark.parametrize(
    ("agenda", "message"),
    [
        ([happening(entity=PLACES)], "'places': the environment does not declare this table"),
        ([happening(at="when")], "its time 'when' must be a field that is a MOMENT"),
        ([happening(at="case_id")], "its time 'case_id' must be a field that is a MOMENT"),
        ([replace(happening(), effects=())], "it has no effects"),
        ([happening(), happening()], "'proofs' has two happenings; put the effects into one"),
        ([happening(s.change(SENT, case_id="C-1"))], "uses the argument 'sent_id', which is not a field of proof"),
        ([happening(s.change(CASES, prove=True))], "an effect sets 'prove', which is not a field of case"),
        ([happening(s.register(SENT))], "without the required field 'case_id'"),
        ([happening(s.register(PROOFS, "case_id", "at"))], "it inserts into 'proofs', which is planned itself"),
        ([happening(s.change(LETTERS, by="case_id", at=s.NOW)), happening(entity=LETTERS)], "rows of 'letters'"),
        ([happening(s.Delete(PLACES, lambda p: p.at < 3))], "it uses the table 'places'"),
    ],
)
def test_an_invalid_agenda_is_named(agenda: Sequence[s.Happening], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        replace(PROOF_DESK, agenda=tuple(agenda))
    assert "environment 'proof_desk', what happens to '" in str(caught.value)


def test_a_field_that_may_be_absent_cannot_be_computed_with() -> None:
    plans = s.table("plans", "plan", prefix="P-", plan_id=s.TEXT, at=s.MOMENT, hour=s.Field(s.INTEGER, optional=True))
    late: Callable[[s.RowVariable], s.Term] = lambda row: row.received < s.argument("hour")  # noqa: E731
    agenda = (s.Happening("It happens.", plans, "at", (s.Delete(CASES, late),)),)
    with pytest.raises(InputError, match="'hour' is optional"):
        replace(PROOF_DESK, entities={**PROOF_DESK.entities, "plans": plans}, agenda=agenda)


def test_tools_without_state_have_no_agenda() -> None:
    bare = {name: replace(tool, effects=(), results=(), raises=()) for name, tool in PROOF_DESK.tools.items()}
    with pytest.raises(InputError, match="has no state"):
        replace(PROOF_DESK, tools=bare, simulated=False)
