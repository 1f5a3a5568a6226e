"""Swapping one role: a run in which one role has a model of an endpoint that answers in prose around JSON."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play, role_of
from tests.support.shell import Shell

RECIPE = """
[regulation]
files = "law.txt"

[rules]
regulation = "text"

[tasks]
count = 2
spare = 1

[models]
{role} = "openai:swapped"

[attempts]
models = ["baseline:reference"]
baselines = false
"""
FOLLOWING = {"instruction_generator": {"masking_evaluator", "independent_reader"}, "policy_extractor": {"ltl_critic"}}
"""The roles that take the model of another one unless they are named."""
STEP = re.compile(r"^(?:\d+\.|-) ", re.MULTILINE)


def in_prose(request: Mapping[str, Any]) -> str:
    """The answer of the offline role as a person would write it: requests in sentences, JSON with words around it."""
    role = role_of(request)
    if role == "independent_reader":
        request = {**request, "messages": [*request["messages"][:-1], _as_a_list(request["messages"][-1])]}
    answer = json.loads(play(request))
    if role == "instruction_generator":
        _, *steps = STEP.split(answer["text"])
        answer = {"text": "Hello! " + " Then ".join(f"{step.strip().rstrip('.')}." for step in steps)}
    return f"Here is what I think.\n\n```json\n{json.dumps(answer, indent=1)}\n```\nI hope this helps!"


def _as_a_list(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The sentences of a request as the list that the offline reader reads; its own lists unchanged."""
    text = str(message["content"])
    start, found, said = text.partition("Hello! ")
    if not found:
        return message
    lines = "\n".join(f"{number}. {step}" for number, step in enumerate(said.split(" Then "), 1))
    return {**message, "content": f"{start}Please do the following:\n{lines}"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "role", ["policy_extractor", "instruction_generator", "masking_evaluator", "independent_reader"]
)
def test_one_role_is_swapped(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    recipe = tmp_path / "swap.toml"
    write_bank_law(tmp_path)
    recipe.write_text(RECIPE.format(role=role), encoding="utf-8")
    with serving(in_prose) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace("run", recipe, "--out", "swapped")
    assert code == 0, err
    assert {request["model"] for request in server.requests} == {"swapped"}
    with EventLogFile.open(Path("swapped")) as event_log:
        calls = [entry for entry in event_log.entries(kind="model_call") if isinstance(entry, ModelCalled)]
    played = {call.context.role for call in calls if call.context.model == "openai:swapped"}
    assert played == {role} | FOLLOWING.get(role, set())
    found = lawtrace.json("messages", "swapped", "--model", "openai:swapped", "--prompts")
    signed = [line for line in found["messages"] if line["context"]["model"] == "openai:swapped"]
    assert {line["source"] for line in signed} == played
    for line in signed:
        assert line["call"]["model"] == "openai:swapped"
        assert line["call"]["paid"]
        assert line["call"]["prompt_tokens"] > 0
        assert line["request"][0]["role"] == "system"
        assert line["prompt_version"] >= 1


@pytest.mark.slow
def test_two_evaluators_of_the_same_drafts_are_compared(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "judged.toml"
    recipe.write_text(
        '[tasks]\ncount = 2\nspare = 1\n[attempts]\nmodels = ["baseline:reference"]\nbaselines = false\n',
        encoding="utf-8",
    )

    def judge(request: Mapping[str, Any]) -> str:
        natural = len(server.requests) > 1
        return json.dumps({"unambiguous": True, "masked": True, "natural": natural, "objections": ["say it simply"]})

    assert lawtrace("run", recipe, "--out", "one")[0] == 0
    with serving(judge) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(
            "run", recipe, "--set", "models.masking_evaluator=openai:judge", "--out", "two", "--concurrency", "1"
        )
    assert code == 0, err
    found = lawtrace.json("compare", "one", "two")["evaluators"]
    assert (found["models"], found["only_first"], found["only_second"]) == (["offline", "openai:judge"], 1, 0)
    assert found["both"] == 3
    assert (found["agreement"], found["kappa"]) == (0.75, 0.0)
    shown = " ".join(lawtrace("compare", "one", "two")[1].split())
    assert "Evaluators offline and openai:judge on 4 drafts that both saw: agreement 75.0 %, kappa 0.00." in shown


def test_a_reader_that_cannot_read_what_is_written_is_an_error_before_the_run(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "blind.toml"
    recipe.write_text(
        '[models]\ninstruction_generator = "openai:writer"\nindependent_reader = "offline"\n', encoding="utf-8"
    )
    code, _, err = lawtrace("run", recipe, "--out", "blind")
    assert code == 2
    assert "independent_reader = 'offline' understands only what the offline generator writes" in " ".join(err.split())
    assert not Path("blind").exists()
