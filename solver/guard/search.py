"""Search: whether some continuation of a trace keeps all rules of a component.

A continuation consists of representative events (`lawtrace.solver.guard.vocabulary`) at representative times. First,
duties are met one by one (`lawtrace.solver.guard.means_ends`), with as many steps as the search afterwards. That is
best first: by the length of a continuation and by how far the rules are from being kept. Traces that leave the
monitors in the same state are followed once. So a search that ends without a continuation proves that there is none,
if the representatives are all that matter; and one that exceeds its steps decides nothing. Steps are counted, not
seconds: the same trace gets the same answer on every machine.
"""

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice, product
from typing import Final, Literal

from lawtrace.environments.events import SPEAKERS, Event, Json, message_event
from lawtrace.solver.guard.component import Component
from lawtrace.solver.guard.means_ends import MeansEnds
from lawtrace.solver.ltlf.monitor import Fingerprint
from lawtrace.solver.ltlf.terms import Scalar, is_value
from lawtrace.solver.ltlf.windows import Window
from lawtrace.solver.rules import Rule

MAX_TIMES: Final = 80
"""At how many different times events of a continuation may happen."""
MAX_RESULTS: Final = 300
"""How many results of the calls in question are tried."""
MAX_AIMED: Final = 3
"""Of how many of them the duties are met one by one."""

Path = tuple[Event, ...]
Forced = Sequence[Sequence[Event]]
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


class Budget:
    """Steps that are left."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self) -> bool:
        """Use one step; whether there was one."""
        self.left -= 1
        return self.left >= 0


def decide(component: Component, forced: Forced, now: int, budget: Budget, *, exact: bool = True) -> Answer:
    """Whether all protected rules can be kept after the trace so far and what is forced.

    `exact`: whether the forced events are all that the calls in question may become.
    """
    log, monitor = component.log, component.monitor
    with log.attempt():
        monitor.pass_time(now)
        base = log.mark
        starts: list[Path] = []
        broken: list[Rule] = []
        chosen = list(islice(product(*forced), MAX_RESULTS + 1))
        exact = exact and len(chosen) <= MAX_RESULTS
        for events in chosen[:MAX_RESULTS]:
            log.back_to(base)
            distances = play(component, events)
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
            for hint in _hints(component, events, now):
                log.back_to(base)
                if _keeps_all(component, (*events, *hint)):
                    return Answer("met", hint, events)
        share = Budget(budget.left)
        for events in starts[:MAX_AIMED]:
            log.back_to(base)
            play(component, events)
            path = MeansEnds(component, now, share).find(next(_hints(component, events, now), ()))
            log.back_to(base)
            if path is not None and _keeps_all(component, (*events, *path)):
                return Answer("met", path, events)
        log.back_to(base)
        return _search(component, starts, now, budget, exact=exact)


def play(component: Component, events: Sequence[Event]) -> list[int] | None:
    """Feed events. Returns the distances, None if a protected rule cannot be kept any more."""
    for event in events:
        component.monitor.feed(event)
    return component.distances()


def _keeps_all(component: Component, events: Sequence[Event]) -> bool:
    distances = play(component, events)
    return distances is not None and not any(distances)


def _hints(component: Component, events: Path, now: int) -> Iterator[Path]:
    """Earlier continuations that may still do, with what met the duties of an earlier call of the same tool."""
    hint = tuple(replace(event, time=max(event.time or now, now)) for event in component.hint)
    latest = events[-1] if events else None
    rest = hint if latest is None else tuple(event for event in hint if not _same_call(event, latest))
    if latest is not None and (recipe := component.recipes.get(latest.tool)) is not None:
        made, steps = recipe
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


def learn(component: Component, answer: Answer) -> None:
    """Remember the continuation, and the part of it that the last call in question made necessary."""
    if answer.result:
        event = answer.result[-1]
        new = tuple(step for step in answer.path if not any(_same_call(step, known) for known in component.hint))
        known = component.recipes.get(event.tool)
        if new and (known is None or len(new) < len(known[1])):
            steps = tuple(replace(step, time=_time(step) - _time(event)) for step in new)
            component.recipes[event.tool] = (event.arguments, steps)
    component.hint = answer.path


def _search(component: Component, starts: Sequence[Path], now: int, budget: Budget, *, exact: bool) -> Answer:
    scope = Scope()
    with component.log.attempt():
        base = component.log.mark
        for start in starts:
            component.log.back_to(base)
            play(component, start)
            scope.add(component.owed())
    while True:
        with component.log.attempt():
            space = Space(component, starts, now, scope)
            budget.left -= len(space.events) // 10  # making them takes time, too
            found = _best_first(space, starts, budget, scope)
        if found is not None:
            start, path = found
            return Answer("met", path, start)
        if budget.left < 0:
            return Answer("undecided")
        if not scope.grows_by(space):
            return Answer("lost" if exact and space.exact else "undecided", rules=tuple(space.blocking.values()))


class Scope:
    """What a search looks at: the tools of rules with open duties, and of rules that stand in the way of meeting them.

    Other events change nothing about either. So if a search within a scope fails, and no rule outside the scope stood
    in the way, a search with all events fails, too.

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

    def would_grow_by(self, space: "Space") -> bool:
        """Whether something new stood in the way of a search."""
        tools_known = all(rule.tools <= self.tools for rule in space.blocking.values())
        return not (space.met_values <= self.values and tools_known)

    def grows_by(self, space: "Space") -> bool:
        """Add what stood in the way of a search; whether that is anything new."""
        before = len(self.tools), len(self.values)
        self.add(space.blocking.values())
        self.values.update(space.met_values)
        return before != (len(self.tools), len(self.values))


def _best_first(space: "Space", starts: Sequence[Path], budget: Budget, scope: "Scope") -> tuple[Path, Path] | None:
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
    climbed = _climb(space, starts[0], budget, push)
    if climbed is not None:
        return climbed.start, climbed.path
    patience = budget.left - 3 * len(space.events)
    while queue:
        if budget.left < patience and scope.would_grow_by(space):
            return None
        _, _, node = heapq.heappop(queue)
        for child, distances in space.children(node, budget):
            if push(child, distances):
                return child.start, child.path
        if budget.left < 0:
            return None
    return None


def _climb(space: "Space", start: Path, budget: Budget, push: Callable[["Node", list[int]], bool]) -> "Node | None":
    """Meet one open duty after the other, if each step brings the rules nearer to being kept."""
    node = Node(start, (), 0)
    distances = space.enter(node)
    least = budget.left // 2
    while distances is not None and budget.left > least:
        better = (found for found in space.children(node, budget) if sum(found[1]) < sum(distances))
        following = next(better, None)
        if following is None:
            return None
        node, distances = following
        if push(node, distances):
            return node
    return None


@dataclass(frozen=True, slots=True)
class Node:
    """A continuation: what is forced, then events, and the number of the time that it has reached."""

    start: Path
    path: Path
    moment: int


class Space:
    """The continuations of a trace with representative events.

    Attributes:
        component: the rules.
        now: when it begins.
        met_values: rules, variables and values of the violations that were met, if no event has these values.
        blocking: the rules of these violations, and those with open duties on the way.
    """

    def __init__(self, component: Component, starts: Sequence[Path], now: int, scope: Scope) -> None:
        self.component: Final = component
        self.now: Final = now
        self.met_values: Final[set[tuple[str, str, Scalar]]] = set()
        self.blocking: Final[dict[str, Rule]] = {}
        self._base: Final = component.log.mark
        vocabulary, monitor = component.vocabulary, component.monitor
        known, times = {*scope.values, *self.open_values()}, {now, *monitor.times()}
        for start in starts:
            component.log.back_to(self._base)
            play(component, start)
            known |= self.open_values()
            times |= monitor.times()
        component.log.back_to(self._base)
        ordered = sorted(known, key=repr)
        live = vocabulary.live_values(ordered, (*(event for start in starts for event in start), *component.hint))
        found = vocabulary.events(scope.tools, live, now)
        events = found.events
        if component.counts_steps:
            speaker = next((name for name in SPEAKERS if name not in component.tools), None)
            events += [Event("", {}) if speaker is None else message_event(speaker, "", now)]
        self._known_times: Final = times
        self._exact = found.exact
        self._cut: Final = found.cut
        self.events: Final = events
        self.fingerprint: Sequence[Fingerprint] = monitor.fingerprint({})
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
        self.component.log.back_to(self._base)
        distances = play(self.component, (*node.start, *node.path))
        if node.moment:
            self.component.monitor.pass_time(self.time(node.moment))
            distances = self.component.distances()
        return self._look(distances)

    def _look(self, distances: list[int] | None) -> list[int] | None:
        """Note the state of the monitors, and which rules have open duties."""
        self.fingerprint = self.component.monitor.fingerprint(self._values)
        for rule, distance in zip(self.component.defended(), distances or (), strict=False):
            if distance:
                self.blocking[rule.id] = rule
        return distances

    def children(self, node: Node, budget: Budget) -> Iterator[tuple[Node, list[int]]]:
        """The nodes one event, or one time, further at which no rule is lost; the monitors are there meanwhile."""
        component = self.component
        if self.enter(node) is None:
            return
        here, before, moves = component.log.mark, self.fingerprint, component.monitor.moves()
        time = self.time(node.moment)
        for event in self.events:
            if not budget.spend():
                return
            component.log.back_to(here)
            timed = event if event.time == time else replace(event, time=time)
            distances = play(component, (timed,))
            if distances is None:
                self.note_violations()
                if any(component.vocabulary.reads(rule.id, event.tool, self._cut) for rule in component.broken()):
                    self._exact = False  # another list might not have broken it
                continue
            self._look(distances)
            if component.monitor.moves() == moves and component.monitor.is_no_better(self.fingerprint, before):
                continue
            yield Node(node.start, (*node.path, timed), node.moment), distances
        if node.moment + 1 < len(self._all_times[0]) and budget.spend():
            component.log.back_to(here)
            component.monitor.pass_time(self.time(node.moment + 1))
            distances = component.distances()
            if self._look(distances) is not None and distances is not None:
                yield Node(node.start, node.path, node.moment + 1), distances

    def open_values(self) -> set[tuple[str, str, Scalar]]:
        """The values for which protected rules have open duties."""
        monitor, found = self.component.monitor, set[tuple[str, str, Scalar]]()
        distances = monitor.distances()
        for rule, defended, distance in zip(self.component.rules, self.component.protected, distances, strict=True):
            if defended and distance:
                for violation in monitor.undecided(rule.id):
                    found.update((rule.id, name, value) for name, value in violation.values)
                if not monitor.undecided(rule.id):
                    found.update(self._table_values(rule))
        return found

    def note_violations(self) -> None:
        """Remember which protected rules have just been violated, and the values of which there are no events."""
        statuses = self.component.monitor
        for rule in self.component.broken():
            self.blocking[rule.id] = rule
            known = self._values[rule.id]
            violations = statuses.status(rule.id).violations
            found = [(name, value) for violation in violations for name, value in violation.values]
            named = [(rule.id, *one) for one in found] or [*self._table_values(rule)]
            self.met_values.update(one for one in named if one[2] not in known)

    def _table_values(self, rule: Rule) -> Iterator[tuple[str, str, Scalar]]:
        for values in self.component.open_values(rule):
            yield from ((rule.id, name, value) for name, value in values.items() if is_value(value))


def _times(component: Component, known: set[int], now: int) -> tuple[list[int], bool]:
    """The times from now on at which something changes for some window, and whether they are all that matter."""
    found, latest = set(known), set(known)
    for _ in range(3):
        latest = {time for window in component.windows for one in latest for time in _edges(window, one)} - found
        found |= latest
        if len(found) > 10 * MAX_TIMES:
            break
    later = sorted(time for time in found if time >= now)
    return later[:MAX_TIMES], len(later) <= MAX_TIMES


def _edges(window: Window, time: int) -> Iterator[int]:
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
        component.monitor.pass_time(now)
        starts = list(islice(product(*forced), MAX_RESULTS))
        base = component.log.mark
        while True:
            with component.log.attempt():
                space = Space(component, starts, now, scope)
                for start in starts:
                    component.log.back_to(base)
                    if play(component, start) is None:
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
        distances = play(component, start)
        if distances is None:
            return False
        if not any(distances):
            return True
    return decide(component, [[event] for event in start], now, budget).status == "met"


def conflict(component: Component, forced: Forced, rules: Sequence[Rule], now: int, budget: Budget) -> list[Rule]:
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
