"""Selection of contrast pairs that habits pass least."""

from itertools import product

from lawtrace.solver.habits.grading import HabitCase
from lawtrace.solver.habits.search import find_habits
from lawtrace.solver.habits.selection import Candidate, select_pairs
from tests.support.parcel_office import DECLARED, OFFICE, TRULY, send_all

RULES = (DECLARED, *TRULY)


def pair(name: str, first: tuple[str, ...], second: tuple[str, ...], fact: str = "kind") -> Candidate:
    sides = (send_all(*first, rules=RULES, name=f"{name}a"), send_all(*second, rules=RULES, name=f"{name}b"))
    return Candidate((sides,), (fact,))


EASY = [pair(f"easy{number}", ("fragile",), ("sturdy",)) for number in range(4)]
"""A habit that declares every parcel fragile passes one side of each."""
HARD = [pair(f"hard{number}", ("fragile", "sturdy"), ("sturdy", "fragile")) for number in range(4)]
"""No habit passes a side."""


def cases(candidates: list[Candidate]) -> list[HabitCase]:
    return [side for candidate in candidates for side in candidate.sides[0]]


def test_pairs_that_habits_pass_are_left_out() -> None:
    mixed = [one for both in zip(EASY, HARD, strict=True) for one in both]
    chosen = select_pairs(OFFICE, mixed, 4)
    assert chosen == (1, 3, 5, 7)
    assert not find_habits(OFFICE, cases([mixed[number] for number in chosen]))[0].passed
    assert select_pairs(OFFICE, mixed, 4) == chosen


def test_where_too_few_are_hard_the_best_selection_is_given() -> None:
    mixed = [*EASY[:3], *HARD[:2]]
    chosen = select_pairs(OFFICE, mixed, 3)
    assert {3, 4} < {*chosen}
    assert len(find_habits(OFFICE, cases([mixed[number] for number in chosen]))[0].passed) == 1


def test_a_pair_of_which_a_habit_passes_both_sides_is_left_out() -> None:
    both = pair("both", ("fragile",), ("fragile",))
    assert select_pairs(OFFICE, [both, *EASY[:2]], 2) == (1, 2)


def test_common_facts_give_way_to_rare_ones() -> None:
    names = [f"{place}" for place in product("ab", "12")]
    hard = [pair(name, ("fragile", "sturdy"), ("sturdy", "fragile"), fact=name[2]) for name in names]
    rare = pair("rare", ("fragile", "sturdy"), ("sturdy", "fragile"), fact="rare")
    chosen = select_pairs(OFFICE, [*hard, rare], 3)
    assert 4 in chosen
    assert len({("a", "b")[number // 2] for number in chosen if number < 4}) == 2


def test_all_are_selected_if_there_are_no_more() -> None:
    assert select_pairs(OFFICE, EASY, 4) == (0, 1, 2, 3)
