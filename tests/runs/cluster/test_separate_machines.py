"""Commands on clusters of `ray start`: through the client port, and with workers that see no file of the driver."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.task_file import read_task_rows
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import OpenAIServer, calling, serving
from tests.support.playing import play
from tests.support.ray_cluster import log_content
from tests.support.ray_nodes import RayNodes, has_mount_namespaces, processes, ray_nodes

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

SECONDS = 120
RUN = """
environment = "./desk"

[tasks]
count = 2
spare = 1

[models]
instruction_generator = "openai:writer"

[regulation]
files = ["law.txt"]

[rules]
source = "extracted"
regulation = "text"

[attempts]
models = ["openai:tester"]
regulation = "text"
"""
AIRLINE = Path(__file__).parents[3] / "docs" / "audits" / "airline"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serving(play) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a user has: an environment, a law, a recipe."""
    folder = tmp_path_factory.mktemp("user")
    shutil.copytree(load_domain("banking").folder, folder / "desk", ignore=shutil.ignore_patterns("__pycache__"))
    declaration = folder / "desk" / "__init__.py"
    declared = declaration.read_text(encoding="utf-8").replace('name="banking"', 'name="desk"')
    declaration.write_text(declared, encoding="utf-8")
    write_bank_law(folder)
    (folder / "run.toml").write_text(RUN, encoding="utf-8")
    return folder


@pytest.fixture
def nodes(server: OpenAIServer) -> Iterator[RayNodes]:
    with ray_nodes(server.environment) as running:
        yield running


@pytest.fixture
def apart(server: OpenAIServer, folder: Path) -> Iterator[RayNodes]:
    """All workers are on a machine without the folder of the user, and with another home."""
    hidden = folder.parent
    if not has_mount_namespaces(hidden):
        pytest.skip("this machine allows no mount namespace (unshare)")
    with ray_nodes(server.environment, hidden=hidden) as running:
        yield running


class Driver:
    """Runs commands in processes of their own: what Ray reads of the environment, it reads when it is imported."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder, self._environment = folder, {**os.environ, **environment}

    def __call__(self, *words: object, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
        command = [str(Path(sys.executable).with_name("lawtrace")), *map(str, words), "--json"]
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode in codes, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


def content(folder: Path) -> list[str]:
    with EventLogFile.open(folder) as event_log:
        return log_content(event_log)


def left_behind(nodes: RayNodes, folder: Path) -> list[Path]:
    """The files on the machine of the workers, in the place of the test's folders."""
    seen = Path(f"/proc/{nodes.process}/root") / folder.relative_to("/")
    return [path for path in seen.rglob("*") if path.is_file() and "home" not in path.relative_to(seen).parts]


def test_attempts_through_the_client_port_are_those_of_one_process(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path
) -> None:
    driver = Driver(tmp_path, {**server.environment, **nodes.environment})
    driver("tasks", "build", "--count", 3, "--out", "tasks.jsonl")
    attempt = ("attempt", "--tasks", "tasks.jsonl", "--model", "openai:tester", "--baselines")
    driver(*attempt, "--out", "whole.jsonl")
    driver(*attempt, "--on", nodes.address, "--out", "cluster.jsonl")
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert content(tmp_path / "cluster.events") == content(tmp_path / "whole.events")
    assert not (tmp_path / "cluster.events" / "workers").exists()


def test_other_machines_need_no_folder_of_the_driver(apart: RayNodes, server: OpenAIServer, folder: Path) -> None:
    driver = Driver(folder, {**server.environment, **apart.environment})
    for check in (check_run, check_grades, check_audits):
        check(driver, apart.address, folder)
        assert left_behind(apart, folder.parent) == []


TURNS = 3


class Gate:
    """Answers with a tool call in each turn but the last, which waits until it may be answered."""

    def __init__(self) -> None:
        self.opened, self.reached = threading.Event(), threading.Event()

    def answer(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        if turns_before(request) < TURNS:
            return calling(("CheckAuthorization", {}))
        self.reached.set()
        self.opened.wait(SECONDS)
        return "Done."


def turns_before(request: Mapping[str, Any]) -> int:
    return sum(message["role"] == "assistant" for message in request["messages"])


def test_the_answers_of_a_worker_lost_elsewhere_are_not_asked_again(folder: Path) -> None:
    if not has_mount_namespaces(folder.parent):
        pytest.skip("this machine allows no mount namespace (unshare)")
    gate = Gate()
    with serving(gate.answer) as server, ray_nodes(server.environment, cores=1, hidden=folder.parent) as nodes:
        driver = Driver(folder, {**server.environment, **nodes.environment})
        driver("tasks", "build", "--count", 1, "--out", "lost-tasks.jsonl")
        attempt = ("attempt", "--tasks", "lost-tasks.jsonl", "--model", "openai:tester", "--mode", "tools")
        with ThreadPoolExecutor() as thread:
            running = thread.submit(driver, *attempt, "--on", nodes.address, "--out", "lost.jsonl")
            assert gate.reached.wait(SECONDS)
            time.sleep(1)  # for the other style, and for what the worker sends
            (worker,) = processes(nodes.environment["RAY_AUTH_TOKEN"], b"ray::RemoteWorker")
            os.kill(worker, signal.SIGKILL)
            gate.opened.set()
            assert running.result(SECONDS)["attempts"] == 2
        asked = [turns_before(request) for request in server.requests]
        assert sorted(turns for turns in asked if turns < TURNS) == sorted([*range(TURNS)] * 2)
        driver(*attempt, "--out", "kept.jsonl")
    assert (folder / "lost.jsonl").read_bytes() == (folder / "kept.jsonl").read_bytes()


def check_run(driver: Driver, address: str, folder: Path) -> None:
    driver("run", "run.toml", "--out", "whole")
    driver("run", "run.toml", "--on", address, "--out", "cluster")
    for path in sorted((folder / "whole").glob("*.jsonl")):
        assert (folder / "cluster" / path.name).read_bytes() == path.read_bytes(), path.name
    assert content(folder / "cluster") == content(folder / "whole")


def check_grades(driver: Driver, address: str, folder: Path) -> None:
    tasks = folder / "whole" / "tasks.jsonl"
    programs = [{"task": task.id, "style": "goal", "program": task.program} for task in read_task_rows(tasks).rows]
    (folder / "programs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in programs), encoding="utf-8")
    grade = ("grade", "--env", "./desk", "--tasks", tasks, "--programs", "programs.jsonl")
    driver(*grade, "--out", "whole.jsonl")
    driver(*grade, "--on", address, "--out", "cluster.jsonl")
    assert (folder / "cluster.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()


def check_audits(driver: Driver, address: str, folder: Path) -> None:
    shutil.copytree(AIRLINE, folder / "airline")
    get = {"id": "1", "type": "function", "function": {"name": "get_user_details", "arguments": '{"user_id": "ann"}'}}
    called: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [get]}
    messages = [{"role": "user", "content": "Hello."}, called, {"role": "tool", "tool_call_id": "1", "content": "{}"}]
    lines = [json.dumps({"id": str(number), "messages": messages}) for number in range(150)]
    (folder / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    audit = ("audit", "log.jsonl", "--env", "./airline")
    driver(*audit, "--out", "audit-whole.jsonl", codes=(0, 1))
    driver(*audit, "--on", address, "--out", "audit-cluster.jsonl", codes=(0, 1))
    assert (folder / "audit-cluster.jsonl").read_bytes() == (folder / "audit-whole.jsonl").read_bytes()
