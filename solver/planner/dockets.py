"""Dockets: sessions with many matters under one clock, so that the order in which they are handled decides.

A matter is a row that the *queue* lists: a look-up without parameters. What its row asks for, and what of it is lawful,
is found for each matter alone, in a state in which the queue lists no other (`lawtrace.solver.planner.ends`). What a
user would have to say must be in the results of look-ups. The session ends soon after the shortest schedule that was
found. A docket is kept if no lawful schedule begins the matters in the order of the queue, and if no dispatch rule
leads to a lawful one.

The proof is about the calls with which each matter is handled here. Other calls might handle it in time in the listed
order; a verdict on an attempt does not rest on the proof.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, islice, product
from math import ceil
from random import Random
from statistics import median
from typing import Final, cast

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import call_duration, state_at, times_planned
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import State, rows_about
from lawtrace.environments.spec.tools import FromUser, Tool
from lawtrace.environments.spec.types import Calendar, Choice
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event, FromResult, FromResults, Json, JsonPath, Origin
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.ends import EndSearch, PlannedEnd
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.planner.schedules import Matters, NoSchedule, Schedule, ScheduleSearch
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Impossible, Unknown
from lawtrace.solver.traces import PlannedCall, Trace, completed_replay

SPARE_MATTERS: Final = 12
"""How many matters more than wanted are prepared, if there are so many."""
CHOICES: Final = 4000
"""How many choices of matters, and orders of them, are looked at in one state."""
TRIED: Final = 12
"""How many of them are tried, if deadlines and lengths alone make them hard."""
STEPS: Final = 1000
"""How many steps of schedules the search carries out that excludes the listed order."""
FEW_STEPS: Final = 200
"""The same where the order of deadlines leads to no lawful schedule: then another choice is tried soon."""
MOST_VARIANTS: Final = 64
"""How many choices of options are tried where a matter is handled like an earlier one."""
MOST_OPTIONS: Final = 6
"""How many ways a request may leave open, such as the form of a copy."""


@dataclass(frozen=True, slots=True)
class PlannedMatter:
    """A matter as it is handled alone.

    Attributes:
        calls: of its first end; the look at the queue first.
        ends: its acceptable outcomes.
    """

    table: str
    key: str
    calls: tuple[PlannedCall, ...]
    ends: tuple[PlannedEnd, ...]


@dataclass(frozen=True, slots=True)
class PlannedDocket:
    """A docket.

    Attributes:
        matters: in listed order.
        schedule: a lawful one, from the initial state that says when the session ends.
        shortest: the seconds that it takes.
        excluded: why none begins in the listed order.
    """

    matters: tuple[PlannedMatter, ...]
    schedule: Schedule
    shortest: int
    excluded: NoSchedule


def find_queue(environment: Environment) -> Tool:
    """The look-up that lists the open matters. Raises SearchError if there is none."""
    declined = () if environment.declines is None else environment.tools[environment.declines].referred_tables
    for tool in environment.tools.values():
        if not tool.parameters and not tool.compliance and {one.entity.table for one in tool.listings} & {*declined}:
            return tool
    raise SearchError(
        f"environment {environment.name!r}: dockets need a look-up without parameters that lists the open matters, and "
        "a tool that declines them; declare both (docs/dockets.md), or use another trace mode"
    )


class DocketWriter:
    """Draws dockets in one environment under one rule set."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        """Raises SearchError if the environment has no queue."""
        queue = find_queue(environment)
        listings = [replace(one, reveals_key=True) for one in queue.listings]  # a planner may take keys from it
        others = [one for one in queue.results if one.name not in {of.name for of in listings}]
        self._queue: Final = replace(queue, results=(*listings, *others))
        self._environment: Final = replace(environment, tools={**environment.tools, queue.name: self._queue})
        self._listings: Final = {one.name: one for one in listings}
        tables = {one.entity.table for one in listings}
        kept = {
            name: tool
            for name, tool in self._environment.tools.items()
            if name == queue.name or not {one.entity.table for one in tool.lookups} & tables
        }
        self._writer: Final = RequestWriter(replace(self._environment, tools=kept))
        self._completer: Final = Completer(self._environment, rules)
        self._ends: Final = EndSearch(self._environment, rules, self._completer)
        self._search: Final = ScheduleSearch(self._environment, rules)
        self._plans: Final = dict[tuple[str, ...], list[Trace]]()
        self.reasons: Final = dict[str, int]()

    def draw(self, size: int, slack: float, random: Random) -> PlannedDocket | None:
        """A docket of so many matters in a random state; None if it has none that is hard.

        `slack`: by what share the session is longer than the shortest schedule that was found.
        """
        populate, wanted = self._environment.populate_docket, size + SPARE_MATTERS
        initial = self._environment.populate(random) if populate is None else populate(random, wanted)
        rows, tried = self._listed(initial), 0
        matters, rated = list[PlannedMatter](), dict[str, _Rated]()
        for table, key in random.sample(rows, len(rows)):
            matter = self._matter(initial, rows, table, key, random)
            if matter is None:
                continue
            matters.append(matter)
            rated |= self._rate(*self._with(initial, rows, [matter]))
            for chosen in self._hard(initial, rows, matters, rated, size, random):
                found, tried = self._docket(initial, rows, chosen, slack), tried + 1
                if found is not None or tried == TRIED:
                    return found
        if len(matters) < size:
            return self._without(f"a queue of {len(rows)} has fewer than {size} matters that can be used")
        reason = "each choice of matters is in time in some simple order, or in none: change deadlines or slow steps"
        return self._without(reason) if not tried else None

    def _hard(
        self,
        initial: State,
        rows: Sequence[tuple[str, str]],
        matters: Sequence[PlannedMatter],
        rated: Mapping[str, "_Rated"],
        size: int,
        random: Random,
    ) -> Iterator[list[PlannedMatter]]:
        """Choices of matters with the last one that are hard by deadlines and lengths alone, each in listed order."""
        start, seen = self._environment.clock.start(initial), set[tuple[str, ...]]()
        for _ in range(CHOICES if len(matters) >= size else 0):
            chosen = random.sample([*random.sample(matters[:-1], size - 1), matters[-1]], size)
            if self._shown_field(Calendar):  # the queue lists by them
                chosen.sort(key=lambda matter: rows.index((matter.table, matter.key)))
            those = [rated[matter.key] for matter in chosen]
            names = tuple(one.key for one in those)
            if names in seen or _is_late(start, sorted(those, key=lambda one: one.latest)):
                continue
            seen.add(names)
            if all(_is_late(start, order) for order in _orders(those).values()):
                yield chosen

    def _without(self, reason: str) -> None:
        """Counts why there is no docket."""
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    # One matter

    def _listed(self, initial: State) -> list[tuple[str, str]]:
        """The tables and keys of the rows that the queue lists."""
        return [(table, key) for table, key, _, _ in self._queue_rows(initial)]

    def _queue_rows(self, initial: State) -> Iterator[tuple[str, str, JsonPath, Mapping[str, Json]]]:
        """The table and the key of each row that the queue lists, the path to it, and what is shown."""
        event = Session(self._environment, initial).call(self._queue.name, {}).event
        listed = cast("Mapping[str, Json]", event.result or {})
        for name, listing in self._listings.items():
            for number, row in enumerate(cast("list[Mapping[str, Json]]", listed.get(name) or [])):
                yield listing.entity.table, str(row[listing.entity.key]), (name, number), row

    def _only(self, initial: State, rows: Sequence[tuple[str, str]], kept: Sequence[tuple[str, str]]) -> State:
        """The state in which the queue lists only some rows, in their order."""
        for table in dict.fromkeys(table for table, _ in rows):
            key = self._environment.entities[table].key
            by_key = {str(row.values[key]): row for row in initial.tables[table]}
            others = [row for name, row in by_key.items() if (table, name) not in rows]
            chosen = [by_key[name] for of, name in kept if of == table]
            initial = initial.with_table(table, (*others, *chosen))
        return rows_about(initial, frozenset(key for _, key in {*rows} - {*kept}), others=True)

    def _matter(
        self, initial: State, rows: Sequence[tuple[str, str]], table: str, key: str, random: Random
    ) -> PlannedMatter | None:
        """How a matter is handled alone; None if that is not decided, or depends on what no look-up shows."""
        alone = self._only(initial, rows, [(table, key)])
        request = self._request(alone, table, key, random)
        if request is None:
            return self._without("nothing that a row says can be asked for")
        found = self._ends_in(alone, request)
        if found and found[0].declined is None:
            later = self._later_ends(alone, request)
            found = None if later is None else [*found, *later]
        if found is None:
            return None
        ends = {(end.declined, repr(end.trace.final.tables)): end for end in reversed(found)}
        calls = self._shown(found[0].trace) if found else None
        if calls is None or [call.event.tool for call in calls].count(self._queue.name) != 1:
            return self._without("no look-up shows what a matter depends on, or no end was found")
        return PlannedMatter(table, key, calls, tuple(reversed(ends.values())))

    def _ends_in(self, state: State, request: Sequence[PlannedCall]) -> list[PlannedEnd] | None:
        """The ends of a request in a state; refusals only if it can not be done. None if that is not decided."""
        ways = [*self._ways(state, request)]
        for refused in (False, True) if len(ways) > 1 else (True,):
            ends = list[PlannedEnd]()
            for calls in ways:
                known = self._as_before(state, calls)
                found = (known,) if known else self._ends.ends(state, calls, refused=refused)
                if isinstance(found, Unknown):
                    return self._without(f"the ends of a matter are not decided: {found.why}")
                ends += found
                if found and found[0].declined is None and known is None:
                    self._plans.setdefault(tuple(call.event.tool for call in calls), []).append(found[0].trace)
            if any(end.under for end in ends):
                return self._without("the ends of a matter turn on an open question")
            if ends:
                return ends
        return []

    def _as_before(self, state: State, request: Sequence[PlannedCall]) -> PlannedEnd | None:
        """What is asked for, done with the calls with which it was done for an earlier matter; None if that is not
        lawful here. Options of compliance tools may differ."""
        compliance = self._environment.compliance_tools
        for plan in self._plans.get(tuple(call.event.tool for call in request), ()):
            offered = list[list[PlannedCall]]()
            waiting, places = list(enumerate(request)), dict[int, int]()
            for number, call in enumerate(plan.calls):
                if call.event.tool in compliance:
                    offered.append([*_with_options(self._environment.tools[call.event.tool], call)])
                else:
                    asked, wanted = waiting.pop(0)
                    places[asked] = number
                    offered.append([wanted.renumbered(places)])
            for calls in islice(product(*offered), MOST_VARIANTS):
                made = self._completer.compliant(state, calls)
                if made is not None:
                    return PlannedEnd(self._completer.minimal(made), None, {})
        return None

    def _later_ends(self, alone: State, request: Sequence[PlannedCall]) -> list[PlannedEnd] | None:
        """The ends after something has happened without a call of a matter that is done before; None if undecided."""
        start, last = self._environment.clock.start(alone), self._environment.clock.end(alone)
        times = sorted(time for time in times_planned(self._environment, alone) if start < time < last)
        ends = list[PlannedEnd]()
        if not times or all(
            isinstance(self._completer.decline(alone, way), Impossible) for way in self._ways(alone, request)
        ):
            return ends
        for state in (state_at(self._environment, alone, time) for time in times):
            found = self._ends_in(state, request)
            if found is None:
                return None
            ends += found
        return ends

    def _request(self, alone: State, table: str, key: str, random: Random) -> tuple[PlannedCall, ...] | None:
        """A request about the row that the queue lists; None if nothing can be asked for that the row says."""
        about = [
            entity.encode_row(row)
            for name, entity in self._environment.entities.items()
            for row in alone.rows(name)
            if key in map(str, row.values.values())
        ]
        said = [value for row in about for value in row.values()]
        for name in random.sample(self._writer.changes, len(self._writer.changes)):
            if table not in self._environment.tools[name].referred_tables:
                continue
            calls = self._writer.draw(alone, [name], random)
            if calls is None or calls[0].event.tool != self._queue.name:
                continue
            if all(call.event.arguments[name] in said for call in calls for name in self._stated(call)):
                return calls
        return None

    def _stated(self, call: PlannedCall) -> list[str]:
        """The arguments of an ordinary tool that a user would have to say, options apart."""
        tool = self._environment.tools[call.event.tool]
        return [] if tool.compliance else [name for name in call.said if not _is_option(tool, name)]

    def _ways(self, alone: State, request: Sequence[PlannedCall]) -> Iterator[tuple[PlannedCall, ...]]:
        """The request with each of the options that it leaves open."""
        *before, last = request
        tool = self._environment.tools[last.event.tool]
        names = [name for name in last.said if _is_option(tool, name)]
        options = [_options(tool, name) for name in names]
        for values in list(product(*options))[:MOST_OPTIONS]:
            arguments = {**last.event.arguments, **dict(zip(names, values, strict=True))}
            calls = (*before, replace(last, event=Event(tool.name, arguments)))
            if completed_replay(self._environment, alone, calls) is not None:
                yield calls

    def _shown(self, trace: Trace) -> tuple[PlannedCall, ...] | None:
        """The calls, in which what a user would say comes from an earlier result; None if none shows it.

        A later call that shows it comes before, if the rules allow it.
        """
        calls = trace.calls
        for number in range(len(calls)):
            for name in self._stated(calls[number]):
                value = calls[number].event.arguments[name]
                places = (
                    FromResult(step, path)
                    for step, other in enumerate(calls)
                    if step < number or (step > number and max(other.sources, default=0) < number)
                    for path in _paths(other.event.result, value)
                )
                place = next(places, None)
                if place is None:
                    return None
                calls = (*calls[:number], _with_origin(calls[number], name, place), *calls[number + 1 :])
                if place.step > number:
                    order = [*range(number), place.step, *range(number, place.step), *range(place.step + 1, len(calls))]
                    moved = {old: new for new, old in enumerate(order)}
                    made = self._completer.compliant(trace.initial, [calls[old].renumbered(moved) for old in order])
                    return None if made is None else self._shown(made)
        return calls

    # Many matters

    def _shown_field(self, *types: type) -> str | None:
        """The first field of one of these types that the queue shows."""
        fields = ((one.entity.fields[name].type, name) for one in self._queue.lookups for name in one.fields)
        return next((name for kind, name in fields if type(kind) in types), None)

    def _docket(
        self, initial: State, rows: Sequence[tuple[str, str]], matters: Sequence[PlannedMatter], slack: float
    ) -> PlannedDocket | None:
        initial, planned = self._with(initial, rows, matters)
        opening, rated = self._look(), self._rate(initial, planned)
        if len(planned) < len(matters):
            return self._without("two matters have the same key")
        found = self._schedule(initial, opening, planned, sorted(planned, key=lambda key: rated[key].latest))
        if found is None:
            return self._without("no lawful schedule was found")
        start = self._environment.clock.start(initial)
        shortest = self._lasts(found)
        length = 60 * ceil(shortest * (1 + slack) / 60)
        initial = replace(initial, end=min(start + length, self._environment.clock.end(initial)))
        if passing := self.passing(initial, planned):
            return self._without(f"the dispatch rule {passing[0]!r} leads to a lawful schedule")
        excluded = self._search.find(
            initial, opening, planned, order=[*planned], steps=STEPS, core_steps=FEW_STEPS // 10
        )
        if not isinstance(excluded, NoSchedule):
            return self._without("it is not excluded that a lawful schedule begins in the listed order")
        schedule = replace(found, trace=replace(found.trace, initial=initial))
        by_key = {matter.key: matter for matter in matters}
        return PlannedDocket(tuple(by_key[key] for key in planned), schedule, shortest, excluded)

    def _schedule(
        self, initial: State, opening: Sequence[PlannedCall], planned: Matters, by_deadline: Sequence[str]
    ) -> Schedule | None:
        """A lawful schedule in which each call begins when the one before has ended, as in a program without pauses."""
        found = self._search.dispatch(initial, opening, planned, by_deadline)
        if found is not None and not self._waits(found):
            return found
        searched = self._search.find(initial, opening, planned, steps=FEW_STEPS)
        return searched.trace if isinstance(searched, Found) and not self._waits(searched.trace) else None

    def _lasts(self, schedule: Schedule) -> int:
        """The seconds that its calls take."""
        return sum(call_duration(self._environment, event) for event in schedule.trace.events)

    def _waits(self, schedule: Schedule) -> bool:
        last = schedule.trace.events[-1]
        ended = (last.time or 0) + call_duration(self._environment, last)
        return ended - self._environment.clock.start(schedule.trace.initial) > self._lasts(schedule)

    def _look(self) -> tuple[PlannedCall, ...]:
        """The look at the queue."""
        return (PlannedCall(Event(self._queue.name, {}), {}),)

    def _with(
        self, initial: State, rows: Sequence[tuple[str, str]], matters: Sequence[PlannedMatter]
    ) -> tuple[State, dict[str, tuple[PlannedCall, ...]]]:
        """The state in which the queue lists only these matters, and their calls after it, in listed order."""
        initial = self._only(initial, rows, [(matter.table, matter.key) for matter in matters])
        by_row = {(matter.table, matter.key): matter for matter in matters}
        listed = [(by_row[table, key], path) for table, key, path, _ in self._queue_rows(initial)]
        return initial, {matter.key: _moved(matter, path) for matter, path in listed}

    def _rate(self, initial: State, planned: Matters) -> dict[str, "_Rated"]:
        """What dispatch rules go by, of matters in listed order."""
        latest = self._search.latest(initial, self._look(), planned)
        date, kind = self._shown_field(Calendar), self._shown_field(Choice)
        shown = {key: row for _, key, _, row in self._queue_rows(initial)}
        return {
            key: _Rated(
                key,
                str(shown[key].get(date or "", "")),
                str(shown[key].get(kind or "", "")),
                latest[key],
                sum(call_duration(self._environment, call.event) for call in calls),
            )
            for key, calls in planned.items()
        }

    def passing(self, initial: State, planned: Matters) -> list[str]:
        """The dispatch rules that lead to a lawful schedule of a docket, whose matters are in listed order."""
        orders = _orders([*self._rate(initial, planned).values()])
        return [
            name
            for name, order in orders.items()
            if any(self._dispatched(initial, planned, [one.key for one in order]))
        ]

    def _dispatched(self, initial: State, matters: Matters, order: Sequence[str]) -> Iterator[Schedule]:
        """The lawful schedules to which an order leads: one matter after another, and each call as soon as it can be.

        In both, a call that is not lawful yet waits until it is.
        """
        opening, joined = self._look(), list[PlannedCall]()
        for key in order:
            places = dict(enumerate(range(len(opening))))
            for number, call in enumerate(matters[key], len(opening)):
                places[number] = len(opening) + len(joined)
                joined.append(call.renumbered(places))
        for name, calls in (("all", {"all": joined}), ("each", matters)):
            found = self._search.dispatch(initial, opening, calls, order if name == "each" else ["all"])
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _Rated:
    """A matter by what the queue shows of it, the latest second at which it has to begin, and the seconds it takes."""

    key: str
    date: str
    kind: str
    latest: float
    takes: int

    @property
    def given(self) -> float:
        """The seconds from the date that is shown until it has to begin."""
        return self.latest - (datetime.fromisoformat(self.date).replace(tzinfo=UTC).timestamp() if self.date else 0)


def _orders(listed: Sequence[_Rated]) -> dict[str, list[_Rated]]:
    """The order of each dispatch rule. By statutory kind: first the kinds to which the law gives less time."""
    given = {kind: median(one.given for one in listed if one.kind == kind) for kind in {one.kind for one in listed}}
    return {
        "listed": [*listed],
        "reversed": [*reversed(listed)],
        "shown date": sorted(listed, key=lambda one: one.date),
        "statutory kind": sorted(listed, key=lambda one: given[one.kind]),
        "shortest": sorted(listed, key=lambda one: one.takes),
    }


def _is_late(start: int, order: Sequence[_Rated]) -> bool:
    """Whether some matter begins too late if they are handled one after another."""
    begun = accumulate((one.takes for one in order), initial=start)
    return any(now > one.latest for now, one in zip(begun, order, strict=False))


def _moved(matter: PlannedMatter, place: JsonPath) -> tuple[PlannedCall, ...]:
    """The calls of a matter after the look at a queue that shows it in another place."""

    def origin(of: Origin) -> Origin:
        match of:
            case FromResult(step=0, path=(_, 0, *field)):
                return FromResult(0, (*place, *field))
            case FromResults(items):
                return FromResults(tuple(cast("FromResult", origin(item)) for item in items))
            case _:
                return of

    return tuple(
        replace(call, origins={name: origin(of) for name, of in call.origins.items()}) for call in matter.calls[1:]
    )


def _with_origin(call: PlannedCall, name: str, origin: Origin) -> PlannedCall:
    return replace(call, origins={**call.origins, name: origin})


def _with_options(tool: Tool, call: PlannedCall) -> Iterator[PlannedCall]:
    """A call with each choice of the options that it states, its own ones first."""
    names = [name for name in call.said if _is_option(tool, name)]
    own = call.event.arguments
    for values in product(*(dict.fromkeys([own[name], *_options(tool, name)]) for name in names)):
        yield replace(call, event=Event(tool.name, {**own, **dict(zip(names, values, strict=True))}))


def _options(tool: Tool, name: str) -> tuple[Json, ...]:
    """What a user may choose from for an argument; nothing if it is no option."""
    parameter = tool.parameter(name)
    sampler = parameter.source.sampler if isinstance(parameter.source, FromUser) else None
    return tuple(map(parameter.type.encode, dict.fromkeys(sampler.values))) if isinstance(sampler, OneOf) else ()


def _is_option(tool: Tool, name: str) -> bool:
    return bool(_options(tool, name))


def _paths(result: Json, value: Json, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Where a result has the value."""
    match result:
        case dict():
            for name, inside in result.items():
                yield from _paths(inside, value, (*path, name))
        case list():
            for number, inside in enumerate(result):
                yield from _paths(inside, value, (*path, number))
        case _ if result == value and isinstance(result, bool) == isinstance(value, bool):
            yield path
        case _:
            pass
