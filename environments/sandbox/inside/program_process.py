"""One program from the fork to its exit."""

import atexit
import contextlib
import importlib
import json
import os
import random
import resource
import sys
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any, cast

from .simulated_clock import CLOCK, SECOND
from .tool_objects import ToolObjects
from .wire import ENDINGS, HEADER, MESSAGE_CHARACTERS, REFUSED_BECAUSE, REFUSED_CALLS, frame, read_frame, size

DECODE: Callable[[str, int], tuple[Any, int]] = cast("Any", json.JSONDecoder()).scan_once
"""`json.loads` for text of the host, without its detection of encodings."""

SIGNALS: Any = importlib.import_module("_signal")
"""`signal` without its enumerations, which would cost each program forty memory pages."""

CALLS, ANSWERS = 3, 4
"""Descriptors of a program: the pipe that it writes its calls to, and the pipe with their answers."""
PROGRAM_FILE = "<program>"
FILE_BYTES = 16 * 2**20
OPEN_FILES = 64
ERROR_REPORT_BYTES = 32 * 2**20


class CallChannel:
    """The program's ends of its two pipes: one request, one answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._in_doubt = False
        self.message_bytes = 2**32 - 1

    def receive(self) -> dict[str, Any]:
        return DECODE(read_frame(ANSWERS).decode(), 0)[0]

    def ask(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Send one call and wait for its answer; threads take turns."""
        if os.getpid() != self._owner:
            raise RuntimeError("tools can only be called from the process that the program started in")
        with self._lock:
            pause = CLOCK.unreported // SECOND
            data = frame({**message, "pause": pause} if pause else message)
            if size(data[HEADER.size :]) > self.message_bytes:
                raise ValueError(f"the arguments are larger than {self.message_bytes} bytes in memory")
            if self._in_doubt:
                raise RuntimeError("an earlier call was interrupted before its answer arrived")
            # A signal handler of the program may raise anywhere below. The next answer would then belong to this call.
            self._in_doubt = True
            self._write(data)
            answer = self.receive()
            CLOCK.synchronize(answer["now"], pause)
            self._in_doubt = False
            return answer

    def close(self, message: Mapping[str, object]) -> None:
        """Send the last message. The lock is kept, so that no daemon thread can send after it."""
        if os.getpid() == self._owner:
            self._lock.acquire()
            self._write(frame(message))

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(CALLS, data) :]


def run_forked(tools: ToolObjects, calls: int, answers: int, output: int) -> int:
    """Run the program that arrives before the first answer. Returns its exit status, an index into `ENDINGS`.

    Args:
        tools: the tools that it finds.
        calls: the pipe for its calls.
        answers: the pipe with the program and the answers.
        output: the pipe that it prints to.
    """
    isolate(calls, answers, output)
    channel = CallChannel()
    program = channel.receive()
    limit_self(program["limits"])
    CLOCK.start(program["now"])
    channel.message_bytes = program["limits"]["message_bytes"]
    ending, error = execute(program["source"], {**tools.answered_by(channel.ask), **program["variables"]})
    if ending == "memory_limit":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # room for the error report
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the program may have closed or replaced it
            stream.flush()
    fields = describe(error) if error else {"type": None, "message": None, "line": None}
    channel.close({"end": ending, **fields})
    return ENDINGS.index(ending)


def isolate(calls: int, answers: int, output: int) -> None:
    """Close all descriptors but the program's own. Its standard input is opened anew: flags set on the one of the fork
    server would stay for the next program."""
    os.close(0)
    os.open(os.devnull, os.O_RDWR)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(calls, CALLS, inheritable=False)
    os.dup2(answers, ANSWERS, inheritable=False)
    os.closerange(ANSWERS + 1, os.sysconf("SC_OPEN_MAX"))
    SIGNALS.signal(SIGNALS.SIGINT, SIGNALS.default_int_handler)
    random.seed(0)  # the same program makes the same calls; forking has seeded it anew


def limit_self(limits: Mapping[str, Any]) -> None:
    """Limit this process and its children. The host's wall clock applies as well."""

    def limit(kind: int, soft: int, spare: int = 0) -> None:
        _, ceiling = resource.getrlimit(kind)
        hard = soft + spare if ceiling == resource.RLIM_INFINITY else min(soft + spare, ceiling)
        resource.setrlimit(kind, (min(soft, hard), hard))

    limit(resource.RLIMIT_CPU, limits["seconds"] + 1, spare=1)
    limit(resource.RLIMIT_AS, limits["memory_bytes"], spare=ERROR_REPORT_BYTES)
    limit(resource.RLIMIT_NPROC, limits["processes"] + 1)  # the fork server is counted too
    limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_MSGQUEUE, 0)  # queues would outlive the program


def execute(source: str, names: Mapping[str, Any]) -> tuple[str, BaseException | None]:
    """Run the program as ``__main__`` to its end, with its threads and exit handlers."""
    try:
        code = compile(source, PROGRAM_FILE, "exec", dont_inherit=True)
    except MemoryError as error:
        return "memory_limit", error
    except Exception as error:  # noqa: BLE001 - SyntaxError mostly, but also null bytes or too deep an expression
        return "syntax_error", error
    main = types.ModuleType("__main__")
    vars(main).update(names)
    sys.modules["__main__"] = main
    try:
        try:
            exec(code, vars(main))  # noqa: S102 - the purpose of this folder
        finally:
            for thread in threading.enumerate()[1:]:  # the first is this one
                if not thread.daemon:
                    thread.join()
            atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] - as multiprocessing ends its own processes
    except SystemExit as error:
        return ("finished", None) if error.code in (None, 0) else ("exception", error)
    except MemoryError as error:
        return "memory_limit", error
    except BaseException as error:  # noqa: BLE001 - any exception is data for the host
        return "exception", error
    return "finished", None


def describe(error: BaseException) -> dict[str, Any]:
    """Describe an uncaught exception: its type, the first line of its message, the last program line involved."""
    try:
        message = str(error).strip()
    except BaseException:  # noqa: BLE001 - the program's own __str__ may do anything
        message = "(its message cannot be read)"
    line: int | None = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM_FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    text = (message.splitlines() or [""])[0][:MESSAGE_CHARACTERS]
    if text in REFUSED_CALLS:
        text += REFUSED_BECAUSE
    text = text.encode("utf-8", "backslashreplace").decode()
    return {"type": type(error).__name__, "message": text, "line": line}
