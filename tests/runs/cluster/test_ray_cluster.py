"""Commands on a Ray cluster of two workers: the files and the event log of one process."""

import asyncio
import contextlib
import os
import pickle
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lawtrace.runs.report.run_index import RunIndex, measure_progress
from lawtrace.runs.stages.cluster_jobs import ModelAccess, Unit
from lawtrace.runs.stages.evaluate import prepare_attempts
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.web.server import make_app, make_viewer
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import LawtraceError
from lawtrace.schemas.recipe import Recipe
from tests.support.openai_server import OpenAIServer, calling, serving
from tests.support.playing import play
from tests.support.ray_cluster import log_content, ray_workers
from tests.support.shell import Shell, run_command

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

TURNS = 3
RUN = """
[tasks]
count = 2
spare = 1

[models]
instruction_generator = "openai:writer"

[attempts]
models = ["openai:tester"]
mode = "tools"
"""
KEY = "sk-only-in-the-environment"
ATTEMPT = ("run", "--tasks", "tasks.jsonl", "--model", "openai:tester", "--mode", "tools", "--trials", 2)


class Load:
    """When requests come, and how many are answered at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = self.most = 0
        self.times: list[float] = []

    def answer(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        """Calls a tool in each turn but the last; the answer depends on the request only."""
        self.times.append(time.monotonic())
        if request["model"] == "writer":
            return play(request)
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
    with ray_workers({**server.environment, "OPENAI_API_KEY": KEY}):
        yield


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
    with EventLogFile.open(folder) as event_log:
        return log_content(event_log)


def test_a_cluster_writes_what_one_process_writes(
    cluster: None, server: OpenAIServer, lawtrace: Shell, tmp_path: Path
) -> None:
    before = len(server.requests)
    lawtrace.json(*ATTEMPT, "--baselines", "--out", "whole")
    asked = len(server.requests) - before
    lawtrace.json(*ATTEMPT, "--baselines", "--on", "ray", "--out", "cluster")
    assert len(server.requests) == before + 2 * asked
    assert (tmp_path / "cluster/attempts.jsonl").read_bytes() == (tmp_path / "whole/attempts.jsonl").read_bytes()
    assert content(tmp_path / "cluster") == content(tmp_path / "whole")
    for file in (tmp_path / "cluster").rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()


def test_one_place_grants_the_budget_of_all_workers(cluster: None, server: OpenAIServer, lawtrace: Shell) -> None:
    asked = len(server.requests)
    code, _, err = lawtrace(*ATTEMPT, "--budget", "messages=7", "--on", "ray", "--out", "cluster")
    assert (code, "budget of 7 messages is used up" in err) == (3, True)
    assert len(server.requests) == asked + 7
    code, _, _ = lawtrace("resume", "cluster", "--budget", "messages=9", "--on", "ray")
    assert code == 3
    assert len(server.requests) == asked + 9
    lawtrace.json("resume", "cluster", "--budget", "messages=48")  # goes on in this process, and repeats nothing
    assert len(server.requests) == asked + 12 * (TURNS + 1)


def test_calls_in_flight_are_limited_across_workers(cluster: None, load: Load, lawtrace: Shell) -> None:
    load.most = 0
    lawtrace.json(*ATTEMPT, "--concurrency", 2, "--on", "ray", "--out", "cluster")
    assert load.most == 2


def test_requests_a_minute_are_limited_across_workers(cluster: None, load: Load, lawtrace: Shell) -> None:
    load.times.clear()
    limit = ("--set", "conversation.requests_per_minute=600")
    lawtrace.json(*ATTEMPT, "--limit", 1, *limit, "--on", "ray", "--out", "cluster")
    assert len(load.times) == 2 * 2 * (TURNS + 1)
    assert load.times[-1] - load.times[0] > 0.8 * 0.1 * (len(load.times) - 1)  # the first take longer to connect


class Browser:
    """Opens pages of a run, and measures its progress, while it is going on."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run
        self._client = TestClient(make_app(make_viewer(folder)), base_url="http://127.0.0.1:8718")
        self._thread = threading.Thread(target=self._watch)
        self._ended = threading.Event()
        self.progress: list[tuple[int, int]] = []
        self.shown: set[str] = set()

    def __enter__(self) -> "Browser":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        index = RunIndex(self._folder)
        while not self._ended.wait(0.05):
            with contextlib.suppress(LawtraceError), EventLogFile.open(self._folder / self._run) as event_log:
                answered, planned = measure_progress(index.folder(self._run), event_log).attempts
                self.progress.append((answered, planned or 0))
                if answered:
                    run = f"/runs/{self._run}"
                    for page in ("/", f"{run}/attempts", f"{run}/conversations", f"{run}/conversations/1"):
                        if self._client.get(page).status_code == 200:
                            self.shown.add(page)


def stage_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}


def test_a_run_and_its_resumption_write_what_one_process_writes(
    cluster: None, server: OpenAIServer, lawtrace: Shell, tmp_path: Path
) -> None:
    (tmp_path / "run.toml").write_text(RUN, encoding="utf-8")
    before = len(server.requests)
    lawtrace.json("run", "run.toml", "--out", "whole")
    asked = len(server.requests) - before
    with Browser(tmp_path, "cluster") as browser:
        lawtrace.json("run", "run.toml", "--on", "ray", "--out", "cluster")
    planned = browser.progress[-1][1]
    assert any(0 < answered < planned for answered, of in browser.progress if of == planned)
    assert {"/", "/runs/cluster/attempts", "/runs/cluster/conversations", "/runs/cluster/conversations/1"} == {
        *browser.shown
    }
    assert len(server.requests) == before + 2 * asked
    assert stage_files(tmp_path / "cluster") == stage_files(tmp_path / "whole")
    assert content(tmp_path / "cluster") == content(tmp_path / "whole")
    code, _, err = lawtrace("run", "run.toml", "--budget", f"messages={asked - 5}", "--on", "ray", "--out", "stopped")
    assert (code, "is used up" in err) == (3, True)
    lawtrace.json("resume", "stopped", "--budget", f"messages={asked}", "--on", "ray")
    assert len(server.requests) == before + 3 * asked
    assert stage_files(tmp_path / "stopped") == stage_files(tmp_path / "whole")
    assert (tmp_path / "stopped" / "report.html").exists()


def test_variants_are_those_of_one_process(
    cluster: None, server: OpenAIServer, lawtrace: Shell, tmp_path: Path
) -> None:
    axes = '[ablation]\n"attempts.shield" = ["off", "refuse"]\n"conversation.evaluator" = [true, false]\n'
    (tmp_path / "run.toml").write_text(RUN.replace("spare = 1", "spare = 0") + axes, encoding="utf-8")
    before = len(server.requests)
    lawtrace.json("run", "run.toml", "--out", "whole")
    asked = len(server.requests) - before
    lawtrace.json("run", "run.toml", "--on", "ray", "--out", "cluster")
    assert len(server.requests) == before + 2 * asked
    for folder in (".", *(f"variants/{number:02d}" for number in range(1, 5))):
        assert stage_files(tmp_path / "cluster" / folder) == stage_files(tmp_path / "whole" / folder)
    assert content(tmp_path / "cluster") == content(tmp_path / "whole")


def test_workers_are_kept_for_the_next_job(cluster: None) -> None:
    class ProcessJob:
        def open(self, access: ModelAccess | None, stack: ExitStack) -> Callable[[int], Awaitable[int]]:
            async def process(_: int) -> int:
                return os.getpid()

            return process

    with closing(import_module("lawtrace.runs.cluster.ray_cluster").RayCluster()) as workers:
        units = [Unit(one) for one in range(30)]
        jobs = [{*asyncio.run(workers.products(ProcessJob(), units))} for _ in range(3)]
    assert len({pid for job in jobs for pid in job}) <= 2  # three jobs of workers of their own have three, at least


def test_built_tasks_are_those_of_one_process(cluster: None, lawtrace: Shell, tmp_path: Path) -> None:
    build = ("tasks", "build", "--count", 2, "--set", "models.instruction_generator=openai:writer")
    lawtrace.json(*build, "--out", "whole.jsonl")
    lawtrace.json(*build, "--on", "ray", "--out", "cluster.jsonl")
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert content(tmp_path / "cluster.events") == content(tmp_path / "whole.events")


def test_synthesized_traces_are_those_of_one_process(cluster: None, lawtrace: Shell, tmp_path: Path) -> None:
    command = ("traces", "synthesize", "--count", 11, "--set", "tasks.part_size=3")
    whole = lawtrace.json(*command, "--out", "whole.jsonl")
    on_ray = lawtrace.json(*command, "--on", "ray", "--out", "cluster.jsonl")
    assert {**on_ray, "out": ""} == {**whole, "out": ""}
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    no_trace = ("--set", "tasks.length=2", "--require", "TransferFunds", "--require", "PayBill")
    for on in ((), ("--on", "ray")):
        code, _, err = lawtrace(*command, *no_trace, *on, "--out", "none.jsonl")
        assert (code, "no compliant trace of 2 calls exists" in err) == (3, True)


def test_no_key_is_in_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    job: StageJob[str, Attempt] = StageJob(Recipe().model_dump(mode="json"), (), prepare_attempts)
    assert KEY.encode() not in pickle.dumps((job, Recipe().call_options))
