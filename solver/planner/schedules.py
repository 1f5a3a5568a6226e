"""Schedules: the calls of several matters under one clock, so that together they keep all rules.

    search = ScheduleSearch(environment, rules)
    search.find(initial, look_at_queue, {"C-1": calls, "C-2": other_calls})                        # Found(Schedule)
    search.find(initial, look_at_queue, matters, order=["C-2", "C-1"])                             # NoSchedule

One agent makes the calls, so each begins when the one before has ended: first the opening calls, such as a look at a
queue, then those of the matters. The calls of a matter keep their order; calls of others may come between, but quick
calls are made together with the next longer one. So a matter begins with a piece of work, and not with a look that
takes a second: an agent that first looks into all matters begins none by it. Time passes without a call only while the
next call of some matter breaks a rule or does not complete, and until one of them can be made. What happens without a
call in between may make one possible or not.

The search is depth first. It carries the calls out in the simulator, followed by monitors that can go back. It goes on
with the matter that will be the first to be too late, or with one that has begun; it tries both ways in turn. Where the
same calls have left the rules in the same state at the same time, it goes on only once. It turns back where a matter is
too late: where its remaining calls, made right after each other, break a rule for values for which they keep it if they
are made in time. So a search that ends without a schedule proves that there is none, as far as a matter that is too
late alone is too late among others, and stays so.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from lawtrace.environments.runtime.simulation import call_duration, simulate_call, state_at, times_planned
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromTrace
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.undo import UndoLog
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.core import minimal_core
from lawtrace.solver.search.events.component import windows_of
from lawtrace.solver.search.events.space import edges_of
from lawtrace.solver.search.problem import Answer, Budget, Found, Impossible, Obstacle, Unknown
from lawtrace.solver.traces import PlannedCall, Trace

SCHEDULE_STEPS: Final = 20_000
"""How many calls a search carries out, if the caller does not say."""

QUICK: Final = 60
"""A call of so many seconds, or fewer, is made together with the next longer one of its matter."""

SHARES: Final = (1 / 40, 1 / 10, 3 / 8)
"""Of these steps, for each of two orders in which matters are tried: the urgent ones first, or those begun first."""

Matters = Mapping[str, Sequence[PlannedCall]]
"""By name, the calls that handle each matter. Their origins count the opening calls, then those of the matter."""

Breach = tuple[str, Hashable]
"""A rule that is not kept, and for which values."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A lawful order of the calls.

    Attributes:
        trace: the calls as they were carried out, the opening calls first.
        matters: for each of the others the name of its matter.
    """

    trace: Trace
    matters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoSchedule(Impossible):
    """There is no schedule. The core has the rules that stood in the way.

    Attributes:
        order: the matters of the order that exclude every schedule if they begin in it, as few as do.
    """

    order: tuple[str, ...] = ()


class ScheduleSearch:
    """Looks for schedules under one rule set."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        self._environment: Final = environment
        self._rules: Final = rules

    def find(
        self,
        initial: State,
        opening: Sequence[PlannedCall],
        matters: Matters,
        *,
        order: Sequence[str] = (),
        steps: int = SCHEDULE_STEPS,
        core_steps: int | None = None,
    ) -> Answer[Schedule]:
        """A schedule of all matters, or a proof that there is none.

        Args:
            opening: calls that are made first.
            order: matters that have to begin in this order; their later calls may come between.
            steps: how many calls may be carried out. To leave out a part of the order may take as many again, or
                `core_steps`.

        Raises SearchError if an opening call does not complete.
        """
        search = _Search(self._environment, self._rules, initial, opening, matters)
        found = search.answer(order, steps)
        if not isinstance(found, NoSchedule):
            return found

        def excludes(_: str, others: Sequence[str]) -> bool:
            return isinstance(search.answer(others, steps if core_steps is None else core_steps), Impossible)

        return replace(found, order=minimal_core(order, excludes))

    def latest(self, initial: State, opening: Sequence[PlannedCall], matters: Matters) -> dict[str, float]:
        """When each matter has to begin at the latest if it alone is handled, in seconds since 1970."""
        return _Search(self._environment, self._rules, initial, opening, matters).latest()

    def dispatch(
        self, initial: State, opening: Sequence[PlannedCall], matters: Matters, order: Sequence[str]
    ) -> Schedule | None:
        """The schedule of an agent that never turns back; None if it breaks a rule or cannot go on.

        At each time it goes on with the first matter in the order of which the next calls can be made.
        """
        return _Search(self._environment, self._rules, initial, opening, matters).dispatch(order)


class _Followed:
    """The rules along a trace that can go back."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.log: Final = UndoLog()
        track = self.log.undoable
        self.monitor: Final = track(Monitor)({rule.id: rule.compiled for rule in rules}, track=track)

    def lost(self) -> list[str]:
        """The rules that cannot be kept any more."""
        known = zip(self.monitor.rules, self.monitor.distances(), strict=True)
        return [rule for rule, distance in known if distance is None]

    def breaches(self) -> frozenset[Breach]:
        """What is not kept if the trace ends here."""
        found: set[Breach] = set()
        for name, verdict in zip(self.monitor.rules, self.monitor.verdicts(), strict=True):
            if verdict not in ("satisfied", "holding"):
                status = self.monitor.status(name)
                found.update((name, violation.values) for violation in status.violations)
                found.update((name, value) for value in status.values)
                found.update([] if status.violations or status.values else [(name, None)])
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Carried:
    """Calls carried out one after another. `now`: when the next one begins."""

    state: State
    now: int
    events: tuple[Event, ...] = ()

    def next(self, environment: Environment, end: int, call: PlannedCall, results: Sequence[Json]) -> "_Carried | None":
        """With one more call, for which the results of others are given; None if it does not complete."""
        arguments = call.arguments(results.__getitem__) if self.now < end else None
        if arguments is None:
            return None
        for parameter in environment.tools[call.event.tool].parameters:
            if isinstance(parameter.source, FromTrace) and parameter.name in arguments:
                derived = parameter.source.function(environment.tools, self.events)
                arguments[parameter.name] = parameter.type.encode(derived)
        event, after = simulate_call(environment, self.state, call.event.tool, arguments, self.now)
        if not event.completed:
            return None
        now = self.now + call_duration(environment, event)
        return _Carried(state_at(environment, after, min(now, end)), now, (*self.events, event))


@dataclass(frozen=True, slots=True)
class _Node:
    """What has been done.

    Attributes:
        carried: the calls so far, the opening among them.
        made: for each matter when its steps so far began.
        path: for each step after the opening its matter.
        results: for each matter the results that its calls may read.
    """

    carried: _Carried
    made: tuple[tuple[int, ...], ...]
    results: tuple[tuple[Json, ...], ...]
    path: tuple[int, ...] = ()

    def after(self, matter: int, carried: _Carried) -> "_Node":
        """The node after the next step of a matter."""
        made, results = [*self.made], [*self.results]
        made[matter] = (*made[matter], self.carried.now)
        further = carried.events[len(self.carried.events) :]
        results[matter] = (*results[matter], *(event.result for event in further))
        return _Node(carried, tuple(made), tuple(results), (*self.path, matter))


@dataclass(slots=True)
class _Attempt:
    """One way through the schedules, and what it met.

    Attributes:
        before: for each matter those that have to begin before it.
        finishes: whether matters that have begun come before more urgent ones.
        seen: what was done already.
        rules: those that stood in the way.
    """

    before: Mapping[int, Sequence[int]]
    budget: Budget
    finishes: bool
    seen: set[Hashable] = field(default_factory=set[Hashable])
    rules: dict[str, None] = field(default_factory=dict[str, None])


class _Search:
    """A search for schedules of some matters, in any order or several."""

    def __init__(
        self,
        environment: Environment,
        rules: Sequence[Rule],
        initial: State,
        opening: Sequence[PlannedCall],
        matters: Matters,
    ) -> None:
        self._environment: Final = environment
        self._end: Final = environment.clock.end(initial)
        self._initial: Final = initial
        self._opening: Final = opening
        self._names: Final = tuple(matters)
        self._matters: Final = tuple(map(self._steps, matters.values()))
        self._windows: Final = tuple({window: None for rule in rules for window in windows_of(rule)})
        self._keyed: Final = {
            rule.id: rule.compiled
            for rule in rules
            if isinstance(rule.compiled, Automaton) and rule.compiled.is_quantified
        }
        self._values: Final = {name: dict[Scalar, None]() for name in self._keyed}
        self._moving_fields: Final = {
            table: [name for name in entity.fields if name != entity.key or not entity.generates_keys]
            for table, entity in environment.entities.items()
            if table in environment.moving_tables
        }
        self._rules: Final = _Followed(rules)
        self._alone: Final = _Followed(rules)
        self._latest: Final = cache(self._latest_alone)
        self._breaches: Final = cache(self._breaches_alone)
        self._root: Final = self._carry_out_opening()

    def _steps(self, calls: Sequence[PlannedCall]) -> tuple[tuple[PlannedCall, ...], ...]:
        """The calls of a matter, the quick ones together with the next longer one."""
        steps: list[tuple[PlannedCall, ...]] = [()]
        for call in calls:
            steps[-1] += (call,)
            if call_duration(self._environment, call.event) > QUICK:
                steps.append(())
        return tuple(step for step in steps if step)

    def _carry_out_opening(self) -> _Node:
        carried = _Carried(self._initial, self._environment.clock.start(self._initial))
        for call in self._opening:
            results = [event.result for event in carried.events]
            carried = replace(carried, now=max(carried.now, call.event.time or 0))
            made = carried.next(self._environment, self._end, call, results)
            if made is None:
                raise SearchError(f"the opening call of {call.event.tool} does not complete; leave it out or change it")
            carried = made
        results = tuple(event.result for event in carried.events)
        return _Node(carried, ((),) * len(self._matters), (results,) * len(self._matters))

    def answer(self, order: Sequence[str], steps: int) -> Answer[Schedule]:
        """A schedule in which the matters of the order begin in it."""
        numbers = [self._names.index(name) for name in order]
        before = {number: tuple(numbers[:place]) for place, number in enumerate(numbers)}
        for share in SHARES:
            for finishes in (False, True):
                attempt = _Attempt(before, Budget(int(steps * share)), finishes)
                found = self._attempt(attempt)
                if found is not None:
                    return Found(self._schedule(found))
                if attempt.budget.left >= 0:
                    rules = tuple(Obstacle("rule", name) for name in sorted(attempt.rules))
                    return NoSchedule(rules, order=tuple(order))
        return Unknown(f"it takes more than {steps} calls")

    def latest(self) -> dict[str, float]:
        """See `ScheduleSearch.latest`."""
        return {name: self._latest(number, ()) for number, name in enumerate(self._names)}

    def dispatch(self, order: Sequence[str]) -> Schedule | None:
        """See `ScheduleSearch.dispatch`."""
        numbers, attempt = [self._names.index(name) for name in order], _Attempt({}, Budget(SCHEDULE_STEPS), False)
        node: _Node | None = self._root
        with self._rules.log.attempt():
            for event in self._root.carried.events:
                self._follow(event)
            while node is not None:
                self._rules.monitor.advance_time(node.carried.now)
                here, waiting = self._rules.log.mark, [number for number in numbers if not self._is_done(node, number)]
                if not waiting:
                    return self._schedule(node) if self._rules.monitor.all_kept() else None
                following = None
                for number in waiting:
                    following = self._next(node, number, attempt)
                    if following is not None:
                        break
                    self._rules.log.back_to(here)
                if following is None:
                    following = self._first_chance(node, waiting, attempt)
                    self._rules.log.back_to(here)
                node = following
        return None

    def _is_done(self, node: _Node, matter: int) -> bool:
        return len(node.made[matter]) == len(self._matters[matter])

    def _attempt(self, attempt: _Attempt) -> _Node | None:
        with self._rules.log.attempt():
            for event in self._root.carried.events:
                self._follow(event)
            return self._complete(self._root, attempt)

    def _schedule(self, node: _Node) -> Schedule:
        first = len(self._opening)
        places = [dict(enumerate(range(first))) for _ in self._matters]
        calls = [replace(call, event=event) for call, event in zip(self._opening, node.carried.events, strict=False)]
        made, path = [0] * len(self._matters), list[str]()
        for matter in node.path:
            for planned in self._matters[matter][made[matter]]:
                number = len(calls)
                calls.append(replace(planned, event=node.carried.events[number]).renumbered(places[matter]))
                places[matter][len(places[matter])] = number
                path.append(self._names[matter])
            made[matter] += 1
        trace = Trace(self._initial, tuple(calls), node.carried.state)
        return Schedule(trace, tuple(path))

    def _follow(self, event: Event) -> None:
        for name, automaton in self._keyed.items():
            if event.tool in automaton.alphabet.by_tool:
                self._values[name].update(dict.fromkeys(automaton.alphabet.occurring_values(with_list_index(event))))
        self._rules.monitor.feed(event)

    def _complete(self, node: _Node, attempt: _Attempt) -> _Node | None:
        """The node at the end of a schedule that goes on from a node."""
        monitor, log, now = self._rules.monitor, self._rules.log, node.carried.now
        monitor.advance_time(now)
        if lost := self._rules.lost():
            attempt.rules.update(dict.fromkeys(lost))
            return None
        unfinished = [matter for matter in range(len(self._matters)) if not self._is_done(node, matter)]
        if not unfinished:
            attempt.rules.update(dict.fromkeys(rule for rule, _ in self._rules.breaches()))
            return node if monitor.all_kept() else None
        values = {name: tuple(of) for name, of in self._values.items()}
        key = tuple(map(len, node.made)), now, monitor.fingerprint(values), self._moving(node.carried.state)
        if key in attempt.seen:
            return None
        attempt.seen.add(key)
        unfinished.sort(key=lambda matter: self._latest(matter, node.made[matter]))
        late = self._late(node, unfinished, attempt.before)
        if late is not None:
            attempt.rules.update(dict.fromkeys(self._rules_too_late(node, late)))
            return None
        if attempt.finishes:
            unfinished.sort(key=lambda matter: not node.made[matter])
        here, waiting = log.mark, list[int]()
        for matter in unfinished:
            if not all(node.made[earlier] for earlier in attempt.before.get(matter, ())):
                continue
            if not attempt.budget.spend():
                return None
            following = self._next(node, matter, attempt)
            if following is None:
                waiting.append(matter)
            else:
                found = self._complete(following, attempt)
                if found is not None:
                    return found
            log.back_to(here)
        later = self._first_chance(node, waiting, attempt)
        log.back_to(here)
        return None if later is None else self._complete(later, attempt)

    def _next(self, node: _Node, matter: int, attempt: _Attempt) -> _Node | None:
        """The node after the next step of a matter, which the monitors follow; None if it is not lawful there."""
        carried, results = node.carried, node.results[matter]
        for call in self._matters[matter][len(node.made[matter])]:
            following = carried.next(self._environment, self._end, call, results)
            if following is None:
                return None
            carried, results = following, (*results, following.events[-1].result)
            self._follow(carried.events[-1])
            if lost := self._rules.lost():
                attempt.rules.update(dict.fromkeys(lost))
                return None
        return node.after(matter, carried)

    def _moving(self, state: State) -> Hashable:
        """The rows that change without a call, apart from the keys that calls have made."""
        return tuple(
            frozenset(Counter(tuple(row.values[name] for name in names) for row in state.rows(table)).items())
            for table, names in self._moving_fields.items()
        )

    def _first_chance(self, node: _Node, waiting: Sequence[int], attempt: _Attempt) -> _Node | None:
        """The same later, when the next call of one of some matters can be made; None if there is no such time."""
        monitor, log = self._rules.monitor, self._rules.log
        edges = {*edges_of(self._windows, monitor.times()), *times_planned(self._environment, node.carried.state)}
        here = log.mark
        for edge in sorted(edge for edge in edges if node.carried.now < edge < self._end) if waiting else ():
            log.back_to(here)
            monitor.advance_time(edge)
            if self._rules.lost():
                return None
            later, there = replace(node, carried=replace(node.carried, now=edge)), log.mark
            for matter in waiting:
                if not attempt.budget.spend():
                    return None
                if self._next(later, matter, attempt) is not None:
                    return later
                log.back_to(there)
        return None

    # When a matter is too late

    def _late(self, node: _Node, unfinished: Sequence[int], before: Mapping[int, Sequence[int]]) -> int | None:
        """A matter that cannot begin its next step in time, because others have to begin theirs before or by then.

        `unfinished`: the most urgent ones first.
        """
        total, longest = 0, 0
        for matter in unfinished:
            latest = self._latest(matter, node.made[matter])
            total, longest = total + (took := self._duration(node, matter)), max(longest, took)
            first = sum(self._duration(node, other) for other in before.get(matter, ()) if not node.made[other])
            if node.carried.now + max(total - longest, 0 if node.made[matter] else first) > latest:
                return matter
        return None

    def _rules_too_late(self, node: _Node, matter: int) -> list[str]:
        """The rules that a matter breaks if it is too late."""
        made = node.made[matter]
        wait = int(self._latest(matter, made)) + 1 - self._ended(matter, made)
        return [rule for rule, _ in self._late_breaches(matter, made, wait) or ()]

    def _ended(self, matter: int, made: tuple[int, ...]) -> int:
        """When the last step of a matter, or the opening, has ended."""
        if not made:
            return self._root.carried.now
        return made[-1] + self._takes(self._matters[matter][len(made) - 1])

    def _duration(self, node: _Node, matter: int) -> int:
        """What the next step of a matter takes."""
        return self._takes(self._matters[matter][len(node.made[matter])])

    def _takes(self, step: Sequence[PlannedCall]) -> int:
        return sum(call_duration(self._environment, call.event) for call in step)

    def _latest_alone(self, matter: int, made: tuple[int, ...]) -> float:
        """When the next step of a matter has to begin if it alone is handled, in seconds since 1970."""
        if self._breaches(matter, (), 0) is None:
            return float("inf")  # others have to come before
        ended = self._ended(matter, made)
        most = self._end - ended - sum(map(self._takes, self._matters[matter][len(made) :]))
        changes = {time - ended for time in self._times_alone(matter, made)}
        starts = sorted({0, *(wait for wait in changes if 0 < wait <= most)})
        for least, after in reversed([*zip(starts, [*starts[1:], most + 1], strict=True)]):
            latest = self._latest_wait(matter, made, least, after - 1)
            if latest is not None:
                return ended + latest
        return ended - 1

    def _latest_wait(self, matter: int, made: tuple[int, ...], least: int, most: int) -> int | None:
        """The longest wait that is in time, of those between two in which nothing happens without a call."""
        if self._is_in_time(matter, made, most):
            return most
        if not self._is_in_time(matter, made, least):
            waits = [least + 1]
            while waits[-1] < most:
                waits.append(2 * waits[-1] - least)
            least = next((wait for wait in waits if self._is_in_time(matter, made, wait)), -1)
        while 0 <= least < most - 1:
            middle = (least + most) // 2
            least, most = (middle, most) if self._is_in_time(matter, made, middle) else (least, middle)
        return None if least < 0 else least

    def _times_alone(self, matter: int, made: tuple[int, ...]) -> set[int]:
        """When something is to happen without a call, after the steps that a matter alone has made."""
        if not self._environment.agenda:
            return set()
        carried = self._root.carried
        results = list[Json](self._root.results[matter])
        for now, step in zip(made, self._matters[matter], strict=False):
            carried = replace(carried, now=now)
            for call in step:
                following = carried.next(self._environment, self._end, call, results)
                if following is None:
                    return set()
                carried = following
                results.append(carried.events[-1].result)
        return times_planned(self._environment, carried.state)

    def _is_in_time(self, matter: int, made: tuple[int, ...], wait: int) -> bool:
        breaches = self._late_breaches(matter, made, wait)
        return breaches is not None and not breaches

    def _late_breaches(self, matter: int, made: tuple[int, ...], wait: int) -> frozenset[Breach] | None:
        """What the calls of a matter break if the next step waits some seconds, and do not break if none waits."""
        found, fewest = self._breaches(matter, made, wait), self._breaches(matter, (), 0)
        return None if found is None or fewest is None else found - fewest

    def _breaches_alone(self, matter: int, made: tuple[int, ...], wait: int) -> frozenset[Breach] | None:
        """What is not kept if a matter alone is handled and its next step waits some seconds; None if it cannot be."""
        alone = self._alone
        with alone.log.attempt():
            carried, results = self._root.carried, [*self._root.results[matter]]
            for event in carried.events:
                alone.monitor.feed(event)
            for number, step in enumerate(self._matters[matter]):
                now = made[number] if number < len(made) else carried.now + (wait if number == len(made) else 0)
                carried = replace(carried, now=now)
                for call in step:
                    following = carried.next(self._environment, self._end, call, results)
                    if following is None:
                        return None
                    carried = following
                    results.append(carried.events[-1].result)
                    alone.monitor.feed(carried.events[-1])
            return alone.breaches()
