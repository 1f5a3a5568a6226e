"""What happens in the dense worlds without a call, as look-ups show it, and their queues."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from lawtrace.environments.domains import clinic, payments, privacy_desk
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State

Found = Callable[[State], dict[str, Any] | None]


def started(environment: Environment, looked_for: Found) -> tuple[Session, dict[str, Any]]:
    """A session from the first state in which something is found, and what is found."""
    for seed in range(200):
        state = environment.populate(Random(seed))
        if (found := looked_for(state)) is not None:
            return Session(environment, state), found
    raise AssertionError("no state has it")


def rows(state: State, table: str, **values: object) -> Iterator[dict[str, Any]]:
    """The rows with these values."""
    for row in state.rows(table):
        if values.items() <= dict(row.values).items():
            yield dict(row.values)


def first(table: str, **values: object) -> Found:
    return lambda state: next(rows(state, table, **values), None)


def shown(session: Session, tool: str, **arguments: Any) -> Any:
    event = session.call(tool, arguments).event
    assert event.completed, event
    return event.result


def test_a_withdrawn_consent_is_seen_at_the_next_look() -> None:
    session, arriving = started(privacy_desk.ENVIRONMENT, first("withdrawals"))
    case = arriving["case_id"]
    assert "given" in shown(session, "ReadConsent", case_id=case)["consent"]
    shown(session, "Wait", days=26)
    assert shown(session, "ReadConsent", case_id=case)["consent"] == "withdrawn"


def test_a_proof_that_arrives_removes_the_doubt() -> None:
    session, arriving = started(privacy_desk.ENVIRONMENT, first("proofs"))
    case = arriving["case_id"]
    assert shown(session, "ReadMessage", case_id=case)["sender"] == "not on file"
    shown(session, "Wait", days=26)
    assert shown(session, "ReadMessage", case_id=case)["sender"] == "confirmed"


def test_data_are_at_hand_40_days_after_the_collection_was_ordered() -> None:
    session, holding = started(privacy_desk.ENVIRONMENT, first("holdings", effort="complex"))
    case = holding["case_id"]
    shown(session, "CollectData", case_id=case)
    shown(session, "Wait", days=39)
    assert shown(session, "ReadDataSheet", case_id=case)["effort"] == "complex"
    shown(session, "Wait", days=1)
    assert shown(session, "ReadDataSheet", case_id=case)["effort"] == "little"


def test_a_planned_lifting_takes_place_on_its_day() -> None:
    session, asked = started(privacy_desk.ENVIRONMENT, first("cases", matter="use again"))
    case = asked["case_id"]
    shown(session, "ScheduleLifting", case_id=case, day="2026-10-30" if session.now > 1_785_500_000 else "2026-07-05")
    assert case not in {row["case_id"] for row in shown(session, "ListCases")["cases"]}
    assert shown(session, "ReadConsent", case_id=case)["status"] == "restricted"
    shown(session, "Wait", days=60)
    shown(session, "Wait", days=45)
    assert shown(session, "ReadConsent", case_id=case)["status"] == "in use"


def test_an_opinion_comes_in_a_day_after_it_was_asked_for() -> None:
    session, request = started(clinic.ENVIRONMENT, first("requests", category="family"))
    request_id, opinion = request["request_id"], request["clinician_answer"]
    assert shown(session, "AskClinician", request_id=request_id) == {"opinion": "none"}
    shown(session, "Wait", days=1)
    assert shown(session, "AskClinician", request_id=request_id) == {"opinion": opinion}


def test_a_statement_of_the_police_and_a_revocation_come_in() -> None:
    session, arriving = started(clinic.ENVIRONMENT, first("statements"))
    incident = arriving["incident_id"]
    assert shown(session, "OpenIncident", incident_id=incident)["hold"] == {"police_statement": "none"}
    shown(session, "Wait", days=21)
    opened = shown(session, "OpenIncident", incident_id=incident)
    assert (opened["hold"], opened["hold_until"]) == ({"police_statement": "in writing"}, "2026-04-10")
    session, arriving = started(clinic.ENVIRONMENT, first("revocations"))
    (signed,) = rows(session.state, "authorizations", authorization_id=arriving["authorization_id"])
    about = {name: signed[name] for name in ("patient_id", "requester_id")}
    request = next(rows(session.state, "requests", **about))["request_id"]
    assert shown(session, "FindAuthorization", request_id=request)["authorization"]["status"] == "in force"
    shown(session, "Wait", days=21)
    assert shown(session, "FindAuthorization", request_id=request)["authorization"]["status"] == "revoked"


def test_planned_notices_go_out_on_their_day() -> None:
    session, incident = started(clinic.ENVIRONMENT, first("incidents"))
    notice = {"means": "first-class mail", "information": incident["information"], "channel": "yearly log"}
    planned = {"incident_id": incident["incident_id"], "media": "not told", "day": "2026-04-10"}
    shown(session, "ScheduleNotices", **notice, **planned)
    shown(session, "Wait", days=20)
    assert not [*session.state.rows("notices")]
    shown(session, "Wait", days=20)
    assert [row.values["means"] for row in session.state.rows("notices")] == ["first-class mail"]
    assert [row.values["channel"] for row in session.state.rows("reports")] == ["yearly log"]


def test_an_answer_comes_in_two_hours_after_a_party_was_asked() -> None:
    session, order = started(payments.ENVIRONMENT, first("orders", payee_agrees=True, institution_agrees=False))
    order_id = order["order_id"]
    for party in ("payee", "payee's institution"):
        assert shown(session, "AskAgreement", order_id=order_id, party=party)["answer"] == "none"
    shown(session, "Wait", hours=2)
    answers = {
        party: shown(session, "AskAgreement", order_id=order_id, party=party)["answer"]
        for party in ("payee", "payee's institution")
    }
    assert answers == {"payee": "agrees", "payee's institution": "objects"}


def test_a_proof_and_a_payment_with_the_pin_are_seen_at_the_next_look() -> None:
    session, arriving = started(payments.ENVIRONMENT, first("proofs"))
    transaction = arriving["transaction_id"]
    assert shown(session, "ReadTransactionFile", transaction_id=transaction)["evidence"] != "full proof"
    shown(session, "Wait", hours=72)
    assert shown(session, "ReadTransactionFile", transaction_id=transaction)["evidence"] == "full proof"
    session, arriving = started(payments.ENVIRONMENT, first("pin_payments"))
    card = arriving["card_id"]
    assert shown(session, "ReadCardFile", card_id=card)["counters"]["contactless_count"] > 0
    shown(session, "Wait", hours=72)
    counters = shown(session, "ReadCardFile", card_id=card)["counters"]
    assert counters == {"contactless_total": 0.0, "contactless_count": 0}


def test_a_planned_payment_is_executed_on_its_day() -> None:
    session, payee = started(payments.ENVIRONMENT, first("payees"))
    account = next(rows(session.state, "accounts"))["account_id"]
    paid = {"account_id": account, "payee_id": payee["payee_id"], "amount": 20.0}
    shown(session, "SchedulePayment", **paid, day="2026-03-08")
    assert not [*session.state.rows("payments")]
    shown(session, "Wait", hours=72)
    assert [row.values["amount"] for row in session.state.rows("payments")] == [20_00]


QUEUES = [
    (privacy_desk.ENVIRONMENT, "ListCases", "cases", "received"),
    (privacy_desk.ENVIRONMENT, "ListIncidents", "incidents", None),
    (clinic.ENVIRONMENT, "ListRequests", "requests", "received_on"),
    (clinic.ENVIRONMENT, "ListIncidents", "incidents", None),
    (payments.ENVIRONMENT, "ListClaims", "transactions", None),
]


@pytest.mark.parametrize(("environment", "tool", "table", "received"), QUEUES)
def test_a_queue_shows_all_open_matters_as_they_came_in(
    environment: Environment, tool: str, table: str, received: str | None
) -> None:
    for seed in range(5):
        session = Session(environment, environment.populate(Random(seed)))
        listed = shown(session, tool)[table]
        key = environment.entities[table].key
        there = [row for row in rows(session.state, table) if table != "transactions" or row["claim"] is not None]
        assert [row[key] for row in listed] == [row[key] for row in there]
        if received is not None:
            assert [row[received] for row in listed] == sorted(row[received] for row in listed)
