"""The traces that a session may have: one, or several after a call whose answer never came.

Such a call may have failed, or have been carried out with any result. So each trace is followed in all these ways, and
what is allowed has to be so in all of them. Results after which not all duties can be met are left out: nothing that is
allowed or refused could help.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.component import CompiledComponent
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.guard.session_trace import Entry, SessionTrace

MAX_TRACES: Final = 16
"""How many traces are followed: those of four calls without an answer, if no rule reads their results."""


class PossibleTraces:
    """What a guard knows of its session.

    Attributes:
        traces: those that are possible.
        too_many: whether more would be, so that nothing can be decided.
        unanswered: the calls whose answers never came.
        now: the latest time that was heard of, in seconds; None before the first.
    """

    def __init__(self, compiled: Sequence[CompiledComponent]) -> None:
        self._compiled: Final = compiled
        self.traces = [SessionTrace(compiled)]
        self.too_many = False
        self.unanswered: list[Entry] = []
        self.now: int | None = None

    def advance(self, time: int) -> int:
        """Take note of a time. Returns the latest: time does not go back."""
        self.now = time if self.now is None else max(time, self.now)
        return self.now

    def concerns(self, tool: str) -> bool:
        """Whether a rule is about calls of the tool."""
        return any(component.concerns(tool) for component in self.traces[0].components)

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
        if any(component.counts_steps for component in self.traces[0].components):
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
        before = [] if self.too_many or not results else [trace.encoded() for trace in self.traces]
        self.answer(Event(call.tool, call.arguments, "raised", error="no answer", time=entry.time), call)
        for encoded in before:
            found: list[SessionTrace] = []
            for event in results:
                trace = SessionTrace.decoded(encoded, self._compiled)
                trace.answer(call, event)
                found.append(trace)
            self.traces += [trace for trace in found if not is_lost(trace)] or found[:1]

    def encoded(self) -> dict[str, Any]:
        """Everything that later decisions depend on, as JSON values."""
        return {
            "now": self.now,
            "traces": [trace.encoded() for trace in self.traces],
            "too_many": self.too_many,
            "unanswered": [entry.encoded() for entry in self.unanswered],
        }

    @classmethod
    def decoded(cls, content: Mapping[str, Any], compiled: Sequence[CompiledComponent]) -> "PossibleTraces":
        """The traces that were encoded, of the same rules. Raises KeyError, TypeError or ValueError if damaged."""
        found = cls(compiled)
        found.traces = [SessionTrace.decoded(one, compiled) for one in content["traces"]]
        if not found.traces:
            raise ValueError("it has no trace")
        found.too_many = content["too_many"]
        found.unanswered = [*map(Entry.decoded, content["unanswered"])]
        found.now = content["now"]
        return found
