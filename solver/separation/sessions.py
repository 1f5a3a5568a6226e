"""Sessions drawn at random around some rules: their tools, values and times, in start states that make them differ.

A drawn call finds the rows that it names first, as a caller does. Half of its arguments are values that the rules
compare with or have met before, and pauses end beside the bounds of their windows. A start state is one that
``populate`` draws. In a varied one, fields that the rules read have other values: those of other drawn states, of
facts, and those beside what the rules compare with.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import call_duration, decode_arguments
from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import ValueResult
from lawtrace.environments.spec.samplers import FieldValue
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.terms import fields_of
from lawtrace.environments.spec.tools import FromLookup, FromUser, Tool
from lawtrace.environments.spec.types import Choice, Value, ValueType, WrongFormat, WrongType
from lawtrace.schemas.events import Event, FromResult, Json, SaidByUser, scalars
from lawtrace.solver.coverage.value_mutants import FieldOfTool, values_of
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import (
    Condition,
    OrCondition,
    comparisons_in,
    condition_fields,
    condition_variables,
    conjuncts,
    equations,
    operands,
    subconditions,
)
from lawtrace.solver.logic.terms import (
    RESULT,
    FieldPath,
    FunctionCall,
    LiteralValue,
    Missing,
    SpanLiteral,
    is_value,
    leaves,
    parse_date,
)
from lawtrace.solver.logic.windows import Bound, Span, Window
from lawtrace.solver.planner.argument_choices import plain_chooser
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call, initial_search_state, later
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.field_uses import Field, FieldUses
from lawtrace.solver.search.events.space import edges
from lawtrace.solver.search.events.values import constants, derived, placed
from lawtrace.solver.search.problem import Budget

DRAWN_STATES: Final = 60
"""How many start states are drawn."""
REDRAWS: Final = 4
"""How often the arguments of a call are drawn if it does not complete."""
FLIPS: Final = 6
"""How many changes of the start state are tried for a call that is to have a certain result."""
WAIT: Final = 400 * 86_400
"""How long a session of tools without state lasts after its last event, in seconds, so that deadlines pass."""
MOST_DAYS: Final = 10_000
"""The longest window of days."""
OTHER_ROW, UNKNOWN_ROW, RULE_VALUE, AGAIN = 0.15, 0.1, 0.5, 0.3
"""How often another row is looked up although one is known; a row is named that was not; an argument is a value of the
rules; time passes before a call; a call is made as before."""

Wanted = Mapping[tuple[str, str], Sequence[Json]]
"""Values that arguments are to have, by tool and name."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call to make. ``at``: before this time, in seconds since 1970, it is not made. ``made``: of a tool without
    state the event, whose result is made up."""

    tool: str
    arguments: Mapping[str, Json]
    at: int = 0
    made: Event | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Calls to make from a start state. ``drawn``: the state from which the start state was varied."""

    drawn: State
    initial: State
    calls: tuple[ScriptedCall, ...] = ()

    def execute(self, environment: Environment) -> tuple[list[Event], int]:
        """The events in the simulator, or those that are made up, and the end of the session."""
        if not environment.simulated:
            return self.made_up()
        session = Session(environment, self.initial)
        for call in self.calls:
            session.advance_time(max(0, call.at - session.now))
            session.call(call.tool, call.arguments)
        return session.events, session.end

    def made_up(self) -> tuple[list[Event], int]:
        """The events of tools without state, and the end of the session."""
        now, events = DEFAULT_START, list[Event]()
        for call in self.calls:
            assert call.made is not None
            now = max(now, call.at)
            events.append(replace(call.made, time=now))
        return events, now + WAIT


class RuleValues:
    """What rules compare calls with.

    Attributes:
        tools: that the rules name.
        arguments: values, by tool and argument.
        linked: fields with whose values an argument or, by their last name, fields of results are compared.
        fields: values of fields of results, by their last name and those of what they are computed from.
        windows: how long after an event or a date something changes.
    """

    def __init__(self, rules: Sequence[Rule], environment: Environment, now: int) -> None:
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
                for each in _fields_behind(environment.tools.get(one.tool), one.path):
                    self.fields.setdefault(each, []).extend(values)
            if one.tracked:
                tracked.setdefault(uses.groups.of(one), []).append(one)
        for several in tracked.values():
            for one in several:
                name = str(one.path.path[0])
                place = (one.tool, name) if name != RESULT else ("", last_name(one.path))
                others = [FieldOfTool(other.tool, other.path) for other in several if other is not one]
                self.linked.setdefault(place, []).extend(others)
        self.windows: Final = tuple(dict.fromkeys(window for rule in rules for window in _windows(rule.parsed)))

    def met(self, name: str, events: Sequence[Event]) -> Sequence[Json]:
        """The values in some events with which fields of results of this name are compared."""
        return values_of(self.linked.get(("", name), ()), events)

    def times(self, events: Sequence[Event], now: int, end: int) -> list[int]:
        """The times after now, and before the end of the session, that are beside the bounds of windows."""
        starts = {time for event in events for time in _times(event)}
        found = {time for start in starts for window in self.windows for time in edges(window, start)}
        return sorted(time for time in found if now < time < end)


def moved_call(script: Script, possible: Sequence[int], random: Random) -> Script | None:
    """The script with one call at one of these times; None if there is none."""
    if not possible:
        return None
    number = random.randrange(len(script.calls))
    moved = replace(script.calls[number], at=random.choice(possible))
    return replace(script, calls=(*script.calls[:number], moved, *script.calls[number + 1 :]))


def last_name(path: FieldPath) -> str:
    """The last name in a path: of the field of a row, if the path leads to one."""
    return str(next(step for step in reversed(path.path) if isinstance(step, str)))


def _fields_behind(tool: Tool | None, path: FieldPath) -> set[str]:
    """The last name of a field of a result, and the fields of rows from which it is computed."""
    results = () if tool is None else tool.results
    terms = [one.term for one in results if isinstance(one, ValueResult) and one.name in path.path[:2]]
    return {last_name(path)}.union(name for term in terms for _, name in fields_of(term))


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
        self._random: Final = Random(f"{environment.name}/start states")
        self._states: Final[list[State]] = []
        self._seen: Final[dict[tuple[str, str], list[Value]]] = {}
        self._linked: Final = RuleValues(rules, environment, environment.clock.start(self.state(0))).linked

    def state(self, number: int) -> State:
        """One of the drawn start states."""
        while len(self._states) <= number % DRAWN_STATES:
            self._states.append(self.environment.populate(self._random))
        return self._states[number % DRAWN_STATES]

    def varied(self, state: State, values: RuleValues, random: Random) -> State:
        """The state with other values in half of the fields that the rules read."""
        for table, entity in self.environment.entities.items():
            names = [name for name in entity.fields if name in values.fields and name != entity.key]
            rows: list[Row] = []
            for row in state.tables[table] if names else ():
                changed = {name: self._other(table, name, values, random) for name in names if random.random() < 0.5}
                rows.append(Row({**row.values, **changed}, row.present))
            state = state.with_table(table, tuple(rows)) if names else state
        return state

    def with_other_field(
        self,
        state: State,
        values: RuleValues,
        random: Random,
        keys: Collection[str],
        fields: Mapping[str, Sequence[Json]],
    ) -> State:
        """The state with another value in one field of a row that has one of some keys, as texts, among its values.

        `fields`: the names of fields that may change, with values that come first.
        """
        entities = self.environment.entities
        every = {str(row.values[one.key]) for table, one in entities.items() for row in state.tables[table]}
        among = every.intersection(keys)
        for table in entities:  # and those that these rows refer to
            rows = (frozenset(map(str, row.values.values())) for row in state.tables[table])
            among = among.union(*(every & row for row in rows if not among.isdisjoint(row)))
        places = [
            (table, number, name)
            for table, entity in entities.items()
            for name in entity.fields
            if name in fields and name != entity.key
            for number, row in enumerate(state.tables[table])
            if not among.isdisjoint(map(str, row.values.values()))
        ]
        if not places:
            return state
        table, number, name = random.choice(places)
        kind, rows = entities[table].fields[name].type, [*state.tables[table]]
        first = [value for one in fields[name] if (value := _decoded(kind, one)) is not None]
        value = random.choice(first) if first else self._other(table, name, values, random)
        rows[number] = Row({**rows[number].values, name: value}, rows[number].present)
        return state.with_table(table, tuple(rows))

    def _other(self, table: str, name: str, values: RuleValues, random: Random) -> Value:
        """A value for a field of rows."""
        entities = self.environment.entities
        kind = entities[table].fields[name].type
        linked = {last_name(one.field) for one in values.linked.get(("", name), ())} - {name}
        texts: list[Json] = [*values.fields.get(name, ()), *(kind.options if isinstance(kind, Choice) else ())]
        for other, entity in entities.items():
            for one in linked & entity.fields.keys() - {entity.key}:
                texts += [entity.fields[one].type.encode(value) for value in self._values_seen(other, one)]
        decoded = [value for text in texts if (value := _decoded(kind, text)) is not None]
        return random.choice(sorted({*self._values_seen(table, name), *decoded}, key=repr))

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
            state = self._repeated(call.tool, call.arguments, later(self.environment, state, call.at))
            if state is None:
                return None
        return state

    def _repeated(self, name: str, arguments: Mapping[str, Json], state: SearchState) -> SearchState | None:
        """The state after a call with known arguments; None if it does not complete."""
        tool = self.environment.tools[name]
        choice = CallChoice(tool, decode_arguments(tool, arguments), dict.fromkeys(arguments, SaidByUser()))
        return apply_call(self.environment, state, choice)

    def script(self, drawn: State, initial: State, events: Sequence[Event]) -> Script:
        """The script of some calls that were made."""
        now, calls = self.environment.clock.start(initial), list[ScriptedCall]()
        for event in events:
            assert event.time is not None
            calls.append(ScriptedCall(event.tool, event.arguments, event.time if event.time > now else 0))
            now = event.time + call_duration(self.environment, event)
        return Script(drawn, initial, tuple(calls))

    def later(self, script: Script, values: RuleValues, random: Random) -> Script | None:
        """The script with another time of one call, beside the bound of a window; None if there is no such time."""
        events, end = script.execute(self.environment)
        possible = values.times(events, self.environment.clock.start(script.initial), end)
        return moved_call(script, possible, random)

    def call(
        self,
        tool: Tool,
        state: SearchState,
        values: RuleValues,
        random: Random,
        wanted: Wanted,
        above: frozenset[str] = frozenset(),
    ) -> SearchState | None:
        """The state after a drawn call and the look-ups that it needs; None if it does not complete.

        `wanted`: values that arguments mostly have. `above`: the tools for which the call is made.
        """
        guessed = random.random() < UNKNOWN_ROW
        looked_up = [(one.name, one.source.entity) for one in tool.parameters if isinstance(one.source, FromLookup)]
        for number, (name, entity) in enumerate(looked_up):
            known, there = state.known.get(entity.table, {}), list(state.state.rows(entity.table))
            meant = [one for one in there if one.values[entity.key] in wanted.get((tool.name, name), ())]
            enough = len(known) > [one for _, one in looked_up[:number]].count(entity)
            if random.random() >= OTHER_ROW and (meant[0].values[entity.key] in known if meant else enough):
                continue
            finders = [
                one for one in self.environment.finders[entity.table] if one.name not in above and one is not tool
            ]
            if guessed and not known and there:
                nowhere = FromResult(len(state.events), (entity.key,))
                keys = {one.values[entity.key]: nowhere for one in meant or there}
                state = replace(state, known={**state.known, entity.table: keys})
            elif finders:
                finder = random.choice(finders)
                pins = _pinned(finder, entity, meant[0]) if meant else {}
                found = self.call(finder, state, values, random, {**wanted, **pins}, above | {tool.name})
                if found is None and not known:
                    return None
                state = found or state
            elif not known:
                return None
        for _ in range(REDRAWS):
            choice = self._choice(tool, state, self._given(tool, state, values, random, wanted), random)
            after = None if choice is None else apply_call(self.environment, state, choice)
            if after is not None:
                return after
        return None

    def meet(
        self,
        script: Script,
        place: int,
        goals: Sequence[s.Atom],
        values: RuleValues,
        random: Random,
        bound: dict[str, Json],
        budget: Budget,
    ) -> Script | None:
        """The script with one more call at a place, for which some atoms of one tool are true as far as drawn values
        and changes of the start state make them so; None if no call completes.

        `bound`: values of variables; those of new ones are added.
        """
        tool = self.environment.tools.get(goals[0].tool)
        if tool is None or not budget.spend():
            return None
        parts = [part for goal in goals for part in chosen_parts(goal.condition, random)]
        wanted, fields = _wanted(tool, parts, bound)
        script, wanted = self._aimed(script, tool, wanted, bound, random)
        state = self.after(script, place)
        if state is None:
            return None
        known = [one.arguments for one in state.events if one.tool == tool.name and random.random() < AGAIN]
        if known:
            after = self._repeated(tool.name, random.choice(known), state)
        else:
            after = self.call(tool, state, values, random, wanted)
        if after is None:
            return None
        made, length = self.script(script.drawn, script.initial, after.events), len(after.events)
        own, held = holding(parts, after.events[-1], bound)
        for _ in range(FLIPS):
            if held == len(parts) or not fields or not budget.spend():
                break
            keys = {*map(str, scalars([dict(after.events[-1].arguments), after.events[-1].result]))}
            changed = replace(made, initial=self.with_other_field(made.initial, values, random, keys, fields))
            other = self.after(changed, length)
            found = None if other is None else holding(parts, other.events[-1], bound)
            if other is not None and found is not None and found[1] >= held:
                made, after, (own, held) = changed, other, found
        if held < len(parts) and random.random() < 0.7:
            return None
        bound.update(own)
        return replace(made, calls=(*made.calls, *script.calls[place:]))

    def _aimed(
        self, script: Script, tool: Tool, wanted: Wanted, bound: Mapping[str, Json], random: Random
    ) -> tuple[Script, Wanted]:
        """What is said of rows is of one row, which has the values that are wanted; one with bound values comes
        first.
        """
        said = _said_of_rows(tool)
        if not said or random.random() < OTHER_ROW:
            return script, wanted
        entity = next(iter(said.values())).entity
        rows, named = [*script.initial.tables[entity.table]], {*map(str, bound.values())}
        present = [number for number, row in enumerate(rows) if row.present]
        fitting = [one for one in present if not named.isdisjoint(map(str, rows[one].values.values()))] or present
        if not fitting:
            return script, wanted
        row = rows[number := random.choice(fitting)]
        values = dict(row.values)
        for name, sampler in said.items():
            kind, texts = sampler.entity.fields[sampler.field].type, wanted.get((tool.name, name), ())
            fits = sampler.entity is not entity or kind.encode(values[sampler.field]) in texts
            if texts and not fits and sampler.field != entity.key:
                values[sampler.field] = _decoded(kind, random.choice(texts)) or values[sampler.field]
        rows[number] = Row(values, row.present)
        initial = script.initial.with_table(entity.table, tuple(rows))
        return replace(script, initial=initial), {**wanted, **_pinned(tool, entity, rows[number])}

    def _choice(self, tool: Tool, state: SearchState, given: Mapping[str, Value], random: Random) -> CallChoice | None:
        """Drawn arguments, some of them given."""
        choice = self._chooser.sample(state, tool, random)
        if choice is None or not given:
            return choice
        drawn = {name: choice.values[name] for name in choice.origins}
        return self._chooser.with_values(state, tool, {**drawn, **given}) or choice

    def _given(
        self, tool: Tool, state: SearchState, values: RuleValues, random: Random, wanted: Wanted
    ) -> dict[str, Value]:
        """Wanted values, and values of the rules for some of the other arguments that are not said of rows."""
        found: dict[str, Value] = {}
        heeded, said = random.random() >= OTHER_ROW, _said_of_rows(tool)
        for parameter in tool.parameters:
            place, source, texts = (tool.name, parameter.name), parameter.source, list[Json]()
            if place in wanted and heeded:
                texts += wanted[place]
            elif isinstance(source, FromUser) and random.random() < RULE_VALUE and parameter.name not in said:
                met = values_of(values.linked.get(place) or self._linked.get(place, ()), state.events)
                texts += met if met and random.random() < RULE_VALUE else values.arguments.get(place, [])
            value = _decoded(parameter.type, random.choice(texts)) if texts else None
            if value is not None:
                found[parameter.name] = value
        return found


def _said_of_rows(tool: Tool) -> dict[str, FieldValue]:
    """The arguments that state a field of a row."""
    sources = {one.name: one.source for one in tool.parameters if isinstance(one.source, FromUser)}
    said = {name: one.sampler for name, one in sources.items() if isinstance(one.sampler, FieldValue)}
    return {name: sampler for name, sampler in said.items() if sampler.part is None}


def _pinned(tool: Tool, entity: Entity, row: Row) -> dict[tuple[str, str], Sequence[Json]]:
    """The arguments that state fields of a row of some table."""
    said = {name: one.field for name, one in _said_of_rows(tool).items() if one.entity is entity}
    return {(tool.name, name): [entity.fields[field].type.encode(row.values[field])] for name, field in said.items()}


def chosen_parts(condition: Condition | None, random: Random) -> list[Condition]:
    """Conditions that are together sufficient: of alternatives one is drawn."""
    parts: list[Condition] = []
    for part in conjuncts(condition):
        parts += chosen_parts(random.choice(part.parts), random) if isinstance(part, OrCondition) else [part]
    return parts


def _wanted(
    tool: Tool, parts: Sequence[Condition], bound: Mapping[str, Json]
) -> tuple[dict[tuple[str, str], list[Json]], dict[str, list[Json]]]:
    """Values that make conditions true: of arguments, and of fields of results by their last names."""
    arguments: dict[tuple[str, str], list[Json]] = {}
    fields: dict[str, list[Json]] = {}
    for part in parts:
        values = [value for one in subconditions(part) for value in constants(one)]
        values += [bound[name] for name in condition_variables(part) if name in bound]
        for place in condition_fields(part):
            name, path = str(place.path[0]), place.path[1:]
            if name == RESULT:
                fits = [
                    one for one in values if part.holds(Event(tool.name, {}, result=placed(None, path, one)), bound)
                ]
                for each in _fields_behind(tool, place):
                    fields.setdefault(each, []).extend(fits)
            else:
                fits = [one for one in values if part.holds(Event(tool.name, {name: placed(None, path, one)}), bound)]
                arguments.setdefault((tool.name, name), []).extend(fits)
    return {place: values for place, values in arguments.items() if values}, fields


def holding(parts: Sequence[Condition], event: Event, bound: Mapping[str, Json]) -> tuple[Mapping[str, Json], int]:
    """The values of variables, also of those that the event alone determines, and how many conditions are true."""
    found: dict[str, Json] = {}
    for name, place, elements in (one for part in parts for one in equations(part)):
        value = place.value(event)
        items = value if elements and isinstance(value, list) else [value]
        if items and is_value(items[0]):
            found[name] = items[0]
    found |= bound
    return found, sum(part.holds(event, found) for part in parts)


def _decoded(kind: ValueType, value: Json) -> Value:
    """A value in internal form; None if it is not of the type."""
    try:
        return kind.decode(value)
    except (WrongType, WrongFormat):
        return None
