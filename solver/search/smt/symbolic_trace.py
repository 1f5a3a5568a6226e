"""Steps of a bounded trace, what rules read of them, and what is known of them.

Whatever of a step may be open. Truths are remembered by the number of steps that they depend on, so that they are
forgotten with these steps.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import z3

from lawtrace.environments.runtime.simulation import CandidateRows
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import NestedRows, RowsResult
from lawtrace.environments.spec.tools import FromTrace
from lawtrace.environments.spec.types import Value
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.logic.terms import RESULT, FieldPath, Time, is_value
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.search.smt.open_values import (
    NO_VALUE,
    Alternatives,
    OpenList,
    OpenObject,
    Symbolic,
    SymbolicValue,
    Unsupported,
    alternatives_of,
    is_open,
    singleton,
)
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.search.smt.symbolic_values import SymbolicValues, elements
from lawtrace.solver.search.smt.symbolic_windows import Seconds, SymbolicWindows, TimeBounds


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """A call that completes, of which something is open.

    Attributes:
        calls: for each tool the truth that it is called; a tool that is left out is not.
        arguments: of each tool, in internal form. An argument that is not there is left out; None stands for one of
            which nothing is said.
        results: of each tool, likewise; rows as `CandidateRows`.
        pending: the truth that an event is pending, by name, where the list of these is open.
        time: in seconds; it does not decrease from step to step.
    """

    calls: Mapping[str, Value]
    arguments: Mapping[str, Mapping[str, Value]]
    results: Mapping[str, Mapping[str, Value | CandidateRows]]
    pending: Mapping[str, Value] | None = None
    time: Seconds = 0


@dataclass(frozen=True, slots=True, eq=False)
class StepCall:
    """One possible call of a step.

    Attributes:
        made: the truth that it is made.
        known: what was found out about it.
    """

    tool: str
    made: Value
    step: SymbolicStep
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])


class StepReader:
    """Reads calls and their fields."""

    def __init__(self, environment: Environment, logic: SymbolicLogic, values: SymbolicValues) -> None:
        self._environment = environment
        self._logic = logic
        self._values = values

    def field(self, call: StepCall, path: FieldPath) -> Alternatives:
        """The value of a field of the call. Raises Unsupported."""
        if path not in call.known:
            call.known[path] = self._field(call, path)
        return call.known[path]

    def _field(self, call: StepCall, path: FieldPath) -> Alternatives:
        if path.path[0] != RESULT:
            return self._values.part(self._argument(call.step, call.tool, str(path.path[0])), path.path[1:])
        if not path.path[1:]:
            raise Unsupported("a result as a whole")
        return self._values.part(self._result(call.step, call.tool, str(path.path[1])), path.path[2:])

    def _argument(self, step: SymbolicStep, tool: str, name: str) -> Alternatives:
        given = step.arguments.get(tool, {})
        if name not in given:
            return NO_VALUE
        parameter = self._environment.tools[tool].parameter(name)
        if isinstance(parameter.source, FromTrace) and step.pending is not None:
            if parameter.source.function is not pending_events:
                raise Unsupported("a function of the calls so far")
            return singleton(OpenList(tuple((there, event) for event, there in step.pending.items()), counted=False))
        return self._typed(parameter.type, given[name], "an argument that is left out here and need not be")

    def _typed(self, value_type: Any, value: Value, missing: str) -> Alternatives:  # noqa: ANN401 (a type of values)
        if value is None:
            raise Unsupported(missing)
        return alternatives_of(self._logic, value_type, value)

    def _result(self, step: SymbolicStep, tool: str, name: str) -> Alternatives:
        shown = step.results.get(tool, {})
        declared = next((one for one in self._environment.tools[tool].results if one.name == name), None)
        if declared is None:
            return NO_VALUE
        if name not in shown:
            raise Unsupported("a result that is not followed here")
        if isinstance(declared, RowsResult):
            return self._rows_result(declared, shown[name])
        return self._typed(declared.type, shown[name], "a result that is not there")

    def _rows_result(self, declared: RowsResult, found: Value | CandidateRows) -> Alternatives:
        if not isinstance(found, CandidateRows):
            raise Unsupported("rows inside a result")
        rows = self._rows(declared, found)
        if not declared.single:
            return singleton(OpenList(tuple(rows)))
        alternatives: list[tuple[Value, SymbolicValue]] = []
        before: Value = False
        for here, row in rows:
            alternatives.append((self._logic.all([here, self._logic.negate(before)]), row))
            before = self._logic.any([before, here])
        alternatives.append((self._logic.negate(before), None))
        return [(here, row) for here, row in alternatives if here is not False]

    def _rows(self, declared: RowsResult | NestedRows, found: CandidateRows) -> list[tuple[Value, SymbolicValue]]:
        rows: list[tuple[Value, SymbolicValue]] = []
        for (listed, row), inside in zip(found.listed, found.parts, strict=True):
            if listed is False:
                continue
            shown: dict[str, Alternatives] = {}
            for name in declared.fields:
                if (value := row.values[name]) is not None:
                    shown[name] = alternatives_of(self._logic, declared.entity.fields[name].type, value)
            for part in declared.parts:
                shown[part.name] = singleton(OpenList(tuple(self._rows(part, inside[part.name]))))
            rows.append((listed, OpenObject(shown)))
        return rows


Values = Mapping[str, SymbolicValue]
"""The values of variables and of elements of lists, by name."""


class SymbolicTrace:
    """Steps that are pushed and popped, with the connectives of truths about them.

    Attributes:
        unsupported: why some condition was left unconstrained, a sentence each.
    """

    def __init__(self, environment: Environment, logic: SymbolicLogic, bounds: TimeBounds) -> None:
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

    def push(self, step: SymbolicStep) -> None:
        """Append a step."""
        calls = (StepCall(tool, made, step) for tool, made in step.calls.items() if made is not False)
        self._calls.append(tuple(calls))
        self._times.append(step.time)
        self._known.append({})

    def pop(self) -> None:
        """Remove the last step."""
        del self._calls[-1], self._times[-1], self._known[-1]

    @property
    def length(self) -> int:
        return len(self._calls)

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
        return self.logic.open_truth(f"unknown {self._unknown}")

    def _key(self, value: SymbolicValue) -> Hashable:
        """A value as part of a dictionary key."""
        if isinstance(value, Symbolic):
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
        return [(here, value) for here, value in read if isinstance(value, Symbolic) or is_value(value)]

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
        return self._or_unknown(
            str(window),
            lambda: self.logic.all(
                [
                    self.logic.negate(self._windows.closed(window, earlier, last)),
                    self._windows.opened(window, earlier, self._bounds.end),
                ]
            ),
        )
