"""A trace of a guarded session: what happened, and the calls that have not returned yet.

Calls take effect in the order in which they were allowed. So what comes after a call that has not returned waits for it
in a queue. Until then such a call counts with every result that it may return.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.component import CompiledComponent, Component
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.guard.search import Forced


@dataclass(slots=True)
class Entry:
    """A call that was allowed, or something that happened meanwhile.

    Attributes:
        call: the call; None for what needs no result.
        time: when it happened, in seconds.
        event: its outcome; None until that is known.
        number: of the call in the log.
    """

    call: Call | None
    time: int
    event: Event | None = None
    number: str | None = None

    def encoded(self) -> list[Any]:
        """The fields as JSON values, in order."""
        call = None if self.call is None else [self.call.tool, dict(self.call.arguments), self.call.id]
        event = None if self.event is None else _encoded(self.event)
        return [call, self.time, event, self.number]

    @classmethod
    def decoded(cls, fields: Sequence[Any]) -> "Entry":
        """The entry that was encoded."""
        call, time, event, number = fields
        known = None if event is None else _decoded(event)
        return cls(None if call is None else Call(*call), time, known, number)


class SessionTrace:
    """One trace.

    Attributes:
        components: of the rules, in the states that they have after the trace.
    """

    def __init__(self, compiled: Sequence[CompiledComponent]) -> None:
        self.components: Final = tuple(map(Component, compiled))
        self._events: Final[list[Event]] = []
        self._queue: Final[list[Entry]] = []

    def add(self, entry: Entry) -> None:
        """Append an entry, and take over what has happened up to the first call that has not returned."""
        self._queue.append(entry)
        self._flush()

    def waiting(self, call: Call) -> Entry | None:
        """The first of the equal calls whose answer may come; None if there is none."""
        return next((one for one in self._queue if one.event is None and one.call == call), None)

    def answer(self, call: Call, event: Event) -> Entry | None:
        """A call that is waited for has become an event, at its time. Returns its entry; None if there is none."""
        entry = self.waiting(call)
        if entry is not None:
            entry.event = replace(event, time=entry.time)
            self._flush()
        return entry

    def _flush(self) -> None:
        while self._queue and (event := self._queue[0].event) is not None:
            self._queue.pop(0)
            self._commit(event)

    def _commit(self, event: Event) -> None:
        concerned = [component for component in self.components if component.concerns(event.tool)]
        if concerned:
            self._events.append(event)
        for component in concerned:
            component.monitor.commit(event)

    def pending(self, number: int, *, waited_for: bool = True) -> Forced:
        """What the calls in the queue may become, as far as a component is concerned, and what happened meanwhile.

        `waited_for`: whether calls count whose answer may still come.
        """
        component = self.components[number]
        found: list[Sequence[Event]] = []
        for entry in self._queue:
            if entry.event is not None:
                if component.concerns(entry.event.tool):
                    found.append([entry.event])
            elif entry.call is not None and component.concerns(entry.call.tool) and waited_for:
                results = component.vocabulary.call_results(entry.call.tool, entry.call.arguments, entry.time)
                found.append(results.events)
        return found

    def encoded(self) -> dict[str, Any]:
        """Everything that later decisions depend on, as JSON values."""
        return {
            "events": [_encoded(event) for event in self._events],
            "queue": [entry.encoded() for entry in self._queue],
            "given_up": [[not defended for defended in component.protected] for component in self.components],
            "hints": [[_encoded(event) for event in component.hint] for component in self.components],
            "follow_ups": [
                {tool: [dict(made), [_encoded(step) for step in steps]] for tool, (made, steps) in known.items()}
                for known in (component.follow_ups for component in self.components)
            ],
        }

    @classmethod
    def decoded(cls, content: Mapping[str, Any], compiled: Sequence[CompiledComponent]) -> "SessionTrace":
        """The trace that was encoded, of the same rules. Raises KeyError, TypeError or ValueError if it is damaged."""
        trace = cls(compiled)
        for event in content["events"]:
            trace._commit(_decoded(event))
        trace._queue.extend(map(Entry.decoded, content["queue"]))
        known = zip(content["given_up"], content["hints"], content["follow_ups"], strict=True)
        for component, (given_up, hint, follow_ups) in zip(trace.components, known, strict=True):
            component.protected[:] = [not lost for lost in given_up]
            component.hint = tuple(map(_decoded, hint))
            for tool, (made, steps) in follow_ups.items():
                component.follow_ups[tool] = (made, tuple(map(_decoded, steps)))
        return trace


def _encoded(event: Event) -> list[Any]:
    return [event.tool, dict(event.arguments), event.outcome, event.result, event.error, event.time]


def _decoded(row: Sequence[Any]) -> Event:
    return Event(*row)
