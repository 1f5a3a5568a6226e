"""Progress without a terminal, and what a stopped stage command says."""

import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from lawtrace.agents.models.spending import Spending
from lawtrace.runs.cli import progress
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.text import format_duration
from lawtrace.runs.runner import Session
from lawtrace.schemas.recipe import Recipe


def test_without_a_terminal_a_line_comes_at_intervals_also_during_a_long_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.05)
    with ProgressBars().stage("answers", 4, lambda: "cost 0.42") as step:
        step()
        deadline, lines = time.monotonic() + 20, list[str]()
        while len(lines) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
            lines += capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert lines[0].startswith("answers: 1 of 4 in 0 s, about ")
    assert lines[0].endswith(" left; cost 0.42")
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_short_stages_print_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBars().stage("answers", None) as step:
        step()
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar_with_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    written = StringIO()
    monkeypatch.setattr(progress, "STDERR", Console(file=written, force_terminal=True, width=140))
    with ProgressBars().stage("answers", 2, lambda: str(Spending(3, 12_000, 9.0, 0.421))) as step:
        step()
        step()
    assert "2/2" in written.getvalue()
    assert "12,000 tokens, cost 0.42" in written.getvalue()


def test_durations_are_short() -> None:
    seconds = (0.2, 40, 100, 3_600, 7_500)
    assert [*map(format_duration, seconds)] == ["0 s", "40 s", "2 min", "60 min", "2 h 5 min"]


def test_a_stopped_stage_command_says_what_is_kept_and_how_to_go_on(tmp_path: Path) -> None:
    async def stop(session: Session) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        run_stages(Recipe(), tmp_path / "attempts.jsonl", "attempt", stop, sandbox=False)
    said = str(stopped.value)
    assert said.startswith("stopped before")
    assert "attempts.events, the same command continues there" in said
    assert (tmp_path / "attempts.events").is_dir()
