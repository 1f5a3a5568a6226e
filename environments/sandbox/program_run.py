"""One program's life as the host sees it: answer its calls, keep what it prints, watch the limits, say how it ended.

Three descriptors are watched at once, and nothing here ever blocks on the program:

- its tool socket, which is read only while no answer waits to be taken, so a program cannot pile up answers;
- its output pipe;
- the worker's control socket, where the warm parent reports the wait status. That report decides how it ended.

Which calls happen must not depend on how two processes are scheduled. So what a program printed before a call is read
before that call is answered (a limit strikes at the same place each time), and what it had asked before it ended is
still answered afterwards.
"""

import json
import os
import re
import selectors
import signal
import socket
import time
from contextlib import suppress
from math import ceil
from typing import Self, cast

from lawtrace.environments.errors import OperationalError
from lawtrace.environments.sandbox.inside.wire import ENDINGS, HEADER, frame
from lawtrace.environments.sandbox.program import CallHandler, Execution, ExecutionStatus, Limits, Program, Returned
from lawtrace.environments.sandbox.protocol import CallMessage, EndMessage, FrameReader, ProtocolError, read_message
from lawtrace.environments.sandbox.worker import ProgramReport, Worker, WorkerGone

CHUNK = 2**16
ADDRESS = re.compile(r"(?<=\bat )0x[0-9a-f]+")
SIGNALS = {number.value: number.name for number in signal.Signals}


class JailLost(OperationalError):
    """The jail ended while a program ran in it, and nobody can say whether through the program or beside it."""


class _EndedByHost(Exception):
    """The host ends the program, with this status and for this reason."""

    def __init__(self, status: ExecutionStatus, reason: str) -> None:
        super().__init__(reason)
        self.status: ExecutionStatus = status
        self.reason = reason


class ProgramRun:
    """Runs one program on one worker. Entering it launches the program, or raises `WorkerGone` before anything ran."""

    def __init__(
        self, worker: Worker, program: Program, handler: CallHandler, limits: Limits, *, counts_processes: bool
    ) -> None:
        self._worker = worker
        self._handler = handler
        self._limits = limits
        self._reader = FrameReader(limits.message_bytes)
        self._toolset = program.tools
        self._program_frame = _program_frame(program, limits, counts_processes=counts_processes)
        self._outgoing = bytearray()
        self._printed = bytearray()
        self._end: EndMessage | None = None
        self._calls = 0
        self._exchanged = 0
        self._reported = False
        self.clean = False
        """Whether the worker may run another program: this one has ended, and the jail is as it was before."""

    def __enter__(self) -> Self:
        self._outgoing += self._worker.toolset_frame(self._toolset) + self._program_frame
        self._tools, theirs = socket.socketpair()
        self._output, printing = os.pipe()
        self._tools.setblocking(False)
        os.set_blocking(self._output, False)
        self._selector = selectors.DefaultSelector()
        try:
            self._worker.launch(theirs.fileno(), printing)
        except WorkerGone:
            self.__exit__()
            raise
        finally:
            theirs.close()
            os.close(printing)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._tools.close()
        os.close(self._output)

    def run(self) -> Execution:
        """See the program to its end. What the handler raises passes through; the worker is not clean then.

        Raises JailLost if the worker ends before it has reported.
        """
        try:
            self._deadline = time.monotonic() + self._limits.seconds
            return self._judge(self._until_reported())
        except _EndedByHost as end:
            if not self._reported:
                with suppress(WorkerGone):
                    self.clean = self._worker.stop().clean
            return self._execution(end.status, end.reason)
        except WorkerGone as error:
            raise JailLost("the jail ended while a program ran in it") from error

    def _until_reported(self) -> ProgramReport:
        self._selector.register(self._worker.control, selectors.EVENT_READ)
        self._selector.register(self._output, selectors.EVENT_READ)
        self._selector.register(self._tools, selectors.EVENT_WRITE)
        while True:
            remaining = self._deadline - time.monotonic()
            ready = {key.fileobj for key, _ in self._selector.select(max(0.0, remaining))}
            if self._worker.control in ready:
                report = self._worker.report()
                self._reported, self.clean = True, report.clean
                self._hear_the_rest()
                return report
            self._check_time()
            if self._output in ready and not self._read_output():
                self._selector.unregister(self._output)
            if self._tools in ready:
                self._attend_tools()

    def _check_time(self) -> None:
        if time.monotonic() >= self._deadline:
            raise _EndedByHost("time_limit", f"ran longer than {self._limits.seconds:g} seconds")

    def _attend_tools(self) -> None:
        """Go on writing if an answer waits, otherwise listen; and watch for whichever comes next."""
        was_writing = bool(self._outgoing)
        if was_writing:
            self._send()
            self._answer_calls()
        elif not self._listen():
            self._selector.unregister(self._tools)
            return
        if was_writing != bool(self._outgoing):
            self._selector.modify(self._tools, selectors.EVENT_WRITE if self._outgoing else selectors.EVENT_READ)

    def _hear_the_rest(self) -> None:
        """What the program left behind in its pipes; all its processes are dead, so this ends."""
        self._outgoing.clear()
        self._answer_calls()
        while self._listen(patient=False):
            pass
        self._read_output()

    def _listen(self, *, patient: bool = True) -> bool:
        """Take in what the program wrote and answer its calls; False if there is no more to come."""
        try:
            data = self._tools.recv(CHUNK)
        except BlockingIOError:
            return patient
        except ConnectionError:
            return False
        self._reader.feed(data)
        self._answer_calls()
        return bool(data)

    def _answer_calls(self) -> None:
        try:
            while not self._outgoing and (body := self._reader.take()) is not None:
                if self._end is not None:
                    raise ProtocolError("a message after the end")
                self._exchanged += len(body)
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
            raise _EndedByHost(
                "call_limit", f"made calls that hold more than {limit} bytes together with their answers"
            )
        self._calls += 1
        reply = self._handler(call.tool, call.arguments)
        said = {"returned": reply.value} if isinstance(reply, Returned) else {"raised": [reply.name, reply.message]}
        answer = frame(said)
        self._exchanged += len(answer)
        self._outgoing += answer
        self._send()

    def _send(self) -> None:
        try:
            if not self._reported:
                del self._outgoing[: self._tools.send(self._outgoing)]
                return
        except BlockingIOError:
            return
        except ConnectionError:
            pass
        self._outgoing.clear()  # nobody is there to take the answer

    def _read_output(self) -> bool:
        """Take in all that has been printed so far; False if there is no more to come."""
        with suppress(BlockingIOError):
            while data := os.read(self._output, CHUNK):
                self._printed += data
                if len(self._printed) > self._limits.output_bytes:
                    raise _EndedByHost("output_limit", f"printed more than {self._limits.output_bytes} bytes")
            return False
        return True

    def _judge(self, report: ProgramReport) -> Execution:
        """The wait status decides; the program's own words only describe an end that agrees with it."""
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
            return self._execution("killed", f"left without its normal end (exit status {code})")
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


def _program_frame(program: Program, limits: Limits, *, counts_processes: bool) -> bytes:
    """The program as it is sent in. In ASCII: a model's text may hold what UTF-8 cannot, and Python must judge it."""
    message = {
        "source": program.source,
        "variables": dict(program.variables),
        "limits": {
            "seconds": ceil(limits.seconds),
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes if counts_processes else None,
            "message_bytes": limits.message_bytes,
        },
    }
    body = json.dumps(message).encode()
    return HEADER.pack(len(body)) + body


def _without_addresses(text: str) -> str:
    """``<object at 0x7f...>`` differs from run to run, and what a run writes must not."""
    return ADDRESS.sub("0x...", text)
