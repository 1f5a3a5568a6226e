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
from itertools import islice, product
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult
from lawtrace.environments.spec.samplers import Amount, OneOf
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import BOOLEAN, Choice, ListOf, Value
from lawtrace.schemas.events import Json
from lawtrace.schemas.habits import CHANGING, EVERY, Place, Reflex, ReflexArgument, ReflexCall

MOST_VARIANTS: Final = 24
"""How many choices of arguments of one compliance tool are tried."""
MOST_LOOKUPS: Final = 3
"""How many look-ups one reflex makes for its call."""


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
