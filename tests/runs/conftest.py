from pathlib import Path

import pytest

from tests.support.shell import Shell


@pytest.fixture
def lawtrace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    """The command, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)
