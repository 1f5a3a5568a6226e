"""What goes into the jail and what comes out: values, and nothing that runs.

    Limits + Program (with its Toolset) + CallHandler  ->  Execution

The handler is the judge's side of a tool call. It runs outside, on the host, one call at a time, and answers with
`Returned` or `Raised`.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Literal, Self

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox.inside.wire import frame

MINIMUM_MEMORY = 64 * 2**20
"""Below this CPython itself has no room, in bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use.

    Attributes:
        seconds: wall clock from start to end, measured by the host; the answers of the handler count too, so that
            a run can rely on it. Processor time is bounded a second later.
        memory_bytes: address space of each process of the program, the size of its /tmp, and what all of them
            together may hold (looked at twenty times a second, so for a moment it may be more).
        processes: processes and threads at once, the program itself included.
        output_bytes: what is kept of everything printed (standard output and error together); a program that prints
            more is ended.
        calls: tool calls; the next one ends the program unanswered.
        message_bytes: size of one call, as JSON.
        exchanged_bytes: size of all calls and their answers, as JSON, since the judge keeps them; the call after that
            ends the program unanswered.
    """

    seconds: float = 10.0
    memory_bytes: int = 512 * 2**20
    processes: int = 16
    output_bytes: int = 64 * 2**10
    calls: int = 20_000
    message_bytes: int = 2**20
    exchanged_bytes: int = 8 * 2**20

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise InputError(f"the limit {limit.name!r} of the jail must be greater than zero")
        if self.memory_bytes < MINIMUM_MEMORY:
            raise InputError(f"the limit 'memory_bytes' of the jail must be at least {MINIMUM_MEMORY}")


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """How a tool looks to a program: what `lint_declaration.signature`, its type hints and ``help()`` say.

    Attributes:
        parameters: by name, in documented order, the JSON Schema of each; an empty one says nothing of its type.
            Positional arguments are given these names; more of them than there are names is a TypeError in the
            program. All else is for the handler to judge.
        required: the parameters that cannot be left out.
        returns: the JSON Schema of what it returns.
        about: what ``help()`` says.
    """

    parameters: Mapping[str, Json]
    required: tuple[str, ...]
    returns: Mapping[str, Json] = field(default_factory=dict[str, Json])
    about: str = ""


@dataclass(frozen=True, eq=False)
class Toolset:
    """The one object that programs find, with its tools. Make it once for many programs: a worker keeps the last one.

    Attributes:
        object_name: such as ``BankManager``.
        tools: by name.
        exceptions: names of the documented exceptions; each is a global class below ``ToolError``.
        about: what ``help()`` says of the object.
        plain_results: results are dictionaries and no more, instead of having their fields as attributes too.
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
        """Tools of which the names of the parameters are known, and nothing else."""
        faces = {name: ToolSignature({one: {} for one in parameters}, parameters) for name, parameters in tools.items()}
        return cls(object_name, faces, exceptions, plain_results=plain_results)

    @cached_property
    def frame(self) -> bytes:
        """As a worker is told of it (see `lawtrace.environments.sandbox.inside`)."""
        return frame(asdict(self))


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the names that it finds when it starts.

    Attributes:
        source: module-level Python; it runs as ``__main__``.
        tools: the object with the tools, and their exceptions.
        variables: further globals, as JSON values.
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
    """The tool raised. A name that the program does not document becomes a fresh subclass of its ``ToolError``."""

    name: str
    message: str


Reply = Returned | Raised

CallHandler = Callable[[str, dict[str, Json]], Reply]
"""Answers one call: tool name and arguments by name. Both come from the program and may be anything that is JSON."""

ExecutionStatus = Literal[
    "finished",
    "syntax_error",
    "exception",
    "time_limit",
    "memory_limit",
    "output_limit",
    "call_limit",
    "killed",
    "turn_limit",
    "token_limit",
]
"""How an attempt ended. ``killed``: by a signal, without its normal end, or because it broke the tool protocol. A
program ends in one of the first eight; an agent that calls tools turn by turn finishes or meets a limit."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How one program ran. No clock in it: the same program and the same answers give the same execution.

    Attributes:
        status: how it ended.
        error: one line that says why, such as ``KeyError: 'accounts'``; None if it finished. Memory addresses are
            left out of it and of the output, since they differ from run to run.
        error_type: the class of the uncaught exception, if one ended it.
        line: the line of the program where that happened, counted from 1.
        output: what it printed, up to the limit.
        calls: how many calls the handler was asked to answer.
    """

    status: ExecutionStatus
    error: str | None
    error_type: str | None
    line: int | None
    output: str
    calls: int

    @property
    def died(self) -> bool:
        """A program that died has not reached its goal, whatever state it left."""
        return self.status != "finished"
