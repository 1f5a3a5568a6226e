"""The logs of the command line: events on standard error or in a file, as lines for people or as JSON.

Events of AutoGen (`autogen_core`, `autogen_agentchat`) come through the same handlers at the level ``debug``. Other
libraries are silent.
"""

import logging
import sys
from functools import cached_property
from pathlib import Path
from typing import Literal

from lawtrace.schemas.errors import InputError

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["console", "json"]

_OURS = "lawtrace"
_FRAMEWORK = ("autogen_core", "autogen_agentchat")
_SILENT = ("httpx", "openai", "pypdf", "matplotlib")
_installed: list[logging.Handler] = []


class _StandardError(logging.Handler):
    """Writes to what is standard error at the time of the event, so that progress bars and redirections are kept."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(self.format(record) + "\n")


def configure_logs(
    level: LogLevel | None = None, file: Path | None = None, log_format: LogFormat | None = None
) -> None:
    """Set up the logs of this process, in place of an earlier setup.

    Args:
        level: the lowest level of the file, else of standard error. None: info for a file, else warning.
        file: where events are appended. Standard error then has warnings only.
        log_format: None: JSON lines in a file, else lines for people.

    Raises InputError if the file cannot be written.
    """
    loggers = [logging.getLogger(name) for name in (_OURS, *_FRAMEWORK)]
    for handler in _installed:
        for logger in loggers:
            logger.removeHandler(handler)
        handler.close()
    given: list[tuple[logging.Handler, LogLevel, LogFormat]] = [
        (_StandardError(), "warning" if file else level or "warning", log_format or "console")
    ]
    if file is not None:
        try:
            given.append((logging.FileHandler(file, encoding="utf-8"), level or "info", log_format or "json"))
        except OSError as error:
            raise InputError(f"--log-file {file}: cannot be written: {error.strerror}") from error
    for handler, least, form in given:
        handler.setFormatter(_Formatter(form))
        handler.setLevel(least.upper())
    _installed[:] = [handler for handler, _, _ in given]
    lowest = min(handler.level for handler in _installed)
    for logger in loggers:
        # AutoGen also logs tasks that are still pending when a run is cancelled; the reason was printed before.
        is_shown = logger.name == _OURS or lowest == logging.DEBUG
        logger.setLevel(lowest if is_shown else logging.CRITICAL)
        for handler in _installed:
            logger.addHandler(handler)
    for name in _SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    asyncio = logging.getLogger("asyncio")
    if _is_not_a_shutdown not in asyncio.filters:
        asyncio.addFilter(_is_not_a_shutdown)


def _is_not_a_shutdown(record: logging.LogRecord) -> bool:
    return "asyncio.run() shutdown" not in record.getMessage()


class _Formatter(logging.Formatter):
    """Imports structlog with the first event, since most commands log nothing."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._log_format = log_format

    def format(self, record: logging.LogRecord) -> str:
        return self._made.format(record)

    @cached_property
    def _made(self) -> logging.Formatter:
        import structlog
        from structlog.stdlib import ProcessorFormatter
        from structlog.typing import Processor

        from lawtrace.environments.logs import described

        renderers: list[Processor] = [ProcessorFormatter.remove_processors_meta]
        if self._log_format == "json":
            renderers += [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer(ensure_ascii=False)]
        else:
            renderers.append(structlog.dev.ConsoleRenderer(colors=False))
        return ProcessorFormatter(foreign_pre_chain=described(), processors=renderers)
