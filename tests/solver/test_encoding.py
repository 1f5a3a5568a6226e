"""The bounded encoding: agrees with the product, its traces run, its cores are minimal and speak."""

from itertools import pairwise
from random import Random

import pytest

from environments.banking import ENVIRONMENT
from environments.catalogue import load_setting
from environments.events import Event, Json
from environments.pending import pending_events
from environments.simulation import call
from solver.covering import analyse_coverage
from solver.encoding import Call, Encoding
from solver.ltlf import Automaton, Monitor
from solver.product import Product
from solver.profiles import Profile, profile_automata, profile_formulas
from solver.rules import load_rules

RULES = load_rules(load_setting("banking").rules_file)
INITIAL = ENVIRONMENT.populate(Random(0))


def automata_of(profile: Profile) -> dict[str, Automaton]:
    formulas = profile_formulas(ENVIRONMENT, profile)
    return {rule.id: rule.automaton for rule in RULES} | dict(
        zip(formulas, profile_automata(ENVIRONMENT, profile), strict=True)
    )


def run_calls(calls: tuple[Call, ...]) -> list[Event]:
    state, events = INITIAL, list[Event]()
    for planned in calls:
        arguments: dict[str, Json] = dict(planned.arguments)
        if planned.tool == "RecordAuditEvent":
            arguments["events"] = list(pending_events(ENVIRONMENT, tuple(events)))
        event, state = call(ENVIRONMENT, state, planned.tool, arguments)
        events.append(event)
    return events


@pytest.mark.parametrize(("profile", "length"), [("coverage", 2), ("coverage", 4), ("tasks", 5), ("tasks", 6)])
def test_z3_and_the_product_agree_on_every_pair_and_z3s_traces_run(profile: Profile, length: int) -> None:
    automata = automata_of(profile)
    encoding = Encoding(ENVIRONMENT, automata, length=length, initial=INITIAL)
    feasible = Product(ENVIRONMENT, list(automata.values())).adjacent_pairs(length)
    for first in ENVIRONMENT.tools:
        for second in ENVIRONMENT.tools:
            answer = encoding.ask_pair(first, second)
            assert answer.decided
            assert (answer.calls is not None) == ((first, second) in feasible), (first, second)
            if answer.calls is None:
                continue
            events = run_calls(answer.calls)
            assert all(event.completed for event in events)
            assert (first, second) in {(a.tool, b.tool) for a, b in pairwise(events)}
            monitor = Monitor(automata)
            monitor.run(events)
            assert set(monitor.at_end().values()) == {"kept"}


def test_an_obstacle_names_what_forbids_the_pair() -> None:
    encoding = Encoding(ENVIRONMENT, automata_of("coverage"), length=6, initial=INITIAL)
    answer = encoding.ask_pair("RecordAuditEvent", "RecordAuditEvent")
    assert answer.obstacles is not None
    assert [obstacle.text for obstacle in answer.obstacles] == [
        "RecordAuditEvent needs an event that is not recorded yet"
    ]
    assert any("6 calls" in assumption for assumption in encoding.assumptions())


def test_without_its_rule_a_forbidden_pair_becomes_possible() -> None:
    automata = automata_of("tasks")
    once = next(name for name in automata if name.startswith("G(CheckAuthorization"))
    pair = ("CheckAuthorization", "CheckAuthorization")
    forbidden = Encoding(ENVIRONMENT, automata, length=8, initial=INITIAL).ask_pair(*pair)
    assert forbidden.obstacles is not None
    assert once in {obstacle.text for obstacle in forbidden.obstacles}
    others = {name: automaton for name, automaton in automata.items() if name != once}
    assert Encoding(ENVIRONMENT, others, length=8, initial=INITIAL).ask_pair(*pair).calls is not None


def test_a_suite_of_forty_covers_every_feasible_pair() -> None:
    analysis = analyse_coverage(ENVIRONMENT, RULES, profile="coverage", length=8, count=40, seed=1)
    assert len(analysis.feasible) == 63
    assert analysis.missing == ()
    assert analysis.undecided == ()
    assert analysis.needed is not None
    assert 9 <= analysis.bound.walks <= analysis.needed <= 40
    assert [certificate.pair for certificate in analysis.certificates] == [("RecordAuditEvent", "RecordAuditEvent")]


def test_money_that_runs_out_is_an_obstacle() -> None:
    broke = INITIAL
    rows = tuple(type(row)({**row.values, "balance": 5_00}) for row in broke.tables["accounts"])
    encoding = Encoding(ENVIRONMENT, automata_of("tasks"), length=8, initial=broke.with_table("accounts", rows))
    answer = encoding.ask()
    assert answer.obstacles is not None
    assert any("balance does not cover" in obstacle.text for obstacle in answer.obstacles)
