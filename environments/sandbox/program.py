"""Input and output of the sandbox, as plain values.

    Limits + Program (with its Toolset) + CallHandler + Clock  ->  Execution

The handler answers tool calls, and the clock has the time that the program sees. Both run on the host, outside the
sandbox, one call at a time.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Protocol, Self

from lawtrace.environments.sandbox.inside.wire import LAST_SECOND, frame
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

MINIMUM_MEMORY = 64 * 2**20
"""Bytes. CPython itself does not start with less."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one program.

    Attributes:
        seconds: wall clock time from start to end, measured by the host, with the time of the handler. Processor time
            is bounded a second later.
        memory_bytes: address space of each process, size of /tmp, and memory of all processes together (checked twenty
            times a second, so it may be exceeded for a moment).
        processes: processes and threads at once, the program itself included.
        output_bytes: kept standard output and error together; a program that prints more is ended.
        calls: tool calls; the next one ends the program unanswered. This also bounds the time that judging takes, which
            can grow faster than the number of calls.
        message_bytes: size of one call: its JSON, and a hundred bytes for each value in it (`inside.wire.size`).
        exchanged_bytes: size of all calls and their answers, measured in the same way, since the host keeps them; the
            next call after that ends the program unanswered.
    """

    seconds: float = 10.0
    memory_bytes: int = 512 * 2**20
    processes: int = 16
    output_bytes: int = 64 * 2**10
    calls: int = 2_000
    message_bytes: int = 2**20
    exchanged_bytes: int = 8 * 2**20

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise InputError(f"the limit {limit.name!r} of the sandbox must be greater than zero")
        if self.memory_bytes < MINIMUM_MEMORY:
            raise InputError(f"the limit 'memory_bytes' of the sandbox must be at least {MINIMUM_MEMORY}")


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """Signature and documentation of a tool, as `inspect.signature` and ``help()`` show them to a program.

    Attributes:
        parameters: their names in documented order. Positional arguments get these names; too many of them are a
            TypeError in the program. The handler checks everything else.
        required: the parameters that cannot be omitted.
        about: the text of ``help()``.
    """

    parameters: tuple[str, ...]
    required: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True, eq=False)
class Toolset:
    """The object with the tools that programs find. Reuse it for many programs: a worker caches the last one.

    Attributes:
        object_name: such as ``BankManager``.
        tools: by name.
        exceptions: names of the documented exceptions; each is a global class below ``ToolError``.
        about: the text of ``help()`` on the object.
        plain_results: results are plain dictionaries, without their fields as attributes.
    """

    object_name: str
    tools: Mapping[str, ToolSignature]
    exceptions: tuple[str, ...] = ()
    about: str = ""
    plain_results: bool = False

    @classmethod
    def untyped(
        cls,
        object_name: str,
        tools: Mapping[str, tuple[str, ...]],
        exceptions: tuple[str, ...] = (),
        *,
        plain_results: bool = False,
    ) -> Self:
        """Tools of which only the parameter names are known."""
        signatures = {name: ToolSignature(parameters, parameters) for name, parameters in tools.items()}
        return cls(object_name, signatures, exceptions, plain_results=plain_results)

    @cached_property
    def frame(self) -> bytes:
        """The frame that announces it to a worker (see `lawtrace.environments.sandbox.inside`)."""
        return frame(asdict(self))


@dataclass(frozen=True, slots=True)
class Program:
    """A program and its initial global names.

    Attributes:
        source: module-level Python; it runs as ``__main__``.
        tools: the object with the tools, and their exceptions.
        variables: further global names with JSON values.
    """

    source: str
    tools: Toolset
    variables: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Returned:
    """The tool returned this value."""

    value: Json


@dataclass(frozen=True, slots=True)
class Raised:
    """The tool raised an exception. An undocumented name is a built-in exception or a new subclass of ``ToolError``."""

    name: str
    message: str


Reply = Returned | Raised

CallHandler = Callable[[str, dict[str, Json]], Reply]
"""Answers one call: tool name and arguments by name. Both come from the program and may be any JSON."""


class Clock(Protocol):
    """The time that a program sees, in seconds since 1970."""

    @property
    def now(self) -> int: ...

    def advance_time(self, seconds: int) -> None:
        """The program paused, for example in `time.sleep`."""
        ...


@dataclass(slots=True)
class PauseClock:
    """A clock on which only pauses let time pass."""

    now: int = 0

    def advance_time(self, seconds: int) -> None:
        self.now = min(self.now + seconds, LAST_SECOND)
