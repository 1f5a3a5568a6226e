"""Progress of long work."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class StageProgress(Protocol):
    """Receives the progress of stages."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage; the caller calls the yielded function after each step."""
        ...


class NoProgress:
    """No-op progress."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)
