"""The best habit: what references suggest, joined; the same for the same tasks, and none where a fact decides."""

from dataclasses import replace

from lawtrace.schemas.events import Event
from lawtrace.schemas.habits import EVERY, Habit, WrapperArgument, WrapperCall
from lawtrace.solver.habits.grading import Grader, HabitCase
from lawtrace.solver.habits.search import HabitJoiner, find_habits, suggest_habit
from lawtrace.solver.habits.wrapper import wrap_program
from lawtrace.solver.traces import PlannedCall
from tests.support.parcel_office import DECLARED, INSURED, OFFICE, RECORDED, TRULY, send_all

READ_PARCEL = WrapperArgument("parcel_id", "read")
INSPECT = WrapperCall("InspectParcel", (READ_PARCEL,), "before", "SendParcel")
DECLARE = WrapperCall(
    "DeclareParcel", (READ_PARCEL, WrapperArgument("kind", "fixed", "fragile")), "before", "SendParcel"
)
LIST = WrapperCall("ListInsurers", (), "before", "SendParcel")
INSURE = WrapperCall(
    "InsureParcel", (WrapperArgument("insurer_id", "read"), WrapperArgument("value", "read")), "before", "SendParcel"
)
RECORD = WrapperCall("RecordAuditEvent", (WrapperArgument("events", "events"),), "after", "SendParcel")


def with_reference(case: HabitCase, *wrapper_calls: WrapperCall) -> HabitCase:
    """The case with the calls of a habit as its reference."""
    return replace(case, reference=wrap_program(OFFICE, case.initial, case.requested, Habit(wrapper_calls)).calls)


def test_reference_suggests_a_habit_that_passes() -> None:
    case = send_all("fragile", "fragile", rules=(DECLARED, *TRULY, INSURED, RECORDED))
    case = with_reference(case, INSPECT, DECLARE, LIST, INSURE, RECORD)
    habit = suggest_habit(OFFICE, case)
    assert Grader(OFFICE).grade(case, habit).passed
    assert {*habit.wrapper_calls} >= {INSPECT, DECLARE, LIST, INSURE, RECORD}


def test_calls_that_a_habit_cannot_make_are_left_out() -> None:
    case = with_reference(send_all("fragile", rules=(DECLARED,)), DECLARE)
    unknown = PlannedCall(Event("InspectParcel", {"parcel_id": "P-9"}), {})
    found = find_habits(OFFICE, [replace(case, reference=(unknown, *case.reference))])
    assert [one.tool for one in found[0].habit.wrapper_calls] == ["DeclareParcel"]


def test_habits_are_joined_and_shortened() -> None:
    cases = [send_all("fragile", rules=(DECLARED,), name="one"), send_all("fragile", rules=(INSURED,), name="two")]
    joiner = HabitJoiner(Grader(OFFICE), cases)
    joined = joiner.join([Habit((DECLARE,)), Habit((LIST, INSURE))])
    assert set(joined.wrapper_calls) == {DECLARE, LIST, INSURE}
    assert set(joiner.simplify(Habit((*joined.wrapper_calls, INSPECT))).wrapper_calls) == {DECLARE, LIST, INSURE}


def test_wrapper_calls_around_several_tools_become_one() -> None:
    case = send_all("fragile", rules=(DECLARED,))
    twice = Habit((replace(RECORD, around="FindParcel"), RECORD, DECLARE))
    recorded = replace(case, rules=(DECLARED, RECORDED))
    simple = HabitJoiner(Grader(OFFICE), [recorded]).simplify(twice)
    assert set(simple.wrapper_calls) == {DECLARE, replace(RECORD, around=EVERY)}


def test_best_habit_is_composed_of_what_references_suggest() -> None:
    cases = [send_all("fragile", rules=(DECLARED, INSURED), name="one"), send_all("fragile", rules=(RECORDED,))]
    cases = [with_reference(cases[0], DECLARE, LIST, INSURE), with_reference(cases[1], RECORD)]
    best, *others = find_habits(OFFICE, cases)
    assert best.passed == ("one", "task")
    assert {one.tool for one in best.habit.wrapper_calls} == {
        "DeclareParcel",
        "RecordAuditEvent",
        "ListInsurers",
        "InsureParcel",
    }
    assert all(len(other.passed) < len(best.passed) for other in others)


def test_no_habit_passes_where_a_fact_decides_an_argument() -> None:
    cases = [
        send_all("fragile", "sturdy", rules=(DECLARED, *TRULY), name="one"),
        send_all("sturdy", "fragile", rules=(DECLARED, *TRULY), name="two"),
    ]
    assert all(found.passed == () for found in find_habits(OFFICE, cases))


def test_habit_passes_one_side_of_a_contrast() -> None:
    sides = [send_all(kind, rules=(DECLARED, *TRULY), name=kind) for kind in ("fragile", "sturdy")]
    best = find_habits(OFFICE, sides)[0]
    assert (len(best.passed), best.rate) == (1, 0.5)
    assert Grader(OFFICE).score(sides, best.habit).passed == best.passed


def test_same_tasks_give_the_same_habits() -> None:
    cases = [send_all("sturdy", "fragile", rules=(DECLARED, *TRULY), name=str(number)) for number in range(4)]
    assert find_habits(OFFICE, cases) == find_habits(OFFICE, cases)
