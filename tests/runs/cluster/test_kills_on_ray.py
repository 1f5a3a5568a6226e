"""Twenty random kills of workers, the driver and the head of a cluster lose nothing committed and repeat no answer."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.errors import LawtraceError
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.openai_server import OpenAIServer, calling, serving
from tests.support.ray_nodes import kill_all, processes
from tests.support.shell import run_command

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

PAIR = ("worker", 2)
VICTIMS = [PAIR, ("worker", 1), PAIR, ("driver", 1), PAIR, PAIR, PAIR, ("head", 1), PAIR, PAIR, PAIR, ("driver", 1)]
"""What is killed in each round, and how many of them: both workers at once, or one."""
SECONDS = 480
TURNS = 6
CONCURRENCY = 3
ATTEMPT = (*("run", "--tasks", "tasks.jsonl", "--model", "openai:tester", "--mode", "tools"), "--concurrency", "3")

Request = tuple[str, int]
"""The text that the user sends first, which no two attempts share, and how many answers came before."""


class Gate:
    """Answers as many requests as it has tickets for, so that work is left until the last kill."""

    def __init__(self) -> None:
        self._tickets = threading.Semaphore(0)
        self._waiting = 0
        self.open = False

    def release(self) -> None:
        """Let one of the waiting requests be answered, if there is one: not those of a cluster that still starts."""
        if self._waiting:
            self._waiting -= 1
            self._tickets.release()

    def answer(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        self._waiting += 1
        while not self.open and not self._tickets.acquire(timeout=0.05):
            pass
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        return calling(("CheckAuthorization", {}), saying=f"turn {turns}") if turns < TURNS else "Done."


def asked(request: Mapping[str, Any]) -> Request:
    messages = request["messages"]
    first = next(str(message["content"]) for message in messages if message["role"] == "user")
    return first, sum(message["role"] == "assistant" for message in messages)


def committed(events: Path) -> set[Request]:
    """The answered requests in the event log of the run."""
    found: set[Request] = set()
    with contextlib.suppress(LawtraceError), EventLogFile.open(events) as event_log:
        for entry in event_log.answered():
            first = next(message.content for message in entry.request if message.role == "user")
            found.add((first, sum(message.role == "assistant" for message in entry.request)))
    return found


class Driver:
    """The command in its own process; begun again after it was killed."""

    def __init__(self, folder: Path, environment: Mapping[str, str], marker: str) -> None:
        self._folder, self._environment, self.marker = folder, {**environment, "LAWTRACE_TEST": marker}, marker
        self.begin()

    def begin(self) -> None:
        begun = (self._folder / "killed" / "events.sqlite").exists()
        words = ("resume", "killed") if begun else (*ATTEMPT, "--out", "killed")
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("lawtrace"), *words, "--on", "ray"],
            cwd=self._folder,
            env={**os.environ, **self._environment, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "local"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self) -> None:
        """Kill the driver; its cluster ends with it."""
        self.process.kill()
        self.process.wait()
        kill_all(self.marker)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def server(gate: Gate) -> Iterator[OpenAIServer]:
    with serving(gate.answer) as running:
        yield running
        gate.open = True


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes as Linux lists them")
def test_twenty_kills_lose_and_repeat_nothing(tmp_path: Path, server: OpenAIServer, gate: Gate) -> None:
    run_command(tmp_path, "tasks", "build", "--set", "tasks.count=10", "--set", "tasks.spare=4", "--out", "tasks.jsonl")
    chance, deadline = random.Random(1), time.monotonic() + SECONDS
    events, marker = tmp_path / "killed", f"kills-{os.getpid()}"
    driver = Driver(tmp_path, server.environment, marker)
    kills, known = Counter[str](), list[tuple[set[Request], int]]()
    try:
        for victim, times in VICTIMS:
            position = len(server.requests)
            while len(server.requests) < position + 2 and time.monotonic() < deadline:
                gate.release()
                time.sleep(0.1)
            for _ in range(chance.randrange(4)):
                gate.release()
            time.sleep(chance.uniform(0, 0.1))
            if victim == "driver":
                driver.kill()
            else:
                name = b"ray::Worker" if victim == "worker" else b"gcs_server"
                while len(found := processes(marker, name)) < times:
                    assert time.monotonic() < deadline
                    assert driver.process.poll() is None
                    time.sleep(0.05)
                for pid in chance.sample(sorted(found), times):
                    os.kill(pid, signal.SIGKILL)
            kills[victim] += times
            known.append((committed(events), len(server.requests)))
            if victim == "head":
                time.sleep(1)
                driver.kill()
            if victim != "worker":
                driver.begin()
        assert kills == {"worker": 17, "driver": 2, "head": 1}
        gate.open = True
        assert driver.process.wait(max(1.0, deadline - time.monotonic())) == 0
    finally:
        driver.kill()
    requests = [*map(asked, server.requests)]
    for answered, number in known:  # when something was killed
        assert [one for one in requests[number:] if one in answered] == []
    with pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        run_command(tmp_path, *ATTEMPT, "--out", "whole")
    assert (tmp_path / "killed/attempts.jsonl").read_bytes() == (tmp_path / "whole/attempts.jsonl").read_bytes()
    with EventLogFile.open(events) as event_log:
        calls = [entry for entry in event_log.entries(kind="model_call") if isinstance(entry, ModelCalled)]
        assert max(Counter((call.request_hash, call.context.task, call.context.style) for call in calls).values()) == 1
