"""Structured logs: events of a module, with the context that is bound around it.

An event goes to the standard logger of its module, below ``lawtrace``, so a program that uses lawtrace as a library
keeps its own handlers and levels. `lawtrace.runs.cli.logs` installs those of the command line.
"""

import logging

import structlog
from structlog.contextvars import merge_contextvars
from structlog.stdlib import BoundLogger, ProcessorFormatter, add_log_level, add_logger_name, filter_by_level
from structlog.typing import Processor

DESCRIBED: tuple[Processor, ...] = (
    merge_contextvars,
    add_logger_name,
    add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
"""What every event gets: the bound context, its logger, level and time (ISO 8601)."""


def get_logger(name: str) -> BoundLogger:
    """The structured logger of a module."""
    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[filter_by_level, *DESCRIBED, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=BoundLogger,
    )
