"""Attempts on a Ray cluster of two workers: the files and the event log of one process."""

import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_merge import entry_key
from tests.support.openai_server import OpenAIServer, calling, serving
from tests.support.shell import Shell, run_command

ray = pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

TURNS = 3
KEY = "sk-only-in-the-environment"
ATTEMPT = ("attempt", "--tasks", "tasks.jsonl", "--model", "openai:tester", "--mode", "tools", "--trials", 2)


class Load:
    """How many requests are answered at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = self.most = 0

    def answer(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        """Calls a tool in each turn but the last; the answer depends on the request only."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.02)
        with self._lock:
            self._now -= 1
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        return calling(("CheckAuthorization", {}), saying=f"turn {turns}") if turns < TURNS else "Done."


@pytest.fixture(scope="module")
def load() -> Load:
    return Load()


@pytest.fixture(scope="module")
def server(load: Load) -> Iterator[OpenAIServer]:
    with serving(load.answer) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(server: OpenAIServer) -> Iterator[None]:
    """A cluster with two workers. They have address and key from their environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**server.environment, "OPENAI_API_KEY": KEY, "RAY_USAGE_STATS_ENABLED": "0"}.items():
            patch.setenv(name, value)
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        yield
        ray.shutdown()


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    run_command(folder, "tasks", "build", "--set", "tasks.count=3", "--set", "tasks.spare=1", "--out", "tasks.jsonl")
    return folder / "tasks.jsonl"


@pytest.fixture(autouse=True)
def here(tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks.jsonl").write_bytes(tasks.read_bytes())
    monkeypatch.chdir(tmp_path)


def content(folder: Path) -> list[str]:
    """The event log by key."""
    with EventLogFile.open(folder) as event_log:
        return sorted(map(entry_key, event_log.entries()))


def test_a_cluster_writes_what_one_process_writes(
    cluster: None, server: OpenAIServer, lawtrace: Shell, tmp_path: Path
) -> None:
    before = len(server.requests)
    lawtrace.json(*ATTEMPT, "--baselines", "--out", "whole.jsonl")
    asked = len(server.requests) - before
    lawtrace.json(*ATTEMPT, "--baselines", "--on", "ray", "--out", "cluster.jsonl")
    assert len(server.requests) == before + 2 * asked
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert content(tmp_path / "cluster.events") == content(tmp_path / "whole.events")
    assert not (tmp_path / "cluster.events" / "workers").exists()
    for file in (tmp_path / "cluster.events").iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_one_place_grants_the_budget_of_all_workers(cluster: None, server: OpenAIServer, lawtrace: Shell) -> None:
    asked = len(server.requests)
    code, _, err = lawtrace(*ATTEMPT, "--budget", "messages=7", "--on", "ray", "--out", "cluster.jsonl")
    assert (code, "budget of 7 messages is used up" in err) == (3, True)
    assert len(server.requests) == asked + 7
    code, _, _ = lawtrace(*ATTEMPT, "--budget", "messages=9", "--on", "ray", "--out", "cluster.jsonl")
    assert code == 3
    assert len(server.requests) == asked + 9
    lawtrace.json(*ATTEMPT, "--out", "cluster.jsonl")  # goes on in this process, and repeats nothing
    assert len(server.requests) == asked + 12 * (TURNS + 1)


def test_calls_in_flight_are_limited_across_workers(cluster: None, load: Load, lawtrace: Shell) -> None:
    load.most = 0
    lawtrace.json(*ATTEMPT, "--concurrency", 2, "--on", "ray", "--out", "cluster.jsonl")
    assert load.most == 2
