"""The docker backend, for machines on which bubblewrap cannot run."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lawtrace.environments.sandbox.backend import (
    ENVIRONMENT_VARIABLES,
    INSIDE_FOLDER,
    INTERPRETER_OPTIONS,
    BackendProcess,
    JailUnavailable,
)
from lawtrace.environments.sandbox.inside.wire import NOBODY
from lawtrace.environments.sandbox.program import Limits
from lawtrace.environments.sandbox.stdio_bridge import StdioBridge

DEFAULT_IMAGE = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
"""The language version of the host, since it decides whether a program parses."""

BRIDGE_FILE = Path(__file__).with_name("stdio_bridge.py")
CONTAINER_OVERHEAD_BYTES = 2**27
"""Memory of the container beyond that of a program: interpreter, fork server and bridge."""


@dataclass(frozen=True, slots=True)
class Docker:
    """Programs run in a container of an image with Python. The daemon and its defaults are trusted.

    The stdio bridge is process 1 of the container, which a program cannot kill. The fork server is process 2, which it
    can kill; that ends the container and counts as bringing the jail down.
    """

    image: str = DEFAULT_IMAGE
    python: str = "python3"
    counts_processes: bool = field(default=False, init=False)
    """All containers of a machine share the user, so --pids-limit counts instead."""

    @property
    def sandbox(self) -> str:
        return f"docker:{self.image}"

    def start(self, limits: Limits, control: socket.socket, errors: IO[bytes]) -> BackendProcess:
        """Start a container, and a thread that connects its streams with ``control``."""
        client = shutil.which("docker")
        if client is None:
            raise JailUnavailable.because("the docker command was not found", self.remedy())
        name = f"lawtrace-{uuid.uuid4().hex}"
        try:
            process = subprocess.Popen(  # noqa: S603 - the command is ours
                [client, *self.command(limits, name)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise JailUnavailable.because(str(error), self.remedy()) from error
        assert process.stdin is not None
        assert process.stdout is not None
        streams = os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno())
        process.stdin.close()
        process.stdout.close()
        bridge = StdioBridge(control.dup(), *streams, inside=False)
        threading.Thread(target=bridge.run, daemon=True).start()
        return _Container(client, name, process)

    def remedy(self) -> str:
        """How to make docker available."""
        fetch = f"docker pull {self.image}"
        return f"Install docker, start its daemon (docker info must answer), and fetch the image ({fetch})."

    def command(self, limits: Limits, name: str) -> list[str]:
        """Arguments of the docker command: forbid everything, then allow what a program needs."""
        memory = str(limits.memory_bytes + CONTAINER_OVERHEAD_BYTES)
        inside, bridge = "/jail/inside", "/jail/stdio_bridge.py"
        interpreter = (self.python, *INTERPRETER_OPTIONS)
        return [
            *("run", "--rm", "--pull", "never", "--interactive", "--name", name, "--log-driver", "none"),
            *("--network", "none", "--ipc", "none", "--read-only"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", f"{NOBODY}:{NOBODY}"),
            *("--memory", memory, "--memory-swap", memory),
            *("--pids-limit", str(limits.processes + 4)),  # the bridge with its threads, and the fork server
            *("--tmpfs", f"/tmp:rw,nosuid,nodev,mode=1777,size={limits.memory_bytes}", "--workdir", "/tmp"),  # noqa: S108
            *(part for setting in ENVIRONMENT_VARIABLES.items() for part in ("--env", "=".join(setting))),
            *("--mount", f"type=bind,source={INSIDE_FOLDER},target={inside},readonly"),
            *("--mount", f"type=bind,source={BRIDGE_FILE},target={bridge},readonly"),
            *("--entrypoint", interpreter[0], self.image, *interpreter[1:], bridge),
            *(*interpreter, inside, str(limits.memory_bytes)),
        ]


@dataclass(frozen=True, slots=True)
class _Container:
    """A running container. Killing only its client would leave it running."""

    client: str
    name: str
    process: subprocess.Popen[bytes]

    def poll(self) -> int | None:
        return self.process.poll()

    def wait(self, timeout: float | None = None) -> int:
        return self.process.wait(timeout)

    def kill(self) -> None:
        subprocess.run([self.client, "kill", self.name], capture_output=True, check=False)  # noqa: S603
        self.process.kill()
