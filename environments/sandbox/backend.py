"""Interface of sandbox backends. The protocol with the fork server inside is the same for all of them."""

import socket
from abc import abstractmethod
from pathlib import Path
from typing import IO, Protocol, Self

from lawtrace.environments.sandbox.program import Limits
from lawtrace.schemas.errors import OperationalError

INSIDE_FOLDER = Path(__file__).with_name("inside")

# -I is short for -E -P -s, but -E also ignores PYTHONHASHSEED. All environment variables are set below, so -E is not
# needed. -S leaves site-packages out: a program has the standard library, whatever the host has installed.
INTERPRETER_OPTIONS = ("-B", "-P", "-s", "-S", "-X", "utf8")

ENVIRONMENT_VARIABLES = {
    "PYTHONHASHSEED": "0",  # sets iterate in the same order, so the same program gives the same events
    "MALLOC_ARENA_MAX": "1",  # threads do not each reserve 64 MiB of the address space that RLIMIT_AS counts
    "LD_BIND_NOW": "1",  # the fork server resolves functions once, not each of its forks
    "HOME": "/tmp",  # noqa: S108 - inside the jail
}


class JailUnavailable(OperationalError):
    """The sandbox cannot be started here. The message says why and what to do."""

    @classmethod
    def because(cls, reason: str, remedy: str) -> Self:
        """Build the error from a reason and a remedy."""
        return cls(f"the jail cannot be started: {reason.strip().rstrip('.')}. {remedy} No program was run.")


class BackendProcess(Protocol):
    """Handle of the sandbox process on the host. `subprocess.Popen` implements it."""

    @abstractmethod
    def poll(self) -> int | None: ...

    @abstractmethod
    def wait(self, timeout: float | None = None) -> int: ...

    @abstractmethod
    def kill(self) -> None: ...


class Backend(Protocol):
    """A mechanism that isolates programs."""

    @property
    def sandbox(self) -> str:
        """Name on the command line and in the event log, as `choose_backend` reads it."""
        ...

    @property
    def counts_processes(self) -> bool:
        """Whether the kernel counts this sandbox's processes separately, so that RLIMIT_NPROC can limit them."""
        ...

    @abstractmethod
    def start(self, limits: Limits, control: socket.socket, errors: IO[bytes]) -> BackendProcess:
        """Start a fork server with ``control`` as its control socket and ``errors`` as its standard error. Raises
        JailUnavailable."""

    @abstractmethod
    def remedy(self) -> str:
        """What to do where the sandbox cannot be started, as far as this machine shows it."""
