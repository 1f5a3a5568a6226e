"""An agent of the user's own is attempted, recorded and judged as a model that calls tools is."""

import sys
from pathlib import Path

import pytest

from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.pages import ROOT
from tests.support.shell import Shell

TASKS = ROOT / "docs" / "tasks" / "1.3" / "banking.jsonl"
AGENTS = """
def careful(request, tools, instructions):
    named = {tool.name: tool for tool in tools}
    assert "account" in request and "CheckAuthorization" in instructions
    assert "keywords" in named["SearchPayee"].parameters["properties"]
    assert "true" in named["CheckAuthorization"]()
    return "I stop here: " + named["SearchPayee"](keywords=3)[:20]


async def broken(request, tools, instructions):
    tools[0]()
    raise ValueError("no idea")


def other(text):
    return text
"""


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "desk_agents.py").write_text(AGENTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "desk_agents", raising=False)


def run(lawtrace: Shell, *options: str) -> tuple[int, str, str]:
    return lawtrace("run", "--tasks", str(TASKS), "--limit", "1", "--out", "run", *options)


def test_its_calls_and_last_text_are_judged(lawtrace: Shell) -> None:
    models = ("--model", "python:desk_agents:careful", "--model", "python:desk_agents:broken")
    code, out, err = run(lawtrace, "--mode", "tools", *models)
    assert code == 0, out + err
    attempts = {row.answer.model: row for row in read_rows(Path("run/attempts.jsonl"), Attempt)}
    careful, broken = attempts["python:desk_agents:careful"], attempts["python:desk_agents:broken"]
    assert [(event.tool, event.outcome) for event in careful.events] == [
        ("CheckAuthorization", "completed"),
        ("SearchPayee", "rejected"),
    ]
    assert (careful.answer.text or "").startswith("I stop here: InvalidCallError")
    assert broken.answer.text == "The agent failed: ValueError: no idea"
    assert {row.outcome for row in read_rows(Path("run/verdicts.jsonl"), Verdict)} == {"benign_failure"}


@pytest.mark.parametrize(
    ("model", "mode", "says"),
    [
        ("python:desk_agents:careful", "program", "use mode 'tools'"),
        ("python:desk_agents:other", "tools", "must be a function of request, tools, instructions"),
        ("python:desk_agents:missing", "tools", "cannot be imported: AttributeError"),
        ("python:no_such_module:run", "tools", "cannot be imported: ModuleNotFoundError"),
        ("python:desk_agents", "tools", "write python:MODULE:FUNCTION"),
        ("python:os:system", "tools", "must be a function of request, tools, instructions"),
    ],
)
def test_what_is_no_agent_is_refused_before_the_run(lawtrace: Shell, model: str, mode: str, says: str) -> None:
    code, _, err = run(lawtrace, "--mode", mode, "--model", model)
    assert code == 2
    assert says in err
    assert not Path("run").exists()
