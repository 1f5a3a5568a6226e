"""A run killed twenty times at random ends with the same bytes and repeats no committed request."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import ModelCalled, RequestSent, RunResumed
from tests.support.openai_server import OpenAIServer, calling, serving

KILLS = 20
CONCURRENCY = 3
TURNS = 6

RECIPE = f"""
[rules]

[tasks]
count = 1
spare = 1

[conversation]
concurrency = {CONCURRENCY}

[attempts]
models = ["openai:counting"]
mode = "tools"
styles = ["goal"]
trials = 12
"""

NURSERY = """
import os, sys
from lawtrace.runs.cli import main
import lawtrace.runs.cli.run_results, lawtrace.runs.full_run, lawtrace.agents.conversations.attempts

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.setsid()
        sys.argv = line.split()
        main()
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Fork server: imports the package once and forks one process per start of the run, so that starts are fast."""


class Nursery:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def begin(self, *words: object) -> int:
        """Starts the command in a new process; returns its process id."""
        assert self._process.stdin
        print("lawtrace", *words, "--json", file=self._process.stdin, flush=True)
        return int(self._line())

    def end(self) -> int:
        """The exit status of the process, as given by ``waitpid``."""
        while not (line := self._line()).lstrip("-").isdigit():  # a process that ends normally prints its result
            pass
        return int(line)

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """Calls a tool in each turn but the last; the answer depends on the request only."""

    def answer(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        time.sleep(0.01)
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        return calling(("CheckAuthorization", {}), saying=f"turn {turns}") if turns < TURNS else "Done."

    with serving(answer) as running:
        yield running


@pytest.fixture
def nursery(server: OpenAIServer) -> Iterator[Nursery]:
    nursery = Nursery(server.environment)
    yield nursery
    nursery.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX systems do")
def test_twenty_kills_change_nothing(tmp_path: Path, server: OpenAIServer, nursery: Nursery) -> None:
    recipe, whole, killed = tmp_path / "recipe.toml", tmp_path / "whole", tmp_path / "killed"
    recipe.write_text(RECIPE, encoding="utf-8")
    begin = time.monotonic()
    nursery.begin("run", recipe, "--out", whole)
    assert nursery.end() == 0
    life = time.monotonic() - begin
    server.requests.clear()

    chance = random.Random(1)
    kills = 0
    while kills < KILLS:
        begun = (killed / "events.sqlite").exists()
        process = nursery.begin("resume", killed) if begun else nursery.begin("run", recipe, "--out", killed)
        asked, more = len(server.requests), chance.randrange(1, 6)
        deadline = time.monotonic() + chance.uniform(0.02, 1.5 * life)
        while time.monotonic() < deadline and len(server.requests) < asked + more:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.02))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        kills += nursery.end() == signal.SIGKILL
    nursery.begin("resume", killed)
    assert nursery.end() == 0

    files = sorted(path.name for path in whole.glob("*.jsonl"))
    assert {"tasks.jsonl", "attempts.jsonl", "verdicts.jsonl", "findings.jsonl"} <= set(files)
    for name in files:
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    with EventLogFile.open(killed) as event_log, EventLogFile.open(whole) as other:
        # Offline roles log no requests in advance, so their calls are never in flight.
        calls = [
            entry for entry in event_log.entries(kind="model_call") if isinstance(entry, ModelCalled) and entry.paid
        ]
        asked = [entry for entry in event_log.entries(kind="asked") if isinstance(entry, RequestSent)]
        resumed = [entry for entry in event_log.entries(kind="resumed") if isinstance(entry, RunResumed)]
        assert list(event_log.in_flight()) == []
        said = sorted(entry.model_dump_json() for entry in event_log.entries(kind="message"))
        assert said == sorted(entry.model_dump_json() for entry in other.entries(kind="message"))
    assert max(Counter((call.request_hash, call.occurrence) for call in calls).values()) == 1
    again = len(asked) - len(calls)
    assert len(server.requests) <= len(calls) + again
    assert again <= sum(len(entry.in_flight) for entry in resumed)
    # A call is sent when another one is answered, and that answer may not be committed yet.
    assert all(len(entry.in_flight) <= 2 * CONCURRENCY for entry in resumed)
    assert again > 0  # some calls were in flight, and the log has them
