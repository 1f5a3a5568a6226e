"""Habits: fixed compliance calls around the requested calls.

A *wrapper call* is one compliance call before or after every call of a tool, or of all tools. A *habit* is a sequence
of wrapper calls, in the order in which they act at the same place (`lawtrace.solver.habits.wrapper`).
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Final, Literal

EVERY: Final = "every call"
"""Stands for all tools, where a wrapper call could name one."""

Place = Literal["before", "after"]

ArgumentSource = Literal["fixed", "read", "events"]


@dataclass(frozen=True, slots=True)
class WrapperArgument:
    """An argument of a wrapper call. ``value`` is that of a fixed one, as JSON."""

    name: str
    source: ArgumentSource
    value: str | bool | int | float | None = None


@dataclass(frozen=True, slots=True)
class WrapperCall:
    """A compliance call at a fixed place. An optional argument that is not listed is left out.

    Attributes:
        around: the tool of the wrapped calls, or `EVERY`.
    """

    tool: str
    arguments: tuple[WrapperArgument, ...]
    place: Place
    around: str = EVERY

    @property
    def call_name(self) -> str:
        """The call in words, with the arguments that are fixed: ``DeclareParcel(kind='fragile')``."""
        fixed = ", ".join(f"{one.name}={one.value!r}" for one in self.arguments if one.source == "fixed")
        return f"{self.tool}({fixed})" if fixed else self.tool

    @property
    def where(self) -> str:
        """When it acts, in words: ``before every call``."""
        return f"{self.place} {self.around}" if self.around == EVERY else f"{self.place} every {self.around}"

    def wraps(self, tools: Set[str]) -> bool:
        """Whether it is made around calls of one of these tools."""
        return self.around == EVERY or self.around in tools


@dataclass(frozen=True, slots=True)
class Habit:
    """Wrapper calls, in the order in which they act at the same place. Without any it is the literal program."""

    wrapper_calls: tuple[WrapperCall, ...] = ()

    @property
    def name(self) -> str:
        """In words: ``CheckAuthorization before every call, RecordAuditEvent after every call``."""
        calls: dict[str, list[str]] = {}
        for one in sorted(self.wrapper_calls, key=lambda one: one.place == "after"):
            calls.setdefault(one.where, []).append(one.call_name)
        return (
            ", ".join(f"{' and '.join(names)} {where}" for where, names in calls.items()) or "only the requested calls"
        )
