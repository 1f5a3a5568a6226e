"""The warm parent: forks, watches and reports."""

import _sitebuiltins
import builtins
import contextlib
import ctypes
import gc
import json
import os
import random
import re
import resource
import select
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import Any, cast

from .program_process import Hook, run_forked
from .tool_objects import ToolObjects
from .wire import NOBODY, READY, REPORT, RUN, read_frame

INODE_BYTES = 1024
WATCH_SECONDS = 0.05
POOL_BYTES, SMALLEST_OBJECT, LARGEST_OBJECT, EMPTY_BYTES = 2**14, 48, 512, sys.getsizeof(b"")
FILLERS: list[bytes] = []
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
LIBC = ctypes.CDLL(None, use_errno=True)

RESIDENT = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)
RESOURCES = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
SHARED = tuple(filter(os.path.exists, (*map("/proc/sysvipc/".__add__, ("msg", "sem", "shm")), "/proc/self/autogroup")))
"""What the kernel keeps for all processes of the jail: shared objects, and the priority of their session."""


class ForkServer:
    """Forks, watches and reports.

    Args:
        control: the socket to the host.
        memory_bytes: what the processes of a program may hold together.
        alone: whether process 1 and this one are all there is in the process namespace before a program starts.
        hooks: what a fork of the program's own is to do (see `__main__`).
    """

    def __init__(self, control: socket.socket, memory_bytes: int, hooks: Sequence[Hook], *, alone: bool) -> None:
        self._control = control
        self._memory_bytes = memory_bytes
        self._hooks = hooks
        self._alone = alone
        self._tools: ToolObjects | None = None

    def serve(self) -> None:
        """One program after the other, until the host hangs up."""
        before = self._condition()
        self._control.send(READY)
        while True:
            message, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
            if not message:
                return
            if message != RUN:
                continue  # a request to stop a program that has already been reported
            tools = self._tools_for(descriptors[0])
            program = os.fork()
            if program == 0:
                self._control.close()
                os._exit(run_forked(tools, descriptors[0], descriptors[1], self._hooks))
            for descriptor in descriptors:
                os.close(descriptor)
            within = self._watch(program)
            status = self._end(program)
            self._control.send(REPORT.pack(status, not within, self._condition() == before))

    def _tools_for(self, tool_socket: int) -> ToolObjects:
        """What the host wrote first: other tools than before, or nothing."""
        if offer := read_frame(tool_socket):
            gc.unfreeze()
            self._tools = ToolObjects(json.loads(offer))
            freeze_heap()
        assert self._tools is not None
        return self._tools

    def _watch(self, program: int) -> bool:
        """Until the program ends, the host says that it must, or it holds too much memory: then False."""
        handle = os.pidfd_open(program)
        try:
            while not select.select([self._control, handle], [], [], WATCH_SECONDS)[0]:
                if self._memory_held() > self._memory_bytes:
                    return False
            return True
        finally:
            os.close(handle)

    def _end(self, program: int) -> int:
        """End all that the program started, and whatever is left of itself; its wait status."""
        status = 0
        while True:
            with contextlib.suppress(ProcessLookupError):
                if self._alone:
                    os.kill(-1, signal.SIGKILL)  # in one stroke: no fork can slip through between
                for process in () if self._alone else self._others():
                    os.kill(process, signal.SIGKILL)
            try:
                ended, how = os.waitpid(-1, 0)
            except ChildProcessError:
                return status
            if ended == program:
                status = how

    def _others(self) -> Iterator[int]:
        """The processes of the program."""
        if self._alone:
            yield from {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}  # noqa: PTH208
            return
        known = [os.getpid()]
        for process in known:
            with contextlib.suppress(OSError):
                known += map(int, read(f"/proc/{process}/task/{process}/children").split())
        yield from known[1:]

    def _memory_held(self) -> int:
        """Bytes that all processes hold together, what a fork shares with its parent counted twice, and of /tmp."""
        held = 0
        for process in self._others():
            with contextlib.suppress(OSError):
                held += 1024 * sum(map(int, RESIDENT.findall(read(f"/proc/{process}/status"))))
        if self._alone:
            tmp = os.statvfs("/tmp")  # noqa: S108 - the jail's own
            held += (tmp.f_blocks - tmp.f_bfree) * tmp.f_frsize + (tmp.f_files - tmp.f_ffree) * INODE_BYTES
        return held

    def _condition(self) -> tuple[object, ...]:
        """Whatever a program could change for the next one; the change time of /tmp covers all that happens in it."""
        return (
            os.stat("/tmp").st_ctime_ns if self._alone else None,  # noqa: S108, PTH116 - the jail's own
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
    """A small file of /proc, without the layers of `open` that would cost every program."""
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
    """Give up being root, in a namespace that has a second user.

    When the host is root, the warm parent starts as root too, because only root may walk to an interpreter below a
    home directory; the user namespace maps one more user, and that is who programs are. It has to be another user in
    the kernel's eyes: RLIMIT_NPROC does not bind uid 0, whatever the namespace calls it.
    """
    # No user namespaces below this one, where a program would be root again and free to mount and to attack.
    write("/proc/sys/user/max_user_namespaces", b"0")
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def reset_interpreter() -> None:
    """What is the same for every program is done once: it should find what a new interpreter would have."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    cast("Any", sys.stdout).reconfigure(line_buffering=True)
    sys.argv = [""]
    for name, value in (("exit", sys.exit), ("quit", sys.exit), ("help", _sitebuiltins._Helper())):  # pyright: ignore[reportPrivateUsage]
        setattr(builtins, name, value)  # as `site` does, which the jail leaves out
    random.seed(0)  # the same program makes the same calls
    freeze_heap()


def freeze_heap() -> None:
    """Leave as little as can be that a program would write to: what it writes to is copied, page by page.

    Nothing is left to collect, and no gaps between our objects for those of a program to go into.
    """
    gc.collect()
    fill_heap_gaps()
    gc.freeze()


def fill_heap_gaps() -> None:
    """Fill the pools of small objects that are in use in part, so that a program's objects stand close together.

    CPython keeps objects of one size in a pool, sixteen bytes apart in size. When a row of neighbours as long as a
    pool has been handed out, there was no gap left.
    """
    for size in range(SMALLEST_OBJECT, LARGEST_OBJECT + 1, 16):
        row, last = 0, 0
        while row < POOL_BYTES // size - 2:  # a pool begins with a header
            filler = bytes(size - EMPTY_BYTES)
            row = row + 1 if id(filler) == last + size else 0
            last = id(filler)
            FILLERS.append(filler)


def main(hooks: Sequence[Hook], memory_bytes: str, alone: str) -> None:
    """What goes wrong before `reset_interpreter` is on standard error, which the host reads if no READY comes."""
    control = socket.socket(fileno=os.dup(0))
    # Process 1 ignores every signal from inside that it has no handler for, SIGKILL included. Python installs one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if alone == "alone":
        if os.getuid() == 0:
            drop_root()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # ends with bwrap; setresuid has cleared what bwrap may have set
    prctl(
        PR_SET_CHILD_SUBREAPER, 1
    )  # whom a program leaves behind becomes a child of this process, also if it is not 1
    prctl(PR_SET_DUMPABLE, 0)  # no ptrace, no /proc/1/mem, no pidfd_getfd
    reset_interpreter()
    ForkServer(control, int(memory_bytes), hooks, alone=alone == "alone").serve()
