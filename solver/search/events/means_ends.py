"""Means-ends search: meet one open duty after the other, and what stands in the way of each first.

A duty is met by an event that brings its rule nearer to being kept. If this event breaks rules, one of them is taken.
Either the event gets other values in the fields that this rule reads, or an event is looked for that has to come first,
which may itself need others before it. Only values of the duty and of the event in question are tried. So with many
rules on the same tools few events are tried. What is found is a proof; that nothing is found proves nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import Final

from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.terms import is_value
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import Component
from lawtrace.solver.search.events.space import Path, later_times
from lawtrace.solver.search.events.vocabulary import AbstractEvent, Live
from lawtrace.solver.search.problem import Budget

MAX_LENGTH: Final = 30
"""How many duties are met one after the other."""
MAX_DEPTH: Final = 6
"""How many events in a row are made possible each by the one before."""
MAX_KINDS: Final = 6
"""How many events with different effects are tried to one end."""
MAX_TRIED: Final = 100
"""How many events are looked at to one end."""

Values = tuple[tuple[str, str, Scalar], ...]
"""Rule, variable, value."""


@dataclass(frozen=True, slots=True)
class _Effect:
    """What an event does: the better, the lower the rank.

    Attributes:
        key: equal for events that do the same.
        obstacle: a rule that it breaks; None if it may happen now.
    """

    rank: tuple[int, int]
    key: tuple[object, ...]
    obstacle: Rule | None


class MeansEnds:
    """The search from one time on. The monitors of the component are where it begins.

    Its generators leave the monitors at what they yield, and expect them there when they go on.
    """

    def __init__(self, component: Component, now: int, budget: Budget) -> None:
        self._component: Final = component
        self._now: Final = now
        self._budget: Final = budget

    def find(self, hint: Path) -> Path | None:
        """Events after which no duty is open, if some are found.

        `hint`: events that may do; those that break a rule are left out.
        """
        log, component = self._component.log, self._component
        here = log.mark
        kept: list[Event] = []
        for event in hint:
            before = log.mark
            component.feed(event)
            if component.broken():
                log.back_to(before)
            else:
                kept.append(event)
        for beginning in (tuple(kept), ()) if kept else ((),):
            log.back_to(here)
            for event in beginning:
                component.feed(event)
            now = max(self._now, beginning[-1].time or 0) if beginning else self._now
            found = self._meet_all(beginning, now, MAX_LENGTH)
            if found is not None:
                return found
        return None

    def before(self, event: Event, rules: Iterable[Rule]) -> Iterator[Path]:
        """An event after what may let all duties be met; meanwhile the monitors are after it.

        `rules`: which stand in the way; their duties are met first.
        """
        component, log = self._component, self._component.log
        here = log.mark
        for steps in self._enabled(event, self._now, MAX_DEPTH):
            if steps != (event,):
                yield steps
        log.back_to(here)
        for rule in sorted(component.owed(), key=lambda rule: rule not in rules):
            log.back_to(here)
            for first in self._ways(rule, self._now):
                after, then = log.mark, first[-1].time or self._now
                for rest in self._enabled(replace(event, time=then), then, MAX_DEPTH):
                    yield (*first, *rest)
                log.back_to(after)

    def _meet_all(self, path: Path, now: int, length: int, stuck: tuple[Rule, ...] = ()) -> Path | None:
        """Go on until no duty is open. ``stuck``: rules whose duties could not be met earlier; they are tried last."""
        owed = self._component.owed()
        if not owed:
            return path
        here = self._component.log.mark
        if length > 0:
            for rule in sorted(owed, key=stuck.__contains__):
                for steps in self._ways(rule, now):
                    after = self._component.log.mark
                    found = self._meet_all((*path, *steps), steps[-1].time or now, length - 1, stuck)
                    if found is not None:
                        return found
                    self._component.log.back_to(after)
                self._component.log.back_to(here)
                stuck = (*stuck, rule)
        return None

    def _ways(self, rule: Rule, now: int) -> Iterator[Path]:
        """Steps that bring a rule nearer to being kept; meanwhile the monitors are after them."""
        component, log = self._component, self._component.log
        number, here = component.rules.index(rule), log.mark
        before = component.rule_distances[number] or 0

        def effect(tried: AbstractEvent) -> _Effect | None:
            component.feed_rule(number, tried.event)
            distance = component.rule_distances[number]
            if distance is None or distance >= before:
                return None
            log.back_to(here)
            component.feed(tried.event)
            distances = tuple(component.rule_distances)
            broken = component.broken()
            rank = len(broken), len(component.owed())
            return _Effect(rank, distances, broken[0] if broken else None)

        values = tuple(_scalars(rule, component.open_values(rule)))
        for event in self._events(rule, (), values, now, effect):
            log.back_to(here)
            for steps in self._enabled(event, now, MAX_DEPTH):
                after = log.mark
                yield steps
                log.back_to(after)

    def _enabled(self, event: Event, now: int, depth: int) -> Iterator[Path]:
        """An event that breaks no rule, after what it needs first; meanwhile the monitors are after it."""
        component, log = self._component, self._component.log
        here = log.mark
        component.feed(event)
        broken = component.broken()
        if not broken:
            yield (event,)
            return
        if depth == 0:
            return
        target = broken[0]
        values = self._violated_values(target)
        log.back_to(here)
        number = component.rules.index(target)
        unmoved = component.monitor(target).fingerprint({})

        def effect(tried: AbstractEvent) -> _Effect | None:
            component.feed_rule(number, tried.event)
            if component.rule_distances[number] is None:
                return None
            moved = component.monitor(target).fingerprint({}) != unmoved
            component.feed_rule(number, event)
            if component.rule_distances[number] is None and not moved:
                return None
            log.back_to(here)
            component.feed(tried.event)
            own = component.broken()
            component.feed(event)
            left = component.broken()
            key = (*(rule.id for rule in left), "", *(rule.id for rule in own), len(component.owed()))
            rank = len(own) + len(left) + (10 if target in left else 0)
            return _Effect((rank, len(component.owed())), key, own[0] if own else None)

        for helper in self._events(target, (event,), values, now, effect):
            log.back_to(here)
            for first in self._enabled(helper, now, depth - 1):
                after, then = log.mark, first[-1].time or now
                for rest in self._enabled(replace(event, time=then), then, depth - 1):
                    end = log.mark
                    yield (*first, *rest)
                    log.back_to(end)
                log.back_to(after)
        if number in component.timed:
            for then in later_times(component, number, now):
                if not self._budget.spend():
                    return
                log.back_to(here)
                component.advance_time(then)
                later = replace(event, time=then)
                component.feed(later)
                if not component.broken():
                    yield (later,)

    def _events(
        self, rule: Rule, events: Path, values: Values, now: int, effect: Callable[[AbstractEvent], _Effect | None]
    ) -> list[Event]:
        """Events of the tools of a rule with these values, and those of some events, with an effect; best first."""
        live = self._component.vocabulary.live(values, events)
        return self._tried(rule, live, now, effect, others=False) or self._tried(rule, live, now, effect, others=True)

    def _tried(
        self, rule: Rule, live: Live, now: int, effect: Callable[[AbstractEvent], _Effect | None], *, others: bool
    ) -> list[Event]:
        log, vocabulary = self._component.log, self._component.vocabulary
        here, fewest = log.mark, len(self._component.owed())
        order = count()
        waiting: list[tuple[tuple[int, int], int, Iterator[AbstractEvent]]] = [
            ((0, 0), next(order), vocabulary.variants(tool, rule.id, live, now, others=others))
            for tool in sorted(rule.tools)
        ]
        found: dict[tuple[object, ...], tuple[tuple[int, int], int, Event]] = {}
        seen: set[str] = set()
        while waiting and len(seen) < MAX_TRIED:
            tried = next(waiting[0][-1], None)
            if tried is None:
                heappop(waiting)
                continue
            tool = tried.event.tool
            name = repr((tool, tried.event.arguments, tried.event.result))
            if name in seen:
                continue
            seen.add(name)
            if not self._budget.spend():
                break
            log.back_to(here)
            done = effect(tried)
            if done is None:
                continue
            found.setdefault(done.key, (done.rank, len(found), tried.event))
            if done.obstacle is not None:
                better = vocabulary.variants(tool, done.obstacle.id, live, now, tried, others=others)
                heappush(waiting, (done.rank, next(order), better))
            elif done.rank[0] == 0 and done.rank[1] <= fewest:
                break
        log.back_to(here)
        return [event for *_, event in sorted(found.values(), key=_rank)[:MAX_KINDS]]

    def _violated_values(self, rule: Rule) -> Values:
        violations = self._component.monitor(rule).status(rule.id).violations
        known = [dict(violation.values) for violation in violations] or self._component.open_values(rule)
        return tuple(_scalars(rule, known))


def _rank(option: tuple[tuple[int, int], int, Event]) -> tuple[tuple[int, int], int]:
    return option[:2]


def _scalars(rule: Rule, found: Iterable[Mapping[str, Json]]) -> Iterator[tuple[str, str, Scalar]]:
    for values in found:
        yield from ((rule.id, name, value) for name, value in values.items() if is_value(value))
