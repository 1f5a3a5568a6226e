"""Checks of a synthesized trace, independent of the code that made it."""

from collections.abc import Iterable, Sequence
from typing import Any

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.schemas.events import Derived, Event, FromResult, FromResults, Json, JsonPath, SaidByUser
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.masking.wording import instruction_variables
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace
from tests.support.equations import Step, holds


def keeps(formula: str, events: Sequence[Event]) -> bool:
    """Whether the events satisfy the formula, by the equations."""
    values = list({(isinstance(value, bool), value): value for event in events for value in _scalars(event)}.values())
    return holds(parse(formula), [Step(event.time or 0, (event,)) for event in events], values)


def _scalars(event: Event) -> list[Any]:
    found: list[Any] = []
    pending: list[Any] = [dict(event.arguments), event.result]
    while pending:
        match pending.pop():
            case dict() as members:  # pyright: ignore[reportUnknownVariableType]
                pending += members.values()
            case list() as items:  # pyright: ignore[reportUnknownVariableType]
                pending += items
            case str() | int() | float() | bool() as value:
                found.append(value)
            case _:
                pass
    return found


def check_trace(
    environment: Environment, trace: Trace, rules: Sequence[Rule], formulas: Iterable[str], length: int
) -> None:
    """Assert that the trace has the requested length and is completed, compliant, knowable and repeatable."""
    events = trace.events
    assert len(events) == length
    assert all(event.completed for event in events)
    for formula in [*(rule.formula for rule in rules), *formulas]:
        assert keeps(formula, events), formula
    monitor = Monitor({rule.id: rule.compiled for rule in rules})
    monitor.run(events)
    assert set(monitor.final_statuses().values()) <= {"kept"}
    _check_origins(environment, trace)
    _check_replay(environment, trace)


def _check_origins(environment: Environment, trace: Trace) -> None:
    variables = list(instruction_variables(trace.calls, range(len(trace.calls))).values())
    for number, planned in enumerate(trace.calls):
        assert set(planned.origins) == set(planned.event.arguments)
        for name, origin in planned.origins.items():
            value = planned.event.arguments[name]
            match origin:
                case SaidByUser():
                    assert value in variables
                case FromResult(step, path):
                    assert step < number
                    assert resolve(trace.events[step].result, path) == value
                case FromResults(items):
                    assert all(item.step < number for item in items)
                    assert [resolve(trace.events[item.step].result, item.path) for item in items] == value
                case Derived(function):
                    assert function == "pending_events"
                    assert value == list(pending_events(environment.tools, trace.events[:number]))


def resolve(result: Json, path: JsonPath) -> Json:
    value: Any = result
    for part in path:
        value = value[part]
    return value


def _check_replay(environment: Environment, trace: Trace) -> None:
    session = Session(environment, trace.initial)
    for event in trace.events:
        assert session.call(event.tool, event.arguments).event == event
    assert encode_state(session.state, environment.entities) == encode_state(trace.final, environment.entities)
