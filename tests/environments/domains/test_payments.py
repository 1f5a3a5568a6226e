"""Each fact of the payments environment: a program that is lawful with one value of it and unlawful with another."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import cast

import pytest

from lawtrace.environments.domains import payments
from lawtrace.environments.domains.payments import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State, decode_state
from lawtrace.schemas.events import Json
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import load_rules
from tests.support.small_payments import (
    BLUE,
    BUDGETWISE,
    CARS,
    GYM,
    HOTEL,
    LINKED,
    PAYMENT,
    RENT,
    SEND,
    SHARE,
    SHOP,
    SIGN_IN,
    TABLES,
    TAP,
    TRAVEL,
)

FOLDER = Path(payments.__file__).parent
RULES = {rule.id: rule.compiled for rule in load_rules(FOLDER / "rules.toml")}
OLDER = "2024-11-26"

Step = tuple[str, dict[str, Json]]
Place = tuple[str, str, str]


def call(tool: str, **arguments: Json) -> Step:
    return tool, arguments


def with_changes(changes: Mapping[Place, Json]) -> State:
    tables = deepcopy(cast("dict[str, dict[str, dict[str, Json]]]", TABLES))
    for (table, key, name), value in changes.items():
        tables[table][key][name] = value
    return decode_state(cast("dict[str, Json]", tables), ENVIRONMENT.entities)


def broken(steps: Sequence[Step], changes: Mapping[Place, Json]) -> list[str]:
    """The rules that these steps, all of which complete, do not keep; no duty waits for a later deadline."""
    session = Session(ENVIRONMENT, with_changes(changes))
    for step in steps:
        event = session.call(*step).event
        assert event.completed, (step, event)
    monitor = Monitor(RULES)
    monitor.run(session.events)
    endings = {rule: status.ending for rule, status in monitor.statuses(session.end).items()}
    assert "not_due" not in endings.values()
    return [rule for rule, ending in endings.items() if ending != "kept"]


FILE, FIND_PHONE = call("ReadSecurityFile"), call("FindDevice", kind="phone")
SHOW, SCREEN = call("PresentPayment", **PAYMENT), call("ScreenPayment", **PAYMENT)
CODE, PAY = call("AuthenticatePayment", **LINKED), call("SendPayment", **SEND)
SHOP_RECORD = call("ReadPayeeRecord", payee_id=SHOP)
TRUSTED, OWN = (
    call("ApplyExemption", **PAYMENT, ground="trusted payee"),
    call("ApplyExemption", **PAYMENT, ground="own account"),
)
TAPPED, PIN, BLUE_FILE = call("ApproveContactless", **TAP), call("AskForPin", **TAP), call("ReadCardFile", card_id=BLUE)
TRAVEL_FILE, UNBLOCKED = call("ReadCardFile", card_id=TRAVEL), call("UnblockCard", card_id=TRAVEL)
QUARTER = call("ShowStatement", statement_id="ST-1", days_back=90)
PROVIDER_FILE, SHARED = call("ReadProviderFile", provider_id=BUDGETWISE), call("ShareAccountData", **SHARE)
FOR_PROVIDER = call("AuthenticateCustomer", **{**SIGN_IN, "action": "let a provider see account data"})
RENT_FILE, GYM_FILE = (call("ReadOrderFile", order_id=order) for order in (RENT, GYM))
CLAIM, LOG, REFUND = (
    call(tool, transaction_id=HOTEL) for tool in ("ReadClaim", "ReadTransactionFile", "RefundTransaction")
)
CARS_CLAIM, CARS_LOG = (call(tool, transaction_id=CARS) for tool in ("ReadClaim", "ReadTransactionFile"))
FAILURES: Place = ("security_file", "current", "failed_attempts")
PASSWORD: Place = ("security_file", "current", "password")
FINGER: Place = ("security_file", "current", "fingerprint")
LAST_VIEW: Place = ("security_file", "current", "last_authenticated_view")
PROVIDER_VIEW: Place = ("providers", "PV-1", "last_authenticated")
TOTAL, COUNT = (("counters", "current", name) for name in ("remote_total", "remote_count"))
STOLEN = "on a list of stolen passwords"


def finding(transaction: str, what: str) -> Step:
    return call("RecordFinding", transaction_id=transaction, finding=what)


def asks(order: str, party: str) -> Step:
    return call("AskAgreement", order_id=order, party=party)


SMALL: dict[str, Json] = {"payee_id": SHOP, "amount": 30.0}
BEGUN: list[Step] = [FILE, SHOP_RECORD, FIND_PHONE, SHOW]
AUTHENTICATED: list[Step] = [*BEGUN, CODE, PAY, SCREEN]
BY_FINGER: list[Step] = [
    *BEGUN,
    call("AuthenticatePayment", **{**LINKED, "second_element": "fingerprint"}),
    PAY,
    SCREEN,
]
OF_LOW_VALUE: list[Step] = [
    FILE,
    SHOP_RECORD,
    call("ApplyExemption", **SMALL, ground="low value"),
    call("SendPayment", account_id="AC-1", **SMALL),
    call("ScreenPayment", **SMALL),
]
TO_TRUSTED: list[Step] = [FILE, SHOP_RECORD, SCREEN, TRUSTED, PAY]
TO_OWN: list[Step] = [FILE, SHOP_RECORD, SCREEN, OWN, PAY]
UNBLOCKING: list[Step] = [
    FILE,
    TRAVEL_FILE,
    FIND_PHONE,
    call("AuthenticateCustomer", **{**SIGN_IN, "action": "unblock a card"}),
    UNBLOCKED,
]
IN_TIME: list[Step] = [RENT_FILE, call("CancelOrder", order_id=RENT)]
AGREED: list[Step] = [
    GYM_FILE,
    asks(GYM, "payee's institution"),
    asks(GYM, "payee"),
    call("CancelOrder", order_id=GYM),
]
REFUNDED: list[Step] = [CLAIM, LOG, finding(HOTEL, "unauthorised"), REFUND]
TOO_MUCH: list[Step] = [
    CARS_CLAIM,
    CARS_LOG,
    finding(CARS, "more than could be expected"),
    call("RefundTransaction", transaction_id=CARS),
]
SUSPECTED: list[Step] = [
    call("FindTransaction", description="Halcyon"),
    CLAIM,
    LOG,
    call("DeclineRequest", subject="Halcyon Hotels, Lisbon", reason="suspected fraud"),
    call("ReportFraudGrounds", transaction_id=HOTEL),
]
ASKED_AGAIN: list[Step] = [FILE, PROVIDER_FILE, FIND_PHONE, FOR_PROVIDER, SHARED]
TRUST: Place = ("payees", SHOP, "trusted")
HOLDER: Place = ("payees", SHOP, "held_by")
SAME: Place = ("payees", SHOP, "same_institution")
TAPS: Place = ("cards", BLUE, "contactless_count")
TAPPED_SUM: Place = ("cards", BLUE, "contactless_total")
PROOF: Place = ("transactions", HOTEL, "evidence")

FACTS: dict[str, tuple[list[Step], Mapping[Place, Json], Mapping[Place, Json]]] = {
    "status of a device": (AUTHENTICATED, {}, {("devices", "DV-1", "status"): "reported lost"}),
    "failed attempts in a row": (AUTHENTICATED, {FAILURES: 4}, {FAILURES: 5}),
    "state of the password": (AUTHENTICATED, {}, {PASSWORD: STOLEN}),
    "fingerprint": (BY_FINGER, {}, {FINGER: "not enrolled"}),
    "last authenticated view": ([FILE, QUARTER], {}, {LAST_VIEW: "2025-05-19"}),
    "open incident": (
        [FILE, QUARTER],
        {("security_file", "current", "incident"): "minor"},
        {("security_file", "current", "incident"): "major"},
    ),
    "remote payments since the last authentication": (OF_LOW_VALUE, {TOTAL: 97.3, COUNT: 6}, {TOTAL: 112.8, COUNT: 6}),
    "number of remote payments": (OF_LOW_VALUE, {TOTAL: 112.8, COUNT: 5}, {TOTAL: 112.8, COUNT: 6}),
    "payee on the trusted list": (TO_TRUSTED, {TRUST: True}, {TRUST: False}),
    "holder of the payee's account": (
        TO_OWN,
        {HOLDER: "the customer", SAME: True},
        {HOLDER: "someone else", SAME: True},
    ),
    "payee's account with this institution": (
        TO_OWN,
        {HOLDER: "the customer", SAME: True},
        {HOLDER: "the customer", SAME: False},
    ),
    "signs of fraud": (TO_TRUSTED, {TRUST: True}, {TRUST: True, ("payees", SHOP, "suspicious"): True}),
    "payments to the payee forbidden": (AUTHENTICATED, {}, {("payees", SHOP, "restriction"): "frozen, may be told"}),
    "status of a card": ([BLUE_FILE, TAPPED], {}, {("cards", BLUE, "status"): "reported lost"}),
    "reason for the block": (UNBLOCKING, {}, {("cards", TRAVEL, "reason_persists"): True}),
    "wrong PINs in a row": (
        [BLUE_FILE, PIN, TAPPED],
        {("cards", BLUE, "pin_failures"): 2},
        {("cards", BLUE, "pin_failures"): 5},
    ),
    "contactless sum": ([BLUE_FILE, TAPPED], {TAPPED_SUM: 146.75, TAPS: 7}, {TAPPED_SUM: 163.2, TAPS: 7}),
    "contactless payments": ([BLUE_FILE, TAPPED], {TAPPED_SUM: 163.2, TAPS: 4}, {TAPPED_SUM: 163.2, TAPS: 7}),
    "day on which an order is due": (IN_TIME, {}, {("orders", RENT, "due"): "2026-03-06"}),
    "institution agrees to a late revocation": (AGREED, {}, {("orders", GYM, "institution_agrees"): False}),
    "payee agrees to a late revocation": (AGREED, {}, {("orders", GYM, "payee_agrees"): False}),
    "day of the debit": (REFUNDED, {}, {("transactions", HOTEL, "debited"): OLDER}),
    "evidence of authorisation": (REFUNDED, {PROOF: "use of the card or password only"}, {PROOF: "full proof"}),
    "consent at the debit": (
        REFUNDED,
        {PROOF: "full proof", ("transactions", HOTEL, "consent"): "withdrawn"},
        {PROOF: "full proof", ("transactions", HOTEL, "consent"): "given"},
    ),
    "grounds to suspect fraud": (SUSPECTED, {("transactions", HOTEL, "fraud_grounds"): True}, {}),
    "exact amount agreed": (TOO_MUCH, {}, {("transactions", CARS, "exact_amount_agreed"): True}),
    "above expectation": (TOO_MUCH, {}, {("transactions", CARS, "above_expectation"): False}),
    "ground of the claim": (REFUNDED, {}, {("transactions", HOTEL, "claim"): "payee took too much"}),
    "consent to a provider": ([FILE, PROVIDER_FILE, SHARED], {}, {("providers", "PV-1", "consent"): "withdrawn"}),
    "last authentication through a provider": ([FILE, PROVIDER_FILE, SHARED], {}, {PROVIDER_VIEW: "2025-05-19"}),
    "evidence of misuse by a provider": (ASKED_AGAIN, {("providers", "PV-1", "evidence_of_misuse"): True}, {}),
}
"""For each fact a program, and changes of the small state with which it is lawful, and unlawful."""


@pytest.mark.parametrize("fact", [fact.name for fact in ENVIRONMENT.facts])
def test_a_fact_decides_what_is_lawful(fact: str) -> None:
    steps, lawful, unlawful = FACTS[fact]
    assert broken(steps, lawful) == []
    assert broken(steps, unlawful)
