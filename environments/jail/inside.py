"""What runs inside the jail: a warm process that forks once for every program.

This file is bound into the jail and started there as a script. It is therefore a single file, needs nothing but the
standard library, and can be read by itself. The host imports it too, for the constants and the definition of JSON
that both sides share; nothing runs on import.

Two processes, two kinds of trust:

- The *warm parent* holds the control socket to the host, never parses a byte that a program wrote, and reports how
  each program ended: the wait status from the kernel. Not dumpable, it can be neither traced nor read by a program,
  even one that runs under the same user; as process 1 of its namespace, it cannot be killed either.
- The *program* is a fork that closes every descriptor but its own socket and output pipe. Whatever it does to this
  file's functions and objects, it does to its own copy; the host believes nothing that it says without checking.

Frames on a program's socket, both ways: four bytes of length (big-endian), then one JSON object in UTF-8.

    host -> program   its source, what it finds, its limits (see `conversation.py`)             once, first
    program -> host   {"tool": str, "arguments": object}                                        each call
    host -> program   {"returned": value} or {"raised": [name, message]}                        its answer
    program -> host   {"end": str, "type": str|null, "message": str|null, "line": int|null}     once, last
"""

import _sitebuiltins
import atexit
import builtins
import contextlib
import ctypes
import difflib
import gc
import importlib
import json
import math
import os
import random
import re
import resource
import select
import signal
import socket
import struct
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, cast

HEADER = struct.Struct("!I")
"""Precedes each frame: the length of what follows, in bytes."""

REPORT = struct.Struct("!i??")
"""Warm parent -> host after each program: its wait status; whether its processes together held more memory than
allowed and were ended for it; whether the jail is as it was before."""

READY, RUN, STOP = b"r", b"+", b"-"
"""Warm parent -> host, once: programs may come. Host -> warm parent: a program, with its two descriptors; end it."""

ENDINGS = ("finished", "exception", "syntax_error", "memory_limit")
"""How a program can say that it ended; the index is its exit status, and the two must agree to be believed."""

DEPTH = 64
"""How deep an argument may be nested, in levels."""

NOBODY = 65534
"""The user and group that programs run as when the host is root."""

TOOL_SOCKET = 3
PROGRAM_FILE = "<program>"
FILE_BYTES = 16 * 2**20
OPEN_FILES = 64
LAST_WORDS = 32 * 2**20
INODE_BYTES = 1024
WATCH_SECONDS = 0.05
MESSAGE_CHARACTERS = 500
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
LIBC = ctypes.CDLL(None, use_errno=True)

RESIDENT = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)
RESOURCES = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
SHARED_OBJECTS = tuple(filter(os.path.exists, map("/proc/sysvipc/".__add__, ("msg", "sem", "shm"))))

PRELOADED = ("collections", "dataclasses", "datetime", "decimal", "itertools", "logging", "typing", "uuid")
"""Modules that programs like to import: loaded once in the warm parent instead of once in each program."""


# --- JSON, as both sides understand it ------------------------------------------------------------------------------


def require_json(value: object, depth: int = DEPTH) -> None:
    """Raise TypeError or ValueError unless ``value`` survives the way through JSON as what it is.

    Stricter than `json.dumps`, which writes NaN, turns keys into strings and lets lone surrogates pass.
    """
    if depth < 0:
        raise ValueError(f"the value is nested deeper than {DEPTH} levels, or contains itself")
    match value:
        case None | bool() | int():
            pass
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is not a JSON number")
        case str():
            value.encode()  # a lone surrogate is a UnicodeEncodeError, which is a ValueError
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                require_json(item, depth - 1)
        case dict():
            for key, item in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    raise TypeError(f"keys must be strings, not {type(key).__name__}")
                key.encode()
                require_json(item, depth - 1)
        case _:
            raise TypeError(f"a value of type {type(value).__name__} is not JSON serializable")


def frame(message: Mapping[str, object]) -> bytes:
    """One message as it travels. Strict on purpose: NaN and lone surrogates raise ValueError."""
    body = ENCODER.encode(message).encode()
    return HEADER.pack(len(body)) + body


# --- The program: what it sees, how it runs -------------------------------------------------------------------------


class Channel:
    """The program's end of its socket: one question, one answer."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._in_doubt = False
        self.message_bytes = 2**32 - 1

    def receive(self) -> dict[str, Any]:
        (length,) = HEADER.unpack(self._read(HEADER.size))
        return json.loads(self._read(length))

    def ask(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Send one message and wait for its answer; threads take turns."""
        data = frame(message)
        if len(data) - HEADER.size > self.message_bytes:
            raise ValueError(f"the arguments are larger than {self.message_bytes} bytes")
        if os.getpid() != self._owner:
            raise RuntimeError("tools can only be called from the process that the program started in")
        with self._lock:
            if self._in_doubt:
                raise RuntimeError("an earlier call was interrupted before its answer arrived")
            # A signal handler of the program may raise anywhere below; the next answer would then be the wrong one.
            self._in_doubt = True
            self._write(data)
            answer = self.receive()
            self._in_doubt = False
            return answer

    def close(self, message: Mapping[str, object]) -> None:
        """Say the last word. The lock is kept, so that no daemon thread can speak after it."""
        if os.getpid() == self._owner:
            self._lock.acquire()
            self._write(frame(message))

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = os.read(self._descriptor, count - len(data))
            if not part:
                raise ConnectionError("the judge has hung up")
            data += part
        return data


class ToolError(Exception):
    """Base of everything that a tool raises."""


class Result(dict[str, Any]):
    """What a tool returned: a dictionary, whose fields can be read as attributes too."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(map(repr, self)) or "none"
            raise AttributeError(f"the result has no field {name!r}; it has {fields}", name=name, obj=self) from None

    @classmethod
    def of(cls, value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
        """The same value with each object in it, at any depth, as a result."""
        match value:
            case dict():
                return cls({name: cls.of(part) for name, part in cast("dict[str, Any]", value).items()})
            case list():
                return [cls.of(part) for part in cast("list[Any]", value)]
            case _:
                return value


class Toolbox:
    """The base of the one object that a program is given; its tools are attributes of a subclass made for it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self)
        tools = [tool for tool in vars(kind) if not tool.startswith("_")]
        nearest = difflib.get_close_matches(name, tools, n=1, cutoff=0.0)
        hint = f"; the nearest is {nearest[0]!r}" if nearest and not name.startswith("__") else ""
        raise AttributeError(f"{kind.__name__!r} has no tool {name!r}{hint}", name=name, obj=self)


def make_tool(name: str, parameters: Sequence[str], about: str, call: Callable[..., object]) -> object:
    """A function that maps positional arguments to their names, as Python would, and leaves the rest to the judge."""

    def tool(*positional: object, **arguments: object) -> object:
        if len(positional) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} positional arguments but {len(positional)} were given")
        named = dict(zip(parameters, positional, strict=False))
        for parameter in named.keys() & arguments.keys():
            raise TypeError(f"{name}() got multiple values for argument {parameter!r}")
        return call(name, named | arguments)

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = about
    return staticmethod(tool)


def build_globals(program: Mapping[str, Any], channel: Channel) -> dict[str, Any]:
    """The names that the program starts with: the tool object, the exceptions, the variables."""
    exceptions = {name: type(name, (ToolError,), {"__module__": "__main__"}) for name in program["exceptions"]}

    def call(tool: str, arguments: dict[str, object]) -> object:
        require_json(arguments)
        answer = channel.ask({"tool": tool, "arguments": arguments})
        if "raised" not in answer:
            return answer["returned"] if program["plain_results"] else Result.of(answer["returned"])
        name, message = answer["raised"]
        error = exceptions.get(name) or type(name, (ToolError,), {"__module__": "__main__"})
        raise error(message)

    name = program["object_name"]
    tools = {tool: make_tool(tool, names, about, call) for tool, (names, about) in program["tools"].items()}
    toolbox = type(name, (Toolbox,), {"__slots__": (), "__doc__": program["about"], **tools})
    return {"ToolError": ToolError, name: toolbox(), **exceptions, **program["variables"]}


def describe(error: BaseException) -> dict[str, Any]:
    """What the program says of its own death: type, first line of the message, the last of its lines involved."""
    try:
        message = str(error).strip()
    except BaseException:  # noqa: BLE001 - the program's own __str__ may do anything
        message = "(its message cannot be read)"
    line: int | None = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM_FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    text = (message.splitlines() or [""])[0][:MESSAGE_CHARACTERS]
    text = text.encode("utf-8", "backslashreplace").decode()
    return {"type": type(error).__name__, "message": text, "line": line}


def execute(source: str, names: dict[str, Any]) -> tuple[str, BaseException | None]:
    """Run the program as ``__main__`` to its very end: its threads and exit handlers belong to it."""
    try:
        code = compile(source, PROGRAM_FILE, "exec", dont_inherit=True)
    except MemoryError as error:
        return "memory_limit", error
    except Exception as error:  # noqa: BLE001 - SyntaxError mostly, but also null bytes or too deep an expression
        return "syntax_error", error
    main = types.ModuleType("__main__")
    vars(main).update(names)
    sys.modules["__main__"] = main
    try:
        try:
            exec(code, vars(main))  # noqa: S102 - the one purpose of this file
        finally:
            for thread in threading.enumerate():
                if thread is not threading.current_thread() and not thread.daemon:
                    thread.join()
            atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] - as multiprocessing ends its own processes
    except SystemExit as error:
        return ("finished", None) if error.code in (None, 0) else ("exception", error)
    except MemoryError as error:
        return "memory_limit", error
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is data for the judge
        return "exception", error
    return "finished", None


def limit_self(limits: Mapping[str, Any]) -> None:
    """Bound this process and all that it starts. The host's wall clock comes first; these are what holds behind it."""

    def limit(kind: int, soft: int, spare: int = 0) -> None:
        _, ceiling = resource.getrlimit(kind)
        hard = soft + spare if ceiling == resource.RLIM_INFINITY else min(soft + spare, ceiling)
        resource.setrlimit(kind, (min(soft, hard), hard))

    limit(resource.RLIMIT_CPU, limits["seconds"] + 1, spare=1)
    limit(resource.RLIMIT_AS, limits["memory_bytes"], spare=LAST_WORDS)
    if limits["processes"] is not None:  # None: where this user has other processes, which would be counted too
        limit(resource.RLIMIT_NPROC, limits["processes"] + 1)  # the warm parent is counted with them
    limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_MSGQUEUE, 0)  # queues would outlive the program


def live(tool_socket: int, output: int) -> int:
    """The whole life of a program, from the fork on; returns its exit status (an index into `ENDINGS`)."""
    isolate(tool_socket, output)
    channel = Channel(TOOL_SOCKET)
    program = channel.receive()
    limit_self(program["limits"])
    channel.message_bytes = program["limits"]["message_bytes"]
    ending, error = execute(program["source"], build_globals(program, channel))
    if ending == "memory_limit":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # room for the last words
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the program may have closed or replaced it
            stream.flush()
    words = describe(error) if error else {"type": None, "message": None, "line": None}
    channel.close({"end": ending, **words})
    return ENDINGS.index(ending)


def isolate(tool_socket: int, output: int) -> None:
    """Leave the fork with its own descriptors and nothing else."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(tool_socket, TOOL_SOCKET)
    os.set_inheritable(TOOL_SOCKET, False)
    os.closerange(TOOL_SOCKET + 1, os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed(0)  # the same program makes the same calls


# --- The warm parent ------------------------------------------------------------------------------------------------


class WarmParent:
    """Forks, watches and reports.

    Args:
        control: the socket to the host.
        memory_bytes: what the processes of a program may hold together.
        alone: whether process 1 and this one are all there is in the process namespace before a program starts.
    """

    def __init__(self, control: socket.socket, memory_bytes: int, *, alone: bool) -> None:
        self._control = control
        self._memory_bytes = memory_bytes
        self._alone = alone

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
            program = os.fork()
            if program == 0:
                self._control.close()
                os._exit(live(*descriptors))
            for descriptor in descriptors:
                os.close(descriptor)
            within = self._watch(program)
            status = self._end(program)
            self._control.send(REPORT.pack(status, not within, self._condition() == before))

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
        with contextlib.suppress(ChildProcessError):
            while True:
                with contextlib.suppress(ProcessLookupError):
                    if self._alone:
                        os.kill(-1, signal.SIGKILL)  # in one stroke: no fork can slip through between
                    for process in () if self._alone else self._others():
                        os.kill(process, signal.SIGKILL)
                ended, how = os.waitpid(-1, 0)
                if ended == program:
                    status = how
        return status

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
            *map(read, SHARED_OBJECTS),
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


def become_nobody() -> None:
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


def look_fresh() -> None:
    """What is the same for every program is done once: it should find what a new interpreter would have."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    cast("Any", sys.stdout).reconfigure(line_buffering=True)
    sys.argv = [""]
    for name, value in (("exit", sys.exit), ("quit", sys.exit), ("help", _sitebuiltins._Helper())):  # pyright: ignore[reportPrivateUsage]
        setattr(builtins, name, value)  # as `site` does, which the jail leaves out
    for module in PRELOADED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()


def main(memory_bytes: str, alone: str) -> None:
    """What goes wrong before `look_fresh` is on standard error, which the host reads if no READY comes."""
    control = socket.socket(fileno=os.dup(0))
    # Process 1 ignores every signal from inside that it has no handler for, SIGKILL included. Python installs one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if alone == "alone":
        if os.getuid() == 0:
            become_nobody()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # ends with bwrap; setresuid has cleared what bwrap may have set
    prctl(
        PR_SET_CHILD_SUBREAPER, 1
    )  # whom a program leaves behind becomes a child of this process, also if it is not 1
    prctl(PR_SET_DUMPABLE, 0)  # no ptrace, no /proc/1/mem, no pidfd_getfd
    look_fresh()
    WarmParent(control, int(memory_bytes), alone=alone == "alone").serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
