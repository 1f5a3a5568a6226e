"""Selection of contrast pairs that no habit passes in great number.

Some pairs are easy for a habit on one side: what it does anyway is lawful there. From more pairs than wanted, those are
left out that habits pass, until no habit that the search finds passes more than its share of the tasks, or both sides
of any pair. Habits are searched again on each selection, since another habit can be the best one there. Among pairs
that are as good, facts, rules and requested changes that occur less are preferred.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.habits import Habit
from lawtrace.solver.habits.grading import Grader, HabitCase
from lawtrace.solver.habits.search import find_habits

BEST_SHARE: Final = 0.1
"""The share of tasks that the best habit may pass."""
MOST_ROUNDS: Final = 12
"""How many selections are tried."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A contrast pair that can be selected.

    Attributes:
        sides: both sides as a habit meets them, in each style.
        features: what makes it like other pairs: its fact, its requested changes, the reason of its refusal.
    """

    sides: tuple[tuple[HabitCase, ...], ...]
    features: tuple[str, ...]


_Hits = dict[int, int]
"""How many sides a habit passes of each candidate of which it passes any."""


def select_pairs(
    environment: Environment,
    candidates: Sequence[Candidate],
    count: int,
    *,
    on_round: Callable[[], None] = lambda: None,
) -> tuple[int, ...]:
    """The numbers of so many candidates, in order, or of all if there are no more; the result depends on them alone.

    Where no selection meets the share, it is the best one of those tried, by all habits found in any of them.
    """
    if count >= len(candidates):
        return tuple(range(len(candidates)))
    search, allowed = _HabitHits(environment, candidates), int(2 * count * BEST_SHARE)
    search.extend(range(len(candidates)))
    tried: list[tuple[int, ...]] = []
    while len(tried) < MOST_ROUNDS:
        room = len(tried)  # for habits not yet found
        tried.append(tuple(_drop(candidates, search.hits, count, max(0, allowed - room) // 2)))
        search.extend(tried[-1])
        on_round()
        whole, passed = search.passed(tried[-1])
        if passed <= allowed and not whole:
            return tried[-1]
    return min(tried, key=search.passed)


class _HabitHits:
    """The habits that searches have found, with what each passes among all candidates."""

    def __init__(self, environment: Environment, candidates: Sequence[Candidate]) -> None:
        self._environment: Final = environment
        self._candidates: Final = candidates
        self._grader: Final = Grader(environment)
        self._known: Final[set[tuple[int, Habit]]] = set()
        self.hits: Final[list[_Hits]] = []

    def extend(self, chosen: Collection[int]) -> None:
        """Search habits for the chosen candidates, in each style."""
        for style in range(len(self._candidates[0].sides)):
            cases = [case for number in sorted(chosen) for case in self._candidates[number].sides[style]]
            for score in find_habits(self._environment, cases, self._grader):
                if (style, score.habit) not in self._known:
                    self._known.add((style, score.habit))
                    self.hits.append(self._hits_of(style, score.habit))

    def _hits_of(self, style: int, habit: Habit) -> _Hits:
        passed = {
            number: sum(self._grader.grade(case, habit).passed for case in candidate.sides[style])
            for number, candidate in enumerate(self._candidates)
        }
        return {number: sides for number, sides in passed.items() if sides}

    def passed(self, chosen: Collection[int]) -> tuple[int, int]:
        """Of how many chosen pairs a habit found so far passes both sides, and how many of their tasks one passes."""
        whole = sum(any(hits.get(number, 0) > 1 for hits in self.hits) for number in chosen)
        return whole, max(sum(hits.get(number, 0) for number in chosen) for hits in self.hits)


def _drop(candidates: Sequence[Candidate], habits: Sequence[_Hits], count: int, allowed: int) -> list[int]:
    """Drop one candidate after the other until ``count`` are left.

    First those of which a habit passes both sides, then those that habits pass which pass too many, and then, as among
    equals, the commonest; of these the last.
    """
    left = list(range(len(candidates)))
    common = Counter(feature for candidate in candidates for feature in candidate.features)
    passed = [sum(hits.values()) for hits in habits]
    while len(left) > count:
        excess = [max(0, total - allowed) for total in passed]
        worst = max(left, key=lambda number: _rank(number, candidates[number], habits, excess, common))
        left.remove(worst)
        common.subtract(candidates[worst].features)
        passed = [total - hits.get(worst, 0) for total, hits in zip(passed, habits, strict=True)]
    return left


def _rank(
    number: int, candidate: Candidate, habits: Sequence[_Hits], excess: Sequence[int], common: Counter[str]
) -> tuple[bool, int, int, int]:
    """What makes a candidate worth dropping."""
    sides = [hits.get(number, 0) for hits in habits]
    passed_too_often = sum(more for more, here in zip(excess, sides, strict=True) if here)
    return max(sides) > 1, passed_too_often, sum(common[one] for one in candidate.features), number
