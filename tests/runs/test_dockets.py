"""Dockets: how one is drawn and proved, and how attempts at it are judged by their matters."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.dockets import docket_instruction, passing_rules, planned_matters
from lawtrace.runs.scoring.judge import judge, judge_rules
from lawtrace.runs.scoring.metrics import docket_scores
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.tasks import Task, call_rows, trace_of
from lawtrace.schemas.attempt_rows import Answer, Attempt, Execution
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.task_rows import Docket, TraceRow
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.dockets import DocketWriter, find_queue
from lawtrace.solver.planner.schedules import NoSchedule, ScheduleSearch
from lawtrace.solver.rules import load_rules
from lawtrace.solver.traces import PlannedCall, print_program
from tests.support.parcel_office import OFFICE
from tests.support.shell import Shell

PERMITS = load_domain(str(Path(__file__).parents[2] / "examples" / "permit_office"))
RULES = load_rules(PERMITS.rules_file)
WORLD = PERMITS.environment
ROW = read_rows(Path(__file__).parents[1] / "data" / "dockets" / "permits.traces.jsonl", TraceRow)[0]


def task_of(row: TraceRow) -> Task:
    trace = trace_of(row, WORLD)
    return Task(
        id=row.id,
        environment=WORLD.name,
        rules=RULES,
        applicable=(),
        initial_state=row.initial_state,
        target_state=row.final_state,
        calls=row.calls,
        asked_calls=row.calls[:1],
        docket=row.docket,
        program=print_program(WORLD, trace.calls),
        instructions={"goal": docket_instruction(WORLD, trace)},
    )


TASK = task_of(ROW)
assert TASK.docket is not None
DOCKET: Docket = TASK.docket


def calls_of(key: str) -> list[PlannedCall]:
    matter = next(matter for matter in DOCKET.matters if matter.key == key)
    return [TASK.planned[number] for number in matter.calls]


def attempt(calls: Sequence[PlannedCall], environment: Environment = WORLD) -> Attempt:
    """An attempt that makes these calls after the look at the queue."""
    session = Session(environment, TASK.initial(environment))
    for call in (TASK.planned[0], *calls):
        session.call(call.event.tool, call.event.arguments)
    return Attempt(
        answer=Answer(task=TASK.id, style="goal", model="m", program="", id="a"),
        execution=Execution("finished", None, None, None, "", len(session.events)),
        events=tuple(session.events),
        end=session.end,
        final_state=encode_state(session.state, environment.entities),
    )


def judged(calls: Sequence[PlannedCall]) -> Verdict:
    return judge(WORLD, TASK, attempt(calls))


def test_the_reference_is_lawful_and_ends_within_the_session() -> None:
    verdict = judged(TASK.planned[1:])
    assert verdict.outcome == "safe_success"
    assert [matter.right for matter in verdict.matters] == [True] * len(DOCKET.matters)
    assert DOCKET.shortest <= DOCKET.length


def test_no_schedule_begins_in_the_listed_order_and_no_dispatch_rule_passes() -> None:
    matters, search = planned_matters(TASK.planned, DOCKET), ScheduleSearch(WORLD, RULES)
    answer = search.find(TASK.initial(WORLD), TASK.planned[:1], matters, order=DOCKET.order, steps=1000)
    assert isinstance(answer, NoSchedule)
    assert passing_rules(WORLD, TASK) == []


def test_the_listed_order_is_late_and_the_evidence_says_since_when() -> None:
    verdict = judged([call for matter in DOCKET.matters for call in calls_of(matter.key)])
    late = [matter for matter in verdict.matters if "in-time" in matter.broken]
    assert verdict.outcome == "unsafe_success"
    assert late
    assert len(late) < len(DOCKET.matters)
    assert all(matter.handled for matter in verdict.matters)
    assert "(Section 4) could not be kept any more after call " in late[0].reasons[0]
    assert late[0].key in verdict.reason


def test_the_call_that_is_blamed_is_the_earliest() -> None:
    calls = [call for matter in DOCKET.matters for call in calls_of(matter.key)]
    late = next(matter for matter in judged(calls).matters if "in-time" in matter.broken)
    number = int(late.reasons[0].split("after call ")[1].split(",")[0]) - 1
    own = calls_of(late.key)

    def in_time(made: int) -> bool:
        before = [call for call in calls[:made] if call not in own]
        verdict = judged([*before, *own])
        return next("in-time" not in matter.broken for matter in verdict.matters if matter.key == late.key)

    assert in_time(number - 1)
    assert not in_time(number)


def test_a_matter_that_is_left_open_is_the_only_one_that_is_wrong() -> None:
    left = DOCKET.matters[0].key
    verdict = judged([call for call in TASK.planned[1:] if call not in calls_of(left)])
    assert [matter.key for matter in verdict.matters if not matter.right] == [left]
    assert verdict.outcome == "unsafe_failure"


def test_a_shared_limit_blames_the_matters_whose_calls_it_counts() -> None:
    keys = [matter.key for matter in DOCKET.matters][:2]
    look = [replace(calls_of(key)[0]) for key in keys]
    asks = [PlannedCall(replace(call.event, tool="AskExpert"), call.origins) for call in look]
    verdict = judged([*look, *asks])
    blamed = [matter.key for matter in verdict.matters if "expert-rests" in matter.broken]
    assert blamed == keys


def test_without_an_answer_every_matter_is_wrong() -> None:
    verdict = judge(WORLD, TASK, Attempt(answer=Answer(task=TASK.id, style="goal", model="m", program=None, id="a")))
    assert [matter.right for matter in verdict.matters] == [False] * len(DOCKET.matters)
    counts = docket_scores([verdict, judged(TASK.planned[1:])])["m"]
    assert (counts.attempts, counts.all_right, counts.share) == (2, 1, 0.5)


def test_the_instruction_names_no_matter_and_says_when_the_session_ends() -> None:
    text = TASK.instructions["goal"].text
    assert text.startswith("List the open applications. Handle all that is open")
    assert not any(matter.key in text for matter in DOCKET.matters)
    assert judge_rules(RULES, attempt(()).events, (), end=0)


def test_a_world_without_a_queue_has_no_dockets() -> None:
    with pytest.raises(SearchError, match="lists the open matters"):
        find_queue(OFFICE)


@pytest.mark.slow
def test_dockets_of_a_world_as_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    lawtrace, desk = Shell(monkeypatch, capsys), Path(__file__).parents[1] / "data" / "claim_desk"
    assert lawtrace("env", "check", desk)[0] == 0
    made = ("--matters", 3, "--slack", 0.3, "--count", 1, "--out", "dockets.jsonl")
    lawtrace.json("tasks", "build", "--env", desk, *made)
    done = lawtrace.json("run", "--tasks", "dockets.jsonl", "--env", desk, "--out", "run")
    assert done["outcomes"]["baseline:reference/goal/safe_success"] == 1
    code, out, _ = lawtrace("report", "run", "--env", desk)
    matters = [line.split() for line in out.splitlines()]
    assert (code, ["baseline:reference", "100.0", "%", "1", "1", "0"] in matters) == (0, True)


@pytest.mark.slow
def test_a_docket_is_drawn_with_its_proofs() -> None:
    writer = DocketWriter(WORLD, RULES)
    found = next(one for seed in range(20) if (one := writer.draw(3, 0.3, Random(seed))) is not None)
    assert len(found.matters) == 3
    assert set(found.excluded.order) <= {matter.key for matter in found.matters}
    assert call_rows(found.schedule.trace.calls)
