"""Sessions drawn at random around some rules: their tools, values and times, in start states that make them differ.

A drawn call finds the rows that it names first, as a caller does. Half of its arguments are values that the rules
compare with or have met before, and pauses end beside the bounds of their windows. A start state is one that
``populate`` draws. In a varied one, fields that the rules read have other values: those of other drawn states, of
facts, and those beside what the rules compare with.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import call_duration, decode_arguments
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import FieldValue
from lawtrace.environments.spec.state import Row, State
from lawtrace.environments.spec.tools import FromLookup, FromUser, Tool
from lawtrace.environments.spec.types import Value, ValueType, WrongFormat, WrongType
from lawtrace.schemas.events import Event, FromResult, Json, SaidByUser
from lawtrace.solver.coverage.value_mutants import FieldOfTool, tracked_fields, values_of
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import comparisons_in, operands
from lawtrace.solver.logic.terms import (
    RESULT,
    FieldPath,
    FunctionCall,
    LiteralValue,
    Missing,
    SpanLiteral,
    leaves,
    parse_date,
)
from lawtrace.solver.logic.windows import Bound, Span, Window
from lawtrace.solver.planner.argument_choices import plain_chooser
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call, initial_search_state
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.field_uses import Field, FieldUses
from lawtrace.solver.search.events.space import edges
from lawtrace.solver.search.events.values import constants, derived

DRAWN_STATES: Final = 60
"""How many start states are drawn."""
REDRAWS: Final = 4
"""How often the arguments of a call are drawn if it does not complete."""
MOST_DAYS: Final = 10_000
"""The longest window of days."""
OTHER_ROW, UNKNOWN_ROW, RULE_VALUE, PAUSE = 0.15, 0.1, 0.5, 0.3
"""How often another row is looked up although one is known; a row is named that was not; an argument is a value of the
rules; time passes before a call."""

Bindings = Mapping[tuple[str, str], Json]
"""Values of arguments, by tool and name."""
NO_BINDINGS: Final[Bindings] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call to make. ``at``: before this time, in seconds since 1970, it is not made."""

    tool: str
    arguments: Mapping[str, Json]
    at: int = 0


@dataclass(frozen=True, slots=True)
class Script:
    """Calls to make from a start state. ``drawn``: the state from which the start state was varied."""

    drawn: State
    initial: State
    calls: tuple[ScriptedCall, ...] = ()

    def execute(self, environment: Environment) -> tuple[list[Event], int]:
        """The events in the simulator, and the end of the session."""
        session = Session(environment, self.initial)
        for call in self.calls:
            session.advance_time(max(0, call.at - session.now))
            session.call(call.tool, call.arguments)
        return session.events, session.end


class RuleValues:
    """What rules compare calls with.

    Attributes:
        tools: that the rules name.
        arguments: values, by tool and argument.
        linked: fields with whose values an argument or, by their last name, fields of results are compared.
        fields: values of fields of results, by their last name.
        windows: how long after an event or a date something changes.
    """

    def __init__(self, rules: Sequence[Rule], now: int) -> None:
        uses = FieldUses(rules)
        self.tools: Final = sorted(frozenset[str]().union(*(rule.tools for rule in rules)))
        self.arguments: Final[dict[tuple[str, str], list[Json]]] = {}
        self.fields: Final[dict[str, list[Json]]] = {}
        self.linked: Final[dict[tuple[str, str], list[FieldOfTool]]] = {}
        tracked: dict[object, list[Field]] = {}
        for one in (one for tool in uses.fields for one in uses.fields_of(tool)):
            values = [value for test in one.tests for value in constants(test)] + one.limits
            values += derived(one.computed, now) if one.computed else []
            name = str(one.path.path[0])
            if name != RESULT:
                self.arguments.setdefault((one.tool, name), []).extend(values)
            else:
                self.fields.setdefault(last_name(one.path), []).extend(values)
            if one.tracked:
                tracked.setdefault(uses.groups.of(one), []).append(one)
        for several in tracked.values():
            for one in several:
                name = str(one.path.path[0])
                place = (one.tool, name) if name != RESULT else ("", last_name(one.path))
                others = [FieldOfTool(other.tool, other.path) for other in several if other is not one]
                self.linked.setdefault(place, []).extend(others)
        self.windows: Final = tuple(dict.fromkeys(window for rule in rules for window in _windows(rule.parsed)))

    def bindings(self, values: Mapping[str, Json], formula: s.Formula) -> Bindings:
        """The arguments that a formula equates with variables of these values."""
        found: dict[tuple[str, str], Json] = {}
        for name, places in tracked_fields(formula).items():
            if name in values:
                found |= {
                    (one.tool, str(one.field.path[0])): values[name] for one in places if len(one.field.path) == 1
                }
        return found

    def times(self, state: SearchState) -> list[int]:
        """The times until the end of the session that are beside the bounds of windows."""
        starts = {time for event in state.events for time in _times(event)}
        found = {time for start in sorted(starts) for window in self.windows for time in edges(window, start)}
        return sorted(time for time in found if state.now < time < state.end)


def last_name(path: FieldPath) -> str:
    """The last name in a path: of the field of a row, if the path leads to one."""
    return str(next(step for step in reversed(path.path) if isinstance(step, str)))


def _windows(formula: s.Formula) -> Iterator[Window]:
    """The windows of a formula; spans of time and numbers of days in its comparisons are windows, too."""
    for node in s.subformulas(formula):
        if isinstance(node, (*s.FUTURE, *s.PAST)):
            yield node.window
        for aggregate in s.aggregates_of(node):
            if isinstance(aggregate, s.EventAggregate):
                yield aggregate.window
        compared = comparisons_in(node.condition) if isinstance(node, s.Atom) else ()
        for comparison in (node.comparison,) if isinstance(node, s.Compare) else compared:
            in_days = any(isinstance(side, FunctionCall) for side in operands(comparison))
            for leaf in (leaf for side in operands(comparison) for leaf in leaves(side)):
                if isinstance(leaf, SpanLiteral):
                    yield Window(upper=Bound(leaf.span))
                elif isinstance(leaf, LiteralValue) and isinstance(leaf.content, int) and in_days:
                    yield Window(upper=Bound(Span(min(abs(leaf.content), MOST_DAYS), "calendar day")))


def _times(event: Event) -> Iterator[int]:
    """The time of an event, and the dates in its result."""
    assert event.time is not None
    yield event.time
    for value in scalars(event.result):
        if isinstance(value, str) and not isinstance(time := parse_date(value), Missing):
            yield int(time)


class SessionSampler:
    """Draws start states and calls of one environment. The same draws for the same seed."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        """`rules`: whose values are the same in several calls."""
        self.environment: Final = environment
        self._chooser: Final = plain_chooser(environment)
        self._finding: Final = {
            table: [
                tool for tool in environment.tools.values() if any(one.entity.table == table for one in tool.lookups)
            ]
            for table in environment.entities
        }
        self._random: Final = Random(f"{environment.name}/start states")
        self._states: Final[list[State]] = []
        self._seen: Final[dict[tuple[str, str], list[Value]]] = {}
        self._linked: Final = RuleValues(rules, environment.clock.start(self.state(0))).linked

    def state(self, number: int) -> State:
        """One of the drawn start states."""
        while len(self._states) <= number % DRAWN_STATES:
            self._states.append(self.environment.populate(self._random))
        return self._states[number % DRAWN_STATES]

    def varied(
        self,
        state: State,
        values: RuleValues,
        random: Random,
        wanted: Collection[Json] = (),
        among: Collection[str] | None = None,
    ) -> State:
        """The state with other values in half of the fields that the rules read, or in one.

        Args:
            wanted: values that come first.
            among: keys of rows, as texts, of which one has another value in one field; None for all rows.
        """
        places = [
            (table, number, name)
            for table, entity in self.environment.entities.items()
            for name in entity.fields
            if name in values.fields and name != entity.key
            for number, row in enumerate(state.tables[table])
            if among is None or str(row.values[entity.key]) in among
        ]
        if among is not None:
            places = [random.choice(places)] if places else []
        changed = dict[tuple[str, int], dict[str, Value]]()
        for table, number, name in places:
            pool = self._pool(table, name, values, wanted) if among is not None or random.random() < 0.5 else []
            if pool:
                changed.setdefault((table, number), {})[name] = random.choice(pool)
        for table in dict.fromkeys(table for table, _ in changed):
            rows = enumerate(state.tables[table])
            merged = (Row({**row.values, **changed.get((table, number), {})}, row.present) for number, row in rows)
            state = state.with_table(table, tuple(merged))
        return state

    def _pool(self, table: str, name: str, values: RuleValues, wanted: Collection[Json]) -> list[Value]:
        """Values for a field of rows."""
        kind = self.environment.entities[table].fields[name].type
        linked = {last_name(one.field) for one in values.linked.get(("", name), ())} - {name}
        alike = [
            (other, one)
            for other, entity in self.environment.entities.items()
            for one in entity.fields
            if one in linked and one != entity.key and entity.fields[one].type == kind
        ]
        found = [*self._values_seen(table, name), *(value for place in alike for value in self._values_seen(*place))]
        found += [value for text in values.fields[name] if (value := _decoded(kind, text)) is not None]
        fitting = [value for value in found if value is not None and kind.encode(value) in wanted] if wanted else []
        return fitting or list(dict.fromkeys(found))

    def _values_seen(self, table: str, name: str) -> list[Value]:
        if (table, name) not in self._seen:
            rows = (row for number in range(DRAWN_STATES // 2) for row in self.state(number).rows(table))
            facts = (one for one in self.environment.facts if (one.entity.table, one.field) == (table, name))
            found = {row.values[name] for row in rows}.union(*(one.values for one in facts))
            self._seen[table, name] = sorted(found, key=repr)
        return self._seen[table, name]

    def after(self, script: Script, number: int) -> SearchState | None:
        """What a caller knows after so many calls of a script; None if one of them does not complete."""
        state: SearchState | None = initial_search_state(self.environment, script.initial)
        for call in script.calls[:number]:
            tool = self.environment.tools[call.tool]
            values = decode_arguments(tool, call.arguments)
            choice = CallChoice(tool, values, dict.fromkeys(call.arguments, SaidByUser()))
            state = apply_call(self.environment, replace(state, now=max(state.now, call.at)), choice)
            if state is None:
                return None
        return state

    def script(self, drawn: State, initial: State, events: Sequence[Event]) -> Script:
        """The script of some calls that were made."""
        now, calls = self.environment.clock.start(initial), list[ScriptedCall]()
        for event in events:
            assert event.time is not None
            calls.append(ScriptedCall(event.tool, event.arguments, event.time if event.time > now else 0))
            now = event.time + call_duration(self.environment, event)
        return Script(drawn, initial, tuple(calls))

    def wait(self, state: SearchState, values: RuleValues, random: Random) -> SearchState:
        """The state after a pause, if one is drawn."""
        times = values.times(state) if values.windows and random.random() < PAUSE else []
        return replace(state, now=random.choice(times)) if times else state

    def call(
        self,
        tool: Tool,
        state: SearchState,
        values: RuleValues,
        random: Random,
        bound: Bindings = NO_BINDINGS,
        above: frozenset[str] = frozenset(),
    ) -> SearchState | None:
        """The state after a drawn call and the look-ups that it needs; None if it does not complete.

        `bound`: values that arguments mostly have. `above`: the tools for which the call is made.
        """
        guessed = random.random() < UNKNOWN_ROW
        tables = [one.source.entity.table for one in tool.parameters if isinstance(one.source, FromLookup)]
        for number, table in enumerate(tables):
            known = state.known.get(table, {})
            if len(known) > tables[:number].count(table) and random.random() >= OTHER_ROW:
                continue
            finders = [one for one in self._finding[table] if one.name not in above and one is not tool]
            key = self.environment.entities[table].key
            if guessed and not known and (keys := [row.values[key] for row in state.state.rows(table)]):
                nowhere = FromResult(len(state.events), (key,))
                state = replace(state, known={**state.known, table: {random.choice(keys): nowhere}})
            elif finders:
                found = self.call(random.choice(finders), state, values, random, bound, above | {tool.name})
                if found is None and not known:
                    return None
                state = found or state
            elif not known:
                return None
        for _ in range(REDRAWS):
            choice = self._choice(tool, state, self._wanted(tool, state, values, random, bound), random)
            after = None if choice is None else apply_call(self.environment, state, choice)
            if after is not None:
                return after
        return None

    def _choice(self, tool: Tool, state: SearchState, wanted: Mapping[str, Value], random: Random) -> CallChoice | None:
        """Drawn arguments with wanted values. What is said of rows is drawn until it fits, so that it is of one row."""
        said = [(p.name, p.source) for p in tool.parameters if isinstance(p.source, FromUser)]
        of_rows = [name for name, source in said if isinstance(source.sampler, FieldValue)]
        choice = None
        for _ in range(REDRAWS):
            choice = self._chooser.sample(state, tool, random)
            if choice is None or all(choice.values.get(name) == wanted[name] for name in of_rows if name in wanted):
                break
        others = {name: value for name, value in wanted.items() if name not in of_rows}
        if choice is None or not others:
            return choice
        given = {name: choice.values[name] for name in choice.origins}
        return self._chooser.with_values(state, tool, given | others) or choice

    def _wanted(
        self, tool: Tool, state: SearchState, values: RuleValues, random: Random, bound: Bindings
    ) -> dict[str, Value]:
        """Values of the rules for some arguments."""
        found: dict[str, Value] = {}
        for parameter in tool.parameters:
            place = tool.name, parameter.name
            if place in bound and random.random() < 1 - OTHER_ROW:
                texts = [bound[place]]
            elif not isinstance(parameter.source, FromUser) or random.random() >= RULE_VALUE:
                continue
            else:
                met = values_of(values.linked.get(place) or self._linked.get(place, ()), state.events)
                texts = [*met] if met and random.random() < RULE_VALUE else values.arguments.get(place, [])
            value = _decoded(parameter.type, random.choice(texts)) if texts else None
            if value is not None:
                found[parameter.name] = value
        return found


def scalars(value: Json) -> Iterator[Json]:
    """The values in a value that are neither objects nor lists nor missing."""
    match value:
        case dict() | list():
            for part in value.values() if isinstance(value, dict) else value:
                yield from scalars(part)
        case None:
            pass
        case _:
            yield value


def _decoded(kind: ValueType, value: Json) -> Value:
    """A value in internal form; None if it is not of the type."""
    try:
        return kind.decode(value)
    except (WrongType, WrongFormat):
        return None
