"""Grades are those of a monitor that reads the whole trace, whatever was graded before."""

from lawtrace.schemas.habits import EVERY, Habit, WrapperCall
from lawtrace.solver.habits.grading import Grader
from lawtrace.solver.rules import Rule
from tests.support.parcel_office import OFFICE, send_all

LISTED = Rule(id="listed", formula="G(SendParcel -> count(ListInsurers) >= 1)")
LATE = Rule(id="late", formula="G(SendParcel -> position > 2)")
LIST_BEFORE = Habit((WrapperCall("ListInsurers", (), "before", EVERY),))
"""The calls become ListInsurers, FindParcel, ListInsurers, SendParcel, ..."""


def test_a_rule_about_other_tools_in_an_aggregate_is_monitored_again() -> None:
    grader, case = Grader(OFFICE), send_all("sturdy", rules=(LISTED,))
    assert not grader.grade(case, Habit(())).passed
    assert grader.grade(case, LIST_BEFORE).passed


def test_a_rule_about_positions_is_monitored_again() -> None:
    grader, case = Grader(OFFICE), send_all("sturdy", rules=(LATE,))
    assert not grader.grade(case, Habit(())).passed
    assert grader.grade(case, LIST_BEFORE).passed


def test_reads_name_the_tools_of_aggregates() -> None:
    assert LISTED.tools == {"SendParcel", "ListInsurers"}
    assert LATE.counts_steps
    assert not LISTED.counts_steps
