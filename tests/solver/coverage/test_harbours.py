"""Safe harbours in a parcel office: courses that are lawful however a question is read, beside ones that are not."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.spec.state import State
from lawtrace.runs.stages.traces_stage import TracePlan, safe_harbours, synthesize_traces
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.coverage.harbours import HarbourSearch, PlannedHarbour
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.rules import Definition, Rule
from tests.support.declining_office import BAN, DUTIES, WORLD, initial_state, request

OPEN = Question(
    id="kinds",
    provisions=("Article 1",),
    asks="What of the kinds?",
    readings=(Reading(id="strict", means="sturdy ones only"), Reading(id="lenient", means="any")),
)
FRAGILE = initial_state("fragile")
REQUEST = request(FRAGILE)


def drawn(random: Random) -> State:
    return initial_state(random.choice(["fragile", "sturdy"]), "fragile")


OFFICE = replace(WORLD, populate=drawn)


def strictly(rule: Rule) -> Rule:
    return rule.model_copy(update={"under": {"kinds": ("strict",)}, "questions": (OPEN,)})


def harbour(rules: Sequence[Rule]) -> PlannedHarbour | None:
    return HarbourSearch(WORLD, rules, Completer(WORLD, rules)).harbour(FRAGILE, REQUEST)


def test_what_one_reading_demands_is_a_harbour_for_what_it_leaves_out() -> None:
    found = harbour([strictly(DUTIES[0]), *DUTIES[1:]])
    assert found is not None
    assert found.questions == ("kinds",)
    assert found.end.declined is None
    assert "DeclareParcel" in found.end.trace.tools
    assert "DeclareParcel" not in [event.tool for event in found.arguable]


def test_settled_law_has_no_harbour() -> None:
    assert harbour(DUTIES) is None


def test_what_one_reading_prohibits_and_the_other_permits_has_none() -> None:
    """To decline it is arguable, too."""
    assert harbour([strictly(BAN[0]), *BAN[1:]]) is None


def test_a_right_to_refuse_is_a_harbour_where_the_manual_wants_a_refusal() -> None:
    right = Definition(
        name="refused", parameters=("p",), formula='DeclineParcel(parcel_id == p, reason == "it is fragile")'
    )
    shown = Rule(id="shown", formula=BAN[1].formula, may_refuse="refused", definitions=(right,))
    instructed = BAN[0].model_copy(update={"id": "as instructed", "source": "manual"})
    found = harbour([strictly(BAN[0]), shown, BAN[2], instructed])
    assert found is not None
    assert found.end.declined == "it is fragile"
    assert found.arguable[-1].tool == "SendParcel"


def test_rows_have_the_label_and_the_arguable_course() -> None:
    rules = [strictly(DUTIES[0]), *DUTIES[1:]]
    plan = TracePlan(mode="safe-harbour", length=8, count=2, seed=1)
    rows = synthesize_traces(OFFICE, rules, plan, range(2))
    assert [row.harbour is not None and row.harbour.questions for row in rows] == [("kinds",), ("kinds",)]
    assert rows == synthesize_traces(OFFICE, rules, plan, range(2))
    assert rows[0].harbour is not None
    assert "SendParcel(" in rows[0].harbour.other
    assert "DeclareParcel(" not in rows[0].harbour.other
    with pytest.raises(SearchError, match="no rule has an open question"):
        next(safe_harbours(OFFICE, DUTIES, numbers=range(1), seed=1))
