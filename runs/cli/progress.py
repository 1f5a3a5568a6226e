"""Progress on standard error: a bar for each stage on a terminal, elsewhere one line a minute."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lawtrace.environments.progress import Note, no_note
from lawtrace.runs.cli.output import STDERR, print_note
from lawtrace.runs.report.text import format_duration

SECONDS_PER_LINE = 60.0
"""How often the progress of a stage is printed where standard error is not a terminal."""


class ProgressBars:
    """Shows the stages of a command with the time left and a note, such as the cost so far."""

    @contextmanager
    def stage(self, name: str, total: int | None, note: Note = no_note) -> Generator[Callable[[], None]]:
        with (_bar if STDERR.is_terminal else _lines)(name, total, note) as step:
            yield step


@contextmanager
def _bar(name: str, total: int | None, note: Note) -> Generator[Callable[[], None]]:
    label, beside = TextColumn("{task.description:<28}"), TextColumn("{task.fields[note]}")
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(label, BarColumn(), MofNCompleteColumn(), *times, beside, console=STDERR) as progress:
        bar = progress.add_task(name, total=total, note="")
        yield lambda: progress.update(bar, advance=1, note=note())
        progress.update(bar, total=total or 1, completed=total or 1, note=note())


@contextmanager
def _lines(name: str, total: int | None, note: Note) -> Generator[Callable[[], None]]:
    """A line a minute, also while a step takes longer than that."""
    done, begun, lock, ended = 0, time.monotonic(), Lock(), Event()

    def step() -> None:
        nonlocal done
        with lock:  # steps may end in several threads
            done += 1

    def print_until_ended() -> None:
        while not ended.wait(SECONDS_PER_LINE):
            print_note(_line(name, done, total, time.monotonic() - begun, note()))

    thread = Thread(target=print_until_ended, name="progress", daemon=True)
    thread.start()
    try:
        yield step
    finally:
        ended.set()
        thread.join()


def _line(name: str, done: int, total: int | None, elapsed: float, note: str) -> str:
    """``answers: 120 of 480 in 3 min, about 9 min left; cost 0.42``."""
    count, left = f"{done}", ""
    if total is not None:
        count += f" of {total}"
        if 0 < done < total:
            left = f", about {format_duration(elapsed / done * (total - done))} left"
    return f"{name}: {count} in {format_duration(elapsed)}{left}{f'; {note}' if note else ''}"
