"""The traces that a session may have: one, or several after a call whose answer never came.

Such a call may have failed, or have been carried out with any result. So each trace is followed in all these ways, and
what is allowed has to be so in all of them. Results after which not all duties can be met are left out: nothing that is
allowed or refused could help.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.component import CompiledComponent
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.guard.session_trace import Entry, SessionTrace, TraceState

MAX_TRACES: Final = 16
"""How many traces are followed: those of four calls without an answer, if no rule reads their results."""


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
        traces: those that are possible.
        too_many: whether more would be, so that nothing can be decided.
        unanswered: the calls whose answers never came.
        now: the latest time that was heard of, in seconds; None before the first.
    """

    def __init__(self, compiled: Sequence[CompiledComponent], state: SessionState | None = None) -> None:
        """`state`: of another session with the same rules. Raises ValueError if it is of others."""
        self._compiled: Final = compiled
        self.traces = [SessionTrace(compiled, one) for one in (state.traces if state else [None])]
        self.too_many = state is not None and state.too_many
        self.unanswered: list[Entry] = [*state.unanswered] if state else []
        self.now = state.now if state else None

    @property
    def state(self) -> SessionState:
        return SessionState(self.now, [trace.state for trace in self.traces], self.too_many, self.unanswered)

    def advance(self, time: int) -> int:
        """Take note of a time. Returns the latest: time does not go back."""
        self.now = time if self.now is None else max(time, self.now)
        return self.now

    def allow(self, call: Call, now: int, number: str | None) -> Entry:
        """A call was allowed, and has not returned. `number`: of the call in the log."""
        for trace in self.traces:
            trace.add(Entry(call, now, number=number))
        return Entry(call, now, number=number)

    def happen(self, event: Event, now: int) -> None:
        """Something has happened that was not waited for."""
        for trace in self.traces:
            trace.add(Entry(None, now, event))

    def skip(self, call: Call, now: int) -> None:
        """A call was refused. It has a place in the trace, and moves no rule."""
        if any(component.counts_steps for component in self._compiled):
            self.happen(Event(call.tool, call.arguments, "shielded", time=now), now)

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
        for component in self._compiled:
            if component.concerns(call.tool):
                made = component.vocabulary.call_results(call.tool, call.arguments, entry.time)
                self.too_many = self.too_many or not made.exact
                results += made.events
        if len(self.traces) * (1 + len(results)) > MAX_TRACES:
            self.too_many = True
        before = [] if self.too_many or not results else [*self.traces]
        carried_out = [[SessionTrace(self._compiled, trace.state) for _ in results] for trace in before]
        self.answer(Event(call.tool, call.arguments, "raised", error="no answer", time=entry.time), call)
        for found in carried_out:
            for trace, event in zip(found, results, strict=True):
                trace.answer(call, event)
            self.traces += [trace for trace in found if not is_lost(trace)] or found[:1]
