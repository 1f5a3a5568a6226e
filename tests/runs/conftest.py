from pathlib import Path

import pytest

from tests.support.shell import Shell


@pytest.fixture
def lawtrace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    """The command line, run in its own temporary folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)
