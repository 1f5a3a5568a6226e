"""The continuations that a search looks at: representative events at representative times."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from lawtrace.schemas.events import SPEAKERS, Event, message_event
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.terms import is_value
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.monitoring.rule_status import Fingerprint
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import Component
from lawtrace.solver.search.problem import Budget

MAX_TIMES: Final = 80
"""At how many different times events of a continuation may happen."""
DAYS: Final = (1, 2, 4, 8, 16, 31, 61, 122, 366)
"""How long is waited for what is not allowed yet, besides until windows open or close."""

Path = tuple[Event, ...]


class RelevantTools:
    """What a search looks at: the tools of rules with open duties, and of rules that stand in the way of meeting them.

    Other events change nothing about either. So if a search with these fails, and no rule about others stood in the
    way, a search with all events fails, too.

    Attributes:
        tools: of which there are events.
        values: that they have: rule, variable, value.
    """

    def __init__(self) -> None:
        self.tools: Final[set[str]] = set()
        self.values: Final[set[tuple[str, str, Scalar]]] = set()

    def add(self, rules: Iterable[Rule]) -> None:
        """Look at the tools of more rules."""
        self.tools.update(*(rule.tools for rule in rules))

    def would_grow_by(self, space: "Successors") -> bool:
        """Whether something new stood in the way of a search."""
        tools_known = all(rule.tools <= self.tools for rule in space.blocking.values())
        return not (space.met_values <= self.values and tools_known)

    def grows_by(self, space: "Successors") -> bool:
        """Add what stood in the way of a search; whether that is anything new."""
        before = len(self.tools), len(self.values)
        self.add(space.blocking.values())
        self.values.update(space.met_values)
        return before != (len(self.tools), len(self.values))


@dataclass(frozen=True, slots=True)
class Node:
    """A continuation: what is forced, then events, and the number of the time that it has reached."""

    start: Path
    path: Path
    moment: int


class Starts:
    """Takes the monitors from where they are to after what is forced, which may be costly, once as long as it can."""

    def __init__(self, component: Component, now: int) -> None:
        self.now: Final = now
        self._component: Final = component
        self._base: Final = component.log.mark
        self._entered: Path | None = None
        self._after = self._base
        self._distances: list[int] | None = None

    def enter(self, start: Path) -> list[int] | None:
        """Take the monitors to after these events. Returns the distances there, None if a rule is lost.

        What was done to the monitors since is undone, and must not have gone back further.
        """
        log = self._component.log
        if start is not self._entered:
            log.back_to(self._base)
            self._distances = self._component.replay_pending(start, self.now)
            self._entered, self._after = start, log.mark
        log.back_to(self._after)
        return self._distances


class Successors:
    """The continuations of a trace with representative events.

    Attributes:
        component: the rules.
        now: when it begins.
        relevant: what is looked at.
        met_values: rules, variables and values of the violations that were met, if no event has these values.
        blocking: the rules of these violations, and those with open duties on the way.
    """

    def __init__(self, component: Component, starts: Sequence[Path], tried: Starts, relevant: RelevantTools) -> None:
        self.component: Final = component
        self.now: Final = tried.now
        self.relevant: Final = relevant
        self.met_values: Final[set[tuple[str, str, Scalar]]] = set()
        self.blocking: Final[dict[str, Rule]] = {}
        self._starts: Final = tried
        vocabulary, now = component.vocabulary, tried.now
        known, times = {*relevant.values}, {now}
        for start in ((), *starts):
            tried.enter(start)
            known |= self.open_values()
            times |= component.times()
        ordered = sorted(known, key=repr)
        live = vocabulary.live(ordered, (*(event for start in starts for event in start), *component.hint))
        found = vocabulary.events(relevant.tools, live, now)
        events = [*found.events]
        if component.counts_steps:
            speaker = next((name for name in SPEAKERS if name not in component.tools), None)
            events += [Event("", {}) if speaker is None else message_event(speaker, "", now)]
        self._known_times: Final = times
        self._exact = found.exact and vocabulary.inexact.isdisjoint(rule.id for rule in component.defended())
        self._cut: Final = found.cut
        self.events: Final = events
        self.fingerprint: Sequence[Sequence[Fingerprint]] = component.fingerprint({})
        """Of the node at which the monitors are."""
        self._values: Final = {rule.id: vocabulary.variable_values(live, rule.id) for rule in component.rules}

    @cached_property
    def _all_times(self) -> tuple[list[int], bool]:
        """The times at which events may happen, and whether they are all that matter."""
        if not self.component.timed:
            return [self.now], True
        return _times(self.component, self._known_times, self.now)

    @property
    def exact(self) -> bool:
        """Whether the representatives are all that matter."""
        return self._exact and self._all_times[1]

    def time(self, number: int) -> int:
        """One of the times; the first is now."""
        return self._all_times[0][number] if number else self.now

    def enter(self, node: Node) -> list[int] | None:
        """Take the monitors to a node. Returns the distances there, None if a rule is lost."""
        distances = self._starts.enter(node.start)
        if node.path:
            distances = self.component.replay(node.path)
        if node.moment:
            self.component.advance_time(self.time(node.moment))
            distances = self.component.distances()
        return self._look(distances)

    def _look(self, distances: list[int] | None) -> list[int] | None:
        """Note the state of the monitors, and which rules have open duties."""
        self.fingerprint = self.component.fingerprint(self._values)
        for rule, distance in zip(self.component.defended(), distances or (), strict=False):
            if distance:
                self.blocking[rule.id] = rule
        return distances

    def children(self, node: Node, budget: Budget) -> Iterator[tuple[Node, list[int]]]:
        """The nodes one event, or one time, further at which no rule is lost; the monitors are there meanwhile."""
        component = self.component
        if self.enter(node) is None:
            return
        here, before, revision = component.log.mark, self.fingerprint, component.revision()
        time = self.time(node.moment)
        for event in self.events:
            if not budget.spend():
                return
            component.log.back_to(here)
            timed = event if event.time == time else replace(event, time=time)
            distances = component.replay((timed,))
            if distances is None:
                self.note_violations()
                readers = set[str]().union(*(field.readers for field in self._cut if field.tool == event.tool))
                if any(rule.id in readers for rule in component.broken()):
                    self._exact = False  # another list might not have broken it
                continue
            self._look(distances)
            if component.revision() == revision and component.is_no_better(self.fingerprint, before):
                continue
            yield Node(node.start, (*node.path, timed), node.moment), distances
        if node.moment + 1 < len(self._all_times[0]) and budget.spend():
            component.log.back_to(here)
            component.advance_time(self.time(node.moment + 1))
            distances = component.distances()
            if self._look(distances) is not None and distances is not None:
                yield Node(node.start, node.path, node.moment + 1), distances

    def open_values(self) -> set[tuple[str, str, Scalar]]:
        """The values for which protected rules have open duties."""
        component, found = self.component, set[tuple[str, str, Scalar]]()
        for rule in component.owed():
            for violation in component.monitor(rule).undecided(rule.id):
                found.update((rule.id, name, value) for name, value in violation.values)
            if not component.monitor(rule).undecided(rule.id):
                found.update(self._table_values(rule))
        return found

    def note_violations(self) -> None:
        """Remember which protected rules have just been violated, and the values of which there are no events."""
        for rule in self.component.broken():
            self.blocking[rule.id] = rule
            known = self._values[rule.id]
            violations = self.component.monitor(rule).status(rule.id).violations
            found = [(rule.id, name, value) for violation in violations for name, value in violation.values]
            self.met_values.update(one for one in found or self._table_values(rule) if one[2] not in known)

    def _table_values(self, rule: Rule) -> Iterator[tuple[str, str, Scalar]]:
        for values in self.component.open_values(rule):
            yield from ((rule.id, name, value) for name, value in values.items() if is_value(value))


def _times(component: Component, known: set[int], now: int) -> tuple[list[int], bool]:
    """The times from now on at which something changes for some window, and whether they are all that matter."""
    found, latest = set(known), set(known)
    windows = dict.fromkeys(window for several in component.windows for window in several)
    for _ in range(3):
        latest = set(edges_of(windows, latest)) - found
        found |= latest
        if len(found) > 10 * MAX_TIMES:
            break
    later = sorted(time for time in found if time >= now)
    return later[:MAX_TIMES], len(later) <= MAX_TIMES


def later_times(component: Component, number: int, now: int) -> list[int]:
    """The times after now at which a window of one of the rules opens or closes, and some that are days later."""
    times = {now, *component.monitor(component.rules[number]).times()}
    found = {*edges_of(component.windows[number], times), *(now + days * 86_400 for days in DAYS)}
    return sorted(time for time in found if time > now)


def edges_of(windows: Iterable[Window], times: Iterable[int]) -> Iterator[int]:
    """The edges of windows that begin or end at some times; see `edges`."""
    return (edge for window in windows for time in times for edge in edges(window, time))


def edges(window: Window, time: int) -> Iterator[int]:
    """The times at which a window that begins or ends at this time opens and closes, or begins, and those beside."""
    bounds = [bound for bound in (window.lower, window.upper) if bound is not None]
    if all(bound.span.fixed for bound in bounds):
        for bound in bounds:
            for edge in (time + bound.span.seconds, time - bound.span.seconds):
                yield from (edge - 1, edge, edge + 1)
        return
    for edge in (window.deadline(time), window.opening(time), window.earliest(time), window.latest(time)):
        if edge is not None:
            yield from (edge - 1, edge, edge + 1)
