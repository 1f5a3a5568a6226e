"""Clusters of `ray start`, for tests: a head with a client port, and a node that may see none of the test's folders.

Each has ports and folders of its own, and ends with the block, so that tests run beside other clusters of the machine.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60.0
"""How long a node may take to start."""
_UP = "Ray runtime started"
_HIDDEN = 'mount -t tmpfs tmpfs "$0" && mkdir -p "$HOME" "$TMPDIR" && cd "$HOME" && exec "$@"'
"""Mounts an empty file system over the first argument and runs the others."""


def mount_namespace() -> Sequence[str]:
    """The start of a command that gets its own view of the file system."""
    return ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--mount")


def has_mount_namespaces(folder: Path) -> bool:
    """Whether this machine lets the test mount an empty file system over a folder, for another process."""
    command = [*mount_namespace(), "sh", "-c", 'mount -t tmpfs tmpfs "$0"', str(folder)]
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, timeout=SECONDS, check=False).returncode == 0
    return False


@dataclass(frozen=True, slots=True)
class RayNodes:
    """A running cluster.

    Attributes:
        address: what `--on` takes.
        environment: what a driver needs to be let in.
        process: of the node with cores.
        hides: whether a folder is hidden from the node.
    """

    address: str
    environment: Mapping[str, str]
    process: int
    hides: bool


@contextmanager
def ray_nodes(environment: Mapping[str, str], cores: int = 2, hidden: Path | None = None) -> Generator[RayNodes]:
    """A head without cores, and a node with some.

    Args:
        environment: of the nodes and their workers.
        hidden: a folder that is empty for the node, but for its home, which is its working directory.
    """
    with _one_at_a_time(), _started(environment, cores, hidden) as nodes:
        yield nodes


@contextmanager
def _one_at_a_time() -> Generator[None]:
    """Two heads that begin to serve a client at the same time may choose the same port for it."""
    with (Path(tempfile.gettempdir()) / f"lawtrace-ray-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _started(environment: Mapping[str, str], cores: int, hidden: Path | None) -> Generator[RayNodes]:
    marker, token = secrets.token_hex(8), secrets.token_hex(32)
    place = Path(tempfile.mkdtemp(prefix="ray"))  # short, since sockets are in it
    port, client_port = _free_ports(2)
    own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token, "LAWTRACE_TEST": marker}
    own |= {"RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "15"}  # sooner than the driver tries again
    own |= {"RAY_worker_niceness": "0"}  # else they wait for all else on the machine
    every = {**os.environ, **environment, **own}
    every.pop("RAY_ADDRESS", None)
    ray = str(Path(sys.executable).with_name("ray"))
    common = ("--block", "--node-ip-address=127.0.0.1", "--min-worker-port=0", "--max-worker-port=0")
    head = (
        "--head",
        f"--port={port}",
        f"--ray-client-server-port={client_port}",
        f"--temp-dir={place}",
        "--num-cpus=0",
    )
    node = [ray, "start", f"--address=127.0.0.1:{port}", f"--num-cpus={cores}", *common]
    begun: list[subprocess.Popen[bytes]] = []
    try:
        begun.append(
            _begin(
                [ray, "start", *head, "--num-cpus=0", "--include-dashboard=false", *common], every, place / "head.log"
            )
        )
        if hidden is not None:
            every |= {"HOME": str(hidden / "home"), "TMPDIR": str(hidden / "temporary")}
            node = [*mount_namespace(), "sh", "-c", _HIDDEN, str(hidden), *node]
        begun.append(_begin(node, every, place / "node.log"))
        yield RayNodes(f"ray://127.0.0.1:{client_port}", {"RAY_AUTH_TOKEN": token}, begun[-1].pid, hidden is not None)
    finally:
        deadline = time.monotonic() + SECONDS
        while processes(marker) and time.monotonic() < deadline:
            kill_all(marker)
            time.sleep(0.1)
        for one in begun:
            one.wait()
        shutil.rmtree(place, ignore_errors=True)


def processes(marker: str, begins: bytes = b"") -> list[int]:
    """The processes with a marker in their environment, and these bytes in their command."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if begins in (folder / "cmdline").read_bytes() and marker.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def kill_all(marker: str) -> None:
    """Kill the processes with a marker in their environment."""
    for pid in processes(marker):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _begin(command: Sequence[str], environment: Mapping[str, str], output: Path) -> subprocess.Popen[bytes]:
    """Start a node, and wait until it is up."""
    deadline = time.monotonic() + SECONDS
    with output.open("w") as file:
        node = subprocess.Popen(command, env=environment, stdout=file, stderr=file, cwd="/", start_new_session=True)
    while _UP not in (said := output.read_text(encoding="utf-8", errors="replace")):
        assert node.poll() is None, f"the node ended: {said}"
        assert time.monotonic() < deadline, f"the node did not start: {said}"
        time.sleep(0.1)
    return node
