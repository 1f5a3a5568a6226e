"""Monitors of rules with time, several variables, comparisons and aggregates.

A rule `forall x: G f` is watched for *violations*: the steps and the values for which f is false. Each is recorded when
it is certain, with the step at which it became so; what the future still decides is an open duty. Any other formula is
evaluated once, at the first step.

The value of a rule is fixed as soon as its parts are: a duty at the first step after its deadline, a prohibition at the
step that breaks it. (That two parts can no longer be met together is not found out; for formulas without time and
variables, automata do that, see `lawtrace.solver.monitoring.monitor`.)
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar, Verdict
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.core import holds_without_events
from lawtrace.solver.logic.lifting import safe_form
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.safety import finds
from lawtrace.solver.logic.scoping import instantiate
from lawtrace.solver.logic.terms import Now
from lawtrace.solver.logic.violations import Case, calls_of_violation, cases, triggers
from lawtrace.solver.monitoring.evaluation import Evaluator
from lawtrace.solver.monitoring.pending import Pending, Status, junction
from lawtrace.solver.monitoring.rule_status import UNTIMED, FinalStatus, Fingerprint, RuleStatus, Violation
from lawtrace.solver.monitoring.step_context import Key, from_key
from lawtrace.solver.monitoring.undo import Track, untracked

MAX_RECORDED: Final = 1000
"""How many violations of one rule are kept; all are counted."""
MAX_MERGED: Final = 10
"""How many of the steps that wait for the same event are kept; all are counted."""


_Values = tuple[tuple[str, Scalar], ...]


class _Open:
    """A violation that the future decides, at one step or at several that wait for the same."""

    __slots__ = ("count", "monitor", "positions", "values")

    def __init__(self, monitor: "FirstOrderMonitor", values: _Values) -> None:
        self.monitor = monitor
        self.values = values
        self.positions: list[int] = []
        self.count = 0

    def add(self, positions: Sequence[int], count: int) -> None:
        """Let more steps wait."""
        self.count += count
        if len(self.positions) < MAX_MERGED or positions[0] < self.positions[-1]:
            self.positions = sorted([*self.positions, *positions])[:MAX_MERGED]

    def violations(self, certain: int | None) -> list[Violation]:
        return [Violation(position, self.values, certain) for position in self.positions]

    def resolved(self, part: Pending, value: bool) -> None:
        self.monitor.decide(self, part, broken=value)

    def ending_changed(self, part: Pending) -> None:
        self.monitor.broken_at_end += 1 if part.ending else -1

    def replaced(self, part: Pending, other: Pending) -> None:
        self.monitor.merge(self, part, other)


class FirstOrderRule:
    """A rule whose formula is prepared for evaluation. It is made once, and monitors are made from it.

    Attributes:
        formula: the formula.
        normal: its normal form.
        cases: the ways to violate it.
        timed: whether its value depends on times.

    Raises:
        FormulaError: the formula is not safe.
    """

    def __init__(self, formula: s.Formula) -> None:
        self.formula: Final = formula
        self.normal: Final = safe_form(formula)
        self.cases: Final = tuple(cases(self.normal))
        self.timed: Final = any(map(_reads_time, s.subformulas(formula)))

    def instances(self, position: int, values: Mapping[str, Scalar]) -> Iterator[s.Formula]:
        """What can be true at a step for it to be a violation with these values."""
        for case in self.cases:
            names = {original_names(name): name for name in case.variables}
            if names.keys() == values.keys() and (case.every_step or not position):
                yield instantiate(case.formula, {name: values[shown] for shown, name in names.items()})


class FirstOrderMonitor:
    """Follows one rule along a trace.

    Attributes:
        rule: the rule.
        violations: the first of them, in the order in which they became certain.
        violation_count: how many there are.
        triggered: how many calls, with how many values, the rule was about.
        trigger_steps: in how many steps they are; ``last_trigger`` is the index of the last of these.
        first_irreparable: the first step from which a violation was certain, None before that.
        broken_at_end: how many of the open violations would be certain if the trace ended now.
        untimed_event: whether an event had no time although the rule needs it; then the verdict means nothing.
    """

    unlogged: ClassVar = frozenset({"_found"})

    def __init__(self, rule: FirstOrderRule, track: Track = untracked) -> None:
        self._open_violation: Final = track(_Open)
        self.rule: Final = rule
        self.violations: Final[list[Violation]] = []
        self.violation_count = 0
        self.triggered = self.trigger_steps = 0
        self.last_trigger: int | None = None
        self.first_irreparable: int | None = None
        self.broken_at_end = 0
        self.untimed_event = False
        self._evaluator: Final = Evaluator(track)
        self._open: Final[dict[tuple[Pending, _Values], _Open]] = {}
        self._found: Final[dict[tuple[tuple[str, ...], Key], list[Status]]] = {}
        self._at_start: list[Callable[[], Status]] = []
        self._started = False
        self._watching = False
        for case in rule.cases:
            if case.every_step:
                self._watch(case)
            else:
                self._at_start.append(self._evaluator.compile_check(case.formula, frozenset()))
        self._evaluator.seal()

    @property
    def position(self) -> int:
        """The index of the latest step, -1 before the first."""
        return self._evaluator.context.position

    def clear(self) -> None:
        """Forget the trace, so that another one can be followed without compiling the rule again."""
        self.violations.clear()
        self.violation_count = self.triggered = self.trigger_steps = self.broken_at_end = 0
        self.first_irreparable = self.last_trigger = None
        self.untimed_event = self._started = False
        self._open.clear()
        self._found.clear()
        self._evaluator.clear()

    def _watch(self, case: Case) -> None:
        """Look for the violation in every step in which it can occur."""
        self._watching = True
        names, violation = case.variables, case.formula
        evaluator = self._evaluator
        generate = evaluator.compile_generator(violation, frozenset())
        shown = tuple(map(original_names, names))
        read = evaluator.context.reader(names)
        found = self._found
        occasions = self._occasions(violation)

        def update() -> None:
            if count := occasions():
                self.triggered += count
                if self.last_trigger != self.position:
                    self.trigger_steps += 1
                    self.last_trigger = self.position
            for status in generate():
                found.setdefault((shown, read()), []).append(status)

        evaluator.add_update(update, triggers(violation))

    def _settle(self) -> None:
        """Record what the present step has found, each combination of values once."""
        found = [(*variables, junction(True, statuses)) for variables, statuses in self._found.items()]
        self._found.clear()
        for names, key, status in found:
            values = tuple(zip(names, map(from_key, key), strict=True))
            if status is True:
                self._record([Violation(self.position, values, self.position)], 1)
            elif isinstance(status, Pending):
                self._wait(status, (self.position,), 1, values)

    def _occasions(self, violation: s.Formula) -> Callable[[], int]:
        """What counts the calls of the present step that the rule is about, each combination of values once; any call
        of the tool where the call alone does not say which values.
        """
        evaluator = self._evaluator
        calls = [
            call if finds(call, frozenset()) else replace(call, condition=None)
            for call in calls_of_violation(violation)
        ]
        generators = [evaluator.compile_generator(call, frozenset()) for call in calls]
        if len(calls) == 1:
            return lambda: sum(1 for _ in generators[0]())
        names = [tuple(sorted(s.free_variables(call))) for call in calls]
        readers = [*map(evaluator.context.reader, names)]
        named = [*zip(names, readers, generators, strict=True)]
        return lambda: len({(variables, read()) for variables, read, generate in named for _ in generate()})

    def _record(self, violations: Sequence[Violation], count: int) -> None:
        self.violation_count += count
        if self.first_irreparable is None:
            self.first_irreparable = self.position
        self.violations.extend(violations[: MAX_RECORDED - len(self.violations)])

    def _wait(self, status: Pending, positions: Sequence[int], count: int, values: _Values) -> None:
        """Record steps at which the future decides whether there is a violation."""
        key = (status, values)
        waiting = self._open.get(key)
        if waiting is None:
            waiting = self._open[key] = self._open_violation(self, values)
            status.listeners[waiting] = None
            self.broken_at_end += status.ending
        waiting.add(positions, count)

    def decide(self, waiting: _Open, status: Pending, *, broken: bool) -> None:
        """The future has decided an open violation."""
        del self._open[status, waiting.values]
        self.broken_at_end -= status.ending
        if broken:
            self._record(waiting.violations(self.position), waiting.count)

    def merge(self, waiting: _Open, status: Pending, other: Pending) -> None:
        """Another pending value has taken the place of an open violation's."""
        del self._open[status, waiting.values]
        self.broken_at_end -= status.ending
        self._wait(other, waiting.positions, waiting.count, waiting.values)

    def feed(self, event: Event, position: int | None = None) -> None:
        """Process a step of one event. `position`: its index; default: one more than before."""
        time = event.time
        if time is None:
            self.untimed_event = self.rule.timed
            time = self._evaluator.context.time
        elif time < self._evaluator.context.time and self.position >= 0:
            raise InputError(
                f"event {self.position + 2} is at {time} s, before event {self.position + 1} "
                f"at {self._evaluator.context.time} s: sort the events by time"
            )
        self.feed_step(time, (event,), position)

    def feed_step(self, time: int, events: Sequence[Event], position: int | None = None) -> None:
        """Process a step of any number of events at one time."""
        self._found.clear()  # what an event left that raised an exception
        self._evaluator.step(self.position + 1 if position is None else position, time, events)
        if self._found:
            self._settle()
        if not self._started:
            self._start()

    def advance_time(self, time: int) -> None:
        """Let time pass without a step: a duty whose deadline is before this time cannot be met any more."""
        if self._started:
            self._evaluator.advance_time(time)

    def fingerprint(self, _values: Sequence[Scalar] = ()) -> Fingerprint:
        """See `Monitor.fingerprint`."""
        open_ones = frozenset[Hashable]((status.fingerprint(), values) for status, values in self._open)
        shared = self._started, bool(self.violation_count), self._evaluator.fingerprint()
        return Fingerprint(shared, duties=open_ones)

    @staticmethod
    def is_no_better(later: Fingerprint, earlier: Fingerprint) -> bool:
        """See `Monitor.is_no_better`."""
        return later.shared == earlier.shared and later.duties >= earlier.duties

    def distance(self) -> int | None:
        """See `Monitor.distances`."""
        if self.violation_count:
            return None
        return 0 if self.verdict_at_end() else max(1, self.broken_at_end)

    def times(self) -> set[int]:
        """The times of past steps that windows may still ask for."""
        return self._evaluator.times()

    def _start(self) -> None:
        """Look for what makes the first step a violation."""
        self._started = True
        status = junction(True, [check() for check in self._at_start])
        if isinstance(status, Pending):
            self._wait(status, (0,), 1, ())
        elif status:
            self._record([Violation(0, (), self.position)], 1)

    def verdict_at_end(self, end: int | None = None) -> bool | None:
        """Whether the trace satisfies the rule if it ends now.

        `end`: the time at which the session ends. A duty whose deadline is not before it is undecided: then the value
        is None, unless something else decides. Without a time, everything that is owed counts as broken.
        """
        if self.violation_count:
            return False
        if not self._started:
            return holds_without_events(self.rule.normal)
        if not self.broken_at_end:
            return True
        if end is None:
            return False
        values = [status.at_end(end) for status, _ in self._open]
        return False if True in values else None if None in values else True

    def violated_at_end(self) -> list[Violation]:
        """The violations that the end of the trace makes certain; of steps that wait for the same, the first."""
        return self._open_ones(lambda status: status.at_end(None) is True)

    def _open_ones(self, chosen: Callable[[Pending], bool]) -> list[Violation]:
        return [found for (status, _), one in self._open.items() if chosen(status) for found in one.violations(None)]

    def owed_count(self) -> int:
        """How many violations the end of the trace makes certain."""
        return sum(waiting.count for (status, _), waiting in self._open.items() if status.at_end(None) is True)

    @property
    def undecided(self) -> list[Violation]:
        """What may still become a violation: the steps and the values for which the future decides; of steps that wait
        for the same, the first.
        """
        return self._open_ones(lambda _: True)

    @property
    def undecided_count(self) -> int:
        """For how many steps and values the future decides."""
        return sum(waiting.count for waiting in self._open.values())

    @property
    def verdict(self) -> Verdict:
        """Violated or satisfied if no continuation can change that; open if it is broken should the trace end now."""
        if self.violation_count:
            return "violated"
        if self._started and not self._open and not self._watching:
            return "satisfied"
        return "holding" if self.verdict_at_end() else "open"

    def status(self, end: int | None = None) -> RuleStatus:
        """The status after the steps so far; `end`: the time at which the session ends."""
        kept = self.verdict_at_end(end)
        ending: FinalStatus = (
            "kept" if kept else "not_due" if kept is None else "broken" if self.violation_count else "left_open"
        )
        violations, at_end = [*self.violations], {"left_open": True, "not_due": None}
        if ending in at_end:
            violations += self._open_ones(lambda status: status.at_end(end) is at_end[ending])
        return RuleStatus(
            verdict=self.verdict,
            triggered=self.triggered > 0,
            first_irreparable=self.first_irreparable,
            ending=ending,
            values=tuple(value for violation in violations[:1] for _, value in violation.values),
            violations=tuple(violations),
            unknown=UNTIMED if self.untimed_event else None,
            triggers=self.trigger_steps,
            last_trigger=self.last_trigger,
        )


def _reads_time(node: s.Formula) -> bool:
    if isinstance(node, s.Atom):
        return node.reads_clock
    return bool(s.windows_of(node)) or any(isinstance(leaf, Now) for leaf in s.compared(node))
