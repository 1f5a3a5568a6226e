"""Structured logs: events of a module, with the context that is bound around it.

An event goes to the standard logger of its module, below ``lawtrace``, so a program that uses lawtrace as a library
keeps its own handlers and levels. `lawtrace.runs.cli.logs` installs those of the command line.
structlog, which brings rich, Pygments and more, is imported with the first event that is logged.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger
    from structlog.typing import Processor

    from lawtrace.schemas.log_entries import Context


def described() -> "tuple[Processor, ...]":
    """What every event gets: the bound context, its logger, level and time (ISO 8601)."""
    import structlog

    return (
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    )


@contextmanager
def log_context(context: "Context", **more: str) -> Generator[None]:
    """Bind the conversation, and `more`, to every event in this block, those of AutoGen included."""
    import structlog

    place = context.model_dump(exclude={"role", "model", "turn"}, exclude_none=True)
    with structlog.contextvars.bound_contextvars(**place, **more):
        yield


class Logger:
    """The structured logger of a module. An event below the level of its standard logger costs nothing more."""

    def __init__(self, name: str) -> None:
        self._standard = logging.getLogger(name)

    def debug(self, event: str, **values: object) -> None:
        self.log(logging.DEBUG, event, **values)

    def info(self, event: str, **values: object) -> None:
        self.log(logging.INFO, event, **values)

    def warning(self, event: str, **values: object) -> None:
        self.log(logging.WARNING, event, **values)

    def exception(self, event: str, **values: object) -> None:
        """An error with the exception that is being handled."""
        self.log(logging.ERROR, event, exc_info=True, **values)

    def log(self, level: int, event: str, **values: object) -> None:
        if self._standard.isEnabledFor(level):
            self._structured.log(level, event, **values)

    @cached_property
    def _structured(self) -> "BoundLogger":
        import structlog
        from structlog.stdlib import BoundLogger, ProcessorFormatter, filter_by_level

        return structlog.wrap_logger(
            self._standard,
            processors=[filter_by_level, *described(), ProcessorFormatter.wrap_for_formatter],
            wrapper_class=BoundLogger,
        )


def get_logger(name: str) -> Logger:
    """The structured logger of a module."""
    return Logger(name)
