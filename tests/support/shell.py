"""Runs the command line in this process; returns exit code, standard output and standard error."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.cli import main


class Shell:
    """Runs commands in this process, with output captured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: object) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["lawtrace", *map(str, words)])
        code: int | str | None = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        out, err = self._capsys.readouterr()
        return (code if isinstance(code, int) else int(code is not None)), out, err

    def json(self, *words: object) -> dict[str, Any]:
        code, out, err = self(*words, "--json")
        assert code == 0, err
        result: dict[str, Any] = json.loads(out.splitlines()[-1])
        return result


def run_command(folder: Path, *words: object) -> None:
    """Run the command in this process with ``folder`` as working directory; it has to exit with 0.

    For fixtures that several tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["lawtrace", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code in (None, 0), f"lawtrace {' '.join(map(str, words))} exited with {ended.value.code}"
