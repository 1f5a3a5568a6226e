"""Advice: a shortest sequence of events after which a refused call is allowed, by breadth-first search."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.component import Component
from lawtrace.solver.guard.search import MAX_RESULTS, decide
from lawtrace.solver.guard.space import Budget, Node, Path, RelevantTools, Successors
from lawtrace.solver.rules import Rule


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
        component.pass_time(now)
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
