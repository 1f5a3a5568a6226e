"""A trace of a guarded session: what happened, and the calls that have not returned yet.

Calls take effect in the order in which they were allowed. So what comes after a call that has not returned waits for it
in a queue. Until then such a call counts with every result that it may return.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Final

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.guard.component import CompiledComponent, Component
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.guard.search import PendingOutcomes


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


@dataclass(frozen=True, slots=True)
class ComponentState:
    """What a session knows of a component besides the events; see `Component`."""

    protected: list[bool]
    hint: tuple[Event, ...]
    follow_ups: dict[str, tuple[Mapping[str, Json], tuple[Event, ...]]]


@dataclass(frozen=True, slots=True)
class TraceState:
    """Everything that later decisions depend on: the events that have happened, and the queue."""

    events: list[Event]
    queue: list[Entry]
    components: list[ComponentState]


class SessionTrace:
    """One trace.

    Attributes:
        components: of the rules, in the states that they have after the trace.
    """

    def __init__(self, compiled: Sequence[CompiledComponent], state: TraceState | None = None) -> None:
        """`state`: of another trace of the same rules. Raises ValueError if it is of others."""
        self.components: Final = tuple(map(Component, compiled))
        self._events: Final[list[Event]] = []
        self._queue: Final[list[Entry]] = []
        if state is not None:
            for event in state.events:
                self._commit(event)
            self._queue.extend(map(copy, state.queue))
            for component, known in zip(self.components, state.components, strict=True):
                component.protected[:] = known.protected
                component.hint = known.hint
                component.follow_ups.update(known.follow_ups)

    @property
    def state(self) -> TraceState:
        known = [ComponentState(one.protected, one.hint, one.follow_ups) for one in self.components]
        return TraceState(self._events, self._queue, known)

    def add(self, entry: Entry) -> None:
        """Append an entry, and take over what has happened up to the first call that has not returned."""
        self._queue.append(entry)
        self._flush()

    def waiting(self, call: Call) -> Entry | None:
        """The first of the equal calls whose answer may come; None if there is none."""
        return next((one for one in self._queue if one.event is None and one.call == call), None)

    def answer(self, call: Call, event: Event) -> None:
        """A call that is waited for has become an event, at its time."""
        if (entry := self.waiting(call)) is not None:
            entry.event = replace(event, time=entry.time)
            self._flush()

    def _flush(self) -> None:
        while self._queue and (event := self._queue[0].event) is not None:
            self._queue.pop(0)
            self._commit(event)

    def _commit(self, event: Event) -> None:
        concerned = [component for component in self.components if component.concerns(event.tool)]
        if concerned:
            self._events.append(event)
        for component in concerned:
            component.commit(event)

    def pending(self, number: int, *, waited_for: bool = True) -> PendingOutcomes:
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
