"""The trace of a guarded session: what happened, and the calls that have not returned yet.

Calls take effect in the order in which they were allowed. So what comes after a call that has not returned waits for it
in a queue. Until then such a call counts with every result that it may return.

A session has several possible traces after a call whose answer never came. It may have failed, or have been carried out
with any result. So each trace is followed in all these ways, and what is allowed has to be so in all of them. Results
after which not all duties can be met are left out: nothing that is allowed or refused could help.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field

from lawtrace.schemas.events import Actor, Event, Json
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.search.events.component import CompiledComponent, Component
from lawtrace.solver.search.events.event_search import PendingOutcomes
from lawtrace.solver.search.events.vocabulary import Representatives

MAX_TRACES: Final = 16
"""How many traces are followed: those of four calls without an answer, if no rule reads their results."""


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

    def __init__(
        self, compiled: Sequence[CompiledComponent], state: TraceState | None = None, actor: Actor | None = None
    ) -> None:
        """`state`: of a trace of the same rules, else ValueError is raised. `actor`: who alone acts."""
        self.components: Final = tuple(Component(one, actor=actor) for one in compiled)
        self._events: Final[list[Event]] = []
        self._queue: Final[list[Entry]] = []
        if state is not None:
            for event in state.events:
                self._commit(event)
            self._queue.extend(map(copy, state.queue))
            for component, known in zip(self._each, state.components, strict=True):
                component.protected[:] = known.protected
                component.hint = known.hint
                component.follow_ups.update(known.follow_ups)

    @property
    def _each(self) -> Iterator[Component]:
        """The components, each with those of its interpretations."""
        for whole in self.components:
            yield from dict.fromkeys((whole, *whole.interpretations))

    @property
    def state(self) -> TraceState:
        known = [ComponentState(one.protected, one.hint, one.follow_ups) for one in self._each]
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
        found: list[Representatives] = []
        for entry in self._queue:
            if entry.event is not None:
                if component.concerns(entry.event.tool):
                    found.append(Representatives([entry.event]))
            elif entry.call is not None and component.concerns(entry.call.tool) and waited_for:
                call = entry.call
                found.append(component.vocabulary.call_results(call.tool, call.arguments, entry.time, call.by))
        return found


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything that later decisions depend on; see `PossibleTraces`."""

    now: int | None
    traces: Annotated[list[TraceState], Field(min_length=1)]
    too_many: bool
    unanswered: list[Entry]


class PossibleTraces:
    """What a guard knows of its session.

    Attributes:
        compiled: the rules.
        asks: whether a person may permit what they object to.
        traces: those that are possible.
        too_many: whether more would be, so that nothing can be decided.
        unanswered: the calls whose answers never came.
        now: the latest time that was heard of, in seconds; None before the first.
    """

    def __init__(
        self,
        compiled: Sequence[CompiledComponent],
        state: SessionState | None = None,
        *,
        actor: Actor | None = None,
        asks: bool = False,
    ) -> None:
        """`state`: of another session with the same rules. `actor`: who alone acts; None for anyone.

        Raises ValueError if the state is of other rules.
        """
        self.compiled: Final = compiled
        self.asks: Final = asks
        self._actor: Final = actor
        self.traces = [SessionTrace(compiled, actor=actor)]
        self.too_many = False
        self.unanswered = list[Entry]()
        self.now: int | None = None
        if state is not None:
            self.take(state)

    def take(self, state: SessionState) -> None:
        """Go on from the state of another session with the same rules. Raises ValueError if it is of others."""
        self.traces = [SessionTrace(self.compiled, one, self._actor) for one in state.traces]
        self.too_many, self.unanswered, self.now = state.too_many, [*state.unanswered], state.now

    @property
    def state(self) -> SessionState:
        return SessionState(self.now, [trace.state for trace in self.traces], self.too_many, self.unanswered)

    def advance(self, time: int) -> int:
        """Take note of a time. Returns the latest: time does not go back."""
        self.now = time if self.now is None else max(time, self.now)
        return self.now

    def allow(self, call: Call, now: int, number: str | None) -> None:
        """A call was allowed, and has not returned. `number`: of the call in the log."""
        for trace in self.traces:
            trace.add(Entry(call, now, number=number))

    def happen(self, event: Event, now: int) -> None:
        """Something has happened that was not waited for."""
        for trace in self.traces:
            trace.add(Entry(None, now, event))

    def skip(self, call: Call, now: int) -> None:
        """A call was refused. It has a place in the trace, and moves no rule."""
        if any(component.counts_steps for component in self.compiled):
            self.happen(Event(call.tool, call.arguments, "shielded", time=now, by=call.by), now)

    def known(self, call: Call) -> Entry | None:
        """The first of the equal calls that are waited for, or whose answers never came."""
        return self.traces[0].waiting(call) or next((one for one in self.unanswered if one.call == call), None)

    def answer(self, event: Event, call: Call) -> None:
        """A call, which is known, has become an event.

        An answer that comes after all changes nothing: both cases stay possible.
        """
        for trace in self.traces:
            trace.answer(call, event)

    def leave_open(self, call: Call, is_lost: Callable[[SessionTrace], bool]) -> None:
        """No answer of a call that is waited for will come: each trace is followed in all ways in which it may go on.

        `is_lost`: whether the duties after a trace cannot all be met; results that lead there are left out if others
        do not.
        """
        entry = self.traces[0].waiting(call)
        if entry is None:
            return
        self.unanswered.append(entry)
        results: list[Event] = []
        for component in self.compiled:
            if component.concerns(call.tool):
                made = component.vocabulary.call_results(call.tool, call.arguments, entry.time, call.by)
                self.too_many = self.too_many or bool(made.unsure)
                results += [event for event in made.events if event not in results]
        if len(self.traces) * (1 + len(results)) > MAX_TRACES:
            self.too_many = True
        before = [] if self.too_many or not results else [*self.traces]
        carried_out = [[SessionTrace(self.compiled, trace.state, self._actor) for _ in results] for trace in before]
        self.answer(Event(call.tool, call.arguments, "raised", error="no answer", time=entry.time, by=call.by), call)
        for found in carried_out:
            for trace, event in zip(found, results, strict=True):
                trace.answer(call, event)
            self.traces += [trace for trace in found if not is_lost(trace)] or found[:1]
