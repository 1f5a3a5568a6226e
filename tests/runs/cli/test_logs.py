"""Logs of the command line: levels, formats, bound context, AutoGen's events."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.openai_server import Status, serving
from tests.support.playing import play
from tests.support.shell import Shell

RECIPE = """
[rules]

[tasks]
count = 1

[models]
instruction_generator = "openai:m"

[attempts]
models = ["openai:m"]
baselines = false
"""


def events(file: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_events_have_the_place_that_they_belong_to(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, file = tmp_path / "one.toml", tmp_path / "log.jsonl"
    recipe.write_text(RECIPE, encoding="utf-8")
    with serving(play) as server:
        server.connect(monkeypatch)
        server.then(Status(503, {"Retry-After": "0"}))
        code, _, err = lawtrace("--log-level", "debug", "--log-file", file, "run", recipe, "--out", "one")
    assert code == 0, err
    assert "model call retried" in err  # warnings are on standard error, too
    assert "model answered" not in err
    logged = events(file)
    assert {event["run"] for event in logged} == {"one"}
    assert all(event["timestamp"] and event["level"] for event in logged)
    answered = [event for event in logged if event["event"] == "model answered"]
    written = next(event for event in answered if event.get("role") == "instruction_generator")
    assert written.items() >= {"stage": "tasks", "model": "openai:m", "turn": 0, "level": "info"}.items()
    assert written["task"]
    assert written["prompt_tokens"] > 0
    ended = next(event for event in logged if event["event"] == "attempt ended")
    assert ended["attempt"]
    assert ended["tested_model"] == "openai:m"
    of_the_framework = [event for event in logged if event["logger"].startswith("autogen_core")]
    assert {event["stage"] for event in of_the_framework} == {"tasks", "attempts"}


@pytest.mark.slow
def test_lines_for_people_and_json_on_standard_error(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "offline.toml"
    recipe.write_text(RECIPE.replace("openai:m", "offline", 1).replace("openai:m", "baseline:literal"))
    code, _, err = lawtrace("--log-level", "info", "run", recipe, "--out", "people")
    assert code == 0
    assert "stage ended" in err
    code, _, err = lawtrace("--log-level", "info", "--log-format", "json", "run", recipe, "--out", "json")
    assert code == 0
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert {"stage started", "stage ended", "attempt ended"} <= {line["event"] for line in lines}
    assert "autogen_core" not in {line["logger"].split(".")[0] for line in lines}


def test_a_file_that_cannot_be_written_is_an_error(lawtrace: Shell, tmp_path: Path) -> None:
    code, _, err = lawtrace("--log-file", tmp_path / "none" / "log.jsonl", "env", "list")
    assert code == 2
    assert "--log-file" in err
    assert "No such file" in err
