"""One session of an agent with the tools: where every call of an attempt happens, whichever way it was made.

A program in the jail, an agent that calls tools turn by turn and a client of the tool server all end here, so the same
calls give the same events. State and events are the judge's; an agent gets answers to its calls and nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.simulation import INVALID_CALL, simulate_call
from lawtrace.environments.sandbox.protocol import parse_strictly
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State

REFUSED_BY_SHIELD = "RefusedByShieldException"
"""What an agent sees of a call that a guard did not let through."""


@dataclass(frozen=True, slots=True)
class Objection:
    """What a guard holds against a call, or against ending the session.

    Attributes:
        rules: the ids of the rules concerned.
        text: what the agent is told.
        refused: whether the call was not carried out.
        event: number (from 0) of the event it is about; None for the end of the session.
    """

    rules: tuple[str, ...]
    text: str
    refused: bool
    event: int | None = None


class CallGuard(Protocol):
    """Stands in front of the tools; `lawtrace.solver.shield.Shield` is the one there is."""

    def review(self, event: Event) -> Objection | None:
        """Asked about a call that was tried out and not committed: the event that would happen."""
        ...

    def open_duties(self) -> Objection | None:
        """What stands against ending the session now."""
        ...


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call. ``warning`` is told to the agent beside the result."""

    event: Event
    warning: str | None = None

    @property
    def text(self) -> str:
        """What an agent is told: the result as JSON, or the error."""
        told = self.event.error if self.event.error is not None else json.dumps(self.event.result, ensure_ascii=False)
        return told if self.warning is None else f"{told}\nWarning: {self.warning}"


class Session:
    """The simulator with the state it has come to and the events that happened on the way.

    Attributes:
        state: after the calls so far.
        events: one for each call, in order.
        objections: what the guard said, in order.
    """

    def __init__(self, environment: Environment, initial: State, guard: CallGuard | None = None) -> None:
        self.environment = environment
        self.state = initial
        self.events: list[Event] = []
        self.objections: list[Objection] = []
        self._guard = guard

    def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call, unless a guard stands against it. Total: no call makes it raise."""
        return self._settle(*simulate_call(self.environment, self.state, tool, arguments))

    def call_written(self, tool: str, arguments: str) -> CallResult:
        """The same for arguments as a model writes them: a JSON object as text; nothing at all stands for none.

        Text that is no such object is a rejected call, whose event has no arguments and says why.
        """
        try:
            parsed = parse_strictly(arguments) if arguments.strip() else {}
        except (ValueError, TypeError, RecursionError) as error:
            return self.reject(tool, f"the arguments are not strict JSON: {error}")
        if not isinstance(parsed, dict):
            return self.reject(tool, "the arguments are not a JSON object")
        return self.call(tool, parsed)

    def open_duties(self) -> Objection | None:
        """What the guard holds against ending here."""
        objection = self._guard.open_duties() if self._guard else None
        if objection is not None:
            self.objections.append(objection)
        return objection

    def reject(self, tool: str, reason: str) -> CallResult:
        """Take down a call that means nothing, without its arguments: nobody could say what they are."""
        return self._settle(Event(tool, {}, "rejected", None, f"{INVALID_CALL}: {reason}"), self.state)

    def _settle(self, event: Event, after: State) -> CallResult:
        """Let the guard look at what would happen, and commit it or not."""
        objection = self._guard.review(event) if self._guard else None
        if objection is None:
            self.state = after
            self.events.append(event)
            return CallResult(event)
        self.objections.append(replace(objection, event=len(self.events)))
        if objection.refused:
            event = Event(event.tool, event.arguments, "shielded", None, f"{REFUSED_BY_SHIELD}: {objection.text}")
            self.events.append(event)
            return CallResult(event)
        self.state = after
        self.events.append(event)
        return CallResult(event, objection.text)
