"""Reference traces: calls with their events and the origin of each argument, and their printed program."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Event, FromResult, FromResults, Json, JsonPath, Origin, SaidByUser


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a reference trace: the event, and the origin of each of its arguments by name."""

    event: Event
    origins: Mapping[str, Origin]

    @property
    def said(self) -> tuple[str, ...]:
        """The names of the arguments that the user states."""
        return tuple(name for name, origin in self.origins.items() if isinstance(origin, SaidByUser))

    @property
    def looked_up(self) -> dict[str, tuple[FromResult, ...]]:
        """The arguments that are read from earlier results: one place each, or one for each item of a list."""
        places: dict[str, tuple[FromResult, ...]] = {}
        for name, origin in self.origins.items():
            if isinstance(origin, FromResult):
                places[name] = (origin,)
            elif isinstance(origin, FromResults):
                places[name] = origin.items
        return places

    @property
    def sources(self) -> frozenset[int]:
        """The indices of the calls whose results this one reads."""
        return frozenset(place.step for places in self.looked_up.values() for place in places)

    def arguments(self, result_of: Callable[[int], Json]) -> dict[str, Json] | None:
        """Its arguments, if calls have these results by index; None if they lack what an argument is read from."""
        arguments = dict(self.event.arguments)
        for name, places in self.looked_up.items():
            try:
                found: list[Json] = [resolve_path(result_of(place.step), place.path) for place in places]
            except (LookupError, TypeError):
                return None
            arguments[name] = found if isinstance(self.origins[name], FromResults) else found[0]
        return arguments

    def renumbered(self, new_number: Mapping[int, int]) -> "PlannedCall":
        """The call after those that it reads from have got other numbers."""
        return PlannedCall(
            self.event, {name: renumber_origin(origin, new_number) for name, origin in self.origins.items()}
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """A compliant trace from an initial to a final state. Every call in it completes."""

    initial: State
    calls: tuple[PlannedCall, ...]
    final: State

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(call.event for call in self.calls)

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(call.event.tool for call in self.calls)


def resolve_path(result: Json, path: JsonPath) -> Json:
    """The value at that path of a result. Raises LookupError or TypeError if there is none."""
    value: object = result
    for part in path:
        value = value[part]  # type: ignore[index]
    return value  # type: ignore[return-value]


def replay(environment: Environment, initial: State, calls: Iterable[PlannedCall]) -> Session:
    """The session of a program that makes these calls: arguments are read from its own results, and times are its own.

    It ends at a call that raises an exception which it did not raise before, or whose arguments no earlier result has.
    """
    session = Session(environment, initial)
    for call in calls:
        arguments = call.arguments(lambda step: session.events[step].result)
        if arguments is None:
            return session
        event = session.call(call.event.tool, arguments).event
        if event.error is not None and call.event.error is None:
            return session
    return session


def completed_replay(environment: Environment, initial: State, calls: Sequence[PlannedCall]) -> Session | None:
    """The session of a program that makes these calls, if all of them complete."""
    session = replay(environment, initial, calls)
    complete = len(session.events) == len(calls) and all(event.completed for event in session.events)
    return session if complete else None


def stated_reasons(environment: Environment, events: Iterable[Event]) -> dict[str, Json]:
    """The reason with which a request is declined: the options of the call that declines it, by parameter."""
    return {
        name: event.arguments[name]
        for event in events
        if event.tool == environment.declines
        for name in environment.decline_options
        if name in event.arguments
    }


def literal_calls(environment: Environment, calls: Sequence[PlannedCall]) -> tuple[PlannedCall, ...]:
    """Masking: the calls without those of compliance tools, in order (P 3.4)."""
    hidden = (number for number, call in enumerate(calls) if call.event.tool in environment.compliance_tools)
    return drop_calls(calls, hidden)


def drop_calls(calls: Sequence[PlannedCall], numbers: Iterable[int]) -> tuple[PlannedCall, ...]:
    """The calls without some of them, with references renumbered. Kept calls must not refer to dropped ones."""
    dropped = set(numbers)
    new_number = {old: new for new, old in enumerate(n for n in range(len(calls)) if n not in dropped)}
    return tuple(call.renumbered(new_number) for number, call in enumerate(calls) if number not in dropped)


def in_order(calls: Sequence[PlannedCall], order: Sequence[int]) -> tuple[PlannedCall, ...]:
    """The calls with those of these indices first. Each has to come after those that it reads from."""
    whole = [*order, *(number for number in range(len(calls)) if number not in order)]
    new_number = {number: place for place, number in enumerate(whole)}
    return tuple(calls[number].renumbered(new_number) for number in whole)


def without_call(calls: Sequence[PlannedCall], number: int) -> tuple[PlannedCall, ...]:
    """The calls without one of them and those that read its result, directly or not."""
    dropped = {number}
    for later in range(number + 1, len(calls)):
        if calls[later].sources & dropped:
            dropped.add(later)
    return drop_calls(calls, dropped)


def renumber_origin(origin: Origin, new_number: Mapping[int, int]) -> Origin:
    """The origin of an argument after calls have got other numbers."""
    if isinstance(origin, FromResults):
        return FromResults(tuple(FromResult(new_number[item.step], item.path) for item in origin.items))
    return FromResult(new_number[origin.step], origin.path) if isinstance(origin, FromResult) else origin


def print_program(environment: Environment, calls: Sequence[PlannedCall]) -> str:
    """The calls as a Python program over the environment's object, ending with a newline.

    A result that a later call reads gets a name, and arguments from earlier results are written as paths into them.
    """
    used = frozenset[int]().union(*(call.sources for call in calls))
    lines = [_print_call(environment, number, call, named=number in used) for number, call in enumerate(calls)]
    return "\n".join(lines) + "\n"


def _print_call(environment: Environment, number: int, call: PlannedCall, *, named: bool) -> str:
    arguments = [f"{name}={_print_argument(value, call.origins[name])}" for name, value in call.event.arguments.items()]
    line = f"{environment.object_name}.{call.event.tool}({', '.join(arguments)})"
    return f"r{number + 1} = {line}" if named else line


def _print_argument(value: Json, origin: Origin) -> str:
    if isinstance(origin, FromResults):
        return f"[{', '.join(map(_print_path, origin.items))}]"
    return _print_path(origin) if isinstance(origin, FromResult) else repr(value)


def _print_path(origin: FromResult) -> str:
    return f"r{origin.step + 1}" + "".join(f"[{part!r}]" for part in origin.path)
