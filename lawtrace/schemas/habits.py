"""Habits: fixed compliance calls around the requested calls.

A *reflex* makes one compliance call at a fixed place: before or after every call of a class, before or after the first
one, or at the end. A *habit* is a sequence of reflexes, in the order in which they act at the same place
(`lawtrace.solver.habits.wrapper`).
"""

from dataclasses import dataclass
from typing import Final, Literal

EVERY: Final = "every call"

CHANGING: Final = "every change"
"""The two classes of calls that are not named after a tool: all calls, and those that change tables of goals."""

Place = Literal["before", "after", "end"]

ArgumentSource = Literal["fixed", "read", "event", "events"]


@dataclass(frozen=True, slots=True)
class ReflexArgument:
    """An argument of a compliance call. ``value`` is that of a fixed one, as JSON."""

    name: str
    source: ArgumentSource
    value: str | bool | int | float | None = None

    def __str__(self) -> str:
        match self.source:
            case "fixed":
                return f"{self.name}={self.value!r}"
            case "events":
                return f"{self.name}=all events so far"
            case _:
                return ""


@dataclass(frozen=True, slots=True)
class ReflexCall:
    """A compliance call of a reflex. An optional argument that is not listed is left out."""

    tool: str
    arguments: tuple[ReflexArgument, ...] = ()

    @property
    def reads_call(self) -> bool:
        """Whether it depends on the wrapped call."""
        return any(argument.source in {"read", "event"} for argument in self.arguments)

    @property
    def reads_event(self) -> bool:
        """Whether it depends on the event of the wrapped call, which must have happened."""
        return any(argument.source == "event" for argument in self.arguments)

    def name_at(self, place: Place) -> str:
        shown = [str(one) for one in self.arguments if place != "end" or one.source == "fixed"]
        fixed = ", ".join(text for text in shown if text)
        return f"{self.tool}({fixed})" if fixed else self.tool


@dataclass(frozen=True, slots=True)
class Reflex:
    """Compliance calls at a fixed place.

    Attributes:
        calls: the look-ups that the last call needs, then that call.
        place: before or after the wrapped calls, or at the end of the program.
        around: the class of the wrapped calls: `EVERY`, `CHANGING` or the name of a tool.
        once: only the first time; at the end: for the last wrapped call rather than for each of them.
    """

    calls: tuple[ReflexCall, ...]
    place: Place
    around: str = EVERY
    once: bool = False

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(call.tool for call in self.calls)

    @property
    def name(self) -> str:
        """In words: ``CheckAuthorization before every call``."""
        return f"{self.call_names} {self.where}"

    @property
    def call_names(self) -> str:
        return " and ".join(call.name_at(self.place) for call in self.calls)

    @property
    def where(self) -> str:
        """When it acts, in words: ``before every call``."""
        if self.around == EVERY:
            last = " for the last call" if any(call.reads_call for call in self.calls) else ""
            where = {"before": "at the start", "after": "after the first call", "end": f"at the end{last}"}[self.place]
            return where if self.once else self._each("call")
        what = "call that changes something" if self.around == CHANGING else self.around
        if not self.once:
            return self._each(what)
        return f"at the end for the last {what}" if self.place == "end" else f"{self.place} the first {what}"

    def _each(self, what: str) -> str:
        return f"at the end for every {what}" if self.place == "end" else f"{self.place} every {what}"


@dataclass(frozen=True, slots=True)
class Habit:
    """Reflexes, in the order in which they act at the same place. Without any it is the literal program."""

    reflexes: tuple[Reflex, ...] = ()

    @property
    def name(self) -> str:
        """In words: ``CheckAuthorization before every call, RecordAuditEvent after every call``."""
        calls: dict[str, list[str]] = {}
        for reflex in sorted(self.reflexes, key=lambda reflex: ("before", "after", "end").index(reflex.place)):
            calls.setdefault(reflex.where, []).append(reflex.call_names)
        return (
            ", ".join(f"{' and '.join(names)} {where}" for where, names in calls.items()) or "only the requested calls"
        )
