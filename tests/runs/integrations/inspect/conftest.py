"""Fixtures for evals of Inspect in memory. It is imported where a test needs it, because it may be absent."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lawtrace.runs.store.task_file import read_tasks, write_tasks
from tests.support.released import tasks_of

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalSample

    from tests.support.inspect_evals import Answers, RunSample


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect writes files below the home directory, and reads settings in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def banking(tmp_path: Path) -> str:
    """A task file with the first banking task."""
    rows, _ = read_tasks(tasks_of("banking"))
    write_tasks(tmp_path / "banking.jsonl", rows[:1])
    return str(tmp_path / "banking.jsonl")


@pytest.fixture
def run_sample(tmp_path: Path) -> "RunSample":
    """Runs the first sample of a task."""
    from tests.support.inspect_evals import run_eval

    def run(task: "Task", answers: "Answers | str", **options: Any) -> "EvalSample":
        log = run_eval(task, answers, tmp_path, limit=1, **options)
        assert log.samples is not None
        return log.samples[0]

    return run
