"""Commands on clusters of `ray start`: through the client port, and with workers that see no file of the driver."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.solver.declarations.loader import load_domain
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import OpenAIServer, serving
from tests.support.playing import play
from tests.support.ray_cluster import log_content
from tests.support.ray_nodes import RayNodes, has_mount_namespaces, ray_nodes

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

SECONDS = 240
RUN = """
environment = "./desk"

[tasks]
count = 2
spare = 1

[models]
instruction_generator = "openai:writer"
policy_extractor = "openai:writer"

[regulation]
files = ["law.txt"]

[rules]
source = "extracted"
regulation = "text"
provisions = ["Article 72", "Article 95", "Article 97", "Article 98"]

[attempts]
models = ["openai:tester"]
regulation = "text"
"""


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


@pytest.fixture(scope="module")
def nodes(server: OpenAIServer, folder: Path) -> Iterator[RayNodes]:
    """All workers are on a machine without the folder of the user, and with another home, if this machine can do it."""
    hidden = folder.parent if has_mount_namespaces(folder.parent) else None
    with ray_nodes(server.environment, hidden=hidden) as running:
        yield running


@pytest.fixture
def driver(nodes: RayNodes, server: OpenAIServer, folder: Path) -> "Driver":
    return Driver(folder, {**server.environment, **nodes.environment})


class Driver:
    """Runs commands in processes of their own: what Ray reads of the environment, it reads when it is imported."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder, self._environment = folder, {**os.environ, **environment}

    def __call__(self, *words: object) -> dict[str, Any]:
        command = [str(Path(sys.executable).with_name("lawtrace")), *map(str, words), "--json"]
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


def content(folder: Path) -> list[str]:
    with EventLogFile.open(folder) as event_log:
        return log_content(event_log)


def left_behind(nodes: RayNodes, folder: Path) -> list[Path]:
    """The files on the machine of the workers, in the place of the test's folders."""
    seen = Path(f"/proc/{nodes.process}/root") / folder.relative_to("/")
    return [path for path in sorted(seen.rglob("*")) if path.is_file() and "home" not in path.relative_to(seen).parts]


def test_workers_through_a_client_port_need_no_folder_of_the_driver(
    nodes: RayNodes, driver: Driver, folder: Path
) -> None:
    before = left_behind(nodes, folder.parent) if nodes.hides else []
    driver("run", "run.toml", "--out", "whole")
    driver("run", "run.toml", "--on", nodes.address, "--out", "cluster")
    for path in sorted((folder / "whole").glob("*.jsonl")):
        assert (folder / "cluster" / path.name).read_bytes() == path.read_bytes(), path.name
    assert content(folder / "cluster") == content(folder / "whole")
    if nodes.hides:
        assert left_behind(nodes, folder.parent) == before
