"""No walls: a plain process of the user, for machines that allow nothing better. Never chosen by itself."""

import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO

from lawtrace.environments.sandbox.backend import (
    ENVIRONMENT_VARIABLES,
    INSIDE_FOLDER,
    INTERPRETER_OPTIONS,
    BackendProcess,
    JailUnavailable,
)
from lawtrace.environments.sandbox.program import Limits


class Unprotected:
    """The same worker and the same protocol, so the judge is still out of reach of an honest program, and time, memory
    and output are still bounded. But a program can read and write the user's files, use the network and kill the
    user's processes: run nothing here that you would not run by hand.
    """

    sandbox = "unprotected"
    counts_processes = False

    def start(self, limits: Limits, control: socket.socket, complaints: IO[bytes]) -> BackendProcess:
        """Start the warm parent in an empty folder that is removed with it."""
        if sys.platform != "linux":
            raise JailUnavailable.because(f"the warm parent needs Linux, and this is {sys.platform}", self.remedy())
        folder = tempfile.TemporaryDirectory(prefix="lawtrace-")
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            [sys.executable, *INTERPRETER_OPTIONS, str(INSIDE_FOLDER), str(limits.memory_bytes), "among others"],
            stdin=control.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            cwd=folder.name,
            env=ENVIRONMENT_VARIABLES,
            start_new_session=True,
        )
        return _Bare(process, folder)

    def remedy(self) -> str:
        return "Use --sandbox docker."


@dataclass(frozen=True, slots=True)
class _Bare:
    """The process, and the folder that goes with it."""

    process: "subprocess.Popen[bytes]"
    folder: "tempfile.TemporaryDirectory[str]"

    def poll(self) -> int | None:
        return self.process.poll()

    def wait(self, timeout: float | None = None) -> int:
        status = self.process.wait(timeout)
        self.folder.cleanup()
        return status

    def kill(self) -> None:
        self.process.kill()
