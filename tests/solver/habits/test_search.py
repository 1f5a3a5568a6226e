"""The best habit: what references suggest, joined; the same for the same tasks, and none where a fact decides."""

from dataclasses import replace

from lawtrace.schemas.events import Event
from lawtrace.schemas.habits import EVERY, Habit, Reflex, ReflexArgument, ReflexCall
from lawtrace.solver.habits.grading import Grader, HabitCase
from lawtrace.solver.habits.search import HabitJoiner, find_habits, induce_habit
from lawtrace.solver.habits.wrapper import wrap_program
from lawtrace.solver.traces import PlannedCall
from tests.support.parcel_office import DECLARED, INSURED, OFFICE, RECORDED, TRULY, send_all

READ_PARCEL = ReflexArgument("parcel_id", "read")
INSPECT = Reflex((ReflexCall("InspectParcel", (READ_PARCEL,)),), "before", "SendParcel")
DECLARE = Reflex(
    (ReflexCall("DeclareParcel", (READ_PARCEL, ReflexArgument("kind", "fixed", "fragile"))),), "before", "SendParcel"
)
INSURE = Reflex(
    (
        ReflexCall("ListInsurers"),
        ReflexCall("InsureParcel", (ReflexArgument("insurer_id", "read"), ReflexArgument("value", "read"))),
    ),
    "before",
    "SendParcel",
)
RECORD = Reflex(
    (ReflexCall("RecordAuditEvent", (ReflexArgument("events", "events"),)),), "end", "SendParcel", once=True
)


def with_reference(case: HabitCase, *reflexes: Reflex) -> HabitCase:
    """The case with the calls of a habit as its reference."""
    return replace(case, reference=wrap_program(OFFICE, case.initial, case.requested, Habit(reflexes)).calls)


def test_reference_suggests_a_habit_that_passes() -> None:
    case = with_reference(
        send_all("fragile", "fragile", rules=(DECLARED, *TRULY, INSURED, RECORDED)), INSPECT, DECLARE, INSURE, RECORD
    )
    grader = Grader(OFFICE)
    habit = induce_habit(OFFICE, grader, case)
    assert grader.grade(case, habit).passed
    assert {tool for reflex in habit.reflexes for tool in reflex.tools} == {
        call.event.tool for call in case.reference if call.event.tool in OFFICE.compliance_tools
    }


def test_calls_that_no_reflex_can_make_are_left_out() -> None:
    case = with_reference(send_all("fragile", rules=(DECLARED,)), DECLARE)
    unknown = PlannedCall(Event("InspectParcel", {"parcel_id": "P-9"}), {})
    habit = induce_habit(OFFICE, Grader(OFFICE), replace(case, reference=(unknown, *case.reference)))
    assert [reflex.calls[-1].tool for reflex in habit.reflexes] == ["DeclareParcel"]


def test_habits_are_joined_and_shortened() -> None:
    cases = [send_all("fragile", rules=(DECLARED,), name="one"), send_all("fragile", rules=(INSURED,), name="two")]
    joiner = HabitJoiner(OFFICE, Grader(OFFICE), cases)
    joined = joiner.join([Habit((DECLARE,)), Habit((INSURE,))])
    assert set(joined.reflexes) == {DECLARE, INSURE}
    assert set(joiner.simplify(Habit((*joined.reflexes, INSPECT))).reflexes) == {DECLARE, INSURE}


def test_reflexes_around_several_tools_become_one() -> None:
    case = send_all("fragile", rules=(DECLARED,))
    twice = Habit((replace(RECORD, around="FindParcel"), replace(RECORD, around="SendParcel"), DECLARE))
    recorded = replace(case, rules=(DECLARED, RECORDED))
    simple = HabitJoiner(OFFICE, Grader(OFFICE), [recorded]).simplify(twice)
    assert set(simple.reflexes) == {DECLARE, replace(RECORD, around=EVERY)}


def test_best_habit_is_composed_of_what_references_suggest() -> None:
    cases = [send_all("fragile", rules=(DECLARED, INSURED), name="one"), send_all("fragile", rules=(RECORDED,))]
    cases = [with_reference(cases[0], DECLARE, INSURE), with_reference(cases[1], RECORD)]
    best, *others = find_habits(OFFICE, cases)
    assert best.passed == ("one", "task")
    assert {reflex.calls[-1].tool for reflex in best.habit.reflexes} == {
        "DeclareParcel",
        "RecordAuditEvent",
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
