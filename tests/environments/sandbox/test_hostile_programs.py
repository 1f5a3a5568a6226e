"""Hostile programs: each ends with an execution, in time, and does not affect the next program."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from lawtrace.environments.sandbox import Limits, Program, Reply, Returned, Sandbox
from lawtrace.schemas.attempt_rows import Execution, ExecutionStatus
from lawtrace.schemas.events import Json
from tests.support.tiers import split_by_tier

Run = Callable[[str], Execution]

BEFORE = "Manager.Echo('before')\n"
"""Every attack first makes a normal call, which must be recorded."""

BY_HAND = """
import json, os, struct
def say(**message):
    body = json.dumps(message).encode()
    os.write(3, struct.pack("!I", len(body)) + body)
"""

LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
REFUSED = (
    LIBC
    + "r = libc.{call}\nraise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno())) if r < 0 else SystemExit"
)


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile program and what must hold.

    Attributes:
        statuses: possible statuses; several if the kernel decides.
        says: a part of the error line or of the output.
        calls: the number of calls after the first one; None for any number.
    """

    source: str
    statuses: ExecutionStatus | tuple[ExecutionStatus, ...]
    says: str = ""
    calls: int | None = 0


ATTACKS: dict[str, Attack] = {
    # --- time
    "endless loop": Attack("while True: pass", "time_limit", "longer than 1 seconds"),
    "a wait in real time": Attack("import select; select.select([], [], [], 60)", "time_limit"),
    "sleeping for ever": Attack("import time\nwhile True: time.sleep(60)", "time_limit"),
    "catching BaseException for ever": Attack(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass", "time_limit"
    ),
    "ignoring all signals": Attack(
        "import signal\nfor s in {*range(1, 32)} - {9, 19}: signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
        "time_limit",
    ),
    "stopping itself": Attack("import os; os.kill(os.getpid(), 19)", "time_limit"),
    "exit handler that never ends": Attack("import atexit, signal; atexit.register(signal.pause)", "time_limit"),
    "message that never ends": Attack(
        "class E(Exception):\n  def __str__(s):\n    while 1: pass\nraise E", "time_limit"
    ),
    "regular expression that never ends": Attack("import re; re.match('(a+)+$', 'a' * 60 + 'b')", "time_limit"),
    "integer that never ends": Attack("10 ** 10 ** 10", ("time_limit", "memory_limit")),
    "waiting on a lock of its own": Attack(
        "import threading; l = threading.Lock(); l.acquire(); l.acquire()", "time_limit"
    ),
    # --- memory
    "deep recursion": Attack("def f(): f()\nf()", "exception", "RecursionError"),
    "deep recursion without a limit": Attack(
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n  def __repr__(s): return repr(s)\nrepr(A())",
        ("killed", "memory_limit", "exception"),
    ),
    "source nested too deeply": Attack("(" * 10_000 + ")" * 10_000, ("syntax_error", "memory_limit"), calls=-1),
    "one large string": Attack("x = 'x' * 10**10", "memory_limit"),
    "many small lists": Attack("x = []\nwhile True: x = [x, [0] * 1000]", "memory_limit"),
    "memory of many processes": Attack(
        "import os, signal\nfor _ in range(6):\n  if os.fork() == 0: break\nx = b'x' * (60 * 2**20)\nsignal.pause()",
        "memory_limit",
        "together held more memory",
    ),
    "memory file": Attack("import os\nos.memfd_create('x')", "exception", "PermissionError"),
    "shared memory without a file": Attack(
        "import mmap\nx = mmap.mmap(-1, 100 * 2**20)\nwhile True: x.seek(0); x.write(bytes(10**6))", "time_limit"
    ),
    "shared memory segment": Attack(REFUSED.format(call="shmget(1234, 4096, 0o1666)"), "exception", "not permitted"),
    "message queue": Attack(REFUSED.format(call="mq_open(b'/x', 0o102, 0o666, None)"), "exception", "not permitted"),
    "filling /tmp": Attack(
        "for n in range(10**4): open(f'/tmp/{n}', 'wb').write(bytes(2**20))",
        ("exception", "time_limit", "memory_limit"),
    ),
    "exhausting inodes": Attack(
        "n = 0\nwhile True: open(f'/tmp/{n}', 'w').close(); n += 1", ("time_limit", "memory_limit")
    ),
    "a large file": Attack("open('/tmp/x', 'wb').write(bytes(64 * 2**20))", "exception", "OSError"),
    "descriptors": Attack("import os\nwhile True: os.pipe()", "exception", "Too many open files"),
    # --- processes and threads
    "fork bomb": Attack("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", "time_limit"),
    "fork bomb that replaces itself": Attack(
        "import os\nwhile True:\n  try:\n    if os.fork(): os._exit(0)\n  except OSError: pass",
        ("killed", "time_limit"),
    ),
    "threads": Attack(
        "import threading, signal\nwhile True: threading.Thread(target=signal.pause).start()",
        ("time_limit", "exception"),
    ),
    "SystemExit in a thread": Attack(
        "import threading, sys\nt = threading.Thread(target=sys.exit, args=(1,)); t.start(); t.join()", "finished"
    ),
    "os._exit in a thread": Attack(
        "import os, threading, signal\nthreading.Thread(target=os._exit, args=(0,)).start(); signal.pause()",
        "killed",
        "without its normal end",
    ),
    "daemon in the background": Attack(
        "import os, signal\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    while True: signal.pause()",
        "finished",
    ),
    "two programs from one": Attack("import os\nos.fork(); os.fork()\nprint(1)", "finished"),
    "zombies": Attack("import os\nfor _ in range(5):\n  if os.fork() == 0: os._exit(0)", "finished"),
    "killing everybody": Attack("import os; os.kill(-1, 9)", "exception", "ProcessLookupError"),
    "another program in its place": Attack(
        "import os, sys; os.execv(sys.executable, [sys.executable, '-S', '-c', 'while True: pass'])", "time_limit"
    ),
    # --- code that runs at exit
    "an exit handler that calls": Attack("import atexit; atexit.register(Manager.Echo, 'late')", "finished", calls=1),
    "an object that calls as it is thrown away": Attack(
        "class Late:\n  def __del__(s): Manager.Echo('late')\nlate = Late()", "finished"
    ),
    "a thread that calls for ever": Attack(
        "import threading\ndef call():\n  while True: Manager.Echo('again')\n"
        "threading.Thread(target=call, daemon=True).start()",
        "finished",
        calls=None,
    ),
    "a message that cannot be printed": Attack(
        "class E(Exception):\n  def __str__(s): return repr(s)\n  __repr__ = __str__\nraise E",
        "exception",
        "cannot be read",
    ),
    "an alarm that nobody heeds": Attack(
        "import signal; signal.setitimer(signal.ITIMER_REAL, 0.05)\nwhile True: pass", "killed", "SIGALRM"
    ),
    "a tracer in every frame": Attack(
        "import sys\ndef trace(*_): raise KeyError('traced')\nsys.settrace(trace)", ("killed", "exception")
    ),
    "a hook that refuses everything": Attack(
        "import sys\ndef hook(*_): raise KeyError('refused')\nsys.addaudithook(hook)",
        ("killed", "exception", "finished"),
    ),
    "other builtins": Attack(
        "import builtins\nfor n in ('isinstance', 'len', 'type', 'str', 'BaseException'): setattr(builtins, n, None)",
        ("killed", "exception", "finished", "output_limit"),
    ),
    "no modules": Attack("import sys; sys.modules.clear()", ("killed", "exception", "finished")),
    # --- output
    "a gigabyte printed": Attack("while True: print('x' * 10**6)", "output_limit", "more than 2000 bytes"),
    "a gigabyte without a line end": Attack(
        "import sys\nwhile True: sys.stdout.write('x' * 10**5)", ("output_limit", "memory_limit", "time_limit")
    ),
    "a gigabyte past Python": Attack("import os\nwhile True: os.write(2, b'x' * 10**5)", "output_limit"),
    "output from a child": Attack(
        "import os\nif os.fork() == 0:\n  while True: os.write(1, b'x' * 10**5)\nelse: os.wait()", "output_limit"
    ),
    "bytes that are no text": Attack("import os; os.write(1, bytes(range(256)))", "finished"),
    # --- leaving
    "os._exit(0)": Attack("import os; os._exit(0)", "killed", "without its normal end (exit status 0)"),
    "os._exit(1)": Attack("import os; os._exit(1)", "killed", "exit status 1"),
    "os.abort()": Attack("import os; os.abort()", "killed", "SIGABRT"),
    "its own death": Attack("import os; os.kill(os.getpid(), 9)", "killed", "SIGKILL"),
    "null pointer": Attack("import ctypes; ctypes.string_at(0)", "killed", "SIGSEGV"),
    "sys.exit(0)": Attack("import sys; sys.exit(0)", "finished"),
    "sys.exit with a reason": Attack("import sys; sys.exit('gave up')", "exception", "SystemExit: gave up"),
    "input()": Attack("input()", "exception", "EOFError"),
    # --- the tool pipe
    "closed descriptors": Attack("import os; os.closerange(0, 100)", ("killed", "exception")),
    "closed descriptors, then a call": Attack(
        "import os; os.closerange(0, 100); Manager.Echo()", ("killed", "exception")
    ),
    "raw bytes": Attack("import os; os.write(3, b'x' * 1000)", "killed", "broke the tool protocol"),
    "raw bytes, then a loop": Attack("import os; os.write(3, b'x' * 1000)\nwhile True: pass", "killed"),
    "raw bytes without end": Attack("import os\nwhile True: os.write(3, bytes(10**6))", "killed"),
    "half a message": Attack("import os; os.write(3, bytes([0, 0, 1, 0, 65])); os._exit(0)", "killed"),
    "no object": Attack(BY_HAND.replace("**message", "message") + "say([1, 2])", "killed", "neither a call"),
    "infinity": Attack(BY_HAND + "say(tool='Echo', arguments={'x': float('inf')})", "killed", "not strict JSON"),
    "a lone surrogate": Attack(BY_HAND + "say(tool='\\ud800', arguments={})", "killed", "not strict JSON"),
    "too many fields": Attack(BY_HAND + "say(tool='Echo', arguments={}, sure=True)", "killed"),
    "a call by hand": Attack(BY_HAND + "say(tool='Echo', arguments={'first': 'by hand'})", "finished", calls=1),
    "calls by hand, answers never taken": Attack(
        BY_HAND + "while True: say(tool='Echo', arguments={'x': 'x' * 10**5})", "time_limit", calls=None
    ),
    "a forged answer": Attack(  # it comes back to the host as a message of the program, which is neither call nor end
        BY_HAND + "say(returned={'success': True})", "killed", "neither a call nor an end"
    ),
    "a forged end, other exit status": Attack(
        BY_HAND + "say(end='finished', type=None, message=None, line=None); os._exit(1)", "killed", "exit status 1"
    ),
    "a forged end, then a call": Attack(
        BY_HAND + "say(end='finished', type=None, message=None, line=None); say(tool='Echo', arguments={})",
        "killed",
        "after the end",
    ),
    "an unknown end": Attack(BY_HAND + "say(end='passed', type=None, message=None, line=None); os._exit(0)", "killed"),
    "a descriptor for the host to close": Attack(
        "import socket\na, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [3, 4, 1])\n"
        "for n in (1, 3, 4):\n  try: socket.send_fds(socket.socket(fileno=n), [b'x'], [1])\n"
        "  except OSError as error: print(n, error.strerror)",
        "finished",
        "".join(f"{number} Socket operation on non-socket\n" for number in (1, 3, 4)),
    ),
    # --- arguments
    "a huge argument": Attack("Manager.Echo('x' * 2**20)", "exception", "larger than"),
    "a recursive argument": Attack("a = []; a.append(a); Manager.Echo(a)", "exception", "contains itself"),
    "NaN": Attack("Manager.Echo(float('nan'))", "exception", "not a JSON number"),
    "an infinity": Attack("Manager.Echo([-float('inf')])", "exception", "not a JSON number"),
    "no JSON value": Attack("Manager.Echo(object())", "exception", "not JSON serializable"),
    "a surrogate as argument": Attack("Manager.Echo('\\ud800')", "exception", "UnicodeEncodeError"),
    "a string that lies": Attack(
        "class S(str):\n  def encode(self, *a): return b''\nManager.Echo(S('\\ud800'))",
        ("exception", "finished"),
        calls=None,
    ),
    # --- the call handler
    "frames": Attack(
        "import sys\nf = sys._getframe(1)\nwhile f:\n  f.f_locals.clear(); f.f_globals.clear(); f = f.f_back",
        ("killed", "exception", "finished"),
    ),
    "searching memory for the judge": Attack(
        "import gc, sys\nprint([o for o in gc.get_objects() if type(o).__name__ in "
        "('Simulator', 'Monitor', 'Rule', 'Environment', 'State')], [m for m in sys.modules if m.startswith("
        "('environments', 'solver', 'runs', 'pydantic'))])",
        "finished",
        "[] []",
    ),
    "the garbage collector": Attack(
        "import gc, os\nfor o in gc.get_objects():\n"
        "  if type(o).__name__ == 'CallChannel': o._write = lambda data: os.write(99, data)\n"
        "Manager.Echo()",
        "killed",
        "without its normal end",
    ),
    "a patched tool": Attack("type(Manager).Echo = staticmethod(lambda *a: 'paid')\nManager.Echo(1)", "finished"),
    "a tool set on the object": Attack("Manager.Echo = print", "exception", "AttributeError"),
    # --- the fork server, and the next program
    "signals to the parent": Attack(
        "import os\nfor s in range(1, 65):\n  try: os.kill(1, s)\n  except OSError: pass", "finished"
    ),
    "memory of the parent": Attack("open('/proc/1/mem', 'r+b')", "exception", "PermissionError"),
    "descriptors of the parent": Attack("import os; os.listdir('/proc/1/fd')", "exception", "PermissionError"),
    "tracing the parent": Attack(REFUSED.format(call="ptrace(16, 1, 0, 0)"), "exception", "not permitted"),
    "reading the parent's memory": Attack(
        REFUSED.format(call="syscall(310 if os.uname().machine == 'x86_64' else 270, 1, 0, 0, 0, 0, 0)"),
        "exception",
        "not permitted",
    ),
    "taking the parent's descriptors": Attack(
        REFUSED.format(call="syscall(438, os.pidfd_open(1), 0, 0)"), "exception", "not permitted"
    ),
    "a stale shared file": Attack("open('/dev/shm/x', 'w').write('x')", "exception", "Error"),
    "limits of the parent": Attack(
        "import resource\nresource.prlimit(1, resource.RLIMIT_NOFILE, (4, 4))", "exception", "PermissionError"
    ),
    "its own limits, raised": Attack(
        "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000))", "exception", "ValueError"
    ),
    "priority of the parent": Attack("import os; os.setpriority(os.PRIO_PROCESS, 1, 19)", "finished"),
    "reading and writing of the parent": Attack(
        REFUSED.format(call="syscall(251 if os.uname().machine == 'x86_64' else 30, 1, os.getppid(), 24576)"),
        "exception",
        "not permitted",
    ),
    # After `exec` a process is dumpable, so it owns its files in /proc.
    "priority of the session": Attack(
        "import os, sys\ntry: open('/proc/self/autogroup')\nexcept OSError: os._exit(0)\n"
        'os.execv(sys.executable, [sys.executable, \'-c\', \'open("/proc/self/autogroup", "w").write("19")\'])',
        "killed",
    ),
    "the parent's processors": Attack("import os; os.sched_setaffinity(1, {0})", "finished"),
    # --- other sandboxes: all have the same devices and libraries
    "a lock on a device": Attack(
        "import fcntl; fcntl.flock(open('/dev/null'), fcntl.LOCK_EX)", "exception", "as it does locks of files"
    ),
    "a database in a file": Attack(
        "import sqlite3; sqlite3.connect('/tmp/x.db').execute('create table t(a)')", "exception", "works in memory"
    ),
    "a lock on a part of a library": Attack(
        "import fcntl, os; fcntl.lockf(open(os.__file__), fcntl.LOCK_SH)", "exception", "not permitted"
    ),
    "a watch on a library": Attack(
        LIBC + "import sys\nr = libc.inotify_add_watch(libc.inotify_init(), os.__file__.encode(), 1)\n"
        "raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno())) if r < 0 else SystemExit",
        "exception",
        "not permitted",
    ),
    "flags of the standard input": Attack(
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | 2048 | 1024)", "finished"
    ),
    "a full control socket": Attack(
        "import os\nfor n in range(64):\n  try: os.write(n, b'r')\n  except OSError: pass", ("killed", "exception")
    ),
    # --- the host
    "files of the host": Attack(f"open({str(Path(__file__).resolve())!r})", "exception", "FileNotFoundError"),
    "users of the host": Attack("open('/etc/passwd')", "exception", "FileNotFoundError"),
    "a symbolic link out": Attack(
        "import os; os.symlink('/proc/1/root/etc/passwd', '/tmp/x'); open('/tmp/x')", "exception", "Error"
    ),
    "writing to the interpreter": Attack(
        "import os\nopen(os.path.join(os.path.dirname(os.__file__), 'json', 'decoder.py'), 'a')", "exception", "Error"
    ),
    "writing to this file": Attack("open('/sandbox/inside/fork_server.py', 'r+')", "exception", "Error"),
    "writing to the root": Attack("open('/x', 'w')", "exception", "Error"),
    "settings of the kernel": Attack("open('/proc/sys/kernel/hostname', 'w')", "exception", "Error"),
    "its own address in memory": Attack("open('/proc/self/mem', 'r+b')", "exception", "PermissionError"),
    "its own score before the kernel": Attack(
        "open('/proc/self/oom_score_adj', 'w').write('-1000')", "exception", "Error"
    ),
    "raw memory": Attack("open('/dev/mem', 'rb')", "exception", "FileNotFoundError"),
    "mounting": Attack(REFUSED.format(call="mount(b'/', b'/tmp', None, 4096, None)"), "exception", "not permitted"),
    "a namespace of its own": Attack(REFUSED.format(call="unshare(0x10000000)"), "exception", "not permitted"),
    "a process in a namespace of its own": Attack(
        REFUSED.format(call="syscall(56 if os.uname().machine == 'x86_64' else 220, 0x10000011, 0, 0, 0, 0)"),
        "exception",
        "not permitted",
    ),
    "kernel programs": Attack(
        REFUSED.format(call="syscall(321 if os.uname().machine == 'x86_64' else 280, 0, 0, 0)"),
        "exception",
        "not permitted",
    ),
    "asynchronous system calls": Attack(REFUSED.format(call="syscall(425, 1, 0)"), "exception", "not permitted"),
    "keys of the kernel": Attack(
        REFUSED.format(call="syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 0)"),
        "exception",
        "not permitted",
    ),
    "becoming root": Attack("import os; os.setuid(0)", "exception", "not permitted"),
    # --- the network
    "a host of the network": Attack(
        "import socket; socket.create_connection(('1.1.1.1', 53), timeout=5)", "exception", "Error"
    ),
    "a service of this machine": Attack(
        "import socket; socket.create_connection(('127.0.0.1', 80), timeout=5)", "exception", "Error"
    ),
    "a name": Attack("import socket; socket.getaddrinfo('example.org', 80)", "exception", "gaierror"),
    "the machine around a virtual machine": Attack(
        "import socket; socket.socket(40, socket.SOCK_STREAM)", "exception", "Address family not supported"
    ),
    "the kernel's switchboard": Attack(
        "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", "exception", "Address family not supported"
    ),
    "raw packets": Attack(
        "import socket; socket.socket(2, socket.SOCK_RAW, 1)", "exception", "Address family not supported"
    ),
    "a port for the next program": Attack(
        "import socket; socket.create_server(('127.0.0.1', 8000))", "exception", "Address family not supported"
    ),
    "secrets in the environment": Attack(
        "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))",
        "finished",
        "['HOME', 'LD_BIND_NOW', 'MALLOC_ARENA_MAX', 'PWD', 'PYTHONHASHSEED']",
    ),
    "zone and language": Attack(
        "import time, locale; print(time.tzname, locale.getlocale()[0])", "finished", "('UTC', 'UTC')"
    ),
}


FINGERPRINT = """
import fcntl, glob, os, resource, socket, threading
print(sorted(p for p in os.listdir("/proc") if p.isdigit() and p != str(os.getpid())))
print(os.listdir("/tmp"), os.getcwd(), dict(os.environ), threading.active_count())
def is_open(number):
    try: return bool(os.fstat(number))
    except OSError: return False
print([number for number in range(64) if is_open(number)])
print([resource.getrlimit(n) for n in range(16)], os.nice(0), os.umask(0))
print([fcntl.fcntl(number, fcntl.F_GETFL) for number in range(5)])
print([len(open(f"/proc/sysvipc/{kind}").readlines()) for kind in ("shm", "sem", "msg")])
for path in glob.glob("/proc/self/autogroup"): print(open(path).read().partition(" ")[2])
print(Manager.Echo(1))
"""
"""A program that reports every observable trace of earlier programs."""


@lru_cache
def in_a_fresh_sandbox(limits: Limits, program: Callable[[str], Program]) -> str:
    with Sandbox(limits) as fresh:
        return fresh.run(program(FINGERPRINT), lambda _tool, arguments: Returned(arguments)).output


EVERYDAY = {
    "endless loop",
    "ignoring all signals",
    "integer that never ends",
    "deep recursion",
    "one large string",
    "memory of many processes",
    "shared memory segment",
    "a large file",
    "descriptors",
    "fork bomb",
    "os._exit in a thread",
    "daemon in the background",
    "killing everybody",
    "an exit handler that calls",
    "a message that cannot be printed",
    "a tracer in every frame",
    "other builtins",
    "a gigabyte printed",
    "output from a child",
    "os._exit(0)",
    "null pointer",
    "sys.exit(0)",
    "sys.exit with a reason",
    "input()",
    "closed descriptors, then a call",
    "raw bytes",
    "infinity",
    "a call by hand",
    "a forged answer",
    "a forged end, then a call",
    "a descriptor for the host to close",
    "a huge argument",
    "a recursive argument",
    "NaN",
    "searching memory for the judge",
    "a patched tool",
    "signals to the parent",
    "memory of the parent",
    "tracing the parent",
    "its own limits, raised",
    "files of the host",
    "a symbolic link out",
    "writing to the interpreter",
    "mounting",
    "a namespace of its own",
    "becoming root",
    "a host of the network",
    "a lock on a device",
    "flags of the standard input",
    "secrets in the environment",
}
"""One program of each kind for the fast tier; the slow tier has the variants."""


@pytest.mark.parametrize("name", split_by_tier(ATTACKS, EVERYDAY))
def test_a_hostile_program_ends_in_time_and_does_not_affect_the_next(
    sandbox: Sandbox, hasty: Sandbox, program: Callable[[str], Program], name: str
) -> None:
    attack = ATTACKS[name]
    statuses = (attack.statuses,) if isinstance(attack.statuses, str) else attack.statuses
    chosen = hasty if "time_limit" in statuses else sandbox
    calls: list[tuple[str, Json]] = []

    def witness(tool: str, arguments: dict[str, Json]) -> Reply:
        calls.append((tool, arguments.get("first")))
        return Returned(arguments)

    started = time.monotonic()
    execution = chosen.run(program(BEFORE + attack.source), witness)
    assert time.monotonic() - started < chosen.limits.seconds + 5
    assert execution.status in statuses, execution
    assert attack.says in (execution.error or "") + execution.output, execution
    assert execution.calls == len(calls)
    if attack.calls is not None:
        assert len(calls) == 1 + attack.calls
    assert calls[:1] == [("Echo", "before")][: len(calls)]
    assert chosen.run(program(FINGERPRINT), witness).output == in_a_fresh_sandbox(chosen.limits, program)


def test_a_fork_bomb_stays_within_its_processes(run: Run) -> None:
    """Also if the host user is root, for whom RLIMIT_NPROC does not apply."""
    source = """
import os, signal
count = 0
try:
    while count < 100:
        if os.fork() == 0:
            signal.pause()
        count += 1
except OSError:
    print(count)
"""
    assert run(source).output == "7\n"


def test_programs_are_not_root_and_have_no_capabilities(run: Run) -> None:
    execution = run("import os\nprint(os.getuid() != 0, [l for l in open('/proc/self/status') if l[:6] == 'CapEff'])")
    assert execution.output == "True ['CapEff:\\t0000000000000000\\n']\n"


def test_nothing_of_the_host_is_there(run: Run) -> None:
    here = Path(__file__).resolve()
    source = f"""
import glob, os, sys
print([os.path.exists(p) for p in {[str(here), "/etc/passwd", "/home", str(here.parents[3] / "pyproject.toml")]!r}])
print([p for p in ("/", "/dev", "/usr", "/sandbox", "/lib", "/proc", sys.prefix) if os.access(p, os.W_OK)])
"""
    lines = run(source).output.splitlines()
    assert lines == ["[False, False, False, False]", "[]"]


def test_only_the_files_of_the_interpreter_are_below_its_prefix(run: Run) -> None:
    """The prefix may be a home with keys in it."""
    prefix = Path(sys.base_prefix).resolve()
    source = f"""
import os, sys
for folder in ("", "lib", sys.platlibdir):
    print(sorted(name for name in os.listdir(os.path.join({str(prefix)!r}, folder)) if ".so" not in name))
print(os.path.isdir("/usr/local") and {not prefix.is_relative_to("/usr/local")})
print(os.listdir(os.path.join(os.path.dirname(os.__file__), "site-packages")))
"""
    whole, library, platform, local, packages = run(source).output.splitlines()
    if prefix != Path("/usr"):
        assert whole == "['bin', 'lib']"
        assert library == platform == f"['python{sys.version_info.major}.{sys.version_info.minor}']"
    assert (local, packages) == ("False", "[]")


def test_calls_from_a_forked_process_are_refused(run: Run) -> None:
    source = (
        "import os\nif os.fork() == 0:\n  try: Manager.Echo()\n  except RuntimeError: print('refused')\nelse: os.wait()"
    )
    execution = run(source)
    assert (execution.status, execution.output, execution.calls) == ("finished", "refused\n", 0)


def test_an_interrupted_call_does_not_shift_the_answers(sandbox: Sandbox, program: Callable[[str], Program]) -> None:
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

    execution = sandbox.run(program(source), slow)
    assert (execution.output, execution.error_type, execution.calls) == ("late\n", "RuntimeError", 1)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_stays_open_on_the_host(run: Run) -> None:
    run("x = 1")
    before = open_descriptors()
    for source in ("x = 1", "import os; os._exit(0)", "1 / 0", "open('/tmp/x', 'w')"):
        run(source)
    run("x = 1")
    assert open_descriptors() == before
