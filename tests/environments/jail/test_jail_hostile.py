"""Hostile programs: each ends in an execution, in time, and leaves the next program nothing to notice."""

import errno
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from environments.events import Json
from environments.jail import Execution, ExecutionStatus, Jail, Program, Reply, Returned

Run = Callable[[str], Execution]

MESSAGE = """
import json, os, struct
def say(**message):
    body = json.dumps(message).encode()
    os.write(3, struct.pack("!I", len(body)) + body)
"""

HOSTILE: dict[str, tuple[str, set[ExecutionStatus]]] = {
    "endless loop": ("while True: pass", {"time_limit"}),
    "sleep": ("import time; time.sleep(60)", {"time_limit"}),
    "catches everything for ever": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        {"time_limit"},
    ),
    "ignores all signals": (
        "import signal\nfor s in {*range(1, 32)} - {9, 19}: signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
        {"time_limit"},
    ),
    "stops itself": ("import os; os.kill(os.getpid(), 19)", {"time_limit"}),
    "exit handler that never ends": ("import atexit, time; atexit.register(time.sleep, 60)", {"time_limit"}),
    "message that never ends": ("class E(Exception):\n  def __str__(s):\n    while 1: pass\nraise E", {"time_limit"}),
    "deep recursion": ("def f(): f()\nf()", {"exception"}),
    "deep recursion without a limit": (
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n  def __repr__(s): return repr(s)\nrepr(A())",
        {"killed", "memory_limit", "exception"},
    ),
    "source nested too deeply": ("(" * 10_000 + ")" * 10_000, {"syntax_error", "memory_limit"}),
    "one large string": ("x = 'x' * 10**10", {"memory_limit"}),
    "many small lists": ("x = []\nwhile True: x = [x, [0] * 1000]", {"memory_limit"}),
    "memory file": (
        "import os\nfd = os.memfd_create('x')\nwhile True: os.write(fd, b'x' * 2**20)",
        {"exception", "memory_limit"},
    ),
    "full /tmp": (
        "for n in range(10**4): open(f'/tmp/{n}', 'wb').write(bytes(2**20))",
        {"exception", "time_limit", "memory_limit"},
    ),
    "fork bomb": ("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", {"time_limit"}),
    "threads": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
        {"time_limit", "exception"},
    ),
    "a gigabyte printed": ("while True: print('x' * 10**6)", {"output_limit"}),
    "a gigabyte written by a child": ("import os\nwhile True: os.write(2, b'x' * 10**5)", {"output_limit"}),
    "os._exit(0)": ("import os; os._exit(0)", {"killed"}),
    "os._exit(1)": ("import os; os._exit(1)", {"killed"}),
    "own death": ("import os; os.kill(os.getpid(), 9)", {"killed"}),
    "null pointer": ("import ctypes; ctypes.string_at(0)", {"killed"}),
    "closed descriptors": ("import os; os.closerange(0, 100)", {"killed", "exception"}),
    "closed descriptors, then a call": ("import os; os.closerange(0, 100); Manager.Echo()", {"killed", "exception"}),
    "raw bytes": ("import os; os.write(3, b'x' * 1000)", {"killed"}),
    "raw bytes, then a loop": ("import os; os.write(3, b'x' * 1000)\nwhile True: pass", {"killed"}),
    "raw bytes without end": ("import os\nwhile True: os.write(3, bytes(10**6))", {"killed"}),
    "half a message": ("import os; os.write(3, bytes([0, 0, 1, 0, 65])); os._exit(0)", {"killed"}),
    "no object": (MESSAGE.replace("**message", "message") + "say([1, 2])", {"killed"}),
    "infinity": (MESSAGE + "say(tool='Echo', arguments={'x': float('inf')})", {"killed"}),
    "surrogates": (MESSAGE + "say(tool='\\ud800', arguments={})", {"killed"}),
    "too many fields": (MESSAGE + "say(tool='Echo', arguments={}, sure=True)", {"killed"}),
    "forged end, other exit status": (
        MESSAGE + "say(end='finished', type=None, message=None, line=None); os._exit(1)",
        {"killed"},
    ),
    "forged end, then a call": (
        MESSAGE + "say(end='finished', type=None, message=None, line=None); say(tool='Echo', arguments={})",
        {"killed"},
    ),
    "unknown end": (MESSAGE + "say(end='passed', type=None, message=None, line=None); os._exit(0)", {"killed"}),
    "answers never taken": (MESSAGE + "while True: say(tool='Echo', arguments={'x': 'x' * 10**5})", {"time_limit"}),
    "socket passed away": (
        "import socket, os\na, b = socket.socketpair()\ns = socket.socket(fileno=3)\n"
        "socket.send_fds(a, [b'x'], [3, 1])\nsocket.send_fds(s, [b'x'], [3, 1])",
        {"killed"},
    ),
    "signals to the parent": (
        "import os\nfor s in range(1, 65):\n  try: os.kill(1, s)\n  except OSError: pass",
        {"finished"},
    ),
    "tracing the parent": ("open('/proc/1/mem', 'r+b')", {"exception"}),
    "descriptors of the parent": ("import os; os.listdir('/proc/1/fd')", {"exception"}),
    "limits of the parent": (
        "import resource\nresource.prlimit(1, resource.RLIMIT_NOFILE, (4, 4))",
        {"finished", "killed", "exception"},
    ),
    "no processes for the parent": (
        "import resource\nresource.prlimit(1, resource.RLIMIT_AS, (1, 1))",
        {"finished", "killed"},
    ),
    "frames": (
        "import sys\nf = sys._getframe(1)\nwhile f:\n  f.f_locals.clear(); f.f_globals.clear(); f = f.f_back",
        {"killed", "exception", "finished"},
    ),
    "garbage collector": (
        "import gc, socket\nfor o in gc.get_objects():\n  if isinstance(o, socket.socket): o.close()\nManager.Echo()",
        {"exception", "killed", "finished"},
    ),
    "daemon": (
        "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    while True: time.sleep(1)",
        {"finished"},
    ),
    "forked program": ("import os\nos.fork(); os.fork()\nprint(1)", {"finished"}),
    "shared memory": ("import ctypes\nprint(ctypes.CDLL(None).shmget(1234, 4096, 0o1666) >= 0)", {"finished"}),
}


@pytest.fixture(scope="module")
def fingerprint() -> str:
    """A program that tells all it can notice of those before it."""
    return """
import glob, os, resource, socket, threading
print(sorted(p for p in os.listdir("/proc") if p.isdigit() and p != str(os.getpid())))
print(os.listdir("/tmp"), os.getcwd(), dict(os.environ), len(os.listdir("/proc/self/fd")), threading.active_count())
print([resource.getrlimit(n) for n in range(16)], os.nice(0), os.umask(0))
print([len(open(f"/proc/sysvipc/{kind}").readlines()) for kind in ("shm", "sem", "msg")])
print(Manager.Echo(1))
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_in_time_and_the_next_program_is_untouched(jail: Jail, run: Run, fingerprint: str, name: str) -> None:
    source, statuses = HOSTILE[name]
    started = time.monotonic()
    execution = run(source)
    assert time.monotonic() - started < 4
    assert execution.status in statuses, execution
    assert execution.died == (execution.status != "finished")
    with Jail(jail.limits) as fresh:
        expected = fresh.run(
            Program(fingerprint, "Manager", {"Echo": ("first",)}), lambda _tool, arguments: Returned(arguments)
        )
    assert run(fingerprint).output == expected.output


def test_a_fork_bomb_stays_within_its_processes(run: Run) -> None:
    """Also where the host is root, whom RLIMIT_NPROC would not bind."""
    source = """
import os, time
count = 0
try:
    while count < 100:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
except OSError:
    print(count)
"""
    assert run(source).output == "7\n"


def test_programs_are_not_root_and_have_no_capabilities(run: Run) -> None:
    execution = run("import os\nprint(os.getuid() != 0, [l for l in open('/proc/self/status') if l[:6] == 'CapEff'])")
    assert execution.output == "True ['CapEff:\\t0000000000000000\\n']\n"


def test_no_user_namespace_in_which_a_program_would_be_root_again(run: Run) -> None:
    source = (
        "import ctypes, errno\nc = ctypes.CDLL(None, use_errno=True)\nprint(c.unshare(0x10000000), ctypes.get_errno())"
    )
    assert run(source).output == f"-1 {errno.ENOSPC}\n"


def test_nothing_of_the_host_is_there(run: Run) -> None:
    here = Path(__file__).resolve()
    source = f"""
import glob, os, sys
print([os.path.exists(p) for p in {[str(here), "/etc/passwd", "/home", str(here.parents[3] / "pyproject.toml")]!r}])
print([p for p in ("/", "/dev", "/usr", "/jail", "/lib", "/proc", sys.prefix) if os.access(p, os.W_OK)])
print(sorted(set(os.environ) - set(["LC_CTYPE"])))  # which CPython sets by itself
"""
    lines = run(source).output.splitlines()
    assert lines == [
        "[False, False, False, False]",
        "[]",
        "['HOME', 'MALLOC_ARENA_MAX', 'PWD', 'PYTHONHASHSEED']",
    ]


@pytest.mark.parametrize("address", ["('127.0.0.1', 80)", "('1.1.1.1', 53)"])
def test_no_network(run: Run, address: str) -> None:
    execution = run(f"import socket\nsocket.create_connection({address}, timeout=5)")
    assert execution.status == "exception"
    assert execution.error_type in {"ConnectionRefusedError", "OSError"}


def test_a_patched_tool_deceives_only_the_program(run: Run) -> None:
    execution = run("type(Manager).Echo = staticmethod(lambda *a: 'paid')\nprint(Manager.Echo(1))")
    assert (execution.output, execution.calls) == ("paid\n", 0)
    assert run("Manager.Echo = print").error_type == "AttributeError"


def test_calls_from_a_forked_process_are_refused(run: Run) -> None:
    source = (
        "import os\nif os.fork() == 0:\n  try: Manager.Echo()\n  except RuntimeError: print('refused')\nelse: os.wait()"
    )
    execution = run(source)
    assert (execution.status, execution.output, execution.calls) == ("finished", "refused\n", 0)


def test_an_interrupted_call_does_not_shift_the_answers(jail: Jail, program: Callable[[str], Program]) -> None:
    source = """
import signal
def ring(*_): raise TimeoutError
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    Manager.Echo(1)
except TimeoutError:
    print("late")
Manager.Echo(2)
"""

    def slow(_tool: str, _arguments: dict[str, Json]) -> Reply:
        time.sleep(0.3)
        return Returned(None)

    execution = jail.run(program(source), slow)
    assert (execution.output, execution.error_type, execution.calls) == ("late\n", "RuntimeError", 1)


def test_descriptors_are_the_programs_own(run: Run) -> None:
    assert run("import os\nprint(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])").output == "[0, 1, 2, 3]\n"


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_stays_open_on_the_host(run: Run) -> None:
    run("x = 1")
    before = open_descriptors()
    for source in ("x = 1", "import os; os._exit(0)", "1 / 0", "open('/tmp/x', 'w')"):
        run(source)
    run("x = 1")
    assert open_descriptors() == before
