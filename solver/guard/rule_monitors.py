"""Monitors of the rules of a component, shared between sessions as far as possible.

At the beginning of a session every monitor is in its first state, so sessions share these monitors. What a decision
tries on them is undone. When an event has really happened, the session gets its own monitors of the rules that the
event concerns. So to open a session costs nothing for the rules, and its memory grows with the rules that its calls are
about.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.guard.step_counting import counts_steps
from lawtrace.solver.monitoring.metric import Violation
from lawtrace.solver.monitoring.monitor import Fingerprint, Monitor, RuleStatus
from lawtrace.solver.monitoring.undo import UndoLog
from lawtrace.solver.rules import Rule

MAX_IGNORED: Final = 5
"""How many events that leave a rule in its first state a session checks for that; then it gets its own monitor."""


class FirstMonitors:
    """A monitor for each rule before any event, and which rules the calls of a tool concern.

    Attributes:
        rules: the rules.
        log: undoes what is tried on these monitors and on those made here.
        monitors: one for each rule; changed inside attempts only.
        distances: of these monitors.
        numbers: of the rules, by id.
        timed: the numbers of rules for which times matter.
        left: for each rule the monitors of sessions that are over.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules: Final = tuple(rules)
        self.log: Final = UndoLog()
        self.monitors: Final = tuple(map(self._make, range(len(rules))))
        self.distances: Final = tuple(monitor.distances()[0] for monitor in self.monitors)
        self._fingerprints: Final = tuple(monitor.fingerprint({}) for monitor in self.monitors)
        self.numbers: Final = {rule.id: number for number, rule in enumerate(rules)}
        self.timed: Final = tuple(number for number, rule in enumerate(rules) if rule.is_timed)
        always = {number for number, rule in enumerate(rules) if counts_steps(rule)}
        self.left: Final = tuple(list[Monitor]() for _ in rules)
        self._elsewhere: Final = tuple(sorted(always))
        self._by_tool: Final = {
            tool: tuple(number for number, rule in enumerate(rules) if number in always or tool in rule.tools)
            for rule in rules
            for tool in rule.tools
        }

    def take(self, number: int) -> Monitor:
        """A monitor of a rule, before any event, for one session: one that another session left, or a new one."""
        try:
            monitor = self.left[number].pop()
        except IndexError:
            return self._make(number)
        monitor.clear()
        return monitor

    def _make(self, number: int) -> Monitor:
        rule, make = self.rules[number], self.log.undoable
        return make(Monitor)({rule.id: rule.compiled}, make=make)

    def ignores(self, number: int, event: Event) -> bool:
        """Whether an event leaves the first state of a rule as it is."""
        monitor = self.monitors[number]
        with self.log.attempt():
            monitor.feed(event)
            return monitor.fingerprint({}) == self._fingerprints[number]

    def concerned(self, tool: str) -> tuple[int, ...]:
        """The numbers of the rules that a call of the tool can change."""
        return self._by_tool.get(tool, self._elsewhere)


class RuleMonitors:
    """The monitors of one session: one for each rule, which sees the calls that can change the rule."""

    def __init__(self, first: FirstMonitors) -> None:
        self._first: Final = first
        self._monitors: Final = list(first.monitors)
        self._ignored: Final = [0] * len(first.monitors)
        self._distances: Final[list[int | None]] = first.log.wrapped(list(first.distances))

    def __del__(self) -> None:
        # Making a monitor takes far longer than clearing one. They are cleared later: an attempt may be under way.
        for monitor, shared, left in zip(self._monitors, self._first.monitors, self._first.left, strict=True):
            if monitor is not shared:
                left.append(monitor)

    def commit(self, event: Event) -> None:
        """Process an event that has happened. Only outside attempts."""
        first = self._first
        for number in first.concerned(event.tool):
            if self._monitors[number] is first.monitors[number]:
                if self._ignored[number] < MAX_IGNORED and first.ignores(number, event):
                    self._ignored[number] += 1
                    continue
                self._monitors[number] = first.take(number)
            self._monitors[number].feed(event)
            self._look(number)

    def feed(self, event: Event) -> None:
        """Process an event inside an attempt, at the end of which it is undone."""
        for number in self._first.concerned(event.tool):
            self._monitors[number].feed(event)
            self._look(number)

    def pass_time(self, time: int) -> None:
        """Let time pass without an event, inside an attempt."""
        for number in self._first.timed:
            self._monitors[number].pass_time(time)
            self._look(number)

    def _look(self, number: int) -> None:
        distance = self._monitors[number].distances()[0]
        if distance != self._distances[number]:
            self._distances[number] = distance

    def distances(self) -> Sequence[int | None]:
        """See `Monitor.distances`."""
        return self._distances

    def times(self) -> set[int]:
        """See `Monitor.times`."""
        return {time for monitor in self._monitors for time in monitor.times()}

    def status(self, rule: str) -> RuleStatus:
        """The status of a rule."""
        return self._of(rule).status(rule)

    def undecided(self, rule: str) -> list[Violation]:
        """What may still become a violation of a rule without an automaton."""
        return self._of(rule).undecided(rule)

    def fingerprint(self, values: Mapping[str, Sequence[Scalar]]) -> tuple[Fingerprint, ...]:
        """See `Monitor.fingerprint`."""
        return tuple(monitor.fingerprint(values) for monitor in self._monitors)

    def state(self, rule: str) -> Fingerprint:
        """See `Monitor.fingerprint`; of one rule."""
        return self._of(rule).fingerprint({})

    def moves(self) -> tuple[tuple[int, ...], ...]:
        """See `Monitor.moves`."""
        return tuple(monitor.moves() for monitor in self._monitors)

    def is_no_better(self, later: Sequence[Fingerprint], earlier: Sequence[Fingerprint]) -> bool:
        """See `Monitor.is_no_better`."""
        return all(
            one == other or monitor.is_no_better(one, other)
            for monitor, one, other in zip(self._monitors, later, earlier, strict=True)
        )

    def _of(self, rule: str) -> Monitor:
        return self._monitors[self._first.numbers[rule]]
