"""Shields: after a refused call not all rules could be kept, and after an admitted call they can."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import REFUSED_BY_SHIELD, Session
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.guard.shield import Shields
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule, load_rules

SETTING = load_domain("banking")
PUBLISHED = load_rules(SETTING.rules_file)
RULES = (
    *PUBLISHED,
    Rule(id="granted", formula="!((!CheckAuthorization(result.authorized)) U TransferFunds)"),
    Rule(id="small", formula="G !TransferFunds(amount > 400)"),
    Rule(id="found", formula="G(SearchPayee -> X PayBill)", rationale="Whoever searches a payee pays at once."),
    Rule(id="untried", formula="!((!CheckAuthorization) U attempted(PayBill))"),
    Rule(id="same payee", formula="forall p: G(PayBill(payee_id == p) -> WX G !PayBill(payee_id == p))"),
)
SHIELDS = Shields(ENVIRONMENT, SETTING.regulation)
INITIAL = ENVIRONMENT.populate(Random(3))
ACCOUNTS = [str(row.values["account_number"]) for row in INITIAL.rows("accounts")]
PAYEE = next(str(row.values["payee_id"]) for row in INITIAL.rows("payees"))

PAY: dict[str, Json] = {
    "from_account_number": ACCOUNTS[0],
    "payee_id": PAYEE,
    "service_account_number": "123456789",
    "payment_date": "2027-01-01",
    "amount": 20,
}
CALLS: list[tuple[str, dict[str, Json]]] = [
    ("CheckAuthorization", {}),
    ("SearchPayee", {"keywords": ["a"]}),
    ("PayBill", PAY),
    ("PayBill", {**PAY, "payee_id": "P-000000"}),
    ("TransferFunds", {"from_account_number": ACCOUNTS[0], "to_account_number": ACCOUNTS[1], "amount": 30}),
    ("TransferFunds", {"from_account_number": ACCOUNTS[0], "to_account_number": ACCOUNTS[1], "amount": 450}),
    ("RecordAuditEvent", {"events": ["BILL_PAYMENT"]}),
    ("GetAccountInformation", {"account_type": "savings"}),
    ("NoSuchTool", {}),
]


def broken(session: Session) -> set[str]:
    monitor = Monitor({rule.id: rule.automaton for rule in RULES})
    monitor.run(session.events)
    return {rule for rule, ending in monitor.final_statuses().items() if ending == "broken"}


@settings(max_examples=20)
@given(st.lists(st.sampled_from(CALLS), max_size=14))
def test_no_rule_breaks_behind_a_refusing_shield(calls: list[tuple[str, dict[str, Json]]]) -> None:
    session = Session(ENVIRONMENT, INITIAL, SHIELDS.open(RULES, "refuse"))
    for tool, arguments in calls:
        before = session.state
        answer = session.call(tool, arguments)
        if answer.event.outcome != "shielded":
            continue
        assert session.state is before
        assert answer.text.startswith(REFUSED_BY_SHIELD)
        # Without the shield, this call breaks only rules that refused it.
        bare = Session(ENVIRONMENT, INITIAL)
        for event in session.events:
            if event.outcome != "shielded":
                bare.call(event.tool, dict(event.arguments))
        assert not broken(bare)
        bare.call(tool, arguments)
        assert broken(bare) <= set(session.objections[-1].rules)
    assert not broken(session)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(CALLS), max_size=14))
def test_a_shield_that_warns_changes_nothing(calls: list[tuple[str, dict[str, Json]]]) -> None:
    watched = Session(ENVIRONMENT, INITIAL, SHIELDS.open(RULES, "warn"))
    bare = Session(ENVIRONMENT, INITIAL)
    for tool, arguments in calls:
        watched.call(tool, arguments)
        bare.call(tool, arguments)
    assert (watched.events, watched.state) == (bare.events, bare.state)
    assert {rule for objection in watched.objections for rule in objection.rules} >= broken(bare)
    assert not any(objection.refused for objection in watched.objections)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(CALLS), max_size=10))
def test_open_duties_are_the_rules_broken_by_ending(calls: list[tuple[str, dict[str, Json]]]) -> None:
    session = Session(ENVIRONMENT, INITIAL, SHIELDS.open(RULES, "refuse"))
    for tool, arguments in calls:
        session.call(tool, arguments)
    monitor = Monitor({rule.id: rule.automaton for rule in RULES})
    monitor.run(session.events)
    owed = session.open_duties()
    assert set(owed.rules if owed else ()) == {rule for rule, end in monitor.final_statuses().items() if end != "kept"}


def test_the_agent_reads_the_provision_instead_of_the_formula() -> None:
    session = Session(ENVIRONMENT, INITIAL, SHIELDS.open(PUBLISHED, "refuse"))
    text = session.call(*CALLS[4]).text
    provision = SETTING.regulation.by_citation["Article 97(1)(b)"]
    assert "Call CheckAuthorization() with the result authorized = true first." in text
    assert f"PSD2 Article 97(1)(b): {' '.join(provision.text.split()).split('. ')[0]}" in text
    assert "U TransferFunds" not in text


def test_a_rule_without_a_provision_gives_its_reason() -> None:
    session = Session(ENVIRONMENT, INITIAL, SHIELDS.open([rule for rule in RULES if rule.id == "found"], "refuse"))
    assert session.call(*CALLS[1]).event.completed
    refused = session.call(*CALLS[0])
    assert "Whoever searches a payee pays at once." in refused.text
    assert session.call(*CALLS[2]).event.completed, "a refused call is no step of the trace"


def test_a_warning_accompanies_the_result() -> None:
    session = Session(ENVIRONMENT, INITIAL, SHIELDS.open(PUBLISHED, "warn"))
    result, _, warning = session.call(*CALLS[4]).text.partition("\nWarning: ")
    assert json.loads(result)["success"] is True
    assert warning.startswith("Carried out, but it rules out")
    again = session.call(*CALLS[4])
    assert again.warning is None, "a rule that is lost is lost once"


@pytest.mark.parametrize("mode", ["warn", "refuse"])
def test_a_call_that_the_tool_refuses_breaks_nothing(mode: str) -> None:
    session = Session(ENVIRONMENT, INITIAL, SHIELDS.open(PUBLISHED, "warn" if mode == "warn" else "refuse"))
    unknown = session.call("PayBill", {**PAY, "payee_id": "P-000000"})
    assert unknown.event.outcome in {"raised", "failed"}
    assert session.objections == []
