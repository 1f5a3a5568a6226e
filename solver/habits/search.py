"""The best habit for a set of tasks, found in simulation.

A habit is better if it passes more tasks, then if it breaks fewer rules in all, then if it is shorter. A task whose
goal it spoils counts as if it broke every rule. The search has three parts, and its result depends on the tasks alone:

1. Each reference suggests a habit: wrapper calls that repeat its compliance calls around its requested calls.
2. The suggested habits are joined, the best first: each is added to what was found before, or takes its place around
   the same calls, while this improves.
3. Wrapper calls around several tools become one around all calls, and those that do not matter are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.tools import FromTrace, FromUser, Parameter
from lawtrace.environments.spec.types import BOOLEAN, Choice
from lawtrace.schemas.events import Json
from lawtrace.schemas.habits import EVERY, Habit, WrapperArgument, WrapperCall
from lawtrace.solver.habits.grading import Grader, HabitCase, HabitGrade, HabitScore

MOST_PASSES: Final = 3
"""How often each suggested habit is tried."""
RUNNERS_UP: Final = 3


def search_steps(cases: int) -> int:
    """How many steps of progress a search reports at most."""
    return MOST_PASSES * cases


def find_habits(
    environment: Environment,
    cases: Sequence[HabitCase],
    grader: Grader | None = None,
    on_step: Callable[[], None] = lambda: None,
) -> list[HabitScore]:
    """The best habit on all cases, then the runners-up among those that references suggest.

    ``grader``: what is remembered of other searches. ``on_step`` is called up to `search_steps` times.
    """
    grader = grader or Grader(environment)
    suggested = dict.fromkeys(suggest_habit(environment, case) for case in cases)
    joiner = HabitJoiner(grader, cases)
    best = joiner.simplify(joiner.join(suggested, on_step))
    scores = [grader.score(cases, habit) for habit in dict.fromkeys([Habit(), best, *suggested])]
    return sorted(scores, key=lambda score: (-len(score.passed), len(score.habit.wrapper_calls)))[: 1 + RUNNERS_UP]


def suggest_habit(environment: Environment, case: HabitCase) -> Habit:
    """The compliance calls of the reference, each before the next requested call, or after the last one; those that
    record events after the one before."""
    calls: list[WrapperCall] = []
    tools = [call.event.tool for call in case.requested]
    made = 0
    for call in case.reference:
        event = call.event
        if event.tool not in environment.compliance_tools:
            made += made < len(tools) and event.tool == tools[made]
            continue
        arguments = tuple(
            _argument(parameter, event.arguments[parameter.name], case)
            for parameter in environment.tools[event.tool].parameters
            if parameter.name in event.arguments
        )
        records = made > 0 and any(argument.source == "events" for argument in arguments)
        after = records or made == len(tools)
        place, around = ("after", tools[made - 1]) if after else ("before", tools[made])
        calls.append(WrapperCall(event.tool, arguments, place, around))
    return Habit(tuple(dict.fromkeys(calls)))


def _argument(parameter: Parameter, value: Json, case: HabitCase) -> WrapperArgument:
    """The way in which a habit gives a value of a reference."""
    source, name = parameter.source, parameter.name
    if isinstance(source, FromTrace):
        return WrapperArgument(name, "events")
    listed = isinstance(parameter.type, Choice) or parameter.type == BOOLEAN
    listed |= isinstance(source, FromUser) and isinstance(source.sampler, OneOf)
    requested = any(call.event.arguments.get(name) == value for call in case.requested)
    if listed and not requested and isinstance(value, str | bool | int | float):
        return WrapperArgument(name, "fixed", value)
    return WrapperArgument(name, "read")


_Cost = tuple[int, int, int]
"""Tasks that do not pass, rules broken in all, and wrapper calls."""


class HabitJoiner:
    """Joins habits for a set of tasks. Only the tasks in which a changed wrapper call acts are graded again."""

    def __init__(self, grader: Grader, cases: Sequence[HabitCase]) -> None:
        self._grader: Final = grader
        self._cases: Final = cases
        self._start(Habit())

    def join(self, habits: Iterable[Habit], on_step: Callable[[], None] = lambda: None) -> Habit:
        """The habit that results if each is added to the others or put in their place while this is better."""
        self._start(Habit())
        ranked = sorted(habits, key=lambda habit: self._cost(habit, self._graded(habit)))
        for _ in range(MOST_PASSES):
            before = self._habit
            for habit in ranked:
                for combined in _joined(self._habit, habit) if not all(g.passed for g in self._grades) else ():
                    self._try(combined)
                on_step()
            if self._habit == before:
                break
        return self._habit

    def simplify(self, habit: Habit) -> Habit:
        """The same habit with fewer wrapper calls, if it is as good."""
        self._start(habit)
        for one in habit.wrapper_calls:
            wider = replace(one, around=EVERY)
            alike = [other for other in self._habit.wrapper_calls if replace(other, around=EVERY) == wider]
            if len(alike) > 1:
                kept = [other for other in self._habit.wrapper_calls if other not in alike[1:]]
                self._try(Habit(tuple(wider if other == alike[0] else other for other in kept)))
        for one in habit.wrapper_calls:
            self._try(Habit(tuple(other for other in self._habit.wrapper_calls if other != one)))
        return self._habit

    def _start(self, habit: Habit) -> None:
        self._habit = habit
        self._grades = [self._grader.grade(case, habit) for case in self._cases]

    def _try(self, habit: Habit) -> None:
        """Take the habit if it is better."""
        if habit != self._habit:
            grades = self._graded(habit)
            if self._cost(habit, grades) < self._cost(self._habit, self._grades):
                self._habit, self._grades = habit, grades

    def _graded(self, habit: Habit) -> list[HabitGrade]:
        changed = {*habit.wrapper_calls} ^ {*self._habit.wrapper_calls}
        return [
            self._grader.grade(case, habit) if any(one.wraps(case.tools) for one in changed) else grade
            for case, grade in zip(self._cases, self._grades, strict=True)
        ]

    def _cost(self, habit: Habit, grades: Sequence[HabitGrade]) -> _Cost:
        broken = (
            len(grade.broken) if grade.reached else len(case.rules)
            for case, grade in zip(self._cases, grades, strict=True)
        )
        return sum(not grade.passed for grade in grades), sum(broken), len(habit.wrapper_calls)


def _joined(habit: Habit, other: Habit) -> Iterator[Habit]:
    """The habit with the calls of the other: after its own, before them, or in place of those around the same."""
    own, new = habit.wrapper_calls, other.wrapper_calls
    yield Habit((*own, *(one for one in new if one not in own)))
    yield Habit((*new, *(one for one in own if one not in new)))
    around = {one.around for one in new}
    yield Habit((*(one for one in own if one.around not in around), *new))
    same = {(one.around, one.tool) for one in new}
    yield Habit((*(one for one in own if (one.around, one.tool) not in same), *new))
