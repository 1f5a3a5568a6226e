"""One running jail with its warm parent: started, given programs, asked to stop them, ended."""

import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from lawtrace.environments.sandbox.backend import Backend, BackendProcess, JailUnavailable
from lawtrace.environments.sandbox.inside.wire import HEADER, READY, REPORT, RUN, STOP
from lawtrace.environments.sandbox.program import Limits, Toolset

START_SECONDS = 20.0
STOP_SECONDS = 5.0
NOTHING_NEW = HEADER.pack(0)


class WorkerGone(Exception):
    """The warm parent is not there any more. It never leaves the jail package."""


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """Of a program that ended: the kernel's wait status, whether it was ended because its processes held too much
    memory together, and whether the jail is as it was before."""

    wait_status: int
    over_memory: bool
    clean: bool


class Worker:
    """A warm parent behind its walls. `launch` and `report` alternate; `close` always works."""

    def __init__(self, process: BackendProcess, control: socket.socket) -> None:
        self._process = process
        self._toolset: Toolset | None = None
        self.control = control
        """Readable when a report has come, or when the worker is gone."""

    @classmethod
    def start(cls, walls: Backend, limits: Limits) -> Self:
        """Build the walls and wait until the warm parent is ready; `JailUnavailable` if it does not come up."""
        control, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as complaints:
            try:
                with theirs:
                    worker = cls(walls.start(limits, theirs, complaints), control)
            except BaseException:
                control.close()
                raise
            if not worker._is_ready():
                worker.close()
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").splitlines()
                # The last line is the reason, but docker ends with a hint to its own help.
                lines = [line for line in lines if line.strip() and not line.startswith("Run 'docker ")]
                reason = lines[-1] if lines else "the warm parent does not answer"
                raise JailUnavailable.because(reason, walls.remedy())
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
        """False once the warm parent is gone: its walls end with it."""
        return self._process.poll() is None

    def toolset_frame(self, toolset: Toolset) -> bytes:
        """What comes first on the socket of the next program: its tools, or nothing if they are known there."""
        if toolset is self._toolset:
            return NOTHING_NEW
        self._toolset = toolset
        return toolset.frame

    def launch(self, tool_socket: int, output: int) -> None:
        """Start a program that holds these two descriptors and no others."""
        try:
            socket.send_fds(self.control, [RUN], [tool_socket, output])
        except OSError as error:
            raise WorkerGone from error

    def report(self) -> ProgramReport:
        """How the program ended; all its processes have ended with it. Waits for it a few seconds at most."""
        try:
            data = self.control.recv(REPORT.size, socket.MSG_WAITALL)
        except OSError as error:
            raise WorkerGone from error
        if len(data) != REPORT.size:
            raise WorkerGone
        return ProgramReport(*REPORT.unpack(data))

    def stop(self) -> ProgramReport:
        """End the program now."""
        with suppress(OSError):
            self.control.send(STOP)
        return self.report()

    def close(self) -> None:
        """End the jail and everything in it."""
        self.control.close()
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
