"""One run of a program on the host's side: answer calls, collect output, enforce limits, determine how it ended.

Three descriptors are watched at once, and nothing here blocks on the program:

- the pipe of its calls, read only while no answer is pending, so a program cannot pile up answers; or else the pipe of
  the answers, until it takes the pending one;
- its output pipe;
- the worker's control socket, where the fork server reports the wait status. That report decides how it ended.

Which calls happen must not depend on the scheduling of two processes. So output printed before a call is read before
that call is answered (a limit applies at the same place each time), and calls made before the end are still answered
after it.
"""

import json
import os
import re
import selectors
import signal
import time
from contextlib import suppress
from math import ceil
from typing import Self, cast

from lawtrace.environments.sandbox.inside.wire import ENDINGS, HEADER, frame, size
from lawtrace.environments.sandbox.program import CallHandler, Clock, Limits, Program, Returned
from lawtrace.environments.sandbox.protocol import CallMessage, EndMessage, FrameReader, ProtocolError, read_message
from lawtrace.environments.sandbox.worker import ProgramReport, Worker, WorkerGone
from lawtrace.schemas.attempt_rows import Execution, ExecutionStatus
from lawtrace.schemas.errors import OperationalError

CHUNK = 2**16
ADDRESS = re.compile(r"(?<=\bat )0x[0-9a-f]+")
SIGNALS = {number.value: number.name for number in signal.Signals}


class SandboxLost(OperationalError):
    """The sandbox ended while a program ran in it. It is unknown whether the program caused it."""


class _EndedByHost(Exception):
    """The host ends the program with this status, for this reason."""

    def __init__(self, status: ExecutionStatus, reason: str) -> None:
        super().__init__(reason)
        self.status: ExecutionStatus = status
        self.reason = reason


class ProgramRun:
    """Runs one program on one worker. Entering launches the program, or raises `WorkerGone` before anything ran."""

    def __init__(self, worker: Worker, program: Program, handler: CallHandler, clock: Clock, limits: Limits) -> None:
        self._worker = worker
        self._handler = handler
        self._clock = clock
        self._limits = limits
        self._reader = FrameReader(limits.message_bytes)
        self._toolset = program.tools
        self._program_frame = _program_frame(program, limits, clock.now)
        self._outgoing = bytearray()
        self._printed = bytearray()
        self._end: EndMessage | None = None
        self._calls = 0
        self._exchanged = 0
        self._reported = False
        self.clean = False
        """Whether the worker may run another program: this one has ended and left the sandbox unchanged."""

    def __enter__(self) -> Self:
        self._outgoing += self._worker.toolset_frame(self._toolset) + self._program_frame
        self._called, calls = os.pipe()
        answers, self._answers = os.pipe()
        self._output, printing = os.pipe()
        for ours in (self._called, self._answers, self._output):
            os.set_blocking(ours, False)
        self._selector = selectors.DefaultSelector()
        try:
            self._worker.launch(calls, answers, printing)
        except WorkerGone:
            self.__exit__()
            raise
        finally:
            for theirs in (calls, answers, printing):
                os.close(theirs)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for ours in (self._called, self._answers, self._output):
            os.close(ours)

    def run(self) -> Execution:
        """Run the program to its end. Exceptions of the handler propagate, and the worker is not clean then.

        Raises SandboxLost if the worker ends before it reports.
        """
        try:
            self._deadline = time.monotonic() + self._limits.seconds
            return self._interpret(self._until_reported())
        except _EndedByHost as end:
            if not self._reported:
                with suppress(WorkerGone):
                    self.clean = self._worker.stop().clean
            return self._execution(end.status, end.reason)
        except WorkerGone as error:
            raise SandboxLost("the sandbox ended while a program ran in it") from error

    def _until_reported(self) -> ProgramReport:
        self._selector.register(self._worker.control, selectors.EVENT_READ)
        self._selector.register(self._output, selectors.EVENT_READ)
        self._watch_tools()
        while True:
            remaining = self._deadline - time.monotonic()
            ready = {key.fileobj for key, _ in self._selector.select(max(0.0, remaining))}
            if self._worker.control in ready:
                report = self._worker.report()
                self._reported, self.clean = True, report.clean
                self._drain()
                return report
            self._check_time()
            if self._output in ready and not self._read_output():
                self._selector.unregister(self._output)
            if self._called in ready or self._answers in ready:
                self._serve_tools()

    def _check_time(self) -> None:
        if time.monotonic() >= self._deadline:
            raise _EndedByHost("time_limit", f"ran longer than {self._limits.seconds:g} seconds")

    def _serve_tools(self) -> None:
        """Continue writing if an answer is pending, otherwise read; then watch for the next event."""
        was_writing = bool(self._outgoing)
        if was_writing:
            self._send()
            self._answer_calls()
        elif not self._listen():
            self._selector.unregister(self._called)
            return
        if was_writing != bool(self._outgoing):
            self._selector.unregister(self._answers if was_writing else self._called)
            self._watch_tools()

    def _watch_tools(self) -> None:
        if self._outgoing:
            self._selector.register(self._answers, selectors.EVENT_WRITE)
        else:
            self._selector.register(self._called, selectors.EVENT_READ)

    def _drain(self) -> None:
        """Read the rest of the pipes. All processes of the program are dead, so this ends."""
        self._outgoing.clear()
        self._answer_calls()
        while self._listen(more_may_come=False):
            pass
        self._read_output()

    def _listen(self, *, more_may_come: bool = True) -> bool:
        """Read what the program wrote and answer its calls. Returns False at the end of the stream."""
        try:
            data = os.read(self._called, CHUNK)
        except BlockingIOError:
            return more_may_come
        self._reader.feed(data)
        self._answer_calls()
        return bool(data)

    def _answer_calls(self) -> None:
        try:
            while not self._outgoing and (body := self._reader.take()) is not None:
                if self._end is not None:
                    raise ProtocolError("a message after the end")
                self._exchanged += size(body)
                match read_message(body):
                    case CallMessage() as call:
                        self._answer(call)
                    case EndMessage() as end:
                        self._end = end
        except ProtocolError as error:
            raise _EndedByHost("killed", f"broke the tool protocol: {error}") from error

    def _answer(self, call: CallMessage) -> None:
        self._read_output()
        self._check_time()
        if self._calls == self._limits.calls:
            raise _EndedByHost("call_limit", f"made more than {self._limits.calls} calls")
        if self._exchanged > self._limits.exchanged_bytes:
            limit = self._limits.exchanged_bytes
            raise _EndedByHost("call_limit", f"exchanged more than {limit} bytes in calls and answers")
        self._calls += 1
        if call.pause:
            self._clock.advance_time(call.pause)
        reply = self._handler(call.tool, call.arguments)
        body = {"returned": reply.value} if isinstance(reply, Returned) else {"raised": [reply.name, reply.message]}
        answer = frame({**body, "now": self._clock.now})
        self._exchanged += size(answer)
        self._outgoing += answer
        self._send()

    def _send(self) -> None:
        try:
            if not self._reported:
                del self._outgoing[: os.write(self._answers, self._outgoing)]
                return
        except BlockingIOError:
            return
        except ConnectionError:
            pass
        self._outgoing.clear()  # the reader has closed the pipe

    def _read_output(self) -> bool:
        """Read everything printed so far. Returns False at the end of the stream."""
        with suppress(BlockingIOError):
            while data := os.read(self._output, CHUNK):
                self._printed += data
                if len(self._printed) > self._limits.output_bytes:
                    raise _EndedByHost("output_limit", f"printed more than {self._limits.output_bytes} bytes")
            return False
        return True

    def _interpret(self, report: ProgramReport) -> Execution:
        """The wait status decides. The program's own message only describes an end that agrees with it."""
        if report.over_memory:
            return self._execution("memory_limit", "its processes together held more memory than the limit allows")
        if os.WIFSIGNALED(report.wait_status):
            number = os.WTERMSIG(report.wait_status)
            if number == signal.SIGXCPU:
                return self._execution("time_limit", "used more processor time than the limit allows")
            return self._execution("killed", f"ended by {SIGNALS.get(number, f'signal {number}')}")
        code = os.WEXITSTATUS(report.wait_status)
        end = self._end
        if end is None or ENDINGS[code : code + 1] != (end.ending,):
            return self._execution("killed", f"ended without its normal end (exit status {code})")
        status = cast("ExecutionStatus", end.ending)
        if status == "finished":
            return self._execution(status, None)
        return self._execution(status, ": ".join(filter(None, (end.type, end.message))), end)

    def _execution(self, status: ExecutionStatus, error: str | None, end: EndMessage | None = None) -> Execution:
        output = self._printed[: self._limits.output_bytes].decode("utf-8", "replace")
        return Execution(
            status=status,
            error=error and _without_addresses(error),
            error_type=end and end.type,
            line=end and end.line,
            output=_without_addresses(output),
            calls=self._calls,
        )


def _program_frame(program: Program, limits: Limits, now: int) -> bytes:
    """The frame with the program, in ASCII: a model's text may hold what UTF-8 cannot encode, for Python to judge."""
    message = {
        "source": program.source,
        "variables": dict(program.variables),
        "now": now,
        "limits": {
            "seconds": ceil(limits.seconds),
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes,
            "message_bytes": limits.message_bytes,
        },
    }
    body = json.dumps(message).encode()
    return HEADER.pack(len(body)) + body


def _without_addresses(text: str) -> str:
    """Mask addresses as in ``<object at 0x7f...>``: they differ between runs, and the files of a run must not."""
    return ADDRESS.sub("0x...", text)
