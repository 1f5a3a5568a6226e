"""Habits: fixed compliance calls around the requested calls of a task, in simulation.

A habit reads neither the law nor what results say. It is a baseline: a benchmark that a habit passes does not measure
whether the law was read. Each argument of a wrapper call is

    fixed    an option that the documentation names
    read     taken from the wrapped call's argument of the same name and type, or that names a row of the same table,
             else from the latest result that shows one: if that is a compliance look-up, the call is made for each row
    events   what the declaration derives from the calls so far: the events that are not recorded yet

The calls are found by making them, because arguments are read from results. A program that makes the same calls has the
same events; a compliance call that raises an exception is ignored, as in a wrapper with ``try``, while a requested call
that raises one ends the program.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, RowsResult
from lawtrace.environments.spec.samplers import FieldValue
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, is_text_type
from lawtrace.schemas.events import Derived, Event, FromResult, FromResults, Json, Origin, SaidByUser
from lawtrace.schemas.habits import Habit, WrapperCall
from lawtrace.solver.traces import PlannedCall, print_program

_Read = tuple[Json, Origin]
"""A value and where it was read."""


@dataclass(frozen=True, slots=True)
class WrappedProgram:
    """The calls of a habit on one task.

    Attributes:
        calls: the requested calls and the habit's own, with origins that refer to this sequence.
        own: the indices of the habit's own calls.
        events: what the calls led to; shorter than ``calls`` if the last one takes an argument that no result has.
        final: the state afterwards.
        end: the time at which the session ends.
        died: whether a requested call ended the program.
    """

    calls: tuple[PlannedCall, ...]
    own: frozenset[int]
    events: tuple[Event, ...]
    final: State
    end: int
    died: bool


def wrap_program(
    environment: Environment, initial: State, requested: Sequence[PlannedCall], habit: Habit
) -> WrappedProgram:
    """Make the requested calls from the initial state with the habit around them."""
    return _Wrapper(environment, initial, habit).run(requested)


def print_wrapped(environment: Environment, habit: Habit, wrapped: WrappedProgram) -> str:
    """The program of the calls, with the name of the habit in a comment."""
    lines = [f"# {habit.name}"]
    printed = print_program(environment, wrapped.calls).splitlines() if wrapped.calls else ["pass"]
    for number, line in enumerate(printed):
        ignored = number in wrapped.own and wrapped.events[number].error is not None
        lines += ["try:", f"    {line}", "except Exception:", "    pass"] if ignored else [line]
    return "\n".join(lines) + "\n"


class _Wrapper:
    def __init__(self, environment: Environment, initial: State, habit: Habit) -> None:
        self._environment: Final = environment
        self._habit: Final = habit
        self._session: Final = Session(environment, initial)
        self._calls: Final[list[PlannedCall]] = []
        self._own: Final[set[int]] = set()

    def run(self, requested: Sequence[PlannedCall]) -> WrappedProgram:
        numbers: list[int] = []
        died = False
        for planned in requested:
            call = planned.renumbered(dict(enumerate(numbers)))
            around = [one for one in self._habit.wrapper_calls if one.wraps({call.event.tool})]
            for one in around:
                if one.place == "before":
                    self._wrap(one, call)
            numbers.append(len(self._calls))
            if died := not self._make_requested(call):
                break
            for one in around:
                if one.place == "after":
                    self._wrap(one, call)
        session = self._session
        return WrappedProgram(
            tuple(self._calls), frozenset(self._own), tuple(session.events), session.state, session.end, died
        )

    def _make_requested(self, call: PlannedCall) -> bool:
        """Whether the call could be made and raised no exception."""
        arguments = self._arguments_of(call)
        if arguments is None:
            self._calls.append(call)
            return False
        return self._make(call.event.tool, arguments, call.origins).error is None

    def _arguments_of(self, call: PlannedCall) -> dict[str, Json] | None:
        return call.arguments(lambda step: self._session.events[step].result)

    def _make(self, tool: str, arguments: Mapping[str, Json], origins: Mapping[str, Origin]) -> Event:
        event = self._session.call(tool, arguments).event
        self._calls.append(PlannedCall(event, origins))
        return event

    def _wrap(self, one: WrapperCall, call: PlannedCall) -> None:
        """Make a compliance call for a requested one: none if an argument cannot be read, several for several rows."""
        tool, reads = self._environment.tools[one.tool], dict[str, list[_Read]]()
        for argument in one.arguments:
            parameter = tool.parameter(argument.name)
            match argument.source:
                case "fixed":
                    reads[argument.name] = [(argument.value, SaidByUser())]
                case "events":
                    assert isinstance(parameter.source, FromTrace)
                    derived = parameter.source.function(self._environment.tools, tuple(self._session.events))
                    reads[argument.name] = [(parameter.type.encode(derived), Derived(parameter.source.name))]
                case "read":
                    reads[argument.name] = self._read(tool, parameter, call)
                    if not reads[argument.name] and not parameter.required:
                        del reads[argument.name]
        for values in list(product(*reads.values())):
            self._own.add(len(self._calls))
            chosen = dict(zip(reads, values, strict=True))
            self._make(
                one.tool,
                {name: value for name, (value, _) in chosen.items()},
                {name: origin for name, (_, origin) in chosen.items()},
            )

    def _read(self, own: Tool, parameter: Parameter, call: PlannedCall) -> list[_Read]:
        """The values that the parameter can have; several only if a compliance look-up showed several rows."""
        for name in _matching(self._environment.tools[call.event.tool], own, parameter.name):
            if call.event.arguments.get(name) is not None:
                arguments = self._arguments_of(call)
                if arguments is None:
                    return []
                return [_as_type(parameter, arguments[name], call.origins.get(name, SaidByUser()))]
        match parameter.source:
            case FromLookup(entity):
                field = entity.key
            case FromUser(sampler=FieldValue(entity=entity, field=field, part=None)):
                pass
            case _:
                return []
        for number in reversed(range(len(self._calls))):
            shown = list(self._shown(number, entity.table, field))
            if not shown:
                continue
            if isinstance(parameter.type, ListOf) and number in self._own:
                return [([value for value, _ in shown], FromResults(tuple(place for _, place in shown)))]
            return [_as_type(parameter, *one) for one in (shown if number in self._own else shown[:1])]
        return []

    def _shown(self, number: int, table: str, field: str) -> Iterator[tuple[Json, FromResult]]:
        """The values of the field in the rows of the table that a call showed."""
        event = self._session.events[number]
        if not event.completed or not isinstance(event.result, dict):
            return
        for result in self._environment.tools[event.tool].results:
            if not isinstance(result, KeyResult | RowsResult) or result.entity.table != table:
                continue
            found = event.result[result.name]
            if isinstance(result, KeyResult):
                if field == result.entity.key:
                    yield found, FromResult(number, (result.name,))
                continue
            for place, row in enumerate(found if isinstance(found, list) else [found]):
                if field in result.fields and isinstance(row, dict) and row.get(field) is not None:
                    inside = (place,) if isinstance(found, list) else ()
                    yield row[field], FromResult(number, (result.name, *inside, field))


@lru_cache(maxsize=8192)
def _matching(tool: Tool, own: Tool, name: str) -> tuple[str, ...]:
    """The parameters of a tool that give an argument of a compliance tool: of the same name and type, of the same
    table, or the only one of that type if it is neither text nor truth value.
    """
    parameter = own.parameter(name)
    same = [other for other in tool.parameters if other.name == parameter.name and other.type == parameter.type]
    if isinstance(parameter.source, FromLookup):
        table = parameter.source.entity.table
        same += [o for o in tool.parameters if isinstance(o.source, FromLookup) and o.source.entity.table == table]
    elif not is_text_type(parameter.type) and parameter.type.name != "boolean":
        alike = [other for other in tool.parameters if other.type == parameter.type]
        same += alike if len(alike) == 1 else []
    return tuple(dict.fromkeys(other.name for other in same))


def _as_type(parameter: Parameter, value: Json, origin: Origin) -> _Read:
    """A key as a list of one, or the first of a list of keys, if the parameter takes the other."""
    if isinstance(parameter.type, ListOf) and not isinstance(value, list):
        return [value], FromResults((origin,)) if isinstance(origin, FromResult) else origin
    if not isinstance(parameter.type, ListOf) and isinstance(value, list) and value:
        return value[0], origin.items[0] if isinstance(origin, FromResults) else origin
    return value, origin
