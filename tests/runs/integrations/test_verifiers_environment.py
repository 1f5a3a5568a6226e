"""Rollouts of verifiers against a loopback endpoint: their verdicts are those of `lawtrace run`."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import tests.support.agents_sdk  # noqa: F401 - verifiers needs it  # pyright: ignore[reportUnusedImport]

pytest.importorskip("verifiers", reason="needs the extra 'verifiers'")

import verifiers as vf
from openai import AsyncOpenAI

from lawtrace.agents.scripted.baseline_policies import next_move
from lawtrace.runs.stages.baseline_answers import REFUSAL, baseline_calls
from lawtrace.runs.stages.habits import Habits, find_task_habits
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks, write_tasks
from lawtrace.schemas.choices import Style
from lawtrace.schemas.model_spec import BASELINE_POLICIES, ModelSpec
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.training import load_environment
from tests.support.openai_server import OpenAIServer, Status, calling, serving
from tests.support.released import NEWEST, tasks_of

pytestmark = pytest.mark.integration

COLUMNS = ["verdict", "attempt"]


def key_of(model: str) -> tuple[str, str, Style]:
    """Policy, task and style of a model's name."""
    policy, task, style = model.split()
    return policy, task, "goal" if style == "goal" else "workflow"


class Player:
    """Answers as a baseline policy on a task; the name of the model says which: ``reference TASK goal``."""

    def __init__(self, file: Path) -> None:
        rows, domain = read_tasks(file)
        self.tasks = {task.id: task for task in rows}
        self._environment = domain.environment
        self._tasks = rows

    @cached_property
    def _habits(self) -> Habits:
        return {row.style: row.habit for row in find_task_habits(self._environment, self._tasks)}

    def __call__(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        policy, task, style = key_of(request["model"])
        spec = ModelSpec.parse(f"baseline:{policy}")
        calls = baseline_calls(
            spec, self._environment, self.tasks[task], style, self._habits if policy == "habit" else {}
        )
        if calls is None:
            return REFUSAL
        move = next_move(calls, [said["content"] for said in request["messages"] if said["role"] == "tool"])
        return move if isinstance(move, str) else calling((move.tool, dict(move.arguments)))


async def roll(
    environment: vf.Environment, server: OpenAIServer, policies: Iterable[str], retries: int = 5
) -> list[dict[str, Any]]:
    """One rollout of each policy on each task, all at once."""
    async with AsyncOpenAI(base_url=server.base_url, api_key="loopback", max_retries=retries) as client:
        return await asyncio.gather(
            *(
                environment.run_rollout(
                    row, client, f"{policy} {row['info']['task']} {row['info']['style']}", {}, state_columns=COLUMNS
                )
                for policy in policies
                for row in environment.get_dataset().to_list()
            )
        )


def some_tasks(name: str, folder: Path, places: Iterable[int]) -> Path:
    """A file with some of the newest released tasks."""
    rows, _ = read_tasks(tasks_of(name))
    write_tasks(folder / f"{name}.jsonl", [rows[place] for place in places])
    return folder / f"{name}.jsonl"


def lawtrace(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "lawtrace", *map(str, arguments)], check=True, capture_output=True, text=True)


def comparable(row: Verdict) -> dict[str, Any]:
    """A verdict without the name of the model, the ids of messages, and the text of an answer without a call."""
    fields: dict[str, Any] = json.loads(row.model_dump_json(exclude={"model", "answer"}))
    fields["reason"] = fields["reason"].removesuffix(": it only wrote text")
    for rule in fields["rules"]:
        del rule["message"]
    return fields


@pytest.mark.parametrize(
    ("name", "policies", "shield"),
    [("banking", BASELINE_POLICIES, "warn"), ("payments", ("reference", "literal", "noop"), "off")],
)
async def test_rewards_and_verdicts_are_ours(name: str, policies: tuple[str, ...], shield: str, tmp_path: Path) -> None:
    file, made = some_tasks(name, tmp_path, [0]), tmp_path / "ours"
    models = [part for policy in policies for part in ("--model", f"baseline:{policy}")]
    lawtrace("run", "--tasks", file, *models, "--mode", "tools", "--shield", shield, "--out", made)
    ours = {
        (row.model.removeprefix("baseline:"), row.task, row.style): row
        for row in read_rows(made / "verdicts.jsonl", Verdict)
    }
    found: dict[tuple[str, str, str], Verdict] = {}
    with serving(Player(file)) as server:
        for style in ("goal", "workflow"):
            environment = vf.load_environment("lawtrace.training", file=str(file), style=style, shield=shield)
            for output in await roll(environment, server, policies):
                verdict = Verdict.model_validate(output["verdict"])
                found[key_of(verdict.model)] = verdict
                expected = ours[key_of(verdict.model)]
                assert output["reward"] == (expected.outcome == "safe_success"), expected.reason
                assert output["metrics"]["success"] == (expected.goal_reached is True)
                broken = {rule.rule for rule in expected.rules if rule.broken}
                measured = {name.removeprefix("broken:") for name, value in output["metrics"].items() if value}
                assert broken == measured & {rule.rule for rule in expected.rules}
    assert {key: comparable(row) for key, row in found.items()} == {key: comparable(row) for key, row in ours.items()}
    assert len({row.outcome for row in found.values()}) >= 3


async def test_the_turn_limit_counts_the_calls_of_the_last_turn(tmp_path: Path) -> None:
    file = some_tasks("banking", tmp_path, (0, 1, 2))
    with serving(Player(file)) as server:
        cut = await roll(load_environment(file, turns=3), server, ("reference",))
    assert {output["attempt"]["execution"]["status"] for output in cut} == {"turn_limit"}
    assert {len(output["attempt"]["events"]) for output in cut} == {3}
    assert {output["reward"] for output in cut} == {0.0}


async def test_the_call_limit_ends_a_rollout_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    environment = load_environment(some_tasks("banking", tmp_path, (0,)), calls=2)
    with serving(lambda request: calling(*[("CheckAuthorization", "{}")] * 4)) as server:
        (output,) = await roll(environment, server, ["any"])
    assert output["attempt"]["execution"]["status"] == "call_limit"
    assert len(output["attempt"]["events"]) == 2
    assert len(server.requests) == 1


async def test_a_failed_endpoint_is_no_verdict(tmp_path: Path) -> None:
    environment = load_environment(some_tasks("banking", tmp_path, (0, 1)))
    with serving(lambda request: calling(("CheckAuthorization", {}))) as server:
        server.then(None, None, Status(500), Status(500))
        outputs = await roll(environment, server, ["any"], retries=0)
    for output in outputs:
        assert (output["reward"], output["verdict"], output["attempt"]) == (0.0, None, None)
        assert output["metrics"]["invalid"] == 1
        assert output["error"]


async def test_a_group_and_an_evaluation(tmp_path: Path) -> None:
    file = some_tasks("banking", tmp_path, (0, 1))
    environment = load_environment(file)
    with serving(lambda request: "I will not.") as server:
        async with AsyncOpenAI(base_url=server.base_url, api_key="loopback") as client:
            made = await environment.evaluate(
                client, "silent", num_examples=2, rollouts_per_example=3, state_columns=COLUMNS
            )
    assert [output["verdict"]["outcome"] for output in made["outputs"]] == ["no_program"] * 6
    assert made["metadata"]["avg_reward"] == 0


def test_its_id_loads_it_again_as_a_worker_process_does() -> None:
    file = str(tasks_of("banking"))
    environment = vf.load_environment("lawtrace.training", file=file)
    again = vf.load_environment(environment.env_id, **environment.env_args)
    assert again.get_dataset().to_list() == environment.get_dataset().to_list()


def test_a_wrong_argument_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="not the header of a task file"):
        vf.load_environment("lawtrace.training", file=str(NEWEST / "banking.quality.jsonl"))
    with pytest.raises(RuntimeError, match="style 'plan'"):
        vf.load_environment("lawtrace.training", file=str(tasks_of("banking")), style="plan")
