"""Search: whether some continuation of a trace keeps all rules of a component.

A continuation consists of representative events (`lawtrace.solver.guard.vocabulary`) at representative times. First,
duties are met one by one (`lawtrace.solver.guard.means_ends`), with as many steps as the search afterwards. That is
best first: by the length of a continuation and by how far the rules are from being kept. Traces that leave the
monitors in the same state are followed once. So a search that ends without a continuation proves that there is none,
if the representatives are all that matter; and one that exceeds its steps decides nothing. Steps are counted, not
seconds: the same trace gets the same answer on every machine.
"""

import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, product
from typing import Final, Literal

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.component import Component
from lawtrace.solver.guard.means_ends import MeansEnds
from lawtrace.solver.guard.replays import earlier_continuations
from lawtrace.solver.guard.space import Budget, Node, Path, RelevantTools, Successors
from lawtrace.solver.rules import Rule

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
        component.pass_time(forced[0][0].time or now if forced else now)
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
