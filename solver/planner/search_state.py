"""Search states: the state between two calls of a trace, and the transition by a call.

The simulator runs the call, so the semantics of tools is not repeated here. The caller learns keys from the declared
results: the key of the single row that a look-up finds, and the key of a row that the call creates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

from lawtrace.environments.runtime.simulation import call_duration, compile_tool, simulate_call, state_at
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Delete, KeyResult, RowsResult
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value
from lawtrace.schemas.events import Event, FromResult, Json, JsonPath, Origin

KnownRows = Mapping[str, Mapping[Value, FromResult]]


@dataclass(frozen=True, slots=True)
class SearchState:
    """The state between two calls.

    Attributes:
        state: at the time at which the next call begins: what is due by then has happened.
        now: that time.
        end: the time at which the session ends. A call must begin before it.
        known: for each table the keys that the caller knows, with the place in an earlier result that revealed each.
        findable: for each table the keys of initial rows that a caller may come to know; empty if not computed.
    """

    state: State
    now: int
    end: int
    events: tuple[Event, ...] = ()
    known: KnownRows = field(default_factory=dict[str, Mapping[Value, FromResult]])
    findable: Mapping[str, frozenset[Value]] = field(default_factory=dict[str, frozenset[Value]])


@dataclass(frozen=True, slots=True)
class ArgumentValue:
    """A value of one parameter. Without an origin the argument is left out."""

    value: Value
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class CallChoice:
    """A call before it runs, or the arguments chosen so far: decoded, with their origins and the rows they refer to."""

    tool: Tool
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    origins: Mapping[str, Origin] = field(default_factory=dict[str, Origin])
    rows: frozenset[Value] = frozenset()

    def plus(self, parameter: Parameter, argument: ArgumentValue) -> "CallChoice":
        """The call with one more argument."""
        value, origin, rows = argument.value, argument.origin, self.rows
        if isinstance(parameter.source, FromLookup):
            rows = rows.union(value if isinstance(parameter.type, ListOf) else (value,))
        origins = self.origins if origin is None else {**self.origins, parameter.name: origin}
        return CallChoice(self.tool, {**self.values, parameter.name: value}, origins, rows)

    def encoded(self) -> dict[str, Json]:
        """The arguments as JSON, without optional ones that are not given."""
        return {
            parameter.name: parameter.type.encode(self.values[parameter.name])
            for parameter in self.tool.parameters
            if parameter.name in self.origins
        }

    def only_match(self, lookup: RowsResult, search_state: SearchState) -> Value:
        """The key of the one row that the look-up finds; None if it finds none or several."""
        rows = compile_tool(self.tool).rows_found(lookup.name, search_state.state, self.values, search_state.now)
        return rows[0].values[lookup.entity.key] if len(rows) == 1 else None


def initial_search_state(environment: Environment, state: State) -> SearchState:
    """The search state before the first call."""
    now = environment.clock.start(state)
    return SearchState(state_at(environment, state, now), now, environment.clock.end(state))


def later(environment: Environment, search_state: SearchState, now: int) -> SearchState:
    """The search state after time has passed without a call, until a time if it is not over."""
    if now <= search_state.now:
        return search_state
    state = state_at(environment, search_state.state, now)
    return replace(search_state, state=state, now=now, known=_still_there(environment, search_state.known, state))


def apply_call(environment: Environment, search_state: SearchState, choice: CallChoice) -> SearchState | None:
    """The search state after the call; None if it does not complete before the session ends."""
    now = search_state.now
    if now >= search_state.end:
        return None
    event, after = simulate_call(environment, search_state.state, choice.tool.name, choice.encoded(), now)
    if not event.completed:
        return None
    following = now + call_duration(environment, event)
    state = state_at(environment, after, min(following, search_state.end))
    known = _updated_knowledge(choice, search_state, event, state)
    return SearchState(
        state,
        following,
        search_state.end,
        (*search_state.events, event),
        _still_there(environment, known, state) if state is not after else known,
        search_state.findable,
    )


def with_listed_rows(search_state: SearchState, tool: Tool) -> SearchState:
    """The search state of a caller that takes any row that its last call, of this tool, listed and did not delete."""
    known, result = search_state.known, cast("Mapping[str, Json]", search_state.events[-1].result)
    for listing in tool.listings:
        table, key, last = listing.entity.table, listing.entity.key, len(search_state.events) - 1
        there = {row.values[key] for row in search_state.state.rows(table)}
        listed = dict[Value, FromResult]()
        for number, row in enumerate(cast("Sequence[Mapping[str, Json]]", result[listing.name])):
            if (value := listing.entity.fields[key].type.decode(row[key])) in there:
                listed[value] = FromResult(last, (listing.name, number, key))
        known = {**known, table: {**listed, **known.get(table, {})}}
    return replace(search_state, known=known)


def _updated_knowledge(choice: CallChoice, search_state: SearchState, event: Event, after: State) -> KnownRows:
    known = search_state.known
    for result in _revealing_results(choice.tool):
        table, read = result.entity.table, _learned_key(result, cast("Mapping[str, Json]", event.result))
        if read is not None:
            value, path = read
            key = result.entity.fields[result.entity.key].type.decode(value)
            if key not in known.get(table, {}):
                place = FromResult(len(search_state.events), path)
                known = {**known, table: {**known.get(table, {}), key: place}}
    for table, key_field in _deleting(choice.tool):
        if table in known:
            there = {row.values[key_field] for row in after.rows(table)}
            known = {**known, table: {key: place for key, place in known[table].items() if key in there}}
    return known


def _still_there(environment: Environment, known: KnownRows, state: State) -> KnownRows:
    """What is known without the rows that what happened has deleted."""
    for table in environment.moving_tables & known.keys():
        there = {row.values[environment.entities[table].key] for row in state.rows(table)}
        known = {**known, table: {key: place for key, place in known[table].items() if key in there}}
    return known


def _learned_key(declared: RowsResult | KeyResult, result: Mapping[str, Json]) -> tuple[Json, JsonPath] | None:
    """The key that a result reveals, and the path to it; None if it holds no row or several."""
    value = result[declared.name]
    if isinstance(declared, KeyResult):
        return value, (declared.name,)
    key = declared.entity.key
    if isinstance(value, list):
        return (cast("Mapping[str, Json]", value[0])[key], (declared.name, 0, key)) if len(value) == 1 else None
    return None if value is None else (cast("Mapping[str, Json]", value)[key], (declared.name, key))


@lru_cache(maxsize=1024)
def _revealing_results(tool: Tool) -> tuple[RowsResult | KeyResult, ...]:
    return tool.revealing_results


@lru_cache(maxsize=1024)
def _deleting(tool: Tool) -> tuple[tuple[str, str], ...]:
    """The tables that the tool deletes rows from, with their keys."""
    entities = [effect.entity for effect in tool.effects if isinstance(effect, Delete)]
    return tuple((entity.table, entity.key) for entity in entities)
