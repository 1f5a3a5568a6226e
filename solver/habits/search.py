"""The best habit for a set of tasks, found in simulation.

A habit is better if it passes more tasks, then if it breaks fewer rules in all, then if it is shorter. A task whose
goal it spoils counts as if it broke every rule. The search has four parts, and its result depends on the tasks alone:

1. Each reference suggests a habit: reflexes that repeat its compliance calls around its requested calls. It passes one
   task, and maybe others that ask for the same.
2. The suggested habits are joined, the best first: each is added to what was found before, or takes its place around
   the same calls, while this improves.
3. In a small environment each single reflex is added, too, while this improves: few references suggest too little.
4. Reflexes around several tools become one around all calls, and those that do not matter are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Event
from lawtrace.schemas.habits import CHANGING, EVERY, Habit, Place, Reflex
from lawtrace.solver.habits.grading import Grader, HabitCase, HabitGrade, HabitScore
from lawtrace.solver.habits.wrapper import WrappedProgram, acts_in, all_reflexes, call_chains

MOST_TRIED: Final = 60
"""How many reflexes are tried for one call of a reference."""
MOST_PASSES: Final = 3
"""How often each suggested habit is tried."""
MOST_REFLEXES: Final = 400
"""An environment with more reflexes is large."""
RUNNERS_UP: Final = 3


def search_steps(cases: int) -> int:
    """How many steps of progress a search reports at most."""
    return (1 + MOST_PASSES) * cases


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
    suggested: dict[Habit, None] = {}
    for case in cases:
        if case.reference:
            suggested[induce_habit(environment, grader, case)] = None
            on_step()
    joiner = HabitJoiner(environment, grader, cases)
    requested = dict.fromkeys(call.event.tool for case in cases for call in case.requested)
    family = list(islice(all_reflexes(environment, requested), MOST_REFLEXES + 1))
    joined = joiner.join(suggested, family if len(family) <= MOST_REFLEXES else (), on_step)
    best = joiner.simplify(joined)
    habits = dict.fromkeys([Habit(), best, *suggested])
    scores = [grader.score(cases, habit) for habit in habits]
    return sorted(scores, key=lambda score: (-len(score.passed), len(score.habit.reflexes)))[: 1 + RUNNERS_UP]


def induce_habit(environment: Environment, grader: Grader, case: HabitCase) -> Habit:
    """The habit that makes the compliance calls of the reference, as far as a habit can."""
    wanted = _compliance_calls(environment, case)
    habit = Habit()
    matched = _matched(wanted, grader.wrap(case, habit))
    while matched < len(wanted):
        best: tuple[int, Habit] | None = None
        for reflex in islice(_reflexes_for(environment, case, wanted[matched]), MOST_TRIED):
            if reflex in habit.reflexes:
                continue
            longer = Habit((*habit.reflexes, reflex))
            reached = _matched(wanted, grader.wrap(case, longer))
            if reached > (matched if best is None else best[0]):
                best = reached, longer
        if best is None:
            del wanted[matched]  # no reflex can give its arguments
        else:
            matched, habit = best
    return habit


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A compliance call of a reference, after so many requested calls."""

    gap: int
    event: Event


def _compliance_calls(environment: Environment, case: HabitCase) -> list[_Wanted]:
    wanted: list[_Wanted] = []
    gap = 0
    for call in case.reference:
        if call.event.tool in environment.compliance_tools:
            wanted.append(_Wanted(gap, call.event))
        elif gap < len(case.requested) and call.event.tool == case.requested[gap].event.tool:
            gap += 1
    return wanted


def _matched(wanted: Sequence[_Wanted], program: WrappedProgram) -> int:
    """How many of the calls, from the first on, the program makes after as many requested calls, in this order."""
    gap, matched = 0, 0
    for number, event in enumerate(program.events):
        if number not in program.own:
            gap += 1
            if matched < len(wanted) and wanted[matched].gap < gap:
                return matched
        elif matched < len(wanted) and wanted[matched].gap == gap and _same_call(wanted[matched].event, event):
            matched += 1
    return matched


def _same_call(wanted: Event, made: Event) -> bool:
    return made.tool == wanted.tool and made.completed and made.arguments == wanted.arguments


def _reflexes_for(environment: Environment, case: HabitCase, wanted: _Wanted) -> Iterator[Reflex]:
    """The reflexes that may make the call at its place, simple ones first."""
    tool = environment.tools[wanted.event.tool]
    chains = sorted(call_chains(environment, tool, wanted.event.arguments), key=len)
    for calls, (place, around, once) in product(chains, list(_places(case, wanted.gap))):
        if place != "before" or not any(call.reads_event for call in calls):
            yield Reflex(calls, place, around, once)


def _places(case: HabitCase, gap: int) -> Iterator[tuple[Place, str, bool]]:
    """Where a reflex acts after so many requested calls: its place, what it is around, and whether only once."""
    if gap < len(case.requested):
        for once in (False, True):
            yield "before", case.requested[gap].event.tool, once
    if gap:
        for once in (False, True):
            yield "after", case.requested[gap - 1].event.tool, once
    if gap == len(case.requested):
        for once in (True, False):
            yield "end", case.requested[-1].event.tool, once
    if not gap:
        yield "before", EVERY, True


_Cost = tuple[int, int, int]
"""Tasks that do not pass, rules broken in all, and reflexes."""


class HabitJoiner:
    """Joins habits for a set of tasks. Only the tasks in which a changed reflex acts are graded again."""

    def __init__(self, environment: Environment, grader: Grader, cases: Sequence[HabitCase]) -> None:
        self._environment: Final = environment
        self._grader: Final = grader
        self._cases: Final = cases
        self._start(Habit())

    def join(
        self, habits: Iterable[Habit], reflexes: Iterable[Reflex] = (), on_step: Callable[[], None] = lambda: None
    ) -> Habit:
        """The habit that results if each is added to the others or put in their place while this is better.

        Then each of the `reflexes` is added before and after the others while tasks fail and this is better.
        """
        self._start(Habit())
        ranked = sorted(habits, key=lambda habit: self._cost(habit, self._graded(habit)))
        self._improve(ranked, _joined, on_step)
        self._improve([Habit((reflex,)) for reflex in reflexes], _added, lambda: None)
        return self._habit

    def _improve(
        self, habits: Sequence[Habit], combine: Callable[[Habit, Habit], Iterable[Habit]], on_step: Callable[[], None]
    ) -> None:
        for _ in range(MOST_PASSES):
            before = self._habit
            for habit in habits:
                for combined in combine(self._habit, habit) if not all(g.passed for g in self._grades) else ():
                    self._try(combined)
                on_step()
            if self._habit == before:
                break

    def simplify(self, habit: Habit) -> Habit:
        """The same habit with fewer reflexes, if it is as good."""
        self._start(habit)
        for reflex, around in product(habit.reflexes, (EVERY, CHANGING)):
            wider = replace(reflex, around=around)
            alike = [one for one in self._habit.reflexes if replace(one, around=around) == wider]
            if len(alike) > 1:
                others = [wider if one == alike[0] else one for one in self._habit.reflexes if one not in alike[1:]]
                self._try(Habit(tuple(others)))
        for reflex in habit.reflexes:
            self._try(Habit(tuple(one for one in self._habit.reflexes if one != reflex)))
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
    yield from _added(habit, other)
    own = habit.reflexes
    around = {reflex.around for reflex in other.reflexes}
    yield Habit((*(one for one in own if one.around not in around), *other.reflexes))
    same = {_role(reflex) for reflex in other.reflexes}
    yield Habit((*(one for one in own if _role(one) not in same), *other.reflexes))


def _added(habit: Habit, other: Habit) -> Iterator[Habit]:
    """The habit with the reflexes of the other after its own, and before them."""
    own = habit.reflexes
    yield Habit((*own, *(one for one in other.reflexes if one not in own)))
    yield Habit((*other.reflexes, *(one for one in own if one not in other.reflexes)))


def _role(reflex: Reflex) -> tuple[str, str]:
    """The calls that it wraps and the tool that it calls for them."""
    return reflex.around, reflex.calls[-1].tool
