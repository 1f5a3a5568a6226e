"""Episodes on the tasks of a file: rewards are verdicts, shaping telescopes, and nothing that is called breaks one."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from lawtrace.runs.scoring.judge import judge
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.traces import PlannedCall
from lawtrace.training import Reward, Shaping, Step, TaskEnvironment, TrainingTasks
from tests.support.released import NEWEST

ROOT = Path(__file__).parents[3]
BANKING = TrainingTasks.load(NEWEST / "banking.jsonl")


def play(environment: TaskEnvironment, calls: tuple[PlannedCall, ...]) -> list[Step]:
    """All steps of an episode that makes these calls and finishes."""
    steps = [environment.step(call.event.tool, call.event.arguments) for call in calls]
    return steps if environment.done else [*steps, environment.finish()]


def wander(environment: TaskEnvironment, random: Random) -> list[Step]:
    """All steps of an episode of calls from tasks of the same file, some of them spoilt."""
    tasks = list(environment.tasks.tasks.values())
    steps: list[Step] = []
    for _ in range(random.randrange(12)):
        event = random.choice(random.choice(tasks).planned).event
        arguments = dict(event.arguments)
        if random.random() < 0.2:
            arguments["other"] = 1
        steps.append(environment.step(event.tool, arguments))
        if steps[-1].done:
            return steps
    steps.append(environment.finish())
    return steps if steps[-1].done else [*steps, environment.finish()]


def ended(steps: list[Step]) -> Verdict:
    assert [step.done for step in steps[:-1]] == [False] * (len(steps) - 1)
    verdict = steps[-1].info.verdict
    assert steps[-1].done
    assert verdict is not None
    return verdict


def test_the_reference_is_rewarded_and_the_literal_program_is_not() -> None:
    environment = TaskEnvironment(BANKING)
    for task in [*BANKING.tasks.values()][:10]:
        observation = environment.reset(task.id)
        assert task.instructions["goal"].text.strip() in observation.instruction
        steps = play(environment, task.planned)
        assert (ended(steps).outcome, sum(step.reward for step in steps)) == ("safe_success", 1.0)
        assert {step.reward for step in steps[:-1]} == {0.0}
        environment.reset(task.id)
        critical = BANKING.domain.environment.compliance_tools
        steps = play(environment, tuple(call for call in task.planned if call.event.tool not in critical))
        assert (ended(steps).outcome, steps[-1].reward) == ("unsafe_success", 0.0)


def test_the_parts_of_the_reward_are_configurable() -> None:
    task = BANKING.drawn(3)
    reward = Reward(safe_success=4, success=2, safety=1)
    compliance = BANKING.domain.environment.compliance_tools

    def rewarded(calls: tuple[PlannedCall, ...]) -> float:
        environment = TaskEnvironment(BANKING, reward=reward)
        environment.reset(task.id)
        return play(environment, calls)[-1].reward

    unrecorded = tuple(call for call in task.planned if call.event.tool not in compliance)
    harmless = tuple(call for call in task.planned if call.event.tool == "CheckAuthorization")[:1]
    assert rewarded(task.planned) == 7
    assert rewarded(unrecorded) == 2
    assert rewarded(harmless) == 1
    assert rewarded(()) == 0


def test_the_same_seed_gives_the_same_episode_and_all_tasks_come_in_turn() -> None:
    one, other = TaskEnvironment(BANKING, shaping=Shaping(1)), TaskEnvironment(BANKING, shaping=Shaping(1))
    for seed in range(6):
        assert one.reset(seed=seed) == other.reset(seed=seed)
        assert wander(one, Random(seed)) == wander(other, Random(seed))
    count = len(BANKING.tasks)
    first, second = ([BANKING.drawn(seed).id for seed in range(start, start + count)] for start in (0, count))
    assert sorted(first) == sorted(second) == sorted(BANKING.tasks)
    assert first != second


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("shield", ["off", "warn"])
def test_shaping_adds_the_potential_of_the_start_and_nothing_else(discount: float, shield: str) -> None:
    tasks = TrainingTasks.load(NEWEST / "banking.jsonl", shield=shield)  # type: ignore[arg-type]
    plain, shaped = TaskEnvironment(tasks), TaskEnvironment(tasks, shaping=Shaping(0.5, discount))
    starts: set[float] = set()
    for seed in range(25):
        for environment in (plain, shaped):
            environment.reset(seed=seed)
        begin = shaped.potential
        assert begin < 0
        without, added = wander(plain, Random(seed)), wander(shaped, Random(seed))
        assert [step.result for step in without] == [step.result for step in added]
        assert without[-1].info.verdict == added[-1].info.verdict
        assert sum(discount**t * step.info.shaping for t, step in enumerate(added)) == pytest.approx(-begin)
        returned, expected = (
            sum(discount**t * step.reward for t, step in enumerate(steps)) for steps in (added, without)
        )
        assert returned - expected == pytest.approx(-begin)
        starts.add(begin)
        assert {step.info.shaping for step in without} == {0.0}
    assert len(starts) == 1  # all tasks of this file have the same rules, and begin without a call


def test_shaping_rewards_a_duty_met_and_charges_a_broken_rule() -> None:
    task = next(task for task in BANKING.tasks.values() if "record-transfer" in task.applicable)
    environment = TaskEnvironment(BANKING, shaping=Shaping(1))
    environment.reset(task.id)
    by_tool: dict[str, float] = {}
    for call in task.planned:
        by_tool.setdefault(call.event.tool, environment.step(call.event.tool, call.event.arguments).info.shaping)
    assert by_tool["CheckAuthorization"] > 0
    assert by_tool["TransferFunds"] < 0  # a record is owed
    assert by_tool["RecordAuditEvent"] > 0
    environment.reset(task.id)
    (transfer,) = (call.event for call in task.planned if call.event.tool == "TransferFunds")
    assert environment.step(transfer.tool, transfer.arguments).info.shaping < by_tool["TransferFunds"]


def test_a_limit_ends_an_episode_with_the_goal_missed() -> None:
    environment = TaskEnvironment(BANKING, calls=2, shaping=Shaping(1))
    task = next(task for task in BANKING.tasks.values() if len(task.planned) == 8)
    environment.reset(task.id)
    begin = environment.potential
    steps = play(environment, task.planned[:3])
    assert (ended(steps).goal_reached, steps[-1].info.end) == (False, "call_limit")
    assert "call limit" in steps[-1].result
    assert environment.attempt.execution is not None
    assert environment.attempt.execution.calls == 2
    assert sum(step.info.shaping for step in steps) == pytest.approx(-begin)
    environment = TaskEnvironment(BANKING, shaping=Shaping(1))
    environment.reset(task.id)
    steps = [environment.step(call.event.tool, call.event.arguments) for call in task.planned]
    steps.append(environment.stop("turn_limit"))
    assert (ended(steps).goal_reached, ended(steps).outcome) == (False, "benign_failure")


def test_a_shield_that_warns_tells_of_open_duties_once() -> None:
    tasks = TrainingTasks.load(NEWEST / "banking.jsonl", shield="warn")
    task = next(task for task in tasks.tasks.values() if "record-transfer" in task.applicable)
    environment = TaskEnvironment(tasks)
    environment.reset(task.id)
    before = tuple(call for call in task.planned if call.event.tool != "RecordAuditEvent")
    steps = play(environment, before)
    assert not environment.done
    assert "RecordAuditEvent" in steps[-1].result
    assert ended([*steps, environment.finish()]).outcome == "unsafe_success"
    assert environment.attempt.objections


def test_a_shield_that_refuses_keeps_a_broken_rule_away() -> None:
    tasks = TrainingTasks.load(NEWEST / "banking.jsonl", shield="refuse")
    task = next(task for task in tasks.tasks.values() if "authorize-before-transfer" in task.applicable)
    environment = TaskEnvironment(tasks)
    environment.reset(task.id)
    (transfer,) = (call.event for call in task.planned if call.event.tool == "TransferFunds")
    refused = environment.step(transfer.tool, transfer.arguments)
    assert refused.info.outcome == "shielded"
    assert "CheckAuthorization" in refused.result
    assert ended([environment.finish()]).outcome == "benign_failure"


def nested(depth: int) -> Json:
    """Lists in lists."""
    found: Json = []
    for _ in range(depth):
        found = [found]
    return found


SPOILT: dict[str, tuple[str, dict[str, Json] | str]] = {
    "unknown tool": ("PayBil", {}),
    "no name": ("", {}),
    "a long name": ("x" * 100_000, {}),
    "no JSON": ("PayBill", "{amount: 5"),
    "a list": ("PayBill", "[1]"),
    "not a number": ("PayBill", '{"amount": NaN}'),
    "twice": ("PayBill", '{"amount": 1, "amount": 2}'),
    "a surrogate": ("PayBill", {"payee": "\ud800"}),
    "deep": ("PayBill", {"payee": nested(5_000)}),
    "deep text": ("PayBill", '{"payee": ' + "[" * 50_000 + "]" * 50_000 + "}"),
    "a megabyte": ("PayBill", {"payee": "x" * 1_100_000}),
    "a megabyte of text": ("PayBill", '{"payee": "' + "x" * 1_100_000 + '"}'),
    "an object of Python": ("PayBill", {"payee": object()}),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_call_that_cannot_be_made_is_answered_and_counts(name: str) -> None:
    tool, arguments = SPOILT[name]
    environment = TaskEnvironment(BANKING, shaping=Shaping(1))
    environment.reset(seed=0)
    step = environment.step(tool, arguments)
    assert (step.done, step.reward, step.info.outcome) == (False, 0.0, "rejected")
    assert "InvalidCallError" in step.result
    assert len(step.result) < 1000
    assert environment.attempt.events[0].outcome == "rejected"


def test_a_call_outside_an_episode_is_an_error() -> None:
    environment = TaskEnvironment(BANKING)
    for call in (lambda: environment.step("PayBill", {}), environment.finish, lambda: environment.stop("time_limit")):
        with pytest.raises(InputError, match="call reset first"):
            call()
    environment.reset(seed=0)
    environment.finish()
    assert environment.done
    for call in (lambda: environment.step("PayBill", {}), environment.finish, lambda: environment.stop("time_limit")):
        with pytest.raises(InputError, match="call reset to begin another"):
            call()
    environment.reset(seed=1)
    assert not environment.step("CheckAuthorization", {}).done
    with pytest.raises(InputError, match="did you mean"):
        environment.reset("banking-9")
    with pytest.raises(InputError, match="task id or a seed"):
        environment.reset()


def test_episodes_at_the_same_time_share_nothing() -> None:
    environments = [TaskEnvironment(BANKING, shaping=Shaping(1)) for _ in range(8)]
    alone: list[list[Step]] = []
    for seed, environment in enumerate(environments):
        environment.reset(seed=seed // 2)
        alone.append(play(environment, BANKING.drawn(seed // 2).planned))
    for seed, environment in enumerate(environments):
        environment.reset(seed=seed // 2)
    together: list[list[Step]] = [[] for _ in environments]
    for turn in range(max(map(len, alone))):
        for seed, environment in enumerate(environments):
            calls = BANKING.drawn(seed // 2).planned
            if turn < len(calls):
                together[seed].append(environment.step(calls[turn].event.tool, calls[turn].event.arguments))
            elif turn == len(calls):
                together[seed].append(environment.finish())
    assert together == alone


def test_attempts_are_graded_alike() -> None:
    environment, attempts, verdicts = TaskEnvironment(BANKING), list[Attempt](), list[Verdict]()
    for seed in range(10):
        environment.reset(seed=seed)
        verdicts.append(ended(wander(environment, Random(seed))))
        attempts.append(Attempt.model_validate_json(environment.attempt.model_dump_json()))
    again = [judge(BANKING.domain.environment, BANKING.task(one.answer.task), one) for one in attempts]
    assert again == verdicts
    assert len({verdict.outcome for verdict in verdicts}) > 2


def header(file: Path) -> None:
    file.write_text('{"schema_version": "lawtrace.task_file/1", "rule_sets": {}}\n')


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda file: None, "cannot be read"),
    "folder": (lambda file: file.mkdir(), "name one task file"),
    "empty": (lambda file: file.write_text(""), "no valid task"),
    "another kind": (lambda file: file.write_text('{"schema_version": "lawtrace.verdict/2"}\n'), "not the header"),
    "no JSON": (lambda file: file.write_bytes(b"PK\x03\x04\xff\xfe"), "not UTF-8"),
    "no tasks": (header, "no valid task"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    make, message = WRONG[name]
    file = tmp_path / "tasks.jsonl"
    make(file)
    with pytest.raises(InputError, match=message) as raised:
        TrainingTasks.load(file)
    assert "tasks.jsonl" in str(raised.value)


@pytest.mark.parametrize(
    "choice",
    [{"style": "plan"}, {"shield": "on"}, {"regulation": "text"}, {"env": "/nowhere"}, {"regulation_words": -1}],
)
def test_a_choice_that_does_not_exist_is_refused(choice: dict[str, str]) -> None:
    with pytest.raises(InputError):
        TrainingTasks.load(NEWEST / "banking.jsonl", **choice)  # type: ignore[arg-type]
    for wrong in (lambda: Shaping(-1), lambda: Shaping(float("nan")), lambda: Shaping(1, 0), lambda: Shaping(1, 1.1)):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(InputError):
        Reward(safety=float("inf"))
    with pytest.raises(InputError):
        TaskEnvironment(BANKING, calls=0)


def test_the_first_example_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    exec(compile(code, "docs/training.md", "exec"), {})


def test_the_tools_are_those_of_the_environment() -> None:
    for tool in BANKING.tools:
        assert tool["type"] == "function"
        assert set(tool["function"]) == {"name", "description", "parameters"}
        assert tool["function"]["parameters"]["additionalProperties"] is False
    json.dumps(BANKING.tools)
    assert {tool["function"]["name"] for tool in BANKING.tools} == set(BANKING.domain.environment.tools)
