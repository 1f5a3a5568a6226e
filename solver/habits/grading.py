"""Grades of habits: whether the wrapped program of a task reaches its goal and keeps every rule, in simulation.

A search grades thousands of programs that differ in one call. So a rule is monitored again only if the events that
concern it have changed, and a rule about tools that did not occur is looked at only where all others are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lawtrace.environments.runtime.state_diff import TargetState
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.habits import Habit
from lawtrace.solver.habits.wrapper import WrappedProgram, wrap_program
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall

_MOST_REMEMBERED: Final = 200_000


@dataclass(frozen=True, eq=False)
class HabitCase:
    """A task as a habit meets it.

    Attributes:
        requested: the calls of the literal program.
        reference: the calls of the reference, if it makes the requested calls.
    """

    id: str
    initial: State
    target: State
    requested: tuple[PlannedCall, ...]
    rules: tuple[Rule, ...]
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
    """Grades habits in one environment, and remembers grades and how rules were kept."""

    def __init__(self, environment: Environment) -> None:
        self._environment: Final = environment
        self._kept: Final[dict[tuple[str, object], bool]] = {}
        self._monitors: Final[dict[str, Monitor]] = {}
        self._targets: Final[dict[HabitCase, TargetState]] = {}
        self._grades: Final[dict[tuple[HabitCase, Habit], HabitGrade]] = {}

    def grade(self, case: HabitCase, habit: Habit) -> HabitGrade:
        """Make the calls of the habit on a task and judge them like an attempt."""
        place = case, Habit(tuple(one for one in habit.wrapper_calls if one.wraps(case.tools)))
        if place not in self._grades:
            self._grades[place] = self._grade(*place)
        return self._grades[place]

    def _grade(self, case: HabitCase, habit: Habit) -> HabitGrade:
        program = self.wrap(case, habit)
        reached = self._reaches_goal(case, program)
        keys = [(event.tool, event.outcome, repr(event.arguments), repr(event.result)) for event in program.events]
        called = {event.tool for event in program.events}
        naming = {rule.id: not rule.tools.isdisjoint(called) for rule in case.rules}
        for named in (True, False) if reached else (True,):
            rules = [rule for rule in case.rules if naming[rule.id] is named]
            broken = frozenset(rule.id for rule in rules if not self._is_kept(rule, program, keys))
            if broken:
                return HabitGrade(reached, broken)
        return HabitGrade(reached, frozenset())

    def score(self, cases: Sequence[HabitCase], habit: Habit) -> HabitScore:
        """The tasks that a habit passes."""
        passed = tuple(case.id for case in cases if self.grade(case, habit).passed)
        return HabitScore(habit, passed, len(cases))

    def wrap(self, case: HabitCase, habit: Habit) -> WrappedProgram:
        """The calls of the habit on a task."""
        return wrap_program(self._environment, case.initial, case.requested, habit)

    def _reaches_goal(self, case: HabitCase, program: WrappedProgram) -> bool:
        if program.died:
            return False
        if case not in self._targets:
            self._targets[case] = TargetState(self._environment, case.initial, case.target)
        return not self._targets[case].compare(program.final)

    def _is_kept(self, rule: Rule, program: WrappedProgram, keys: Sequence[tuple[object, ...]]) -> bool:
        """Whether a rule is kept. It is monitored again only if the events that concern it have changed."""
        timed = isinstance(rule.compiled, FirstOrderRule) and rule.compiled.timed
        seen = [
            (event.time if timed or event.tool in rule.clock_tools else None, key)
            for event, key in zip(program.events, keys, strict=True)
            if rule.counts_steps or event.tool in rule.tools
        ]
        place = (rule.formula, (program.end if timed else None, *seen))
        if place not in self._kept:
            if rule.formula not in self._monitors:
                self._monitors[rule.formula] = Monitor({rule.formula: rule.compiled})
            monitor = self._monitors[rule.formula]
            monitor.clear()
            monitor.run(program.events)
            status = monitor.status(rule.formula, program.end)
            if len(self._kept) >= _MOST_REMEMBERED:
                self._kept.clear()
            self._kept[place] = status.ending == "kept" and status.unknown is None
        return self._kept[place]
