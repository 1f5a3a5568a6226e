"""Habits: fixed compliance calls around the requested calls of a task, in simulation.

A habit reads neither the law nor what results say. It is a baseline: a benchmark that a habit passes does not measure
whether the law was read. A *reflex* makes one compliance call at a fixed place: before or after every call of a class,
before or after the first one, or at the end. If the call takes the key of a row that only other compliance calls show,
these look-ups are part of the reflex. A *habit* is a sequence of reflexes, in the order in which they act at the same
place.

Each argument of a compliance call is

    fixed    an option that the documentation names
    read     taken from the wrapped call's argument of the same name and type, or that names a row of the same table,
             else from the latest result that shows one
    event    the event of the wrapped call
    events   what the declaration derives from the calls so far: the events that are not recorded yet

The calls are found by making them, because arguments are read from results. A program that makes the same calls has the
same events; a compliance call that raises an exception is ignored, as in a wrapper with ``try``, while a requested call
that raises one ends the program.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, RowsResult
from lawtrace.environments.spec.samplers import Amount, FieldValue, OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import BOOLEAN, Choice, ListOf, Value, is_text_type
from lawtrace.schemas.events import Derived, Event, FromResult, FromResults, Json, JsonPath, Origin, SaidByUser
from lawtrace.schemas.habits import CHANGING, EVERY, Habit, Place, Reflex, ReflexArgument, ReflexCall
from lawtrace.solver.traces import PlannedCall, print_program, resolve_path

MOST_VARIANTS: Final = 24
"""How many choices of arguments of one compliance tool are tried."""
MOST_LOOKUPS: Final = 3
"""How many look-ups one reflex makes for its call."""


_PLACES: Final[tuple[tuple[Place, bool], ...]] = (
    ("before", False),
    ("before", True),
    ("after", False),
    ("end", True),
    ("end", False),
    ("after", True),
)
"""Place and whether once, in the order of preference among reflexes that make the same calls."""


def wraps(reflex: Reflex, environment: Environment, tool: str) -> bool:
    """Whether a call of the tool is in the class of wrapped calls."""
    return (
        reflex.around == EVERY
        or reflex.around == tool
        or (reflex.around == CHANGING and tool in environment.changing_tools)
    )


def acts_in(reflex: Reflex, environment: Environment, tools: frozenset[str]) -> bool:
    """Whether it wraps a call of one of these tools."""
    return any(wraps(reflex, environment, tool) for tool in tools)


def all_reflexes(environment: Environment, tools: Iterable[str]) -> Iterator[Reflex]:
    """The reflexes of an environment around calls of these tools, general ones first."""
    compliance = [tool for tool in environment.tools.values() if tool.compliance]
    chains = [calls for tool in compliance for calls in call_chains(environment, tool)]
    for around, (place, once), calls in product((EVERY, CHANGING, *tools), _PLACES, chains):
        if place != "before" or not any(call.reads_event for call in calls):
            yield Reflex(calls, place, around, once)


def call_chains(
    environment: Environment, tool: Tool, arguments: Mapping[str, Json] | None = None, most: int = MOST_LOOKUPS
) -> Iterator[tuple[ReflexCall, ...]]:
    """The tool's calls, alone and after compliance look-ups of the rows that it takes.

    ``arguments``: that the calls must be able to have.
    """
    yield from ((call,) for call in _variants(environment, tool, arguments))
    if not most:
        return
    wanted = {p.source.entity.table for p in tool.parameters if isinstance(p.source, FromLookup)}
    for lookup in environment.tools.values():
        if not lookup.compliance or lookup is tool or not wanted & shown_tables(lookup):
            continue
        for before in call_chains(environment, lookup, most=most - 1):
            if all(call.tool != tool.name for call in before):
                yield from ((*before, call) for call in _variants(environment, tool, arguments))


def shown_tables(tool: Tool) -> frozenset[str]:
    """The tables whose keys its results show."""
    return frozenset(
        result.entity.table
        for result in tool.revealing_results
        if isinstance(result, KeyResult) or result.entity.key in result.fields
    )


def _variants(
    environment: Environment, tool: Tool, arguments: Mapping[str, Json] | None = None
) -> Iterator[ReflexCall]:
    options = [
        [one for one in _options(environment, parameter) if arguments is None or _gives(parameter, one, arguments)]
        for parameter in tool.parameters
    ]
    for chosen in islice(product(*options), MOST_VARIANTS):
        yield ReflexCall(tool.name, tuple(argument for argument in chosen if argument is not None))


def _gives(parameter: Parameter, option: ReflexArgument | None, arguments: Mapping[str, Json]) -> bool:
    """Whether an option can give the parameter the value that it has in ``arguments``."""
    if option is None:
        return parameter.name not in arguments
    return parameter.name in arguments and (option.source != "fixed" or option.value == arguments[parameter.name])


def _options(environment: Environment, parameter: Parameter) -> list[ReflexArgument | None]:
    """The ways to give an argument; None: left out."""
    name, source, value_type = parameter.name, parameter.source, parameter.type
    found: list[ReflexArgument | None] = [] if parameter.required else [None]
    match source:
        case FromTrace():
            own = [ReflexArgument(name, "event")] if isinstance(value_type, ListOf) else []
            return [*found, *own, ReflexArgument(name, "events")]
        case FromLookup():
            return [ReflexArgument(name, "read")]
        case FromUser(sampler=sampler):
            ordinary = _is_ordinary(environment, parameter)
            values: tuple[Value, ...] = ()
            if isinstance(value_type, Choice):
                values = value_type.options
            elif value_type == BOOLEAN:
                values = (True, False)
            elif isinstance(sampler, OneOf):
                values = sampler.values
            elif isinstance(sampler, Amount) and not ordinary:
                values = (sampler.lowest, sampler.highest)
            encoded = [value_type.encode(value) for value in values]
            if not values or ordinary:
                found.append(ReflexArgument(name, "read"))
            fixed = [value for value in encoded if isinstance(value, str | bool | int | float)]
            return [*found, *(ReflexArgument(name, "fixed", value) for value in fixed)]


def _is_ordinary(environment: Environment, parameter: Parameter) -> bool:
    """Whether an ordinary tool has a parameter of that name and type."""
    return any(
        other.name == parameter.name and other.type == parameter.type
        for tool in environment.tools.values()
        if not tool.compliance
        for other in tool.parameters
    )


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
        self._fired: Final[set[Reflex]] = set()

    def run(self, requested: Sequence[PlannedCall]) -> WrappedProgram:
        numbers: list[int] = []
        around = [self._reflexes_around(call.event.tool) for call in requested]
        died = False
        for planned, reflexes in zip(requested, around, strict=True):
            call = planned.renumbered(dict(enumerate(numbers)))
            for reflex in reflexes:
                if reflex.place == "before":
                    self._fire(reflex, call, None)
            numbers.append(len(self._calls))
            event = self._make_requested(call)
            if event is None or event.error is not None:
                died = True
                break
            for reflex in reflexes:
                if reflex.place == "after":
                    self._fire(reflex, call, event)
        if not died:
            self._finish(numbers, around)
        session = self._session
        return WrappedProgram(
            tuple(self._calls), frozenset(self._own), tuple(session.events), session.state, session.end, died
        )

    def _reflexes_around(self, tool: str) -> list[Reflex]:
        return [reflex for reflex in self._habit.reflexes if wraps(reflex, self._environment, tool)]

    def _finish(self, numbers: Sequence[int], around: Sequence[Sequence[Reflex]]) -> None:
        for reflex in self._habit.reflexes:
            if reflex.place != "end":
                continue
            wrapped = [number for number, reflexes in zip(numbers, around, strict=True) if reflex in reflexes]
            for number in wrapped[-1:] if reflex.once else wrapped:
                self._fire(reflex, self._calls[number], self._session.events[number])

    def _make_requested(self, call: PlannedCall) -> Event | None:
        arguments = call.arguments(lambda step: self._session.events[step].result)
        if arguments is None:
            self._calls.append(call)
            return None
        return self._make(call.event.tool, arguments, call.origins)

    def _make(self, tool: str, arguments: Mapping[str, Json], origins: Mapping[str, Origin]) -> Event:
        event = self._session.call(tool, arguments).event
        self._calls.append(PlannedCall(event, origins))
        return event

    def _fire(self, reflex: Reflex, call: PlannedCall, event: Event | None) -> None:
        """Make the calls of the reflex around a call; ``event`` is None before it."""
        if reflex.once and reflex in self._fired:
            return
        first = len(self._calls)
        for number, step in enumerate(reflex.calls, 1):
            made = False
            for arguments in list(self._arguments(step, call, event, first)):
                self._own.add(len(self._calls))
                self._make(
                    step.tool,
                    {name: value for name, (value, _) in arguments.items()},
                    {name: origin for name, (_, origin) in arguments.items()},
                )
                made = True
            if not made:
                return
            if number == len(reflex.calls):
                self._fired.add(reflex)

    def _arguments(
        self, step: ReflexCall, call: PlannedCall, event: Event | None, first: int
    ) -> Iterator[dict[str, _Read]]:
        """The arguments of the step: one set, or one for each row that a look-up of this reflex found."""
        tool, reads = self._environment.tools[step.tool], dict[str, list[_Read]]()
        for argument in step.arguments:
            parameter = tool.parameter(argument.name)
            match argument.source:
                case "fixed":
                    reads[argument.name] = [(argument.value, SaidByUser())]
                case "event":
                    emitted = self._environment.tools[call.event.tool].emits
                    if emitted is None or event is None:
                        return
                    reads[argument.name] = [([emitted], Derived("the event of the call"))]
                case "events":
                    assert isinstance(parameter.source, FromTrace)
                    derived = parameter.source.function(self._environment.tools, tuple(self._session.events))
                    reads[argument.name] = [(parameter.type.encode(derived), Derived(parameter.source.name))]
                case "read":
                    found = self._read(tool, parameter, call, first)
                    if not found and parameter.required:
                        return
                    if found:
                        reads[argument.name] = found
        for values in product(*reads.values()):
            yield dict(zip(reads, values, strict=True))

    def _read(self, own: Tool, parameter: Parameter, call: PlannedCall, first: int) -> list[_Read]:
        """The values that the parameter can have; several only if a look-up of the reflex showed several rows."""
        for name in _matching(self._environment.tools[call.event.tool], own, parameter.name):
            if call.event.arguments.get(name) is not None:
                value = self._value_of(call, name)
                return [_as_type(parameter, *value)] if value is not None else []
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
            if isinstance(parameter.type, ListOf) and number >= first:
                return [([value for value, _ in shown], FromResults(tuple(place for _, place in shown)))]
            return [_as_type(parameter, *one) for one in (shown if number >= first else shown[:1])]
        return []

    def _value_of(self, call: PlannedCall, name: str) -> _Read | None:
        """The wrapped call's argument, which may itself come from a result."""
        origin = call.origins.get(name, SaidByUser())
        try:
            if isinstance(origin, FromResult):
                return resolve_path(self._session.events[origin.step].result, origin.path), origin
            if isinstance(origin, FromResults):
                return [resolve_path(self._session.events[p.step].result, p.path) for p in origin.items], origin
        except (LookupError, TypeError):
            return None
        return call.event.arguments[name], origin

    def _shown(self, number: int, table: str, field: str) -> Iterator[tuple[Json, FromResult]]:
        """The values of the field in the rows of the table that a call showed."""
        event = self._session.events[number]
        if not event.completed:
            return
        for name, kind in _shown_results(self._environment, event.tool).get((table, field), ()):
            found = event.result[name] if isinstance(event.result, dict) else None
            match kind, found:
                case "key", str():
                    yield found, FromResult(number, (name,))
                case "row", dict() if found.get(field) is not None:
                    yield found[field], FromResult(number, (name, field))
                case "rows", list():
                    for place, row in enumerate(found):
                        if isinstance(row, dict) and row.get(field) is not None:
                            path: JsonPath = (name, place, field)
                            yield row[field], FromResult(number, path)
                case _:
                    pass


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


@lru_cache(maxsize=1024)
def _shown_results(environment: Environment, tool: str) -> Mapping[tuple[str, str], tuple[tuple[str, str], ...]]:
    """(table, field) -> the results that show it: their names and forms."""
    shown: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for result in environment.tools[tool].results:
        match result:
            case KeyResult():
                fields, kind = (result.entity.key,), "key"
            case RowsResult():
                fields, kind = result.fields, "row" if result.single else "rows"
            case _:
                continue
        for field in fields:
            place = result.entity.table, field
            shown[place] = (*shown.get(place, ()), (result.name, kind))
    return shown
