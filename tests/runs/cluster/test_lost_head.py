"""A cluster that loses the process that grants calls, as it does when its head ends."""

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.openai_server import serving
from tests.support.ray_cluster import ray_workers
from tests.support.ray_nodes import processes
from tests.support.shell import Shell

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.integration,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes as Linux lists them"),
]

ATTEMPT = ("run", "--tasks", "tasks.jsonl", "--model", "openai:tester", "--on", "ray", "--out", "cluster")


def test_the_error_says_how_to_go_on(lawtrace: Shell, tmp_path: Path) -> None:
    lawtrace.json("tasks", "build", "--count", 2, "--out", "tasks.jsonl")
    marker = f"head-{os.getpid()}"

    def answer(request: Mapping[str, Any]) -> str:
        for pid in processes(marker, b"ray::RateServer"):
            with suppress(ProcessLookupError):  # another request was first
                os.kill(pid, signal.SIGKILL)
        return "```python\npass\n```"

    with serving(answer) as server:
        with ray_workers({**server.environment, "LAWTRACE_TEST": marker}):
            code, _, err = lawtrace(*ATTEMPT)
        assert (code, "give the same command, or `lawtrace resume`" in " ".join(err.split())) == (3, True), err
        assert "Traceback" not in err
        with ray_workers(server.environment):
            lawtrace.json("resume", "cluster", "--on", "ray")
