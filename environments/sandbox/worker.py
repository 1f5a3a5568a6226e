"""Worker: one running sandbox with its fork server."""

import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from lawtrace.environments.sandbox.bubblewrap import SandboxUnavailable, start_sandbox
from lawtrace.environments.sandbox.inside.wire import HEADER, READY, REPORT, RUN, STOP
from lawtrace.environments.sandbox.program import Limits, Toolset

START_SECONDS = 20.0
STOP_SECONDS = 5.0
EMPTY_FRAME = HEADER.pack(0)


class WorkerGone(Exception):
    """The fork server has ended. Not raised outside the sandbox package."""


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """Report of the fork server on a program that ended.

    Attributes:
        wait_status: the kernel's wait status.
        over_memory: whether it was ended because its processes together held too much memory.
        clean: whether the sandbox is in the same condition as before.
    """

    wait_status: int
    over_memory: bool
    clean: bool


class Worker:
    """A fork server in its sandbox. `launch` and `report` alternate; `close` always works."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._process = process
        self._toolset: Toolset | None = None
        self.control = control
        """Readable when a report has arrived, or when the worker has ended."""

    @classmethod
    def start(cls, limits: Limits) -> Self:
        """Start the sandbox and wait until the fork server is ready. Raises `SandboxUnavailable`."""
        control, inner_end = socket.socketpair()
        with tempfile.TemporaryFile() as errors:
            try:
                with inner_end:
                    worker = cls(start_sandbox(limits, inner_end, errors), control)
            except BaseException:
                control.close()
                raise
            if not worker._is_ready():
                starting = worker.alive
                worker.close()
                errors.seek(0)
                lines = errors.read().decode(errors="replace").strip().splitlines()
                if starting and not lines:
                    late = f"the fork server has not answered for {START_SECONDS:.0f} seconds"
                    raise SandboxUnavailable.because(late, "If this machine is busy, run it again.")
                raise SandboxUnavailable.because(lines[-1] if lines else "the fork server does not answer")
        return worker

    def _is_ready(self) -> bool:
        try:
            self.control.settimeout(START_SECONDS)
            ready = self.control.recv(len(READY)) == READY
            self.control.settimeout(STOP_SECONDS)
        except OSError:
            return False
        return ready

    @property
    def alive(self) -> bool:
        """Whether the fork server is running. The sandbox ends with it."""
        return self._process.poll() is None

    def toolset_frame(self, toolset: Toolset) -> bytes:
        """The first frame for the next program: its tools, or an empty frame if the fork server has them already."""
        if toolset is self._toolset:
            return EMPTY_FRAME
        self._toolset = toolset
        return toolset.frame

    def launch(self, calls: int, answers: int, output: int) -> None:
        """Start a program that holds only these three ends of pipes."""
        try:
            socket.send_fds(self.control, [RUN], [calls, answers, output])
        except OSError as error:
            raise WorkerGone from error

    def report(self) -> ProgramReport:
        """Wait a few seconds at most for the report. All processes of the program have ended by then."""
        try:
            data = self.control.recv(REPORT.size, socket.MSG_WAITALL)
        except OSError as error:
            raise WorkerGone from error
        if len(data) != REPORT.size:
            raise WorkerGone
        return ProgramReport(*REPORT.unpack(data))

    def stop(self) -> ProgramReport:
        """End the program."""
        with suppress(OSError):
            self.control.send(STOP)
        return self.report()

    def close(self) -> None:
        """End the sandbox and everything in it."""
        self.control.close()
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
