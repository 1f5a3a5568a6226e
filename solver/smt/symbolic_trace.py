"""Steps of which some are open, and what is known of them.

Truths are remembered by the number of steps that they depend on, so that they are forgotten with these steps.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import z3

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.logic.terms import (
    Time,
    is_value,
)
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.smt.open_values import Alternatives, Open, SymbolicValue, Unsupported, is_open
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.smt.symbolic_steps import Step, StepCall, StepReader
from lawtrace.solver.smt.symbolic_values import SymbolicValues, elements
from lawtrace.solver.smt.symbolic_windows import UNBOUNDED, Seconds, SymbolicWindows, TimeBounds

Values = Mapping[str, SymbolicValue]
"""The values of variables and of elements of lists, by name."""


@dataclass(slots=True)
class Found:
    """The truths of the instances of a quantifier."""

    truths: list[Truth]


class SymbolicTrace:
    """Steps that are pushed and popped, with the connectives of truths about them.

    Attributes:
        unsupported: why some condition was left unconstrained, a sentence each.
    """

    def __init__(
        self, environment: Environment, logic: SymbolicLogic, steps: Sequence[Step] = (), bounds: TimeBounds = UNBOUNDED
    ) -> None:
        self.unsupported: Final[dict[str, None]] = {}
        self.logic: Final = logic
        self._values: Final = SymbolicValues(logic)
        self._windows: Final = SymbolicWindows(logic, bounds)
        self._reader: Final = StepReader(environment, logic, self._values)
        self._bounds: Final = bounds
        self._calls: Final[list[tuple[StepCall, ...]]] = []
        self._times: Final[list[Seconds]] = []
        self._known: Final[list[dict[Hashable, Any]]] = [{}]  # by the number of steps that a truth depends on
        self._kept_alive: Final[dict[int, Any]] = {}  # what dictionary keys name by its id
        self._unknown = 0
        for step in steps:
            self.push(step)

    def push(self, step: Step) -> None:
        """Append a step."""
        self._calls.append(self._reader.calls(step))
        self._times.append(step.time)
        self._known.append({})

    def pop(self) -> None:
        """Remove the last step."""
        del self._calls[-1], self._times[-1], self._known[-1]

    @property
    def length(self) -> int:
        return len(self._calls)

    def _all(self, truths: "Iterator[Truth] | Sequence[Truth]") -> Truth:
        """The conjunction; the rest is not evaluated after a part that is false."""
        parts: list[Truth] = []
        for truth in truths:
            if truth is False:
                return False
            parts.append(truth)
        return self.logic.all(parts)

    def _any(self, truths: "Iterator[Truth] | Sequence[Truth]") -> Truth:
        """The disjunction; the rest is not evaluated after a part that is true."""
        parts: list[Truth] = []
        for truth in truths:
            if truth is True:
                return True
            parts.append(truth)
        return self.logic.any(parts)

    def _lazily(self, condition: Truth, then: Callable[[], Truth]) -> Iterator[Truth]:
        """A truth and, unless it is false, another."""
        yield condition
        if condition is not False:
            yield then()

    def _or_unknown(self, text: str, encode: Callable[[], Truth]) -> Truth:
        try:
            return encode()
        except Unsupported as error:
            return self._unconstrained(f"`{text}`: {error}")

    def _unconstrained(self, reason: str) -> z3.BoolRef:
        self.unsupported[reason] = None
        self._unknown += 1
        return z3.Bool(f"unknown {self._unknown}")

    def _key(self, value: SymbolicValue) -> Hashable:
        """A value as part of a dictionary key."""
        if isinstance(value, Open):
            self._kept_alive[value.expression.get_id()] = value.expression
            return "open", value.kind, value.expression.get_id(), value.scale
        if is_open(value):
            self._kept_alive[id(value)] = value
            return "part", id(value)
        if is_value(value):
            return isinstance(value, bool), isinstance(value, Time), value
        return repr(value)

    def _elements(self, read: Alternatives, *, spread: bool) -> list[tuple[Truth, SymbolicValue]]:
        """The values that a variable can have where it is equated with a field, or its elements."""
        if spread:
            read = [(self.logic.all([a, b]), item) for a, value in read for b, item in elements(value)]
        return [(here, value) for here, value in read if isinstance(value, Open) or is_value(value)]

    def _inside(self, window: Window, earlier: int, later: int) -> Truth:
        """Whether a step is in the window from another."""
        if window.unlimited:
            return True
        known, key = self._known[later + 1], (window, earlier, later)
        if key not in known:
            times = self._times[earlier], self._times[later]
            known[key] = self._or_unknown(str(window), lambda: self._windows.contains(window, *times))
        return known[key]

    def _may_open(self, window: Window, i: int) -> Truth:
        """Whether a step after the last one can be in the window from step i."""
        if window.unlimited:
            return True
        earlier, last = self._times[i], self._times[-1]
        end = self._bounds.end
        return self._or_unknown(
            str(window),
            lambda: self.logic.all(
                [
                    self.logic.negate(self._windows.closed(window, earlier, last)),
                    True if end is None else self._windows.opened(window, earlier, end),
                ]
            ),
        )
