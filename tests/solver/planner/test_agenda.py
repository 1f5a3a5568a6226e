"""Searches in a world in which things happen without a call: they follow the agenda, or decide nothing."""

from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments import spec as s
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event, FromResult, SaidByUser
from lawtrace.solver.coverage.coverage_analysis import analyse_coverage
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.schedules import NoSchedule, ScheduleSearch
from lawtrace.solver.planner.search_state import initial_search_state, later
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Impossible, Unknown
from lawtrace.solver.traces import PlannedCall, Trace, completed_replay
from tests.support.proof_desk import CASES, OPENING, PROOF_DESK, START, desk_state

SEND = (
    PlannedCall(Event("FindCase", {"person": "Ada Berg"}), {"person": SaidByUser()}),
    PlannedCall(Event("SendLetter", {"case_id": "C-1"}), {"case_id": FromResult(0, ("cases", 0, "case_id"))}),
)
MINUTES = s.Parameter("minutes", s.INTEGER, "How many.", s.FromUser(s.Amount(1, 90)), malformed=None)
WAIT = s.Tool("Wait", "Waits.", (MINUTES,), compliance=True, leak_words=("wait",), duration=s.argument("minutes") * 60)


def desk(*tools: s.Tool, without: str = "") -> s.Environment:
    """The desk with further tools, and without one."""
    kept = {name: tool for name, tool in PROOF_DESK.tools.items() if name != without}
    return replace(PROOF_DESK, tools={**kept, **{tool.name: tool for tool in tools}})


def completed(environment: s.Environment, initial: State, *rules: Rule) -> tuple[str, ...] | Impossible | Unknown:
    answer = Completer(environment, rules).complete(initial, SEND)
    if not isinstance(answer, Found):
        return answer
    session = completed_replay(environment, initial, answer.trace.calls)
    assert session is not None
    assert session.state == answer.trace.final
    return answer.trace.tools


def test_a_completion_waits_for_what_a_call_starts_if_a_tool_lets_time_pass() -> None:
    assert completed(desk(WAIT), desk_state()) == ("FindCase", "AskForProof", "Wait", "SendLetter")
    assert completed(desk(WAIT, without="AskForProof"), desk_state(proofs=[("C-1", 80)])) == (
        "FindCase",
        "Wait",
        "SendLetter",
    )
    assert completed(desk(), desk_state(proofs=[("C-1", 0)])) == ("FindCase", "SendLetter")


@pytest.mark.parametrize(
    ("environment", "initial"),
    [(desk(), desk_state()), (desk(without="AskForProof"), desk_state(proofs=[("C-1", 60)]))],
    ids=["started by a call", "started by the initial state"],
)
def test_what_a_pause_would_make_possible_is_not_impossible(environment: s.Environment, initial: State) -> None:
    answer = completed(environment, initial)
    assert isinstance(answer, Unknown)
    assert "after a pause" in answer.why


@pytest.mark.parametrize(
    "planned",
    [
        {},
        {"proofs": [("C-2", 60)]},
        {"proofs": [("C-1", 9 * 60)]},
        {"proofs": [("C-1", 5)], "withdrawals": [("C-1", 5)]},
    ],
    ids=["nothing", "another case", "after the session", "withdrawn at once"],
)
def test_what_no_pause_makes_possible_is_impossible(planned: dict[str, list[tuple[str, int]]]) -> None:
    answer = completed(desk(without="AskForProof"), desk_state(**planned))
    assert isinstance(answer, Impossible)
    assert [obstacle.text for obstacle in answer.core] == ["SendLetter is refused: The identity is not proven."]


NEVER = Rule(id="never", formula="G !SendLetter")


def test_a_rule_that_no_pause_helps_is_the_reason() -> None:
    answer = completed(desk(), desk_state(proofs=[("C-1", 60)]), NEVER)
    assert isinstance(answer, Impossible)
    assert answer.rules == ("never",)


def test_a_caller_does_not_know_rows_that_were_deleted_without_a_call() -> None:
    closes = s.Happening("A case is closed.", s.table("ends", "end", prefix="E-", end_id=s.TEXT, at=s.MOMENT), "at", ())
    closes = replace(closes, effects=(s.Delete(CASES, lambda case: case.case_id == "C-1"),))
    world = replace(PROOF_DESK, entities={**PROOF_DESK.entities, "ends": closes.entity}, agenda=(closes,))
    ends = (s.Row({"end_id": "E-1", "at": OPENING + 10}),)
    start = initial_search_state(world, desk_state().with_table("ends", ends))
    known = replace(start, known={"cases": {key: FromResult(0, ()) for key in ("C-1", "C-2")}})
    assert set(later(world, known, START + 599).known["cases"]) == {"C-1", "C-2"}
    assert set(later(world, known, START + 600).known["cases"]) == {"C-2"}


def test_traces_are_found_and_no_proof_rests_on_preconditions() -> None:
    read = Rule(id="read", formula="!((!ReadCase) U SendLetter)")
    traces = [*synthesize(desk(WAIT), [read], count=3, length=4, seed=1, mode="coverage")]
    for trace in traces:
        session = completed_replay(desk(WAIT), trace.initial, trace.calls)
        assert session is not None
        assert session.state == trace.final
    shown = Rule(id="shown", formula="F ReadCase(result.proven == true) & G !AskForProof & G !SendLetter")
    assert [
        finding.kind for finding in analyse_rules(desk(), [shown, read]).findings if finding.kind == "conflict"
    ] == []
    with pytest.raises(SearchError, match="whether one exists is not decided"):
        next(synthesize(desk(), [shown], count=1, length=1, seed=1, mode="coverage"))


@pytest.mark.slow
def test_coverage_is_proved_by_the_rules_alone() -> None:
    analysis = analyse_coverage(desk(), [NEVER], mode="coverage", length=3, count=4, seed=1)
    assert analysis.certificates
    assert not any(certificate.uses_preconditions for certificate in analysis.certificates)


def test_a_state_that_populate_draws_is_an_initial_state_like_any_other() -> None:
    drawn = PROOF_DESK.populate(Random(3))
    assert initial_search_state(PROOF_DESK, drawn).now == START


def handling(case: str, *tools: str) -> tuple[PlannedCall, ...]:
    return tuple(PlannedCall(Event(tool, {"case_id": case}), {"case_id": SaidByUser()}) for tool in tools)


LOOK = (PlannedCall(Event("ShowCases", {}), {}),)


def test_a_schedule_goes_on_when_something_has_made_a_call_possible() -> None:
    matters = {"C-1": handling("C-1", "SendLetter"), "C-2": handling("C-2", "AskForProof", "Study", "SendLetter")}
    found = ScheduleSearch(PROOF_DESK, []).find(desk_state(proofs=[("C-1", 20)]), LOOK, matters)
    assert isinstance(found, Found)
    begun = [(event.tool, (event.time or 0) - START) for event in found.trace.trace.events[1:]]
    assert dict(begun)["SendLetter"] == 60 * 60
    assert ("SendLetter", 1801) in begun or ("SendLetter", 1802) in begun
    session = completed_at_those_times(found.trace.trace)
    assert session.state == found.trace.trace.final


def completed_at_those_times(trace: Trace) -> Session:
    session = Session(PROOF_DESK, trace.initial)
    for event in trace.events:
        session.advance_time((event.time or 0) - session.now)
        assert session.call(event.tool, event.arguments).event == event
    return session


def test_what_makes_a_call_impossible_is_a_deadline() -> None:
    matters = {case: handling(case, "Study", "SendLetter") for case in ("C-2", "C-3", "C-1")}
    proofs = [(case, 0) for case in matters]
    search, initial = ScheduleSearch(PROOF_DESK, []), desk_state(proofs=proofs, withdrawals=[("C-1", 40)])
    found = search.find(initial, LOOK, matters)
    assert isinstance(found, Found)
    assert found.trace.matters[:2] == ("C-1", "C-1")
    listed = search.find(initial, LOOK, matters, order=["C-2", "C-3", "C-1"])
    assert isinstance(listed, NoSchedule)
    assert listed.order[-1] == "C-1"
    later = desk_state(proofs=proofs, withdrawals=[("C-1", 95)])
    assert isinstance(search.find(later, LOOK, matters, order=["C-2", "C-3", "C-1"]), Found)


def test_a_matter_that_is_possible_between_two_happenings_has_a_latest_time_between_them() -> None:
    initial = desk_state(proofs=[("C-1", 50)], withdrawals=[("C-1", 100)])
    never_early = Rule(id="early", formula="forall c: G(SendLetter(case_id == c) -> O ReadCase(case_id == c))")
    matters = {"C-1": handling("C-1", "ReadCase", "Study", "SendLetter"), "C-2": handling("C-2", "Study", "Study")}
    found = ScheduleSearch(PROOF_DESK, [never_early]).find(initial, LOOK, matters)
    assert isinstance(found, Found)
    sent = next(event for event in found.trace.trace.events if event.tool == "SendLetter")
    assert 50 * 60 <= (sent.time or 0) - START < 100 * 60
