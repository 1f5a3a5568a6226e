"""The bounded encoding: agrees with the product, its traces run, its cores are minimal and readable."""

from itertools import product
from random import Random
from typing import cast

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.trace_options import TraceMode
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.trace_spec import TraceSpec, mode_formulas
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.search.problem import Answer, Found, Impossible, Unknown
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding
from tests.support.incident_room import EMPTY, INCIDENT_ROOM
from tests.support.semantics import holds_on

RULES = load_rules(load_domain("banking").rules_file)
INITIAL = ENVIRONMENT.populate(Random(0))


def automata_of(mode: TraceMode) -> dict[str, Automaton]:
    formulas = mode_formulas(ENVIRONMENT, mode).values()
    return {rule.id: rule.automaton for rule in RULES} | {text: compile_formula(parse(text)) for text in formulas}


def run_calls(calls: tuple[Event, ...]) -> list[Event]:
    session = Session(ENVIRONMENT, INITIAL)
    for planned in calls:
        arguments: dict[str, Json] = dict(planned.arguments)
        if planned.tool == "RecordAuditEvent":
            arguments["events"] = list(pending_events(ENVIRONMENT.tools, tuple(session.events)))
        session.call(planned.tool, arguments)
    return session.events


def test_obstacles_name_the_causes() -> None:
    encoding = BoundedEncoding(ENVIRONMENT, automata_of("coverage"), length=6, initial=INITIAL)
    answer = encoding.ask_pair("RecordAuditEvent", "RecordAuditEvent")
    assert isinstance(answer, Impossible)
    assert [obstacle.text for obstacle in answer.core] == ["RecordAuditEvent needs an event that is not recorded yet"]
    assert any("6 calls" in assumption for assumption in encoding.assumptions())


@pytest.mark.slow
def test_without_its_rule_a_forbidden_pair_becomes_possible() -> None:
    automata = automata_of("tasks")
    once = next(name for name in automata if name.startswith("G(CheckAuthorization"))
    pair = ("CheckAuthorization", "CheckAuthorization")
    forbidden = BoundedEncoding(ENVIRONMENT, automata, length=8, initial=INITIAL).ask_pair(*pair)
    assert isinstance(forbidden, Impossible)
    assert once in forbidden.rules
    others = {name: automaton for name, automaton in automata.items() if name != once}
    assert isinstance(BoundedEncoding(ENVIRONMENT, others, length=8, initial=INITIAL).ask_pair(*pair), Found)


@pytest.mark.slow
def test_an_exhausted_balance_is_an_obstacle() -> None:
    broke = INITIAL
    rows = tuple(type(row)({**row.values, "balance": 5_00}) for row in broke.tables["accounts"])
    encoding = BoundedEncoding(ENVIRONMENT, automata_of("tasks"), length=8, initial=broke.with_table("accounts", rows))
    answer = encoding.ask()
    assert isinstance(answer, Impossible)
    assert any("balance does not cover" in obstacle.text for obstacle in answer.core)


# Rules on arguments and results, and quantified rules.

LOOKING = {
    "granted": "!((!CheckAuthorization(result.authorized)) U TransferFunds)",
    "never-granted": "G !CheckAuthorization(result.authorized)",
    "recorded-bill": 'G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))',
    "only-transfers": 'G !RecordAuditEvent("BILL_PAYMENT" in events)',
    "large": "G(TransferFunds(amount > 400) -> O GetAccountStatement)",
    "too-large": "G !PayBill(amount < 500.005)",
    "exactly": "F TransferFunds(amount == 123.45)",
    "savings-first": 'G(GetAccountInformation -> O GetAccountInformation(account_type == "savings"))',
    "narrow": "G(SearchTransactions -> O SearchTransactions(min_amount > 5))",
    "statement-first": (
        "forall a: G(TransferFunds(from_account_number == a) -> O GetAccountStatement(account_number == a))"
    ),
    "no-return": "forall a: G(TransferFunds(from_account_number == a) -> G !TransferFunds(to_account_number == a))",
    "payee-once": "forall p: G(PayBill(payee_id == p) -> WX G !PayBill(payee_id == p))",
    "no-from": "forall a: G !TransferFunds(from_account_number == a)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOKING)
def test_z3_and_the_product_agree_for_rules_with_conditions(name: str) -> None:
    rule = Rule(id=name, formula=LOOKING[name])
    automaton = rule.automaton
    length = 5
    encoding = BoundedEncoding(ENVIRONMENT, {name: automaton}, length=length, initial=INITIAL)
    spec = TraceSpec(ENVIRONMENT, (rule,), "coverage")
    feasible = Product(ENVIRONMENT, spec.automata(length)).feasible_pairs(length)
    assert (encoding.unsupported != ()) == (name == "narrow")
    tools = ("TransferFunds", "PayBill", "RecordAuditEvent", "CheckAuthorization", "SearchTransactions")
    for pair in product(tools, repeat=2):
        answer = encoding.ask_pair(*pair)
        if isinstance(answer, Impossible):
            assert pair not in feasible or not rule.has_table, pair
        elif isinstance(answer, Unknown):
            assert encoding.unsupported
        else:
            assert pair in feasible, pair
            events = run_calls(answer.trace)
            assert all(event.completed for event in events)
            assert holds_on(parse(LOOKING[name]), events)


def test_an_unsupported_condition_is_named() -> None:
    encoding = BoundedEncoding(
        ENVIRONMENT, {"narrow": compile_formula(parse(LOOKING["narrow"]))}, length=2, initial=INITIAL
    )
    assert encoding.unsupported == (
        "`SearchTransactions(min_amount > 5)`: an argument that is left out here and need not be",
    )


def test_a_certificate_names_the_rule_with_the_condition() -> None:
    rule = "forall a: G !TransferFunds(from_account_number == a)"
    encoding = BoundedEncoding(ENVIRONMENT, {rule: compile_formula(parse(rule))}, length=5, initial=INITIAL)
    answer = encoding.ask_pair("GetAccountInformation", "TransferFunds")
    assert isinstance(answer, Impossible)
    assert [(obstacle.kind, obstacle.text) for obstacle in answer.core] == [("rule", rule)]


# Rules with time, several variables and aggregates.


def ask_incident_room(*formulas: str, length: int) -> Answer[tuple[Event, ...]]:
    rules = {text: Rule(id=text, formula=text).compiled for text in formulas}
    encoding = BoundedEncoding(INCIDENT_ROOM, rules, length=length, initial=EMPTY)
    assert encoding.unsupported == ()
    return encoding.ask()


NOTIFIED = "forall i: G(Open(result.incident_id == i) -> F[> 5min, <= 20min] Notify(incident_id == i))"


def test_a_trace_meets_a_deadline_for_each_object() -> None:
    answer = ask_incident_room(NOTIFIED, "F Open & F Archive", length=6)
    assert isinstance(answer, Found)
    assert holds_on(parse(NOTIFIED), answer.trace)
    opened, notified, archived = (
        [cast("int", event.time) for event in answer.trace if event.tool == tool]
        for tool in ("Open", "Notify", "Archive")
    )
    assert any(5 * 60 < notice - opened[0] <= 20 * 60 for notice in notified)
    assert archived[-1] - opened[0] >= 30 * 60


ARCHIVED_SOON = "forall i: G(Open(result.incident_id == i) -> F[<= 28min] Archive(incident_id == i))"


@pytest.mark.parametrize(
    ("formulas", "kinds"),
    [
        (("F Open", ARCHIVED_SOON), {"precondition", "rule"}),
        (("F Open & F Notify & sum(minutes of Wait) > 100",), {"rule"}),
        (("F count(distinct title of Open) >= 3",), {"rule"}),
        pytest.param(("F Open", NOTIFIED, "G(Wait -> F[<= 1min] Notify)"), {"rule"}, marks=pytest.mark.slow),
    ],
)
def test_what_excludes_a_trace_is_named(formulas: tuple[str, ...], kinds: set[str]) -> None:
    answer = ask_incident_room(*formulas, length=4)
    assert isinstance(answer, Impossible)
    assert {obstacle.kind for obstacle in answer.core} == kinds
    assert set(answer.rules) == {*formulas}


def test_a_rule_reads_the_rows_of_a_result() -> None:
    listed = 'F List(any i in result.incidents: i.title == "leak")'
    assert isinstance(ask_incident_room(listed, length=2), Found)
    assert isinstance(ask_incident_room(listed, 'G !Open(title == "leak")', length=2), Impossible)
