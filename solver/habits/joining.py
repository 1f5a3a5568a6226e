"""Joining habits: the best one that can be made of several, each of which suits some of the tasks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.habits import CHANGING, EVERY, Habit, Reflex
from lawtrace.solver.habits.grading import Grader, HabitCase, HabitGrade
from lawtrace.solver.habits.reflexes import acts_in

MOST_PASSES: Final = 3
"""How often each habit is tried."""
RESTARTS: Final = 30
"""How many joined habits begin at random."""

_Cost = tuple[int, int, int]
"""Tasks that do not pass, rules broken in all, and reflexes."""


class HabitJoiner:
    """Joins habits for a set of tasks. Only the tasks in which a changed reflex acts are graded again."""

    def __init__(self, environment: Environment, grader: Grader, cases: Sequence[HabitCase]) -> None:
        self._environment: Final = environment
        self._grader: Final = grader
        self._cases: Final = cases
        self._habit = Habit()
        self._grades: list[HabitGrade] = []

    def join(self, habits: Iterable[Habit]) -> Habit:
        """The best habit of those that can be made by adding each to the others or putting it in their place.

        Which habits fit together depends on where one begins, so several are made: one in the order of what the habits
        cost alone, and others in random orders, always the same ones.
        """
        self._start(Habit())
        ranked = sorted(habits, key=lambda habit: self._cost(habit, self._graded(habit)))
        passed = {habit: self._passes(self._graded(habit)) for habit in ranked}
        for _ in range(MOST_PASSES):
            tried = [self._try(joined) for habit in ranked for joined in _joined(self._habit, habit)]
            if not any(tried):
                break
        best, cost = self._habit, self._cost(self._habit, self._grades)
        useful, random = [habit for habit in ranked if passed[habit]], Random("joins")
        for _ in range(RESTARTS if len(useful) > 1 else 0):
            self._start(random.choice(useful))
            self._grow(random.sample(useful, len(useful)), passed)
            if (here := self._cost(self._habit, self._grades)) < cost:
                best, cost = self._habit, here
        return best

    def _grow(self, habits: Sequence[Habit], passed: Mapping[Habit, frozenset[int]]) -> None:
        """Join the habits that add more of the tasks that they pass alone than they spoil."""
        refused: set[Habit] = set()
        for _ in range(MOST_PASSES):
            before = self._habit
            for habit in habits:
                for joined in _joined(self._habit, habit):
                    if joined in refused:
                        continue
                    if not self._is_gain(joined, passed[habit]) or not self._try(joined):
                        refused.add(joined)
            if self._habit == before:
                break

    def _is_gain(self, habit: Habit, promised: frozenset[int]) -> bool:
        """Whether it passes more of the promised tasks that the current habit does not pass than it spoils others."""
        own = self._passes(self._grades)
        gained = sum(self._grader.grade(self._cases[number], habit).passed for number in promised - own)
        if not gained:
            return False
        return gained > sum(not self._grader.grade(self._cases[number], habit).passed for number in own)

    def _passes(self, grades: Sequence[HabitGrade]) -> frozenset[int]:
        return frozenset(number for number, grade in enumerate(grades) if grade.passed)

    def simplify(self, habit: Habit) -> Habit:
        """The same habit with fewer reflexes, if it is as good."""
        self._start(habit)
        for reflex, around in product(habit.reflexes, (EVERY, CHANGING)):
            wider = replace(reflex, around=around)
            alike = [one for one in self._habit.reflexes if replace(one, around=around) == wider]
            if len(alike) > 1:
                self._try(
                    Habit(
                        tuple(wider if one == alike[0] else one for one in self._habit.reflexes if one not in alike[1:])
                    )
                )
        for reflex in habit.reflexes:
            self._try(Habit(tuple(one for one in self._habit.reflexes if one != reflex)))
        return self._habit

    def _start(self, habit: Habit) -> None:
        self._habit = habit
        self._grades = [self._grader.grade(case, habit) for case in self._cases]

    def _try(self, habit: Habit) -> bool:
        """Take the habit if it is better."""
        if habit == self._habit:
            return False
        grades = self._graded(habit)
        better = self._cost(habit, grades) < self._cost(self._habit, self._grades)
        if better:
            self._habit, self._grades = habit, grades
        return better

    def _graded(self, habit: Habit) -> list[HabitGrade]:
        changed = {*habit.reflexes} ^ {*self._habit.reflexes}
        return [
            self._grader.grade(case, habit)
            if any(acts_in(reflex, self._environment, case.tools) for reflex in changed)
            else grade
            for case, grade in zip(self._cases, self._grades, strict=True)
        ]

    def _cost(self, habit: Habit, grades: Sequence[HabitGrade]) -> _Cost:
        broken = (
            len(grade.broken) if grade.reached else len(case.rules)
            for case, grade in zip(self._cases, grades, strict=True)
        )
        return sum(not grade.passed for grade in grades), sum(broken), len(habit.reflexes)


def _joined(habit: Habit, other: Habit) -> Iterator[Habit]:
    """The habit with the reflexes of the other: after its own, before them, or in place of those around the same."""
    own = habit.reflexes
    yield Habit((*own, *(one for one in other.reflexes if one not in own)))
    yield Habit((*other.reflexes, *(one for one in own if one not in other.reflexes)))
    around = {reflex.around for reflex in other.reflexes}
    yield Habit((*(one for one in own if one.around not in around), *other.reflexes))
    same = {_role(reflex) for reflex in other.reflexes}
    yield Habit((*(one for one in own if _role(one) not in same), *other.reflexes))


def _role(reflex: Reflex) -> tuple[str, str]:
    """The calls that it wraps and the tool that it calls for them."""
    return reflex.around, reflex.calls[-1].tool
