"""An interrupted run says how to resume, and goes on after a full disk (for kills, see `store/test_kills.py`)."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lawtrace import load_run
from lawtrace.runs.report.run_index import state_of
from lawtrace.runs.stages import evaluate
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.openai_server import Hang, serving
from tests.support.pages import ROOT
from tests.support.shell import Shell

RECIPE = """
[tasks]
count = 4
spare = 0

[conversation]
concurrency = 2

[attempts]
models = ["openai:slow"]
baselines = false
"""


def hear_interrupts() -> None:
    """Restores the default SIGINT handling: background processes of a shell ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_an_interrupted_run_prints_how_to_resume(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    with serving(lambda request: "```python\npass\n```") as server:
        server.then(*[Hang(30)] * 2)
        command = [Path(sys.executable).with_name("lawtrace"), "run", "recipe.toml", "--out", "run"]
        environment = {**os.environ, **server.environment}
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts
        )
        deadline = time.monotonic() + 60
        while len(server.requests) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "lawtrace resume run" in err
    assert "Traceback" not in err


def test_what_a_stopped_run_has_judged_can_be_reported(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = ROOT / "docs" / "tasks" / "1.3" / "banking.jsonl"
    run = ("run", "--tasks", tasks, "--limit", "2", "--model", "openai:tester", "--concurrency", "1")
    missing = re.compile(r"The run has stopped: ([123]) of 4 attempts are missing\. `lawtrace resume run` goes on\.")

    def answer(request: object) -> str:
        if len(server.requests) == 3:
            time.sleep(3)  # The programs before run meanwhile.
        return "```python\npass\n```"

    with serving(answer) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*run, "--budget", "messages=3", "--out", "run")
        assert (code, "`lawtrace report run` shows what is judged" in err) == (3, True), err
        code, out, _ = lawtrace("report", "run")
        found = missing.search(" ".join(out.split()))  # a program that was running when the run stopped is missing, too
        assert found is not None, out
        count = int(found[1])
        assert (code, f"4 attempts planned: {4 - count} judged" in out) == (0, True), out
        assert f"{count} of 4 attempts are missing" in Path("run/report.html").read_text(encoding="utf-8")
        assert state_of(RunFolder(Path("run"))) == "stopped"
        lawtrace.json("resume", "run", "--budget", "messages=4")
        assert len(server.requests) == 4
    assert "attempts are missing" not in lawtrace("report", "run")[1]


def test_what_a_stopped_ablation_has_judged_can_be_reported(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = f"""
    tasks = {{ file = "{ROOT}/docs/tasks/1.3/banking.jsonl", limit = 1 }}
    attempts = {{ models = ["openai:tester"], baselines = false }}
    conversation = {{ concurrency = 1 }}
    ablation = {{ "attempts.hints" = [false, true] }}
    """
    Path("recipe.toml").write_text(recipe, encoding="utf-8")
    stopped = "The run has stopped: {} of 2 variants are missing or incomplete. `lawtrace resume run` goes on."
    with serving(lambda _: "```python\npass\n```") as server:
        server.connect(monkeypatch)
        for words, missing in ((("run", "recipe.toml", "--out", "run"), 1), (("resume", "run"), 0)):
            code, _, err = lawtrace(*words, "--budget", f"messages={4 - missing}")
            assert (code, "`lawtrace report run` shows what is judged" in err) == ((3, True) if missing else (0, False))
            shown = " ".join(lawtrace("report", "run")[1].split())
            assert (stopped.format(missing) in shown) == bool(missing), shown
            assert state_of(RunFolder(Path("run"))) == ("stopped" if missing else "finished")
        assert len(server.requests) == 4


def test_what_a_run_has_judged_is_written_while_it_goes_on(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "PARTIAL_SECONDS", 0.0)
    tasks = ROOT / "docs" / "tasks" / "1.3" / "banking.jsonl"
    seen: list[int] = []

    def answer(request: object) -> str:
        deadline = time.monotonic() + 20
        while len(server.requests) == 3 and not Path("run/verdicts.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        seen.append(len(read_rows(Path("run/verdicts.jsonl"), Verdict)) if len(server.requests) == 3 else 0)
        return "```python\npass\n```"

    with serving(answer) as server:
        server.connect(monkeypatch)
        run = (
            "run",
            "--tasks",
            tasks,
            "--limit",
            "2",
            "--model",
            "openai:tester",
            "--concurrency",
            "1",
            "--out",
            "run",
        )
        assert lawtrace(*run)[0] == 0
    assert (len(seen), seen[2] in (1, 2)) == (4, True)
    frame: Any = load_run("run").verdicts.to_pandas()
    assert (frame.prompt_tokens > 0).all()
    assert (frame.seconds > 0).all()
    assert frame.cost.isna().all()


@pytest.mark.slow
def test_a_run_resumes_after_a_full_disk(tmp_path: Path) -> None:
    """A file size limit stands in for the full disk; the resumed run uses the files written before."""
    recipe = "[tasks]\ncount = 2\nspare = 1\n[attempts]\nmodels = ['baseline:literal']\nbaselines = false\n"
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    lawtrace = Path(sys.executable).with_name("lawtrace")

    def sh(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)

    full = sh(f"ulimit -f 200; exec {lawtrace} run recipe.toml --out run")
    assert full.returncode == 3
    assert "free some space, then `lawtrace resume run`" in full.stderr
    assert "Traceback" not in full.stderr
    assert sh(f"{lawtrace} resume run").returncode == 0
    assert sh(f"{lawtrace} run recipe.toml --out whole").returncode == 0
    for path in (tmp_path / "whole").glob("*.jsonl"):
        assert (tmp_path / "run" / path.name).read_bytes() == path.read_bytes(), path.name
