"""Advice: a shortest sequence of events after which a refused call is allowed, by breadth-first search."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.component import Component
from lawtrace.solver.guard.search import MAX_RESULTS, Forced, decide
from lawtrace.solver.guard.space import Budget, Node, Path, Scope, Space
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class Advice:
    """Events, and the time from which what they lead to can happen."""

    events: Path
    time: int


def advise(
    component: Component,
    forced: Forced,
    rules: Sequence[Rule],
    now: int,
    budget: Budget,
    usable: Callable[[Event], bool],
) -> Advice | None:
    """The shortest events after which the forced events may happen; None if none are found.

    `rules`: which stand in the way. `usable`: whether an event can be advised.
    """
    scope = Scope()
    scope.add(rules)
    with component.log.attempt():
        component.pass_time(now)
        starts = list(islice(product(*forced), MAX_RESULTS))
        base = component.log.mark
        while True:
            with component.log.attempt():
                space = Space(component, starts, now, scope)
                for start in starts:
                    component.log.back_to(base)
                    if component.replay(start) is None:
                        space.note_violations()
                component.log.back_to(base)
                if scope.grows_by(space):
                    continue
                found = _breadth_first(space, starts, budget, usable)
            if found is not None or budget.left < 0 or not scope.grows_by(space):
                return found


def _breadth_first(
    space: Space, starts: Sequence[Path], budget: Budget, usable: Callable[[Event], bool]
) -> Advice | None:
    component = space.component
    seen: set[Hashable] = set()
    level = [Node((), (), 0)]
    while level and budget.left >= 0:
        following: list[Node] = []
        for node in level:
            for child, _ in space.children(node, budget):
                if child.path != node.path and not usable(child.path[-1]):
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
    later = (tuple(replace(event, time=now) for event in start) for start in starts)
    return any(budget.spend() and _leads_on(component, start, now, budget) for start in later)


def _leads_on(component: Component, start: Path, now: int, budget: Budget) -> bool:
    """Whether all rules can be kept after some events."""
    with component.log.attempt():
        distances = component.replay(start)
        if distances is None:
            return False
        if not any(distances):
            return True
    return decide(component, [[event] for event in start], now, budget).status == "met"
