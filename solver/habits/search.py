"""The best habit for a set of tasks, found in simulation.

A habit is better if it passes more tasks, then if it breaks fewer rules in all, then if it is shorter. A task whose
goal it spoils counts as if it broke every rule. The search has three parts:

1. The habits that references suggest are joined: each is added to what was found before, or takes its place around the
   same calls, while this improves. It is repeated from many beginnings, which decide what fits together.
2. Reflexes are added while this improves, on a sample of the tasks. Where no single reflex does, one that keeps a
   broken rule and breaks others is tried together with reflexes that keep those: a payment is authenticated, and for
   that it is presented first. In a large environment only the reflexes of part 1 take part, and those around all calls
   that are best on a few tasks.
3. Reflexes around several tools become one around all calls, and those that do not matter are left out.

The number of trials is bounded, and the result depends on the tasks alone. The habits are compared on all tasks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.habits import CHANGING, EVERY, Habit, Reflex, ReflexCall
from lawtrace.solver.habits.grading import Grader, HabitCase, HabitGrade, HabitScore
from lawtrace.solver.habits.induction import induce_habit
from lawtrace.solver.habits.joining import HabitJoiner
from lawtrace.solver.habits.reflexes import all_reflexes, wraps

SAMPLE: Final = 16
"""How many tasks the search looks at."""
MOST_TRIALS: Final = 12_000
"""How many tasks may be simulated in the second part."""
SCREENED: Final = 40
"""How many reflexes of a large environment take part in it."""
SCREENING_SAMPLE: Final = 6
"""How many tasks these are chosen on."""
MOST_UNSCREENED: Final = 400
"""An environment with more reflexes is large."""
ATTEMPTED_DETOURS: Final = 6
"""How many reflexes that are no gain on their own are tried together with others."""
REPAIRS: Final = 4
"""How many reflexes may be added to one of them."""
RUNNERS_UP: Final = 3
STEPS: Final = 20
"""How many steps of progress a search reports."""


def find_habits(
    environment: Environment,
    cases: Sequence[HabitCase],
    grader: Grader | None = None,
    on_step: Callable[[], None] = lambda: None,
) -> list[HabitScore]:
    """The best habit on all cases, then the runners-up that the search came by.

    ``grader``: what is remembered of other searches. ``on_step`` is called `STEPS` times.
    """
    grader = grader or Grader(environment)
    progress = _Progress(on_step)
    found: dict[Habit, HabitScore] = {}

    def consider(habits: Iterable[Habit]) -> HabitScore:
        for habit in habits:
            if habit not in found:
                found[habit] = grader.score(cases, habit)
        return _ranked(found)[0]

    joiner = HabitJoiner(environment, grader, cases)
    suggested = list(dict.fromkeys(induce_habit(environment, grader, case) for case in cases if case.reference))
    progress.reach(0.2)
    joined = joiner.join(suggested)
    progress.reach(0.4)
    best = consider([Habit(), joined])
    reflexes = dict.fromkeys(reflex for habit in suggested for reflex in habit.reflexes)
    sample, trials = spread_sample(cases, SAMPLE), MOST_TRIALS
    search = _Search(environment, grader, sample, trials, reflexes, progress)
    best = consider([*search.improve(best.habit), *search.runners_up()])
    trials = search.trials // 2
    failed = [case for case in cases if case.id not in set(best.passed)]
    if len(cases) > SAMPLE and failed and trials > 0:
        passing = [case for case in cases if case.id in set(best.passed)]
        sample = [*spread_sample(failed, SAMPLE // 2), *spread_sample(passing, SAMPLE // 2)]
        search = _Search(environment, grader, sample, trials, reflexes, progress)
        best = consider([*search.improve(best.habit), *search.runners_up()])
    consider([joiner.simplify(best.habit)])
    progress.reach(1.0)
    return _ranked(found)[: 1 + RUNNERS_UP]


class _Progress:
    """Steps of progress, from the share of the work that is done."""

    def __init__(self, on_step: Callable[[], None]) -> None:
        self._on_step: Final = on_step
        self._steps = 0

    def reach(self, share: float) -> None:
        while self._steps < int(share * STEPS):
            self._steps += 1
            self._on_step()


def _ranked(found: dict[Habit, HabitScore]) -> list[HabitScore]:
    return sorted(found.values(), key=lambda score: (-len(score.passed), len(score.habit.reflexes)))


def spread_sample(cases: Sequence[HabitCase], size: int) -> list[HabitCase]:
    """Cases with as many different tools as possible, then evenly spread."""
    if len(cases) <= size:
        return list(cases)
    chosen: list[HabitCase] = []
    seen: set[str] = set()
    while len(chosen) < size // 2 and (best := max(cases, key=lambda case: len(case.tools - seen))).tools - seen:
        chosen.append(best)
        seen |= best.tools
    rest = [case for case in cases if case not in chosen]
    count = size - len(chosen)
    return [*chosen, *(rest[number * len(rest) // count] for number in range(count))]


_Cost = tuple[int, int]
"""Tasks that do not pass, and rules broken in all."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A reflex with the places in the sample where it acts."""

    reflex: Reflex
    cases: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A habit on the sample; the grades may end early if it cannot be better than what it is compared with."""

    habit: Habit
    grades: tuple[HabitGrade, ...]
    cost: _Cost

    @property
    def broken(self) -> frozenset[str]:
        return frozenset[str]().union(*(grade.broken for grade in self.grades))


class _Search:
    """Greedy search on a sample.

    ``trials``: how many simulations are left. ``suggested``: reflexes that take part in any case.
    """

    def __init__(
        self,
        environment: Environment,
        grader: Grader,
        sample: Sequence[HabitCase],
        trials: int,
        suggested: Iterable[Reflex],
        progress: _Progress,
    ) -> None:
        self._grader: Final = grader
        self._sample: Final = sample
        self.trials = trials
        self._progress: Final = progress
        self._costs: Final[dict[Habit, _Cost]] = {}
        tools = frozenset[str]().union(*(case.tools for case in sample))
        candidates = list(_distinct(environment, all_reflexes(environment, tools), sample))
        if len(candidates) > MOST_UNSCREENED:
            known = list(_distinct(environment, suggested, sample))
            wide = [one for one in candidates if one.reflex.around in {EVERY, CHANGING}] if known else candidates
            candidates = list(dict.fromkeys([*known, *self._screened(wide)]))
        self._candidates: Final = candidates
        self._named_by: Final = {rule.id: grader.reads(rule).tools for case in sample for rule in case.rules}

    def improve(self, start: Habit) -> Iterator[Habit]:
        """Habits that are better and better on the sample, the best one last."""
        best = self._try(start)
        while best.cost[0] and self.trials > 0:
            improved = self._add_one(best, self._relevant(best.broken)) or self._detour(best)
            if improved is None:
                break
            best = improved
            yield best.habit
        yield from self._shorter(best)

    def runners_up(self) -> list[Habit]:
        """The habits of least cost among those tried, the best one included."""
        return sorted(self._costs, key=lambda habit: (self._costs[habit], len(habit.reflexes)))[: 1 + RUNNERS_UP]

    def _screened(self, candidates: Sequence[_Candidate]) -> list[_Candidate]:
        """The candidates that are best alone on a few tasks: that pass most, then that keep most rules."""
        few = spread_sample(self._sample, SCREENING_SAMPLE)
        idle = [self._grader.grade(case, Habit()) for case in few]

        def rank(candidate: _Candidate) -> tuple[int, int, int]:
            grades = [self._grader.grade(case, Habit((candidate.reflex,))) for case in few]
            broken = sum(
                len(one.broken) if one.reached else len(case.rules) for one, case in zip(grades, few, strict=True)
            )
            mended = sum(len(old.broken - new.broken) for old, new in zip(idle, grades, strict=True))
            return -sum(one.passed for one in grades), broken, -mended

        return sorted(candidates, key=rank)[:SCREENED]

    def _relevant(self, broken: frozenset[str]) -> list[_Candidate]:
        """The reflexes with a tool that a broken rule names."""
        named = frozenset[str]().union(*(self._named_by[rule] for rule in broken))
        return [candidate for candidate in self._candidates if candidate.reflex.tools & named]

    def _add_one(self, base: _Trial, candidates: Iterable[_Candidate]) -> _Trial | None:
        """The base with the reflex that improves it most, or None."""
        best: _Trial | None = None
        for candidate in candidates:
            for habit in _with(base.habit, candidate.reflex):
                trial = self._try(habit, base, candidate.cases, limit=best.cost if best else base.cost)
                if trial.cost < (best or base).cost:
                    best = trial
            if self.trials <= 0:
                break
        return best

    def _detour(self, base: _Trial) -> _Trial | None:
        """The base with a reflex that keeps a broken rule but breaks others, and with reflexes that keep those."""
        tried: list[tuple[int, _Trial]] = []
        for candidate in self._relevant(base.broken):
            if self.trials <= 0:
                break
            if candidate.reflex in base.habit.reflexes:
                continue
            trial = self._try(_with(base.habit, candidate.reflex)[0], base, candidate.cases)
            kept = sum(len(old.broken - new.broken) for old, new in zip(base.grades, trial.grades, strict=True))
            if kept:
                tried.append((kept, trial))
        tried.sort(key=lambda one: (-one[0], one[1].cost))
        for _, trial in tried[:ATTEMPTED_DETOURS]:
            repaired = self._repair(base, trial)
            if repaired.cost < base.cost:
                return repaired
        return None

    def _repair(self, base: _Trial, trial: _Trial) -> _Trial:
        added = next(reflex for reflex in trial.habit.reflexes if reflex not in base.habit.reflexes)
        for _ in range(REPAIRS):
            new = frozenset[str]().union(
                *(now.broken - old.broken for old, now in zip(base.grades, trial.grades, strict=True))
            )
            near = [one for one in self._relevant(new) if _is_near(one.reflex, added)]
            better = self._add_one(trial, near) if new else None
            if better is None:
                break
            trial = better
        return trial

    def _shorter(self, best: _Trial) -> Iterator[Habit]:
        """The habit without reflexes that do not matter, if there are such."""
        for reflex in best.habit.reflexes:
            fewer = Habit(tuple(one for one in best.habit.reflexes if one != reflex))
            trial = self._try(fewer)
            if trial.cost <= best.cost:
                best = trial
                yield fewer

    def _try(
        self,
        habit: Habit,
        base: _Trial | None = None,
        acts: frozenset[int] = frozenset(),
        limit: _Cost | None = None,
    ) -> _Trial:
        """Grade a habit on the sample.

        ``base``: the habit without its new reflex, which acts in the cases ``acts`` alone. ``limit``: the grading ends
        early when the cost is no longer lower.
        """
        grades: list[HabitGrade] = []
        failed, broken = 0, 0
        for number, case in enumerate(self._sample):
            if base is not None and number not in acts:
                grade = base.grades[number]
            else:
                grade = self._grader.grade(case, habit)
                self.trials -= 1
                self._progress.reach(0.4 + 0.6 * (1 - max(self.trials, 0) / MOST_TRIALS))
            grades.append(grade)
            failed += not grade.passed
            broken += len(grade.broken) if grade.reached else len(case.rules)
            if limit is not None and (failed, broken) > limit:
                break
        else:
            self._costs[habit] = failed, broken
        return _Trial(habit, tuple(grades), (failed, broken))


def _with(habit: Habit, reflex: Reflex) -> list[Habit]:
    """The habit with one more reflex: last, and if others act at the same place also first."""
    added = [Habit((*habit.reflexes, reflex))]
    if any(other.place == reflex.place for other in habit.reflexes):
        added.append(Habit((reflex, *habit.reflexes)))
    return added


def _is_near(reflex: Reflex, other: Reflex) -> bool:
    """Whether it acts around the same calls, or at the start."""
    return reflex.around == other.around and (reflex.place == other.place or reflex.once)


def _distinct(
    environment: Environment, reflexes: Iterable[Reflex], sample: Sequence[HabitCase]
) -> Iterator[_Candidate]:
    """One of the reflexes that act at the same points of every case of the sample, without those that never act."""
    seen: set[tuple[object, ...]] = set()
    points: dict[Reflex, tuple[tuple[tuple[int, int], ...], ...]] = {}
    for reflex in reflexes:
        reads = any(call.reads_call for call in reflex.calls)
        key = replace(reflex, calls=_ANY_READING if reads else _ANY)
        if key not in points:
            points[key] = tuple(_points(environment, reflex, case, reads=reads) for case in sample)
        if any(points[key]) and (signature := (reflex.calls, points[key])) not in seen:
            seen.add(signature)
            yield _Candidate(reflex, frozenset(number for number, here in enumerate(points[key]) if here))


_ANY: Final = (ReflexCall(""),)
_ANY_READING: Final = (ReflexCall("reads"),)


def _points(environment: Environment, reflex: Reflex, case: HabitCase, *, reads: bool) -> tuple[tuple[int, int], ...]:
    """Where a reflex acts: after how many requested calls, and around which one if that matters."""
    wrapped = [number for number, call in enumerate(case.requested) if wraps(reflex, environment, call.event.tool)]
    if reflex.place == "end":
        wrapped = wrapped[-1:] if reflex.once else wrapped
    elif reflex.once and not reads:
        wrapped = wrapped[:1]
    gap = {"before": 0, "after": 1, "end": len(case.requested)}[reflex.place]
    once = -2 if reflex.once and reads else -1
    return tuple((gap if reflex.place == "end" else number + gap, number if reads else once) for number in wrapped)
