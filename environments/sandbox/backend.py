"""What can stand around a warm parent. The protocol inside is the same whatever it is."""

import socket
from abc import abstractmethod
from pathlib import Path
from typing import IO, Protocol, Self

from lawtrace.environments.errors import OperationalError
from lawtrace.environments.sandbox.program import Limits

INSIDE_FOLDER = Path(__file__).with_name("inside")

# -I would be the short form of -E -P -s, but -E also ignores PYTHONHASHSEED. The environment is ours alone, so
# nothing is lost. -S leaves site-packages out: a program has the standard library, whatever the host has installed.
INTERPRETER_OPTIONS = ("-B", "-P", "-s", "-S", "-X", "utf8")

ENVIRONMENT_VARIABLES = {
    "PYTHONHASHSEED": "0",  # sets iterate in the same order each time: the same program gives the same events
    "MALLOC_ARENA_MAX": "1",  # threads do not each reserve 64 MiB of the address space that RLIMIT_AS counts
    "LD_BIND_NOW": "1",  # the warm parent looks functions up, and not each of its forks again
    "HOME": "/tmp",  # noqa: S108 - the jail's own
}


class JailUnavailable(OperationalError):
    """The walls cannot be built here; the message says why and what to do."""

    @classmethod
    def because(cls, reason: str, remedy: str) -> Self:
        """With what can be done about it."""
        return cls(f"the jail cannot be started: {reason.strip().rstrip('.')}. {remedy} Nothing was run without it.")


class BackendProcess(Protocol):
    """The process that stands for the jail on the host; `subprocess.Popen` is one."""

    @abstractmethod
    def poll(self) -> int | None: ...

    @abstractmethod
    def wait(self, timeout: float | None = None) -> int: ...

    @abstractmethod
    def kill(self) -> None: ...


class Backend(Protocol):
    """One way to shut programs in."""

    @property
    def sandbox(self) -> str:
        """How the command line and the record call it: what `choose_backend` reads."""
        ...

    @property
    def counts_processes(self) -> bool:
        """Whether the kernel counts the processes of a program's user apart from all others (RLIMIT_NPROC)."""
        ...

    @abstractmethod
    def start(self, limits: Limits, control: socket.socket, complaints: IO[bytes]) -> BackendProcess:
        """Start a warm parent, with ``control`` as its end of the control socket and ``complaints`` for what goes
        wrong. Raises JailUnavailable."""

    @abstractmethod
    def remedy(self) -> str:
        """What can be done where they cannot be built, as far as this machine shows it."""
