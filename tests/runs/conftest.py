from collections.abc import Iterator
from pathlib import Path

import pytest

from lawtrace.runs.runner import RunResult
from tests.support.runs import SMALL, run
from tests.support.shell import Shell


@pytest.fixture(scope="session", autouse=True)
def two_sandboxes() -> Iterator[None]:
    """Runs open two sandboxes, not one more than there are cores: each start takes a tenth of a second of CPU time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lawtrace.environments.sandbox.pool.MAX_SANDBOXES", 2)
        yield


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """Three pairs of banking tasks with the baseline policies. Tests do not change its folder."""
    return run(SMALL, tmp_path_factory.mktemp("small") / "run")


@pytest.fixture
def lawtrace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    """The command line, run in its own temporary folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)
