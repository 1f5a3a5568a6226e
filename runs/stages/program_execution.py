"""Execution of a program in the jail against a session outside, and the events that happened."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

from lawtrace.environments.runtime.documentation import docstring
from lawtrace.environments.runtime.session import REFUSED_BY_SHIELD, CallGuard, Session
from lawtrace.environments.sandbox import (
    Clock,
    Jail,
    JailLost,
    Program,
    Raised,
    Reply,
    Returned,
    Toolset,
    ToolSignature,
)
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.attempt_rows import Execution, Objection
from lawtrace.schemas.events import Event, Json


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended, its events, the final state, and the time at which its session ended."""

    execution: Execution
    events: tuple[Event, ...]
    final: State
    end: int
    objections: tuple[Objection, ...] = ()


class ToolHost(Protocol):
    """The host side of one run of a program: answers its calls, keeps the events and has the clock."""

    @property
    def events(self) -> list[Event]: ...

    @property
    def clock(self) -> Clock: ...

    def answer(self, tool: str, arguments: dict[str, Json]) -> Reply: ...


AnyToolHost = TypeVar("AnyToolHost", bound=ToolHost)


class _SimulatedTools:
    """Answers the calls of a program from a session."""

    def __init__(self, session: Session, message: str | None) -> None:
        self.session = session
        self._message = message

    @property
    def events(self) -> list[Event]:
        return self.session.events

    @property
    def clock(self) -> Clock:
        return self.session

    def answer(self, tool: str, arguments: dict[str, Json]) -> Reply:
        event = self.session.call(tool, arguments, self._message).event
        if event.error is not None:
            name, _, message = event.error.partition(": ")
            return Raised(name, message)
        return Returned(event.result)


@lru_cache(maxsize=64)
def program_toolset(environment: Environment, *, guarded: bool = False) -> Toolset:
    """The object with the tools of a program. Cached, so that each worker receives it once.

    Args:
        environment: the environment with the tools.
        guarded: whether a guard may refuse calls; programs then also have its exception.
    """
    signatures = {
        tool.name: ToolSignature(
            parameters=tuple(parameter.name for parameter in tool.parameters),
            required=tuple(parameter.name for parameter in tool.parameters if parameter.required),
            about=docstring(tool),
        )
        for tool in environment.tools.values()
    }
    exceptions = (*environment.exceptions, REFUSED_BY_SHIELD) if guarded else environment.exceptions
    return Toolset(environment.object_name, signatures, exceptions, environment.summary)


def run_program(
    jail: Jail,
    environment: Environment,
    initial: State,
    source: str,
    variables: Mapping[str, Json],
    make_guard: Callable[[], CallGuard | None] = lambda: None,
    *,
    message: str | None = None,
) -> ProgramResult:
    """Run the program in the jail against the simulator, from the initial state (see `run_with_tools`).

    A guard may refuse calls; a refusal is an exception in the program, like those that the tools document. Each session
    needs its own guard. ``message``: the id of the message that has the program; every event keeps it.
    """
    program = Program(source, program_toolset(environment, guarded=make_guard() is not None), variables)
    execution, judge = run_with_tools(
        jail, program, lambda: _SimulatedTools(Session(environment, initial, make_guard()), message)
    )
    session = judge.session
    return ProgramResult(execution, tuple(session.events), session.state, session.end, tuple(session.objections))


def run_with_tools(jail: Jail, program: Program, begin: Callable[[], AnyToolHost]) -> tuple[Execution, AnyToolHost]:
    """Run a program with a new host; return the execution and the host.

    If the jail dies while the program runs, the program runs once more from the start. If this happens again, the
    program is the cause: it counts as killed, so that it is not left out of the rates.
    Raises JailUnavailable if no jail can be started.
    """
    judge = begin()
    with suppress(JailLost):
        return jail.run(program, judge.answer, judge.clock), judge
    judge = begin()
    try:
        return jail.run(program, judge.answer, judge.clock), judge
    except JailLost:
        lost = "brought its jail down, twice"
        return Execution("killed", lost, None, None, "", calls=len(judge.events)), judge
