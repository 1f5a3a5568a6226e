"""Grades of habits: whether the wrapped program of a task reaches its goal and keeps every rule, in simulation.

A search grades thousands of programs that differ in one call. So a call is simulated once after the same calls, a rule
is monitored again only if the events that concern it have changed, and a rule about tools that did not occur is looked
at only where all others are kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from lawtrace.environments.runtime.session import CallResult, Session
from lawtrace.environments.runtime.state_diff import TargetState
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.habits import Habit
from lawtrace.solver.habits.reflexes import acts_in
from lawtrace.solver.habits.wrapper import WrappedProgram, wrap_program
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.predicates import counts_steps, tools_named
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall

_MOST_REMEMBERED: Final = 200_000
_MOST_CALLS: Final = 60_000
"""How many simulated calls are remembered."""


@dataclass(frozen=True, eq=False)
class HabitCase:
    """A task as a habit meets it.

    Attributes:
        requested: the calls of the literal program.
        forbidden: tools whose completed call misses the goal, in a session that is denied.
        reference: the calls of the reference, if it makes the requested calls.
    """

    id: str
    initial: State
    target: State
    requested: tuple[PlannedCall, ...]
    rules: tuple[Rule, ...]
    forbidden: frozenset[str] = frozenset()
    reference: tuple[PlannedCall, ...] = ()

    @cached_property
    def tools(self) -> frozenset[str]:
        return frozenset(call.event.tool for call in self.requested)


@dataclass(frozen=True, slots=True)
class HabitGrade:
    """What a habit achieves on one task: whether the goal is reached, and the rules that are not kept."""

    reached: bool
    broken: frozenset[str]

    @property
    def passed(self) -> bool:
        return self.reached and not self.broken


@dataclass(frozen=True, slots=True)
class HabitScore:
    """A habit with the ids of the tasks that it passes, of ``tasks`` in all."""

    habit: Habit
    passed: tuple[str, ...]
    tasks: int

    @property
    def rate(self) -> float:
        return len(self.passed) / self.tasks if self.tasks else 0.0


class Grader:
    """Grades habits in one environment, and remembers what calls led to and how rules were kept."""

    def __init__(self, environment: Environment) -> None:
        self._environment: Final = environment
        self._reads: Final[dict[str, _Reads]] = {}
        self._rules: Final[dict[tuple[str, ...], _RuleIndex]] = {}
        self._kept: Final[dict[tuple[str, object], bool]] = {}
        self._monitors: Final[dict[str, Monitor]] = {}
        self._targets: Final[dict[HabitCase, TargetState]] = {}
        self._starts: Final[dict[HabitCase, _Moment]] = {}
        self._grades: Final[dict[tuple[HabitCase, Habit], HabitGrade]] = {}
        self._remembered = _Count()

    def grade(self, case: HabitCase, habit: Habit) -> HabitGrade:
        """Make the calls of the habit on a task and judge them like an attempt."""
        place = case, Habit(tuple(one for one in habit.reflexes if acts_in(one, self._environment, case.tools)))
        if place not in self._grades:
            self._grades[place] = self._grade(*place)
        return self._grades[place]

    def _grade(self, case: HabitCase, habit: Habit) -> HabitGrade:
        session = self._session(case)
        program = wrap_program(self._environment, case.initial, case.requested, habit, session)
        reached = self._reaches_goal(case, program)
        index = self._index(case.rules)
        named = sorted(set[int]().union(*(index.naming.get(event.tool, ()) for event in program.events)))
        broken = {
            case.rules[number].id
            for number in named
            if not self._is_kept(case.rules[number], index.reads[number], program, session.keys)
        }
        if reached and not broken:
            idle = set(range(len(case.rules))).difference(named)
            broken = {
                case.rules[number].id
                for number in idle
                if not self._is_kept(case.rules[number], index.reads[number], program, session.keys)
            }
        return HabitGrade(reached, frozenset(broken))

    def score(self, cases: Sequence[HabitCase], habit: Habit) -> HabitScore:
        """The tasks that a habit passes."""
        passed = tuple(case.id for case in cases if self.grade(case, habit).passed)
        return HabitScore(habit, passed, len(cases))

    def wrap(self, case: HabitCase, habit: Habit) -> WrappedProgram:
        """The calls of the habit on a task."""
        return wrap_program(self._environment, case.initial, case.requested, habit, self._session(case))

    def reads(self, rule: Rule) -> "_Reads":
        """The part of a trace that a rule depends on."""
        if rule.formula not in self._reads:
            self._reads[rule.formula] = _Reads(
                tools_named(rule.parsed),
                counts_steps(rule.parsed),
                isinstance(rule.compiled, MetricRule) and rule.compiled.timed,
                rule.clock_tools,
            )
        return self._reads[rule.formula]

    def _index(self, rules: Sequence[Rule]) -> "_RuleIndex":
        place = tuple(rule.formula for rule in rules)
        if place not in self._rules:
            reads = [self.reads(rule) for rule in rules]
            naming: dict[str, list[int]] = {}
            for number, read in enumerate(reads):
                for tool in read.tools:
                    naming.setdefault(tool, []).append(number)
            self._rules[place] = _RuleIndex(reads, naming)
        return self._rules[place]

    def _session(self, case: HabitCase) -> "_RememberingSession":
        if self._remembered.calls > _MOST_CALLS:
            self._remembered.calls = 0
            self._starts.clear()
        if case not in self._starts:
            self._starts[case] = _Moment()
        return _RememberingSession(self._environment, case.initial, self._starts[case], self._remembered)

    def _reaches_goal(self, case: HabitCase, program: WrappedProgram) -> bool:
        if program.died or any(event.completed and event.tool in case.forbidden for event in program.events):
            return False
        if case not in self._targets:
            self._targets[case] = TargetState(self._environment, case.initial, case.target)
        return not self._targets[case].compare(program.final)

    def _is_kept(
        self, rule: Rule, reads: "_Reads", program: WrappedProgram, keys: Sequence[tuple[object, ...]]
    ) -> bool:
        seen = [
            (event.time if reads.timed or event.tool in reads.clock_tools else None, key)
            for event, key in zip(program.events, keys, strict=True)
            if reads.counts_calls or event.tool in reads.tools
        ]
        place = (rule.formula, (program.end if reads.timed else None, *seen))
        kept = self._kept.get(place)
        if kept is None:
            monitor = self._monitors.get(rule.formula)
            if monitor is None:
                monitor = self._monitors[rule.formula] = Monitor({rule.formula: rule.compiled})
            monitor.clear()
            monitor.run(program.events)
            status = monitor.status(rule.formula, program.end)
            kept = status.ending == "kept" and status.unknown is None
            if len(self._kept) >= _MOST_REMEMBERED:
                self._kept.clear()
            self._kept[place] = kept
        return kept


@dataclass(frozen=True, slots=True)
class _Reads:
    """What a rule depends on: the calls of ``tools``; all calls if it counts them; the times if it is timed, those of
    the calls of ``clock_tools`` in any case.
    """

    tools: frozenset[str]
    counts_calls: bool
    timed: bool
    clock_tools: frozenset[str]


@dataclass(frozen=True, slots=True)
class _RuleIndex:
    """What each rule of a set reads, and the numbers of the rules that name a tool."""

    reads: Sequence[_Reads]
    naming: Mapping[str, Sequence[int]]


@dataclass(slots=True)
class _Count:
    calls: int = 0


@dataclass(slots=True)
class _Moment:
    """A moment in the sessions of one task: what each next call led to."""

    after: dict[tuple[str, str], "_Remembered"] = field(default_factory=dict[tuple[str, str], "_Remembered"])


@dataclass(slots=True)
class _Remembered:
    """A call that was simulated: its event with a key that is equal for equal events, and the moment after it."""

    event: Event
    key: tuple[object, ...]
    state: State
    now: int
    moment: _Moment


class _RememberingSession(Session):
    """A session that simulates no call twice after the same calls."""

    def __init__(self, environment: Environment, initial: State, start: _Moment, count: _Count) -> None:
        super().__init__(environment, initial)
        self.keys: Final[list[tuple[object, ...]]] = []
        self._moment = start
        self._count: Final = count

    def call(self, tool: str, arguments: Mapping[str, Json], message: str | None = None) -> CallResult:
        place = tool, repr(arguments)
        known = self._moment.after.get(place)
        if known is None:
            event = super().call(tool, arguments, message).event
            key = (event.tool, event.outcome, repr(event.arguments), repr(event.result))
            known = self._moment.after[place] = _Remembered(event, key, self.state, self.now, _Moment())
            self._count.calls += 1
        else:
            self.state, self.now = known.state, known.now
            self.events.append(known.event)
        self.keys.append(known.key)
        self._moment = known.moment
        return CallResult(known.event)
