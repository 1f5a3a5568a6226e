"""A killed run can be resumed without repeating committed requests."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lawtrace.runs.cli import main
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.openai_server import Hang, serving

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


@pytest.mark.slow
def test_a_run_resumes_after_a_full_disk(tmp_path: Path) -> None:
    """A file size limit stands in for the full disk; the resumed run uses the files written before."""
    recipe = "[tasks]\ncount = 2\n[attempts]\nmodels = ['baseline:literal']\nbaselines = false\n"
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


@pytest.mark.slow
def test_a_killed_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    run = tmp_path / "run"
    with serving(lambda request: "```python\nBankManager.CheckAuthorization()\n```") as server:
        server.then(*[Hang(0.15)] * 8)
        environment = {**os.environ, **server.environment}
        command = [Path(sys.executable).with_name("lawtrace"), "run", tmp_path / "recipe.toml", "--out", run]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(server.requests) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with EventLogFile.open(run) as event_log:
            committed = list(event_log.entries(kind="model_call", role="executor"))
        assert 0 < len(committed) < 8
        assert not (run / "verdicts.jsonl").exists()

        asked_before = len(server.requests)
        server.connect(monkeypatch)
        monkeypatch.setattr(sys, "argv", ["lawtrace", "resume", str(run), "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        assert len(server.requests) - asked_before == 8 - len(committed)
    with EventLogFile.open(run) as event_log:
        calls = [entry for entry in event_log.entries(kind="model_call") if isinstance(entry, ModelCalled)]
    live = [entry for entry in calls if entry.context.role == "executor" and not entry.replayed]
    assert len({(entry.context.task, entry.context.style) for entry in live}) == len(live) == 8
    assert len((run / "verdicts.jsonl").read_text().splitlines()) == 8
