"""Search: whether some continuation of a trace keeps all rules of a component, and what has to happen first.

A continuation consists of representative events (`lawtrace.solver.search.events.vocabulary`) at representative times.
First, earlier continuations are tried again: what kept all rules after the trace before mostly does after the next
call, with what met the duties of an earlier call of the same tool. That decides nearly all calls. Then duties are met
one by one (`lawtrace.solver.search.events.means_ends`), with as many steps as the search afterwards. That is best
first: by the length of a continuation and by how far the rules are from being kept. Traces that leave the monitors in
the same state are followed once. So a search that ends without a continuation proves that there is none, if the
representatives are all that matter; and one that exceeds its steps decides nothing. Steps are counted, not seconds: the
same trace gets the same answer on every machine.

Advice is a sequence of events after which a refused call is allowed: what means-ends search does before the call.
"""

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, product
from math import prod
from typing import Final

from lawtrace.schemas.events import SPEAKERS, Event, Json, message_event
from lawtrace.solver.logic.terms import is_value
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.core import minimal_core, without_needless
from lawtrace.solver.search.events.component import Component
from lawtrace.solver.search.events.means_ends import MeansEnds
from lawtrace.solver.search.events.space import Node, Path, RelevantTools, Starts, Successors
from lawtrace.solver.search.events.vocabulary import Representatives
from lawtrace.solver.search.problem import Answer, Budget, Found, Impossible, Obstacle, Unknown

MAX_RESULTS: Final = 300
"""How many results of the calls in question are tried."""
MAX_AIMED: Final = 3
"""Of how many of them the duties are met one by one."""

PendingOutcomes = Sequence[Representatives]
"""What happens first: for each call in question the events that it may become."""


@dataclass(frozen=True, slots=True)
class Continuation(Found[Path]):
    """Events after which all protected rules are kept. ``result``: what the calls in question became before."""

    result: Path = ()


@dataclass(frozen=True, slots=True)
class Lost(Impossible):
    """No continuation keeps all protected rules. The core has those that stood in the way.

    ``direct``: whether the calls in question break each of them themselves. If not, see `conflict`.
    """

    direct: bool = False


_OF_FEW = Unknown("the values and times that were tried may not be all that matter")


def decide(
    component: Component, forced: PendingOutcomes, now: int, budget: Budget, *, thorough: bool = True
) -> Answer[Path]:
    """A continuation that keeps all protected rules after the trace so far and what is forced.

    If that cannot be decided, maybe the rules to which the representative events are all that matter exclude each
    continuation. `thorough`: whether all that may follow is searched if means-ends search finds nothing.
    """
    answer = _decide(component, forced, now, budget, thorough=thorough)
    if thorough and forced and isinstance(answer, Unknown):
        unsure = component.vocabulary.inexact.union(_unsure(component, forced))
        sure = [rule.id for rule in component.defended() if rule.id not in unsure]
        with component.protecting(sure):
            alone = _decide(component, forced, now, budget, thorough=thorough)
        return alone if isinstance(alone, Impossible) else answer
    return answer


def _unsure(component: Component, forced: PendingOutcomes) -> set[str]:
    """The ids of the rules to which the forced events may not be all that the calls in question may become."""
    unsure = set[str]().union(*(one.unsure for one in forced))
    if prod(len(one.events) for one in forced) > MAX_RESULTS:
        several = (one.events[0].tool for one in forced if len(one.events) > 1)
        unsure.update(*map(component.vocabulary.result_readers, several))
    return unsure


def _decide(component: Component, forced: PendingOutcomes, now: int, budget: Budget, *, thorough: bool) -> Answer[Path]:
    log = component.log
    with log.attempt():
        component.advance_time(forced[0].events[0].time or now if forced else now)
        tried = Starts(component, now)
        starts: list[Path] = []
        broken: list[Rule] = []
        exact = _unsure(component, forced).isdisjoint(rule.id for rule in component.defended())
        for events in islice(product(*(one.events for one in forced)), MAX_RESULTS):
            distances = tried.enter(events)
            if distances is None:
                now_broken = component.broken()
                broken = [rule for rule in now_broken if rule in broken] or now_broken
                continue
            if not any(distances):
                return Continuation((), events)
            starts.append(events)
        if not starts:
            return Lost(_obstacles(broken), direct=True) if exact else _OF_FEW
        for events in starts:
            for hint in earlier_continuations(component, events, now):
                tried.enter(events)
                if _keeps_all(component, hint):
                    return Continuation(hint, events)
        share = budget.part() if thorough else budget
        for events in starts[:MAX_AIMED]:
            tried.enter(events)
            path = MeansEnds(component, now, share).find(next(earlier_continuations(component, events, now), ()))
            tried.enter(events)
            if path is not None and _keeps_all(component, path):
                return Continuation(path, events)
        return _search(component, starts, tried, budget, exact=exact) if thorough else _OF_FEW


def _keeps_all(component: Component, path: Path) -> bool:
    distances = component.replay(path)
    return distances is not None and not any(distances)


def earlier_continuations(component: Component, events: Path, now: int) -> Iterator[Path]:
    """Earlier continuations that may still do, with what met the duties of an earlier call of the same tool."""
    hint = tuple(replace(event, time=max(event.time or now, now)) for event in component.hint)
    latest = events[-1] if events else None
    rest = hint if latest is None else tuple(event for event in hint if not _same_call(event, latest))
    if latest is not None and (known := component.follow_ups.get(latest.tool)) is not None:
        made, steps = known
        new = (_with_values(step, made, latest.arguments) for step in steps)
        later = (replace(step, time=now + (step.time or 0)) for step in new)
        yield tuple(sorted((*rest, *later), key=_time))
    if rest:
        yield rest
    if len(rest) < len(hint):
        yield hint


def _time(event: Event) -> int:
    return event.time or 0


def _same_call(one: Event, other: Event) -> bool:
    return one.tool == other.tool and one.arguments == other.arguments


def _with_values(step: Event, old: Mapping[str, Json], new: Mapping[str, Json]) -> Event:
    """A step with the arguments of another call in the place of those of the call that it was found for."""
    known = [(value, new[name]) for name, value in old.items() if name in new and is_value(value)]

    def changed(value: Json) -> Json:
        if isinstance(value, dict):
            return {name: changed(part) for name, part in value.items()}
        if isinstance(value, list):
            return [changed(part) for part in value]
        return next((after for before, after in known if before == value and type(before) is type(value)), value)

    result = changed(step.result)
    return replace(step, arguments={name: changed(value) for name, value in step.arguments.items()}, result=result)


def _search(
    component: Component, starts: Sequence[Path], tried: Starts, budget: Budget, *, exact: bool
) -> Answer[Path]:
    relevant = RelevantTools()
    for start in starts:
        tried.enter(start)
        relevant.add(component.owed())
    while True:
        space = Successors(component, starts, tried, relevant)
        budget.spend(len(space.events) // 10)  # making them takes time, too
        found = _best_first(space, starts, budget)
        if found is not None:
            start, path = found
            return Continuation(path, start)
        if budget.left < 0:
            return Unknown(budget.why)
        if not relevant.grows_by(space):
            return Lost(_obstacles(space.blocking.values())) if exact and space.exact else _OF_FEW


def _best_first(space: Successors, starts: Sequence[Path], budget: Budget) -> tuple[Path, Path] | None:
    order = count()
    queue: list[tuple[int, int, Node]] = []
    seen: set[Hashable] = set()

    def push(node: Node, distances: list[int]) -> bool:
        key = node.moment, space.fingerprint
        if key not in seen:
            seen.add(key)
            heapq.heappush(queue, (len(node.path) + node.moment + 2 * sum(distances), next(order), node))
        return not any(distances)

    for start in starts:
        for hint in ((), space.component.hint):
            node = Node(start, tuple(replace(event, time=space.now) for event in hint), 0)
            distances = space.enter(node)
            if distances is not None and push(node, distances):
                return start, node.path
    patience = budget.left - 3 * len(space.events)
    while queue and budget.left >= 0:
        if budget.left < patience and space.relevant.would_grow_by(space):
            return None
        _, _, node = heapq.heappop(queue)
        for child, distances in space.children(node, budget):
            if push(child, distances):
                return child.start, child.path
    return None


def conflict(
    component: Component, forced: PendingOutcomes, rules: Sequence[str], now: int, budget: Budget
) -> tuple[Obstacle, ...]:
    """A smallest part of some rules that cannot all be kept after the forced events, as far as it can be decided.

    `rules`: the ids of those that stood in the way; see `Lost`.
    """

    def excludes(_: str, others: Sequence[str]) -> bool:
        with component.protecting(others):
            return budget.left >= 0 and isinstance(decide(component, forced, now, budget), Impossible)

    named = [rule.id for rule in component.rules if rule.id in rules]
    core = minimal_core(named, excludes) if len(named) > 1 else named
    return tuple(Obstacle("rule", rule) for rule in core)


def _obstacles(rules: Iterable[Rule]) -> tuple[Obstacle, ...]:
    return tuple(Obstacle("rule", rule.id) for rule in rules)


def learn(component: Component, forced: Path, continuation: Path) -> None:
    """Remember a continuation that keeps all rules, and what in it the last of the forced events made necessary."""
    if forced:
        event = forced[-1]
        new = tuple(step for step in continuation if not any(_same_call(step, known) for known in component.hint))
        known = component.follow_ups.get(event.tool)
        if new and (known is None or len(new) < len(known[1])):
            steps = tuple(replace(step, time=_time(step) - _time(event)) for step in new)
            component.follow_ups[event.tool] = (event.arguments, steps)
    component.hint = continuation


@dataclass(frozen=True, slots=True)
class Advice:
    """Events, and the time from which what they lead to can happen."""

    events: Path
    time: int


def advise(
    component: Component, made: Sequence[Event], rules: Sequence[Rule], now: int, budget: Budget
) -> Advice | None:
    """Events after which a call may happen, none of which can be left out; None if none are found.

    `made`: the events that the call may become. `rules`: which stand in the way.
    """
    log = component.log
    with log.attempt():
        component.advance_time(now)
        base = log.mark
        for event in made[:MAX_AIMED]:
            log.back_to(base)
            for *first, last in MeansEnds(component, now, budget).before(replace(event, time=now), rules):
                after = log.mark
                if is_allowed(component, (), _time(last), budget):
                    log.back_to(base)

                    def allowed(events: Sequence[Event], last: Event = last) -> bool:
                        forced = [Representatives([one]) for one in (*events, last)]
                        return is_allowed(component, forced, _time(last), budget)

                    return Advice(_asked_first(without_needless(first, allowed), allowed), _time(last))
                log.back_to(after)
    return None


def _asked_first(steps: Path, allowed: Callable[[Path], bool]) -> Path:
    """The steps in an order that a person accepts, as far as the rules allow it.

    What calls show comes before a message of the user if it can, and the agent speaks before one is presumed.
    """
    for place in reversed(range(len(steps))):
        said, after = steps[place], steps[place + 1 :]
        if said.tool == "user" and any(step.tool not in SPEAKERS for step in after):
            orders = (
                (*steps[:place], *after[:size], replace(said, time=after[size - 1].time), *after[size:])
                for size in range(len(after), 0, -1)
            )
            steps = next(filter(allowed, orders), steps)
    asked: Path = ()
    for step in steps:
        if step.tool == "user" and not (asked and asked[-1].tool in SPEAKERS):
            asked += (message_event("agent", "", _time(step)),)
        asked += (step,)
    return asked if asked != steps and allowed(asked) else steps


def is_allowed(component: Component, forced: PendingOutcomes, now: int, budget: Budget) -> bool:
    """Whether a continuation is quickly found that keeps all protected rules after what is forced."""
    return isinstance(decide(component, forced, now, budget, thorough=False), Found)
