"""A session of an agent with the tools: every call of an attempt is executed here, in every mode.

A program in the sandbox, an agent that calls tools and a client of the tool server all use a session, so the same
calls give the same events. Agents get answers to their calls; they never see the state or the event list.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from lawtrace.environments.runtime.simulation import INVALID_CALL, call_duration, simulate_call, state_at
from lawtrace.environments.spec.clock import LAST_TIME
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.strict_json import parse_strict_json
from lawtrace.schemas.attempt_rows import Objection
from lawtrace.schemas.events import Event, Json, message_event

REFUSED_BY_SHIELD = "RefusedByShieldException"
"""The exception that an agent sees when a guard refuses its call."""
SESSION_ENDED = "SessionEndedError"
"""The error of a call after the end of the session."""
MAX_ARGUMENT_CHARACTERS = 1_000_000
MAX_NAME_CHARACTERS = 200


class CallGuard(Protocol):
    """Checks calls before they take effect. `solver.guard.shield.Shield` implements it."""

    def review(self, event: Event) -> Objection | None:
        """Check the event that the call would produce, before its effects are committed."""
        ...

    def note(self, event: Event) -> None:
        """Take notice of a message, which cannot be refused."""
        ...

    def open_duties(self) -> Objection | None:
        """Check whether the session may end now."""
        ...


@dataclass(frozen=True, slots=True)
class CallResult:
    """Event of a call, and the guard's warning for the agent if there is one."""

    event: Event
    warning: str | None = None

    @property
    def text(self) -> str:
        """What the agent is told: the result as JSON, or the error, then the warning."""
        told = self.event.error if self.event.error is not None else json.dumps(self.event.result, ensure_ascii=False)
        return told if self.warning is None else f"{told}\nWarning: {self.warning}"


class Session:
    """The simulator with its current state, the simulated time and the events so far.

    A call begins when the one before has ended. After the declared length of a session, calls are rejected.

    Every call takes an optional ``message``, the id of the message that made it; the event keeps it.

    Attributes:
        state: the state now, after the calls so far and what has happened without a call.
        events: one per call, and one per message of a dialogue, in order.
        calls: how many of the events are calls.
        objections: the guard's objections, in order.
        guard: what checks the calls, if there is one.
        now: the time at which the next call begins, in seconds since 1970.
    """

    def __init__(self, environment: Environment, initial: State, guard: CallGuard | None = None) -> None:
        self.environment = environment
        self.events: list[Event] = []
        self.calls = 0
        self.objections: list[Objection] = []
        self.now = environment.clock.start(initial)
        self._declared_end = environment.clock.end(initial)
        self.state = state_at(environment, initial, self.now)
        self.guard = guard

    @property
    def end(self) -> int:
        """When the session ends: its declared end, or the end of the last call if that is later."""
        return max(self._declared_end, self.now)

    def advance_time(self, seconds: int) -> None:
        """Let time pass without a call. Makes no event."""
        self.now = min(self.now + seconds, LAST_TIME)
        self.state = state_at(self.environment, self.state, min(self.now, self._declared_end))

    def call(self, tool: str, arguments: Mapping[str, Json], message: str | None = None) -> CallResult:
        """Execute one call unless the guard refuses it. Never raises."""
        if self.now >= self._declared_end:
            error = f"{SESSION_ENDED}: the session has ended; no more calls are possible"
            return self._review(Event(tool, dict(arguments), "rejected", None, error, self.now, message), self.state)
        event, after = simulate_call(self.environment, self.state, tool, arguments, self.now)
        return self._review(event if message is None else replace(event, message=message), after)

    def call_written(self, tool: str, arguments: str, message: str | None = None) -> CallResult:
        """Execute a call whose arguments are a JSON object as text; empty text means no arguments. Never raises.

        Any other text is a rejected call, whose event has no arguments and the reason as its error.
        """
        tool = tool[:MAX_NAME_CHARACTERS]
        try:
            read = parse_arguments(arguments)
        except ValueError as error:
            return self._review(
                Event(tool, {}, "rejected", None, f"{INVALID_CALL}: {error}", self.now, message), self.state
            )
        return self.call(tool, read, message)

    def say(self, speaker: str, text: str, message: str | None = None) -> None:
        """Record a message of the user or the agent. It takes no time and changes nothing."""
        event = message_event(speaker, text, self.now, message)
        if self.guard:
            self.guard.note(event)
        self.events.append(event)

    def open_duties(self) -> Objection | None:
        """The guard's objection to ending the session now."""
        objection = self.guard.open_duties() if self.guard else None
        if objection is not None:
            self.objections.append(objection)
        return objection

    def _review(self, event: Event, after: State) -> CallResult:
        """Append the event of a call and take over the state after it, unless the guard refuses it."""
        objection = self.guard.review(event) if self.guard else None
        if objection is not None:
            self.objections.append(replace(objection, event=len(self.events)))
            if objection.refused:
                error = f"{REFUSED_BY_SHIELD}: {objection.text}"
                event, after = replace(event, outcome="shielded", result=None, error=error), self.state
        self.state = after
        self.events.append(event)
        self.calls += 1
        self.advance_time(call_duration(self.environment, event))
        return CallResult(event, objection.text if objection is not None and not objection.refused else None)


def parse_arguments(text: str) -> dict[str, Json]:
    """The arguments of a call, written as a JSON object; empty text means none. Raises ValueError with the reason."""
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        raise ValueError(f"the arguments are longer than {MAX_ARGUMENT_CHARACTERS} characters")
    try:
        parsed = parse_strict_json(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the arguments are not strict JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ValueError("the arguments are not a JSON object")
    return parsed
