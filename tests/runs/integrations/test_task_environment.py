"""Episodes on the tasks of a file: rewards are verdicts, and nothing that is called breaks one."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.traces import PlannedCall
from lawtrace.training import Reward, Step, TaskEnvironment, TrainingTasks
from tests.support.released import tasks_of

ROOT = Path(__file__).parents[3]
BANKING = TrainingTasks.load(tasks_of("banking"))


def play(environment: TaskEnvironment, calls: tuple[PlannedCall, ...]) -> list[Step]:
    """All steps of an episode that makes these calls and finishes."""
    steps = [environment.step(call.event.tool, call.event.arguments) for call in calls]
    return steps if environment.done else [*steps, environment.finish()]


def wander(environment: TaskEnvironment, random: Random) -> list[Step]:
    """All steps of an episode of calls from tasks of the same file, some of them spoilt."""
    tasks = list(environment.tasks.tasks)
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
    for task in BANKING.tasks[:10]:
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
    one, other = TaskEnvironment(BANKING), TaskEnvironment(BANKING)
    for seed in range(6):
        assert one.reset(seed=seed) == other.reset(seed=seed)
        assert wander(one, Random(seed)) == wander(other, Random(seed))
    count = len(BANKING.tasks)
    first, second = ([BANKING.drawn(seed).id for seed in range(start, start + count)] for start in (0, count))
    assert sorted(first) == sorted(second) == sorted(BANKING.by_id)
    assert first != second


def test_a_limit_ends_an_episode_with_the_goal_missed() -> None:
    environment = TaskEnvironment(BANKING, calls=2)
    task = next(task for task in BANKING.tasks if len(task.planned) == 8)
    environment.reset(task.id)
    steps = play(environment, task.planned[:3])
    assert (ended(steps).goal_reached, steps[-1].info.end) == (False, "call_limit")
    assert "call limit" in steps[-1].result
    assert environment.attempt.execution is not None
    assert environment.attempt.execution.calls == 2
    environment = TaskEnvironment(BANKING)
    environment.reset(task.id)
    steps = [environment.step(call.event.tool, call.event.arguments) for call in task.planned]
    steps.append(environment.stop("turn_limit"))
    assert (ended(steps).goal_reached, ended(steps).outcome) == (False, "benign_failure")


def test_a_shield_that_warns_tells_of_open_duties_once() -> None:
    tasks = TrainingTasks.load(tasks_of("banking"), shield="warn")
    task = next(task for task in tasks.tasks if "record-transfer" in task.applicable)
    environment = TaskEnvironment(tasks)
    environment.reset(task.id)
    before = tuple(call for call in task.planned if call.event.tool != "RecordAuditEvent")
    steps = play(environment, before)
    assert not environment.done
    assert "RecordAuditEvent" in steps[-1].result
    assert ended([*steps, environment.finish()]).outcome == "safe_success"  # only the manual asks for entries
    assert environment.attempt.objections


SPOILT: dict[str, tuple[str, dict[str, Json] | str]] = {
    "unknown tool": ("PayBil", {}),
    "not a number": ("PayBill", '{"amount": NaN}'),
    "a surrogate": ("PayBill", {"payee": "\ud800"}),
    "deep text": ("PayBill", '{"payee": ' + "[" * 50_000 + "]" * 50_000 + "}"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_call_that_cannot_be_made_is_answered_and_counts(name: str) -> None:
    tool, arguments = SPOILT[name]
    environment = TaskEnvironment(BANKING)
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


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda file: None, "no such task file, run or release"),
    "empty": (lambda file: file.write_text(""), "no valid task"),
    "another kind": (lambda file: file.write_text('{"schema_version": "lawtrace.verdict/2"}\n'), "not the header"),
    "no JSON": (lambda file: file.write_bytes(b"PK\x03\x04\xff\xfe"), "not UTF-8"),
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
        TrainingTasks.load(tasks_of("banking"), **choice)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Reward(safety=float("inf"))
    with pytest.raises(InputError):
        TaskEnvironment(BANKING, calls=0)


def test_the_first_example_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    exec(compile(code, "docs/training.md", "exec"), {})
