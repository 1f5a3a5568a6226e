"""The best habit: found by composition, the same for the same tasks, and none where a fact decides."""

from lawtrace.solver.habits.grading import Grader
from lawtrace.solver.habits.search import SAMPLE, find_habits, spread_sample
from tests.support.parcel_office import DECLARED, INSURED, OFFICE, RECORDED, TRULY, send_all


def test_habit_is_composed_of_reflexes_that_keep_one_rule_each() -> None:
    cases = [send_all("sturdy", "fragile", rules=(DECLARED, RECORDED, INSURED))]
    best, *others = find_habits(OFFICE, cases)
    assert best.passed == ("task",)
    assert {tool for reflex in best.habit.reflexes for tool in reflex.tools} == {
        "DeclareParcel",
        "RecordAuditEvent",
        "ListInsurers",
        "InsureParcel",
    }
    assert all(len(other.passed) <= len(best.passed) for other in others)


def test_reflex_that_breaks_a_rule_is_tried_with_one_that_keeps_it() -> None:
    best = find_habits(OFFICE, [send_all("fragile", rules=(DECLARED, *TRULY))])[0]
    assert best.rate == 1.0
    assert {tool for reflex in best.habit.reflexes for tool in reflex.tools} == {"InspectParcel", "DeclareParcel"}


def test_no_habit_passes_where_a_fact_decides_an_argument() -> None:
    cases = [
        send_all("fragile", "sturdy", rules=(DECLARED, *TRULY), name="one"),
        send_all("sturdy", "fragile", rules=(DECLARED, *TRULY), name="two"),
    ]
    assert all(found.passed == () for found in find_habits(OFFICE, cases))


def test_habit_passes_one_side_of_a_contrast() -> None:
    sides = [send_all(kind, rules=(DECLARED, *TRULY), name=kind) for kind in ("fragile", "sturdy")]
    best = find_habits(OFFICE, sides)[0]
    assert len(best.passed) == 1
    assert Grader(OFFICE).score(sides, best.habit).passed == best.passed


def test_same_tasks_give_the_same_habits() -> None:
    cases = [send_all("sturdy", "fragile", rules=(RECORDED, INSURED), name=str(number)) for number in range(SAMPLE + 4)]
    assert find_habits(OFFICE, cases) == find_habits(OFFICE, cases)


def test_sample_has_every_tool() -> None:
    case = send_all("sturdy", rules=())
    short = [type(case)(f"t{number}", case.initial, case.target, case.requested[:1], ()) for number in range(40)]
    sample = spread_sample([*short, case], 8)
    assert len(sample) == 8
    assert case in sample
    assert len({one.id for one in sample}) == 8
