"""Search: whether some continuation of a trace keeps all rules of a component, and what has to happen first.

A continuation consists of representative events (`lawtrace.solver.search.events.vocabulary`) at representative times.
First, earlier continuations are tried again: what kept all rules after the trace before mostly does after the next
call, with what met the duties of an earlier call of the same tool. That decides nearly all calls. Then duties are met
one by one (`lawtrace.solver.search.events.means_ends`), with as many steps as the search afterwards. That is best
first: by the length of a continuation and by how far the rules are from being kept. Traces that leave the monitors in
the same state are followed once. So a search that ends without a continuation proves that there is none, if the
representatives are all that matter; and one that exceeds its steps decides nothing. Steps are counted, not seconds: the
same trace gets the same answer on every machine.

Advice is a shortest sequence of events after which a refused call is allowed, by breadth-first search.
"""

import heapq
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, product
from typing import Final, Literal

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic.terms import is_value
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import Component
from lawtrace.solver.search.events.means_ends import MeansEnds
from lawtrace.solver.search.events.space import Budget, Node, Path, RelevantTools, Successors

MAX_RESULTS: Final = 300
"""How many results of the calls in question are tried."""
MAX_AIMED: Final = 3
"""Of how many of them the duties are met one by one."""

PendingOutcomes = Sequence[Sequence[Event]]
"""What happens first: for each call in question the events that it may become."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether all protected rules can be kept.

    Attributes:
        status: ``met`` if a continuation keeps them, ``lost`` if none does, ``undecided`` if the search found none and
            cannot exclude one.
        path: the continuation.
        result: the events that the calls in question became in it.
        rules: where there is none, the rules that stood in the way.
        direct: whether the calls in question break these rules themselves.
    """

    status: Literal["met", "lost", "undecided"]
    path: Path = ()
    result: Path = ()
    rules: tuple[Rule, ...] = ()
    direct: bool = False


def decide(component: Component, forced: PendingOutcomes, now: int, budget: Budget, *, exact: bool = True) -> Answer:
    """Whether all protected rules can be kept after the trace so far and what is forced.

    `exact`: whether the forced events are all that the calls in question may become.
    """
    log = component.log
    with log.attempt():
        component.advance_time(forced[0][0].time or now if forced else now)
        base = log.mark
        starts: list[Path] = []
        broken: list[Rule] = []
        chosen = list(islice(product(*forced), MAX_RESULTS + 1))
        exact = exact and len(chosen) <= MAX_RESULTS
        for events in chosen[:MAX_RESULTS]:
            log.back_to(base)
            distances = component.replay_pending(events, now)
            if distances is None:
                now_broken = component.broken()
                broken = [rule for rule in now_broken if rule in broken] or now_broken
                continue
            if not any(distances):
                return Answer("met", (), events)
            starts.append(events)
        if not starts:
            return Answer("lost" if exact else "undecided", rules=tuple(broken), direct=True)
        for events in starts:
            for hint in earlier_continuations(component, events, now):
                log.back_to(base)
                if _keeps_all(component, events, hint, now):
                    return Answer("met", hint, events)
        share = Budget(budget.left)
        for events in starts[:MAX_AIMED]:
            log.back_to(base)
            component.replay_pending(events, now)
            path = MeansEnds(component, now, share).find(next(earlier_continuations(component, events, now), ()))
            log.back_to(base)
            if path is not None and _keeps_all(component, events, path, now):
                return Answer("met", path, events)
        log.back_to(base)
        return _search(component, starts, now, budget, exact=exact)


def _keeps_all(component: Component, forced: Path, path: Path, now: int) -> bool:
    distances = component.replay_pending(forced, now)
    if path:
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


def _search(component: Component, starts: Sequence[Path], now: int, budget: Budget, *, exact: bool) -> Answer:
    relevant = RelevantTools()
    with component.log.attempt():
        base = component.log.mark
        for start in starts:
            component.log.back_to(base)
            component.replay_pending(start, now)
            relevant.add(component.owed())
    while True:
        with component.log.attempt():
            space = Successors(component, starts, now, relevant)
            budget.left -= len(space.events) // 10  # making them takes time, too
            found = _best_first(space, starts, budget)
        if found is not None:
            start, path = found
            return Answer("met", path, start)
        if budget.left < 0:
            return Answer("undecided")
        if not relevant.grows_by(space):
            return Answer("lost" if exact and space.exact else "undecided", rules=tuple(space.blocking.values()))


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
    component: Component, forced: PendingOutcomes, rules: Sequence[Rule], now: int, budget: Budget
) -> list[Rule]:
    """A smallest part of some rules that cannot all be kept after the forced events, as far as it can be decided.

    `rules`: that stood in the way; see `Answer`.
    """
    if len(rules) < 2:
        return list(rules)
    before = list(component.protected)
    try:
        component.protected[:] = [rule in rules for rule in component.rules]
        for number, defended in enumerate(list(component.protected)):
            if defended:
                component.protected[number] = False
                if budget.left < 0 or decide(component, forced, now, budget).status != "lost":
                    component.protected[number] = True
        needed = [rule for rule, left in zip(component.rules, component.protected, strict=True) if left]
        return needed or list(rules)
    finally:
        component.protected[:] = before


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
    """The shortest events after which a call may happen; None if none are found.

    `made`: the events that the call may become. `rules`: which stand in the way.
    """
    relevant = RelevantTools()
    relevant.add(rules)
    with component.log.attempt():
        component.advance_time(now)
        starts = [(event,) for event in made[:MAX_RESULTS]]
        base = component.log.mark
        while True:
            with component.log.attempt():
                space = Successors(component, starts, now, relevant)
                for start in starts:
                    component.log.back_to(base)
                    if component.replay(start) is None:
                        space.note_violations()
                component.log.back_to(base)
                if relevant.grows_by(space):
                    continue
                found = _breadth_first(space, starts, budget)
            if found is not None or budget.left < 0 or not relevant.grows_by(space):
                return found


def _breadth_first(space: Successors, starts: Sequence[Path], budget: Budget) -> Advice | None:
    component = space.component
    seen: set[Hashable] = set()
    level = [Node((), (), 0)]
    while level and budget.left >= 0:
        following: list[Node] = []
        for node in level:
            for child, _ in space.children(node, budget):
                if child.path != node.path and not child.path[-1].completed:
                    continue
                key = child.moment, space.fingerprint
                if key in seen:
                    continue
                seen.add(key)
                following.append(child)
                if _allows(component, starts, space.time(child.moment), budget):
                    return Advice(child.path, space.time(child.moment))
        level = following
    return None


def _allows(component: Component, starts: Sequence[Path], now: int, budget: Budget) -> bool:
    """Whether all rules can be kept after some of the events."""
    for start in starts:
        if not budget.spend():
            return False
        later = tuple(replace(event, time=now) for event in start)
        with component.log.attempt():
            distances = component.replay(later)
        if distances is None:
            continue
        if not any(distances) or decide(component, [[event] for event in later], now, budget).status == "met":
            return True
    return False
