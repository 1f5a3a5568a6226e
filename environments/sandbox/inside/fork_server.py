"""Fork server: forks a process for each program, watches it and reports how it ended."""

import _sitebuiltins
import builtins
import contextlib
import ctypes
import gc
import json
import os
import re
import resource
import select
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any, cast

from .program_process import run_forked
from .simulated_clock import install
from .tool_objects import ToolObjects
from .wire import NOBODY, READY, REPORT, RUN, read_frame

INODE_BYTES = 1024
WATCH_SECONDS = 0.05
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
LIBC = ctypes.CDLL(None, use_errno=True)

RESIDENT = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)
RESOURCES = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
SHARED = tuple(filter(os.path.exists, (*map("/proc/sysvipc/".__add__, ("msg", "sem", "shm")), "/proc/self/autogroup")))
"""Kernel state shared by all processes of the sandbox: shared objects, and the priority of their session."""


class ForkServer:
    """Runs programs one after the other, each in a fork.

    Args:
        control: the socket to the host.
        memory_bytes: what the processes of a program may hold together.
    """

    def __init__(self, control: socket.socket, memory_bytes: int) -> None:
        self._control = control
        self._memory_bytes = memory_bytes
        self._tools: ToolObjects | None = None

    def serve(self) -> None:
        """Run programs until the host closes the control socket."""
        before = self._condition()
        self._control.send(READY)
        while True:
            message, descriptors, _, _ = socket.recv_fds(self._control, 1, 3)
            if not message:
                return
            if message != RUN:
                continue  # a request to stop a program that has already been reported
            calls, answers, output = descriptors
            tools = self._tools_for(answers)
            program = os.fork()
            if program == 0:
                self._control.close()
                os._exit(run_forked(tools, calls, answers, output))
            for descriptor in descriptors:
                os.close(descriptor)
            within = self._watch(program)
            status = self._end(program)
            self._control.send(REPORT.pack(status, not within, self._condition() == before))

    def _tools_for(self, answers: int) -> ToolObjects:
        """Read the first frame: new tools, or empty for the same tools as before."""
        if offer := read_frame(answers):
            gc.unfreeze()
            self._tools = ToolObjects(json.loads(offer))
            freeze_heap()
        assert self._tools is not None
        return self._tools

    def _watch(self, program: int) -> bool:
        """Wait until the program ends or the host stops it; False if it holds too much memory."""
        handle = os.pidfd_open(program)
        try:
            while not select.select([self._control, handle], [], [], WATCH_SECONDS)[0]:
                if self._memory_held() > self._memory_bytes:
                    return False
            return True
        finally:
            os.close(handle)

    def _end(self, program: int) -> int:
        """Kill the program and everything that it started, and return its wait status."""
        status = 0
        while True:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # all at once, so that no fork escapes
            try:
                ended, how = os.waitpid(-1, 0)
            except ChildProcessError:
                return status
            if ended == program:
                status = how

    def _others(self) -> Iterator[int]:
        """The processes of the program: all in the namespace but this one, which is process 1."""
        yield from {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1}  # noqa: PTH208

    def _memory_held(self) -> int:
        """Bytes held by all processes and /tmp. Memory that a fork shares with its parent counts twice."""
        held = 0
        for process in self._others():
            with contextlib.suppress(OSError):
                held += 1024 * sum(map(int, RESIDENT.findall(read(f"/proc/{process}/status"))))
        tmp = os.statvfs("/tmp")  # noqa: S108 - inside the sandbox
        return held + (tmp.f_blocks - tmp.f_bfree) * tmp.f_frsize + (tmp.f_files - tmp.f_ffree) * INODE_BYTES

    def _condition(self) -> tuple[object, ...]:
        """Everything that a program could change for the next one. The change time of /tmp covers its contents."""
        return (
            os.stat("/tmp").st_ctime_ns,  # noqa: S108, PTH116 - inside the sandbox
            *map(read, SHARED),
            *map(resource.getrlimit, RESOURCES),
            os.getpriority(os.PRIO_PROCESS, 0),
            os.sched_getscheduler(0),
            os.sched_getaffinity(0),
        )


def prctl(option: int, value: int) -> None:
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


def read(path: str) -> bytes:
    """Read a small file of /proc without the layers of `open`, whose cost every program would pay."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 2**16)
    finally:
        os.close(descriptor)


def write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def drop_root() -> None:
    """Change to the user ``nobody``, in a namespace that maps it.

    When the host is root, the fork server starts as root too, because only root may reach an interpreter below a home
    directory. The user namespace maps one more user, under which programs run. It must be another user to the kernel:
    RLIMIT_NPROC does not bind uid 0, whatever the namespace calls it.
    """
    # No user namespaces below this one, in which a program would be root again and could mount.
    write("/proc/sys/user/max_user_namespaces", b"0")
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def reset_interpreter() -> None:
    """Put the interpreter into the state of a new one, once for all programs."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    cast("Any", sys.stdout).reconfigure(line_buffering=True)
    sys.argv = [""]
    for name, value in (("exit", sys.exit), ("quit", sys.exit), ("help", _sitebuiltins._Helper())):  # pyright: ignore[reportPrivateUsage]
        setattr(builtins, name, value)  # as `site` does, which the sandbox does not load
    install()
    freeze_heap()


def freeze_heap() -> None:
    """Keep the collector from writing to the pages of what is loaded, since each one would be copied."""
    gc.collect()
    gc.freeze()


def main(memory_bytes: str) -> None:
    """Start serving. Errors before `reset_interpreter` go to standard error, which the host reads if READY is late."""
    control = socket.socket(fileno=os.dup(0))
    # Process 1 ignores every signal from inside that it has no handler for, SIGKILL included. Python installs one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.getuid() == 0:
        drop_root()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # ends with bwrap; setresuid has cleared what bwrap may have set
    prctl(PR_SET_DUMPABLE, 0)  # no ptrace, no /proc/1/mem, no pidfd_getfd
    reset_interpreter()
    ForkServer(control, int(memory_bytes)).serve()
