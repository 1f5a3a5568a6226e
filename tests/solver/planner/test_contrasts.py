"""Requests, their lawful completions, refusals, and contrast pairs, in a parcel office."""

from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.spec import Fact
from lawtrace.schemas.events import Event
from lawtrace.schemas.questions import Question, Reading
from lawtrace.schemas.trace_options import Difficulty
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.contrasts import ContrastPair, ContrastSearch, DifficultyMeter, changed_facts
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Answer, Found, Impossible
from lawtrace.solver.traces import PlannedCall, Trace
from tests.support.declining_office import BAN, DUTIES, KIND, SENT, STURDY_ONLY, WORLD, initial_state, request
from tests.support.parcel_office import DECLARED, RECORDED, TRULY
from tests.support.trace_checks import check_trace


def pairs(*rules: Rule, kind: str = "sturdy", facts: tuple[Fact, ...] = (KIND, SENT)) -> list[ContrastPair]:
    state = initial_state(kind)
    search = ContrastSearch(WORLD, rules, Completer(WORLD, rules))
    return list(search.pairs(state, request(state), facts))


def test_a_request_makes_the_look_ups_that_it_needs_and_no_others() -> None:
    writer = RequestWriter(WORLD)
    assert writer.changes == ("SendParcel",)
    for seed in range(20):
        calls = request(initial_state("sturdy", "fragile"), seed)
        assert [call.event.tool for call in calls] == ["FindParcel", "SendParcel"]
        assert calls[1].sources == {0}


def test_a_request_needs_a_look_up_that_is_no_compliance_tool() -> None:
    hidden = replace(WORLD.tools["FindParcel"], compliance=True, phrases=None)
    world = replace(WORLD, tools={**WORLD.tools, "FindParcel": hidden})
    assert RequestWriter(world).draw(initial_state("sturdy"), ["SendParcel"], Random(1)) is None


def trace_of(answer: Answer[Trace]) -> Trace:
    assert isinstance(answer, Found)
    return answer.trace


@pytest.mark.parametrize("kind", ["sturdy", "fragile"])
def test_a_completion_keeps_the_request_and_adds_what_the_rules_need(kind: str) -> None:
    state = initial_state(kind)
    calls = request(state)
    found = trace_of(Completer(WORLD, DUTIES).complete(state, calls))
    check_trace(WORLD, found, DUTIES, (), 5)
    ordinary = [event for event in found.events if event.tool not in WORLD.compliance_tools]
    assert [(event.tool, event.arguments) for event in ordinary] == [(c.event.tool, c.event.arguments) for c in calls]
    assert sorted(set(found.tools) - {event.tool for event in ordinary}) == [
        "DeclareParcel",
        "InspectParcel",
        "RecordAuditEvent",
    ]
    declared = next(event for event in found.events if event.tool == "DeclareParcel")
    assert declared.arguments["kind"] == kind


def test_without_rules_a_completion_is_the_request() -> None:
    state = initial_state("sturdy")
    found = trace_of(Completer(WORLD, ()).complete(state, request(state)))
    assert found.tools == ("FindParcel", "SendParcel")


def test_what_has_no_lawful_way_is_impossible_and_the_rule_is_named() -> None:
    state = initial_state("fragile")
    found = Completer(WORLD, BAN).complete(state, request(state))
    assert isinstance(found, Impossible)
    assert (found.calls, found.rules) == (10, ("sturdy only",))


def test_a_refusal_shows_its_reason_and_changes_nothing_else() -> None:
    state = initial_state("fragile")
    completer, calls = Completer(WORLD, BAN), request(state)
    found = trace_of(completer.decline(state, calls))
    check_trace(WORLD, found, BAN, (), 3)
    assert found.tools == ("FindParcel", "InspectParcel", "DeclineParcel")
    assert isinstance(completer.decline(state, calls, len(found.calls), other_than=[found]), Impossible)
    either = trace_of(Completer(WORLD, BAN[:2]).decline(state, calls, other_than=[found]))
    assert either.events[-1].arguments["reason"] == "it is unsealed"


def test_the_sides_of_a_pair_declare_what_they_found() -> None:
    (pair,) = pairs(*DUTIES)
    assert (pair.changed.fact, pair.changed.before, pair.changed.after) == (KIND, "sturdy", "fragile")
    assert pair.declined is None
    assert pair.granted.tools == pair.other.tools
    kinds = [
        event.arguments["kind"]
        for side in (pair.granted, pair.other)
        for event in side.events
        if "kind" in event.arguments
    ]
    assert kinds == ["sturdy", "fragile"]


def test_a_side_without_a_lawful_way_declines() -> None:
    (pair,) = pairs(*BAN)
    assert pair.declined is not None
    assert pair.declined.rules == ("sturdy only",)
    assert pair.other.tools == ("FindParcel", "InspectParcel", "DeclineParcel")


def test_each_lawful_reason_is_an_end() -> None:
    (pair,) = pairs(*BAN[:2])
    assert {(end.declined, end.trace.events[-1].arguments["reason"], *end.under) for end in pair.ends} == {
        ("it is fragile", "it is fragile"),
        ("it is unsealed", "it is unsealed"),
    }
    assert pair.other == pair.ends[0].trace


def test_no_pair_that_rests_on_the_manual_or_on_one_reading() -> None:
    strict, lenient = Reading(id="strict", means="sturdy ones only"), Reading(id="lenient", means="any")
    question = Question(id="kinds", provisions=("1",), asks="May fragile ones be sent?", readings=(strict, lenient))
    of_reading = STURDY_ONLY.model_copy(update={"questions": (question,), "under": {"kinds": ("strict",)}})
    for disputed in (STURDY_ONLY.model_copy(update={"source": "manual"}), of_reading):
        assert pairs(disputed, *BAN[1:]) == []
    assert len(pairs(*(rule.model_copy(update={"source": "manual"}) for rule in DUTIES))) == 0


def test_no_pair_where_the_law_asks_the_same() -> None:
    assert pairs(DECLARED, RECORDED) == []
    assert pairs(*DUTIES, facts=(SENT,)) == []


def test_no_pair_where_the_request_is_lawful_as_it_stands() -> None:
    assert pairs() == []


def test_each_changed_fact_differs_in_one_field_of_one_row() -> None:
    state = initial_state("sturdy", "fragile")
    changed = list(changed_facts(state, (KIND,)))
    assert [(one.key, one.before, one.after) for one, _ in changed] == [
        ("P-1", "sturdy", "fragile"),
        ("P-2", "fragile", "sturdy"),
    ]
    for one, other in changed:
        differing = [
            (before.values["parcel_id"], name)
            for before, after in zip(state.rows("parcels"), other.rows("parcels"), strict=True)
            for name in before.values
            if before.values[name] != after.values[name]
        ]
        assert differing == [(one.key, "kind")]


def hard_pairs(difficulty: Difficulty) -> list[ContrastPair]:
    state = initial_state("sturdy")
    search = ContrastSearch(WORLD, DUTIES, Completer(WORLD, DUTIES), difficulty)
    return list(search.pairs(state, request(state), (KIND,)))


def test_a_pair_is_as_hard_as_it_is_to_be() -> None:
    (pair,) = pairs(*DUTIES)
    meter = DifficultyMeter(WORLD, DUTIES)
    assert meter.applying(pair.granted) == {"declared", "truly-sturdy", "recorded"}
    assert meter.applying(pair.other) == {"declared", "truly-fragile", "recorded"}
    measured = Difficulty(rules=3, distance=meter.distance(pair.granted), calls=len(pair.granted.calls))
    assert hard_pairs(measured) == [pair]
    for bound in ("rules", "distance", "calls"):
        assert hard_pairs(measured.model_copy(update={bound: getattr(measured, bound) + 1})) == []


@pytest.mark.parametrize(
    ("order", "distance"),
    [("find declare send record", 0), ("find declare find send record", 1), ("declare find send find find record", 2)],
)
def test_the_distance_is_from_a_duty_to_the_call_that_demands_it(order: str, distance: int) -> None:
    tools = {"find": "FindParcel", "declare": "DeclareParcel", "send": "SendParcel", "record": "RecordAuditEvent"}
    rules = (
        Rule(id="before", formula="G(SendParcel -> O DeclareParcel)"),
        Rule(id="after", formula="G(SendParcel -> F RecordAuditEvent)"),
    )
    state = initial_state("sturdy")
    calls = tuple(PlannedCall(Event(tools[word], {}, result={}), {}) for word in order.split())
    assert DifficultyMeter(WORLD, rules).distance(Trace(state, calls, state)) == distance


def extended(*rules: Rule) -> tuple[ContrastPair, ContrastPair | None, ContrastPair | None]:
    """A pair about a parcel in a state with another one, and its extensions by the other and by the same parcel."""
    state = initial_state("sturdy", "sturdy")
    requests = [request(state, seed) for seed in range(20)]
    first = next(calls for calls in requests if calls[-1].event.arguments["parcel_id"] == "P-1")
    second = next(calls for calls in requests if calls[-1].event.arguments["parcel_id"] == "P-2")
    search = ContrastSearch(WORLD, rules, Completer(WORLD, rules))
    pair = next(one for one in search.pairs(state, first, (KIND,)) if one.changed.key == "P-1")
    return pair, search.extend(pair, second), search.extend(pair, first)


def test_a_further_change_is_carried_out_on_both_sides() -> None:
    rules = (DECLARED, *TRULY)
    pair, longer, same = extended(*rules)
    assert longer is not None
    assert (longer.changed, same) == (pair.changed, None)
    for side in (longer.granted, longer.other):
        check_trace(WORLD, side, rules, (), len(side.calls))
        sent = [event.arguments["parcel_id"] for event in side.events if event.tool == "SendParcel"]
        assert sent == ["P-1", "P-2"]


def test_where_one_change_is_declined_the_others_are_carried_out() -> None:
    pair, longer, _ = extended(*BAN)
    assert longer is not None
    assert longer.declined is pair.declined
    told = [event.arguments["parcel_id"] for event in longer.other.events if event.tool == "DeclineParcel"]
    sent = [event.arguments["parcel_id"] for event in longer.other.events if event.tool == "SendParcel"]
    assert (told, sent) == (["P-1"], ["P-2"])
    asked = [call.event.arguments["parcel_id"] for call in longer.requested if call.event.tool == "SendParcel"]
    assert asked == ["P-1", "P-2"]


def test_each_end_carries_out_the_others() -> None:
    _, longer, _ = extended(*BAN[:2])
    assert longer is not None
    assert longer.other == longer.ends[0].trace
    assert [end.trace.tools.count("SendParcel") for end in longer.ends] == [1, 1]
    assert len({end.declined for end in longer.ends}) == 2


def test_no_change_is_added_where_a_record_would_no_longer_be_complete() -> None:
    _, longer, _ = extended(*DUTIES)
    assert longer is None
