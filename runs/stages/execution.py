"""Execution of programs in the sandbox and of conversations, in sessions outside, and the attempts that they are."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

from lawtrace.environments.runtime.attempt_session import AttemptSession, Ended, replay
from lawtrace.environments.runtime.documentation import docstring
from lawtrace.environments.runtime.session import REFUSED_BY_SHIELD, CallGuard, Session
from lawtrace.environments.sandbox import (
    Clock,
    Program,
    Raised,
    Reply,
    Returned,
    Sandbox,
    SandboxLost,
    Toolset,
    ToolSignature,
)
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, encode_state
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt, Execution, Objection
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.tool_conversation import ToolConversation
from lawtrace.solver.guard.shield import Shields


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

    ``guarded``: a guard may refuse calls; programs then also have its exception.
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
    sandbox: Sandbox,
    environment: Environment,
    initial: State,
    source: str,
    variables: Mapping[str, Json],
    make_guard: Callable[[], CallGuard | None] = lambda: None,
    *,
    message: str | None = None,
) -> ProgramResult:
    """Run the program in the sandbox against the simulator, from the initial state (see `run_with_tools`).

    A guard may refuse calls; a refusal is an exception in the program, like those that the tools document. Each session
    needs its own guard. ``message``: the id of the message that has the program; every event keeps it.
    """
    program = Program(source, program_toolset(environment, guarded=make_guard() is not None), variables)
    execution, judge = run_with_tools(
        sandbox, program, lambda: _SimulatedTools(Session(environment, initial, make_guard()), message)
    )
    session = judge.session
    return ProgramResult(execution, tuple(session.events), session.state, session.end, tuple(session.objections))


def run_with_tools(
    sandbox: Sandbox, program: Program, begin: Callable[[], AnyToolHost]
) -> tuple[Execution, AnyToolHost]:
    """Run a program with a new host; return the execution and the host.

    If the sandbox dies while the program runs, the program runs once more from the start. If this happens again, the
    program is the cause: it counts as killed, so that it is not left out of the rates.
    Raises SandboxUnavailable if no sandbox can be started.
    """
    judge = begin()
    with suppress(SandboxLost):
        return sandbox.run(program, judge.answer, judge.clock), judge
    judge = begin()
    try:
        return sandbox.run(program, judge.answer, judge.clock), judge
    except SandboxLost:
        lost = "brought its sandbox down, twice"
        return Execution("killed", lost, None, None, "", calls=len(judge.events)), judge


def open_session(environment: Environment, task: Task, shield: ShieldMode, shields: Shields) -> Session:
    """A new session of a task. Raises InputError for a shield without the regulation that it cites."""
    return Session(environment, task.initial(environment), shields.open(task.rules, shield))


def attempt_of(answer: Answer, session: Session, ended: Ended, *, withdrawn: bool = False) -> Attempt:
    """The attempt of a session. Without calls there is nothing to judge, unless the user withdrew the request."""
    if not session.calls and not withdrawn:
        return Attempt(answer=answer)
    return Attempt(
        answer=answer,
        execution=Execution(ended.end, ended.reason, None, None, "", session.calls),
        events=tuple(session.events),
        end=session.end,
        objections=tuple(session.objections),
        final_state=encode_state(session.state, session.environment.entities),
    )


def attempt_so_far(attempt: AttemptSession, task: str, style: Style, model: str, shield: ShieldMode) -> Attempt:
    """The attempt of a session that is under way, of which only the calls are known."""
    answer = Answer(task=task, style=style, model=model, mode="tools", shield=shield, program=None, id=task)
    return attempt_of(answer, attempt.session, attempt.ended or Ended())


def execute_conversation(
    environment: Environment, task: Task, answer: Answer, conversation: ToolConversation, shields: Shields
) -> Attempt:
    """The attempt of a conversation in a new session, which gives the same events as the model's own."""
    session = open_session(environment, task, answer.shield, shields)
    replay(conversation, session)
    ended = Ended(conversation.end, conversation.reason)
    return attempt_of(answer, session, ended, withdrawn=conversation.withdrawal is not None)
