"""One session of an agent with the tools: where every call of an attempt happens, whichever way it was made.

A program in the jail, an agent that calls tools turn by turn and a client of the tool server all end here, so the same
calls give the same events. State and events are the judge's; an agent gets answers to its calls and nothing else.
"""

import json

from environments.declaration import Environment
from environments.events import Event, Json
from environments.jail.protocol import parse_strictly
from environments.simulation import INVALID_CALL, call
from environments.state import State

__all__ = ["Session", "answer_text"]


class Session:
    """The simulator with the state it has come to and the events that happened on the way.

    Attributes:
        state: after the calls so far.
        events: one for each call, in order.
    """

    def __init__(self, environment: Environment, initial: State) -> None:
        self.environment = environment
        self.state = initial
        self.events: list[Event] = []

    def call(self, tool: str, arguments: dict[str, Json]) -> Event:
        """Carry out one call and say what happened. Total: no call makes it raise."""
        event, self.state = call(self.environment, self.state, tool, arguments)
        self.events.append(event)
        return event

    def call_written(self, tool: str, arguments: str) -> Event:
        """The same for arguments as a model writes them: a JSON object as text; nothing at all stands for none.

        Text that is no such object is a rejected call, whose event has no arguments and says why.
        """
        try:
            parsed = parse_strictly(arguments) if arguments.strip() else {}
        except (ValueError, TypeError, RecursionError) as error:
            return self._reject(tool, f"the arguments are not strict JSON: {error}")
        if not isinstance(parsed, dict):
            return self._reject(tool, "the arguments are not a JSON object")
        return self.call(tool, parsed)

    def _reject(self, tool: str, reason: str) -> Event:
        event = Event(tool, {}, "rejected", None, f"{INVALID_CALL}: {reason}")
        self.events.append(event)
        return event


def answer_text(event: Event) -> str:
    """What an agent is told of its call: the result as JSON, or the error."""
    return event.error if event.error is not None else json.dumps(event.result, ensure_ascii=False)
