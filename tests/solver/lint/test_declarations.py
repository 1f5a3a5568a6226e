"""Declaration checks find planted issues, and find none in the shipped environments."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawtrace.environments.spec.agenda import Happening
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Delete, Effect, Insert, Update
from lawtrace.environments.spec.kit import table
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import Row, State
from lawtrace.environments.spec.terms import argument, constant
from lawtrace.environments.spec.tools import Fails, FromUser, Parameter, Phrases, Tool
from lawtrace.environments.spec.types import MOMENT, TEXT
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, Domain, load_domain
from lawtrace.solver.lint.declarations import DeclarationIssue, check_deadlines, lint_declaration
from lawtrace.solver.lint.rule_grounds import find_ungrounded
from lawtrace.solver.rules import Rule, load_rules
from tests.support.incident_room import INCIDENT_ROOM
from tests.support.tiers import split_by_tier

AIRLINE = load_domain(str(Path(__file__).parents[3] / "docs" / "environments" / "airline"))
RULES = load_rules(AIRLINE.rules_file)
WORLD = AIRLINE.environment
BOOKINGS, PAYMENTS, DESK = (WORLD.entities[table] for table in ("bookings", "payments", "desk"))
NOTE = Parameter("note", TEXT, "A note.", FromUser(OneOf(("please",))))


def changed(tool: str, **parts: Any) -> Environment:
    """The airline with one tool changed."""
    return replace(WORLD, tools={**WORLD.tools, tool: replace(WORLD.tools[tool], **parts)})


def populated(change: Callable[[State, Random], State]) -> Environment:
    def populate(random: Random) -> State:
        return change(WORLD.populate(random), random)

    return replace(WORLD, populate=populate)


def found(environment: Environment = WORLD, rules: tuple[Rule, ...] = RULES) -> list[DeclarationIssue]:
    return list(lint_declaration(environment, rules, AIRLINE.regulation))


def tool(name: str) -> Tool:
    return WORLD.tools[name]


def with_failure(name: str, failure: Fails) -> Environment:
    return changed(name, fails=(*tool(name).fails, failure))


def same_key(state: State, random: Random) -> State:
    rows = state.tables["bookings"]
    return state.with_table("bookings", (*rows, rows[0]))


def odd_kind(state: State, random: Random) -> State:
    row = state.tables["flights"][0]
    return state.with_table("flights", (Row({**row.values, "destination": "Atlantis"}),))


def external_price(state: State, random: Random) -> State:
    row = state.tables["bookings"][0]
    return state.with_table("bookings", (Row({**row.values, "ticket_price": "120.00"}),))


def all_as_planned(state: State, random: Random) -> State:
    rows = (Row({**row.values, "operates": "as planned"}) for row in state.rows("bookings"))
    return state.with_table("bookings", tuple(rows))


def raising(state: State, random: Random) -> State:
    raise InputError("no more names")


SEEDS = count()


def another_each_time(state: State, random: Random) -> State:
    return WORLD.populate(Random(next(SEEDS)))


ARRIVALS = table("arrivals", "arrival", prefix="A-", arrival_id=TEXT, code=TEXT, at=MOMENT)
LOST = table("lost", "lost bag", prefix="L-", lost_id=TEXT, code=TEXT)
CANCELS = Update(BOOKINGS, lambda b: b.booking_code == argument("code"), {"operates": constant("cancelled")})


def happening(*effects: Effect, description: str = "A flight is cancelled.", planned: bool = True) -> Environment:
    """The airline in which something happens without a call; `planned`: in each initial state."""
    row = Row({"arrival_id": "A-1", "code": "-", "at": 739_677 * 1440})

    def populate(random: Random) -> State:
        return State({**WORLD.populate(random).tables, "arrivals": (row,) if planned else (), "lost": ()})

    return replace(
        WORLD,
        entities={**WORLD.entities, "arrivals": ARRIVALS, "lost": LOST},
        populate=populate,
        agenda=(Happening(description, ARRIVALS, "at", effects or (CANCELS,)),),
    )


PLANTED: dict[str, tuple[Environment, str, str]] = {
    "a precondition that nothing can meet": (
        with_failure("PayCompensation", Fails("Always.", (argument("amount") < 100) | (argument("amount") > 50))),
        "tool 'PayCompensation'",
        "no compliant trace can call PayCompensation",
    ),
    "what happens without a call is not described": (
        happening(description="-"),
        "what happens to 'arrivals'",
        "it has no description",
    ),
    "nothing plans what happens": (
        happening(planned=False),
        "what happens to 'arrivals'",
        "no tool plans it, and none of 20 initial states does",
    ),
    "what happens makes no difference": (
        happening(Insert(LOST, {"code": argument("code")})),
        "what happens to 'arrivals'",
        "no tool shows or changes what it changes",
    ),
    "what happens compares a text with a number": (
        happening(Delete(BOOKINGS, lambda b: b.ticket_price < argument("code"))),
        "what happens to 'arrivals'",
        "its effects raise TypeError",
    ),
    "a parameter that changes nothing": (
        changed(
            "LookUpFlight",
            parameters=(*tool("LookUpFlight").parameters, NOTE),
            phrases=Phrases(
                "Look up the {destination} flight, {note}.", noun_phrase="the {destination} flight, {note}"
            ),
        ),
        "tool 'LookUpFlight', parameter 'note'",
        "it is never used",
    ),
    "a result that nobody documents": (
        changed("FindBooking", results=(replace(tool("FindBooking").results[0], description="-"),)),
        "tool 'FindBooking', result 'bookings'",
        "it has no description",
    ),
    "a phrase that leaves something out": (
        changed("LookUpFlight", phrases=Phrases("Look up a flight.", noun_phrase="the {destination} flight")),
        "tool 'LookUpFlight', phrase 'step'",
        "it does not state 'destination'",
    ),
    "a phrase that gives a step away": (
        changed(
            "LookUpFlight",
            phrases=Phrases("Look up the {destination} flight, with a notice.", noun_phrase="the {destination}"),
        ),
        "tool 'LookUpFlight', phrase 'step'",
        "reveals a compliance step: 'notice'",
    ),
    "no words for an outcome": (
        changed("RebookPassenger", phrases=Phrases("Rebook {booking_code} to {flight_number}.")),
        "tool 'RebookPassenger', phrases",
        "has no `outcome` phrase",
    ),
    "no words for what is found": (
        changed("LookUpFlight", phrases=Phrases("Look up the {destination} flight.")),
        "tool 'LookUpFlight', phrases",
        "has no `noun_phrase`",
    ),
    "a key that occurs twice": (populated(same_key), "populate", "two rows of 'bookings' have the key"),
    "a value that is of another kind": (populated(odd_kind), "populate", "'Atlantis' is not one of"),
    "another state for the same seed": (populated(another_each_time), "populate", "the same seed gives another state"),
    "a table that is missing": (
        populated(lambda state, random: State({"bookings": state.tables["bookings"]})),
        "populate",
        "it has no table 'case_log', which is among the entities",
    ),
    "a table of another name": (
        populated(lambda state, random: State({**state.tables, "bookins": ()})),
        "populate",
        "it has a table 'bookins', which is not among the entities; did you mean 'bookings'?",
    ),
    "a value in its external form": (
        populated(external_price),
        "populate",
        "bookings.ticket_price is '120.00', which is no internal form of a",
    ),
    "states that cannot be drawn": (populated(raising), "populate", "it fails: no more names"),
    "a comparison of two kinds": (
        with_failure("ReimburseTicket", Fails("Too much.", argument("amount") > "all of it")),
        "tool 'ReimburseTicket', failure: Too much.",
        "a call raises TypeError",
    ),
    "a compliance tool that nothing gives away": (
        changed("SendRightsNotice", leak_words=()),
        "tool 'SendRightsNotice'",
        "without leak words",
    ),
    "nothing to say": (
        populated(lambda state, random: state.with_table("bookings", ())),
        "tool 'FindBooking', parameter 'keywords'",
        "its sampler finds no value",
    ),
    "states that carry no trace": (
        populated(all_as_planned),
        "tool 'RebookPassenger'",
        "no compliant trace can call RebookPassenger",
    ),
    "a compliance tool that no rule speaks of": (
        changed("LookUpFlight", compliance=True, phrases=None),
        "tool 'LookUpFlight'",
        "it is a compliance tool, but no rule names it",
    ),
    "a critical tool that no rule speaks of": (
        changed("LookUpFlight", critical=True),
        "tool 'LookUpFlight'",
        "it is critical, but no rule names it",
    ),
}


EVERYDAY = {
    "a precondition that nothing can meet",
    "a parameter that changes nothing",
    "a phrase that gives a step away",
    "no words for an outcome",
    "a key that occurs twice",
    "another state for the same seed",
    "states that cannot be drawn",
    "a comparison of two kinds",
    "states that carry no trace",
    "a compliance tool that no rule speaks of",
}
"""One issue of each kind for the fast tier; most of a check's time goes to proofs about the whole environment."""


@pytest.mark.parametrize("planted", split_by_tier(PLANTED, EVERYDAY))
def test_planted_issues_are_found(planted: str) -> None:
    environment, place, what = PLANTED[planted]
    flaws = found(environment)
    assert any(flaw.place.startswith(place) and what in flaw.what for flaw in flaws), flaws
    assert all(flaw.remedy for flaw in flaws)


@pytest.mark.parametrize(
    "name",
    [
        "banking",
        "airline",
        *(pytest.param(name, marks=pytest.mark.slow) for name in PAPER_DOMAINS if name != "banking"),
    ],
)
def test_shipped_environments_have_no_issues(name: str) -> None:
    domain: Domain = AIRLINE if name == "airline" else load_domain(name)
    assert lint_declaration(domain.environment, load_rules(domain.rules_file), domain.regulation) == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["payments", "clinic"])
def test_of_large_environments_nothing_but_questions_is_left(name: str) -> None:
    domain = load_domain(name)
    issues = lint_declaration(domain.environment, load_rules(domain.rules_file), domain.regulation)
    assert [issue for issue in issues if not issue.undecided] == []


def test_rules_without_provisions() -> None:
    unfounded = Rule(id="mine", formula="!((!FindBooking) U PayCompensation)", provisions=("Section 3.2",))
    places = {flaw.place: flaw.what for flaw in found(rules=(*RULES, unfounded))}
    assert places["rule 'mine'"] == "it cites no provision of VELA"


@pytest.mark.parametrize(
    ("formula", "what"),
    [
        ('G(LookUpFlight -> F RecordCaseEntry("PASENGER_REBOOKED" in events))', '"PASENGER_REBOOKED"'),
        ('G !LookUpFlight(destination in ["Oslo", "Olso"])', '"Olso"'),
        ('G !RebookPassenger(not (flight_number == "VE1"))', '"VE1"'),
        ('G !ShowPayments(since < "yesterday")', '"yesterday"'),
        ('G(RebookPassenger -> O user("yes"))', None),
    ],
)
def test_constants_that_nothing_documents(formula: str, what: str | None) -> None:
    rule = Rule(id="mine", formula=formula, regulation="VELA", provisions=("Section 1.1",))
    flaws = [missing.what for missing in find_ungrounded(WORLD, AIRLINE.regulation, (*RULES, rule))]
    assert flaws == ([what] if what else [])


def test_conflicting_rules() -> None:
    never = Rule(id="never", formula="G !RebookPassenger", regulation="VELA", provisions=("Section 1.1",))
    flaws = found(rules=(*RULES, never))
    assert {"tool 'RebookPassenger'", "rule record-rebooking"} <= {flaw.place for flaw in flaws}
    assert all("Proved" in flaw.proof for flaw in flaws)


@pytest.mark.parametrize(
    ("formula", "windows"),
    [
        ("G(Open -> F[<= 10min] Notify)", []),
        ("G(Open -> F[<= 2h] Notify)", ["[<= 2h]"]),
        ("G(Open -> !(Archive U[<= 2h] Notify))", []),
        ("G(Open -> G[<= 72h] !Notify)", []),
        ("!F(Open & G[<= 72h] !Notify)", ["[<= 72h]"]),
        ("G(Open -> F[<= 1 calendar day] Notify)", ["[<= 1 calendar day]"]),
        ("G(Notify -> O[<= 72h] Open)", []),
    ],
)
def test_a_deadline_after_every_session_is_an_issue(formula: str, windows: list[str]) -> None:
    issues = list(check_deadlines(INCIDENT_ROOM, [Rule(id="r", formula=formula)]))
    assert [str(issue).count(window) for issue, window in zip(issues, windows, strict=True)] == [1] * len(windows)
