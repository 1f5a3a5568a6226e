"""Grades of habits: whether the wrapped program of a task reaches its goal and keeps every rule, in simulation.

A search grades thousands of programs that differ in one call. So a rule is monitored again only if the events that
concern it have changed, and a rule about tools that did not occur is looked at only where all others are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lawtrace.environments.events import Event
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.solver.habits.reflexes import Habit
from lawtrace.solver.habits.wrapper import WrappedProgram, wrap_program
from lawtrace.solver.ltlf.monitor import Monitor
from lawtrace.solver.ltlf.syntax import Next, WeakNext, Yesterday, atoms_of, subformulas
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall

_MOST_REMEMBERED: Final = 200_000


@dataclass(frozen=True)
class HabitCase:
    """A task as a habit meets it.

    Attributes:
        requested: the calls of the literal program.
        forbidden: tools whose completed call misses the goal, in a session that is denied.
    """

    id: str
    initial: State
    target: State
    requested: tuple[PlannedCall, ...]
    rules: tuple[Rule, ...]
    forbidden: frozenset[str] = frozenset()

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
    """Grades habits in one environment, and remembers how rules were kept."""

    def __init__(self, environment: Environment) -> None:
        self._environment: Final = environment
        self._reads: Final[dict[str, _Reads]] = {}
        self._kept: Final[dict[tuple[str, object], bool]] = {}

    def grade(self, case: HabitCase, habit: Habit) -> HabitGrade:
        """Make the calls of the habit on a task and judge them like an attempt."""
        program = wrap_program(self._environment, case.initial, case.requested, habit)
        reached = self._reaches_goal(case, program)
        keys = tuple(map(_key, program.events))
        occurring = {event.tool for event in program.events}
        idle: list[Rule] = []
        broken: set[str] = set()
        for rule in case.rules:
            if not self.reads(rule).tools & occurring:
                idle.append(rule)
            elif not self._is_kept(rule, program, keys):
                broken.add(rule.id)
        if reached and not broken:
            broken |= {rule.id for rule in idle if not self._is_kept(rule, program, keys)}
        return HabitGrade(reached, frozenset(broken))

    def score(self, cases: Sequence[HabitCase], habit: Habit) -> HabitScore:
        """The tasks that a habit passes."""
        passed = tuple(case.id for case in cases if self.grade(case, habit).passed)
        return HabitScore(habit, passed, len(cases))

    def reads(self, rule: Rule) -> "_Reads":
        """The part of a trace that a rule depends on."""
        if rule.formula not in self._reads:
            parts = subformulas(rule.parsed)
            counts = any(isinstance(part, Next | WeakNext | Yesterday) for part in parts)
            self._reads[rule.formula] = _Reads(
                frozenset(atom.tool for atom in atoms_of([rule.parsed])), counts, rule.is_timed
            )
        return self._reads[rule.formula]

    def _reaches_goal(self, case: HabitCase, program: WrappedProgram) -> bool:
        if program.died or any(event.completed and event.tool in case.forbidden for event in program.events):
            return False
        return not compare_states(self._environment, case.initial, case.target, program.final)

    def _is_kept(self, rule: Rule, program: WrappedProgram, keys: Sequence[tuple[object, ...]]) -> bool:
        reads = self.reads(rule)
        seen = [
            (event.time if reads.timed else None, key)
            for event, key in zip(program.events, keys, strict=True)
            if reads.counts_calls or event.tool in reads.tools
        ]
        place = (rule.formula, (program.end if reads.timed else None, *seen))
        kept = self._kept.get(place)
        if kept is None:
            monitor = Monitor({rule.id: rule.compiled})
            monitor.run(program.events)
            status = monitor.status(rule.id, program.end)
            kept = status.ending == "kept" and status.unknown is None
            if len(self._kept) >= _MOST_REMEMBERED:
                self._kept.clear()
            self._kept[place] = kept
        return kept


@dataclass(frozen=True, slots=True)
class _Reads:
    """What a rule depends on: the calls of ``tools``; all calls if it counts them; the times if it is timed."""

    tools: frozenset[str]
    counts_calls: bool
    timed: bool


def _key(event: Event) -> tuple[object, ...]:
    return event.tool, event.outcome, repr(event.arguments), repr(event.result)
