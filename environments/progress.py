"""Progress of long work."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

Note = Callable[[], str]
"""What to tell beside the number of steps, such as the cost so far; empty for nothing."""


def no_note() -> str:
    return ""


class StageProgress(Protocol):
    """Receives the progress of stages."""

    def stage(self, name: str, total: int | None, note: Note = no_note) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage; the caller calls the yielded function after each step."""
        ...


class NoProgress:
    """No-op progress."""

    def stage(self, name: str, total: int | None, note: Note = no_note) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)
