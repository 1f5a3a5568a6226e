"""Reflexes and habits: fixed compliance calls around the requested calls, and the family of them in an environment.

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
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Final, Literal

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult
from lawtrace.environments.spec.samplers import Amount, OneOf
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import BOOLEAN, Choice, ListOf, Value
from lawtrace.schemas.events import Json

EVERY: Final = "every call"
CHANGING: Final = "every change"
"""The two classes of calls that are not named after a tool: all calls, and those that change tables of goals."""

MOST_VARIANTS: Final = 24
"""How many choices of arguments of one compliance tool are tried."""
MOST_LOOKUPS: Final = 3
"""How many look-ups one reflex makes for its call."""

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

    def wraps(self, environment: Environment, tool: str) -> bool:
        """Whether a call of the tool is in the class of wrapped calls."""
        return (
            self.around == EVERY
            or self.around == tool
            or (self.around == CHANGING and tool in environment.changing_tools)
        )

    def acts_in(self, environment: Environment, tools: frozenset[str]) -> bool:
        """Whether it wraps a call of one of these tools."""
        return any(self.wraps(environment, tool) for tool in tools)

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


PLACES: Final[tuple[tuple[Place, bool], ...]] = (
    ("before", False),
    ("before", True),
    ("after", False),
    ("end", True),
    ("end", False),
    ("after", True),
)
"""Place and whether once, in the order of preference among reflexes that make the same calls."""


def all_reflexes(environment: Environment, tools: frozenset[str]) -> Iterator[Reflex]:
    """The reflexes of an environment around calls of these tools, general ones first."""
    chains = [
        calls for tool in environment.tools.values() if tool.compliance for calls in call_chains(environment, tool)
    ]
    classes = (EVERY, CHANGING, *(name for name in environment.tools if name in tools))
    for around, (place, once), calls in product(classes, PLACES, chains):
        if place == "before" and any(argument.source == "event" for call in calls for argument in call.arguments):
            continue
        yield Reflex(calls, place, around, once)


def call_chains(
    environment: Environment,
    tool: Tool,
    arguments: Mapping[str, Json] | None = None,
    most: int = MOST_LOOKUPS,
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
