"""A run on a cluster whose workers are killed writes what one process writes, and asks nothing again."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.openai_server import serving
from tests.support.ray_nodes import kill_all, processes
from tests.support.shell import run_command

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

KILLS = 3
SECONDS = 300
ATTEMPT = ("run", "--tasks", "tasks.jsonl", "--model", "openai:tester", "--trials", "4")
PROGRAM = "```python\ntotal = 0\nfor number in range(10_000_000):\n    total += number\n```"


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes as Linux lists them")
def test_what_killed_workers_had_is_made_again(tmp_path: Path) -> None:
    run_command(tmp_path, "tasks", "build", "--count", 2, "--out", "tasks.jsonl")
    marker, deadline = f"kills-{os.getpid()}", time.monotonic() + SECONDS
    with serving(lambda _: PROGRAM) as server, pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "local", "LAWTRACE_TEST": marker}
        command = [Path(sys.executable).with_name("lawtrace"), *ATTEMPT, "--on", "ray", "--out", "killed"]
        driver = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **own}, stderr=subprocess.PIPE)
        try:
            for _ in range(KILLS):
                while not (found := processes(marker, b"ray::_make")):
                    assert time.monotonic() < deadline
                    assert driver.poll() is None
                    time.sleep(0.05)
                time.sleep(random.Random(len(found)).uniform(0, 0.5))
                os.kill(found[0], signal.SIGKILL)
                time.sleep(0.5)
            _, said = driver.communicate(timeout=max(1.0, deadline - time.monotonic()))
            assert driver.returncode in {0, 1}, said.decode()
        finally:
            kill_all(marker)
        asked = len(server.requests)
        run_command(tmp_path, *ATTEMPT, "--out", "whole")
        assert len(server.requests) == 2 * asked
    assert (tmp_path / "killed/attempts.jsonl").read_bytes() == (tmp_path / "whole/attempts.jsonl").read_bytes()
