"""The commands, one module each. Exit codes: 0 done, 1 findings, 2 usage, 3 could not be carried out."""

import sys
from _thread import interrupt_main
from io import TextIOWrapper
from threading import Timer
from typing import TYPE_CHECKING, NoReturn

from lawtrace.runs.bench_extra import BENCH_MODULES, bench_missing
from lawtrace.runs.cli.app import app
from lawtrace.schemas.errors import InputError, LawtraceError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["app", "main"]


def main() -> None:
    """The entry point of the command ``lawtrace``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # terminals without § show its code point
    sys.unraisablehook = _repeat_interrupts
    try:
        app(prog_name="lawtrace")
    except LawtraceError as error:
        _end(error)
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C before the command began
            sys.stderr.write("lawtrace: stopped; nothing was written\n")
        raise
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in BENCH_MODULES:
            raise
        _end(bench_missing("this command"))
    except OSError as error:
        if error.filename is None:
            raise
        _end(InputError(f"{str(error.filename)[:100]}: cannot be used: {error.strerror}"))


def _repeat_interrupts(lost: "UnraisableHookArgs") -> None:
    """Python drops a Ctrl-C that comes while an object is finalized, of which searches make many: let it come again."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(0.01, interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


def _end(error: LawtraceError) -> NoReturn:
    from lawtrace.runs.cli.output import print_error

    print_error(str(error))
    sys.exit(error.exit_code)
