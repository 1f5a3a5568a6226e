"""Each rule of the payments environment: calls that keep it and calls that break it, run by the simulator.

A case is a list of calls and pauses (seconds), with changes of the small state. Only the rule under test is judged.
Each fact has a whole program, judged by all rules, that is lawful with one value and unlawful with another.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from lawtrace.environments.domains import payments
from lawtrace.environments.domains.payments import ENVIRONMENT
from lawtrace.environments.events import Json
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State, decode_state
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import load_rules
from tests.support.small_payments import (
    ASKED,
    BIKE,
    BLUE,
    BUDGETWISE,
    CARS,
    DENTIST,
    GREY,
    GYM,
    HOTEL,
    LINKED,
    LOAN,
    PAYMENT,
    PENNYPLAN,
    POT,
    READER,
    RENT,
    SAVINGS,
    SEND,
    SERIES,
    SHARE,
    SHOP,
    SIGN_IN,
    TABLES,
    TAP,
    TRAVEL,
    WATER,
)

FOLDER = Path(payments.__file__).parent
RULES = {rule.id: rule for rule in load_rules(FOLDER / "rules.toml")}
HOUR, DAY = 3600, 24 * 3600
OLD, OLDER = "2025-12-09", "2024-11-26"

Step = tuple[str, dict[str, Json]] | int
Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """Calls that keep the rule, and calls that break it, each in the small state with some fields changed."""

    rule: str
    kept: Sequence[Step]
    broken: Sequence[Step]
    state: Mapping[Place, Json] = field(default_factory=dict[Place, Json])
    otherwise: Mapping[Place, Json] | None = None
    """The changes where the rule is broken; None: the same."""


def call(tool: str, **arguments: Json) -> Step:
    return tool, arguments


def with_changes(changes: Mapping[Place, Json]) -> State:
    tables = deepcopy(cast("dict[str, dict[str, dict[str, Json]]]", TABLES))
    for (table, key, name), value in changes.items():
        tables[table][key][name] = value
    return decode_state(cast("dict[str, Json]", tables), ENVIRONMENT.entities)


def is_kept(rule: str, steps: Sequence[Step], changes: Mapping[Place, Json]) -> bool:
    """Whether the rule is kept by these steps, all of which complete; no duty waits for a later deadline."""
    session = Session(ENVIRONMENT, with_changes(changes))
    for step in steps:
        if isinstance(step, int):
            session.pass_time(step)
        else:
            event = session.call(*step).event
            assert event.completed, (step, event)
    monitor = Monitor({rule: RULES[rule].compiled})
    monitor.run(session.events)
    ending = monitor.status(rule, end=session.end).ending
    assert ending != "not_due"
    return ending == "kept"


def decline(subject: str, reason: str) -> Step:
    return call("DeclineRequest", subject=subject, reason=reason)


FILE = call("ReadSecurityFile")
FIND_PHONE, FIND_READER = call("FindDevice", kind="phone"), call("FindDevice", kind="card reader")
SHOW, SCREEN = call("PresentPayment", **PAYMENT), call("ScreenPayment", **PAYMENT)
CODE, PAY, MONTHLY = (
    call("AuthenticatePayment", **LINKED),
    call("SendPayment", **SEND),
    call("CreateStandingOrder", **SERIES),
)
SHOP_RECORD = call("ReadPayeeRecord", payee_id=SHOP)
LOW = call("ApplyExemption", **PAYMENT, ground="low value")
TRUSTED, OWN = (
    call("ApplyExemption", **PAYMENT, ground="trusted payee"),
    call("ApplyExemption", **PAYMENT, ground="own account"),
)
TAPPED, PIN, BLUE_FILE = call("ApproveContactless", **TAP), call("AskForPin", **TAP), call("ReadCardFile", card_id=BLUE)
LARGE = {**TAP, "amount": 50.01}
TRAVEL_FILE, UNBLOCKED = call("ReadCardFile", card_id=TRAVEL), call("UnblockCard", card_id=TRAVEL)
SIGNED_IN = call("AuthenticateCustomer", **SIGN_IN)
QUARTER, YEAR = (call("ShowStatement", statement_id="ST-1", days_back=days) for days in (90, 120))
PROVIDER_FILE, SHARED = call("ReadProviderFile", provider_id=BUDGETWISE), call("ShareAccountData", **SHARE)
FOR_PROVIDER = call("AuthenticateCustomer", **{**SIGN_IN, "action": "let a provider see account data"})
RENT_FILE, GYM_FILE, BIKE_FILE = (call("ReadOrderFile", order_id=order) for order in (RENT, GYM, BIKE))
CLAIM, LOG, REFUND = (
    call(tool, transaction_id=HOTEL) for tool in ("ReadClaim", "ReadTransactionFile", "RefundTransaction")
)
WATER_CLAIM, WATER_LOG, WATER_REFUND = (
    call(tool, transaction_id=WATER) for tool in ("ReadClaim", "ReadTransactionFile", "RefundTransaction")
)
CARS_CLAIM, CARS_LOG = (call(tool, transaction_id=CARS) for tool in ("ReadClaim", "ReadTransactionFile"))
HOTEL_NAME, WATER_NAME, CARS_NAME = "Halcyon Hotels, Lisbon", "Harbour Water Works", "Zephyr Car Hire"
INCIDENT = call("ReportIncident", matter="major incident")
DENIAL = call("ReportIncident", matter="provider denied access")
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


CASES = (
    Case("code-for-payment", [CODE, PAY], [call("AuthenticatePayment", **{**LINKED, "amount": 45.01}), PAY]),
    Case("code-for-payment", [LOW, PAY], [call("AuthenticatePayment", **{**LINKED, "payee_id": DENTIST}), PAY]),
    Case("code-used-once", [CODE, PAY, CODE, PAY], [CODE, PAY, PAY]),
    Case("code-used-once", [CODE, PAY, CODE, MONTHLY], [CODE, PAY, MONTHLY]),
    Case("code-for-series", [CODE, MONTHLY], [TRUSTED, MONTHLY]),
    Case("payer-is-aware", [SHOW, CODE], [CODE, SHOW]),
    Case(
        "usable-device",
        [FIND_PHONE, CODE],
        [FIND_READER, call("AuthenticatePayment", **{**LINKED, "device_id": READER})],
    ),
    Case("usable-device", [FIND_PHONE, SIGNED_IN], [SIGNED_IN, FIND_PHONE]),
    Case("sound-password", [FILE, CODE], [FILE, CODE], otherwise={PASSWORD: STOLEN}),
    Case(
        "enrolled-fingerprint",
        [FILE, call("AuthenticateCustomer", **{**SIGN_IN, "second_element": "fingerprint"})],
        [FILE, call("AuthenticateCustomer", **{**SIGN_IN, "second_element": "fingerprint"})],
        otherwise={FINGER: "not enrolled"},
    ),
    Case(
        "independent-elements",
        [CODE],
        [call("AuthenticatePayment", **{**LINKED, "second_element": "text message code"})],
    ),
    Case("blocked-after-five", [FILE, PAY], [FILE, PAY], {FAILURES: 4}, {FAILURES: 5}),
    Case("blocked-after-five", [FILE, SHARED], [SHARED, FILE]),
    Case("screened-payment", [PAY, SCREEN], [PAY, call("ScreenPayment", **{**PAYMENT, "amount": 44.0})]),
    Case(
        "nothing-frozen",
        [SHOP_RECORD, PAY],
        [SHOP_RECORD, MONTHLY],
        otherwise={("payees", SHOP, "restriction"): "frozen, may be told"},
    ),
    Case("exempt-if-clean", [SCREEN, TRUSTED], [SCREEN, TRUSTED], otherwise={("payees", SHOP, "suspicious"): True}),
    Case("exempt-if-clean", [LOW], [OWN]),
    Case("exempt-trusted", [SHOP_RECORD, TRUSTED], [SHOP_RECORD, TRUSTED], {("payees", SHOP, "trusted"): True}, {}),
    Case(
        "exempt-own-account",
        [
            call("ReadPayeeRecord", payee_id=SAVINGS),
            call("ApplyExemption", payee_id=SAVINGS, amount=9.0, ground="own account"),
        ],
        [
            call("ReadPayeeRecord", payee_id=SAVINGS),
            call("ApplyExemption", payee_id=SAVINGS, amount=9.0, ground="own account"),
        ],
        otherwise={("payees", SAVINGS, "same_institution"): False},
    ),
    Case(
        "exempt-own-account",
        [],
        [SHOP_RECORD, OWN],
        otherwise={("payees", SHOP, "same_institution"): True},
    ),
    Case(
        "exempt-amount",
        [call("ApplyExemption", payee_id=SHOP, amount=30.0, ground="low value")],
        [call("ApplyExemption", payee_id=SHOP, amount=30.01, ground="low value")],
    ),
    Case("exempt-counters", [FILE, LOW], [FILE, LOW], {TOTAL: 100.01, COUNT: 5}, {TOTAL: 100.01, COUNT: 6}),
    Case("exempt-counters", [FILE, LOW], [FILE, PAY, LOW], {TOTAL: 100.0, COUNT: 6}),
    Case("exempt-counters", [FILE, PAY, FILE, LOW], [FILE, PAY, FILE, LOW], {COUNT: 4}, {TOTAL: 60.0, COUNT: 5}),
    Case("exempt-counters", [CODE, PAY, FILE, LOW], [PAY, FILE, LOW], {TOTAL: 100.0, COUNT: 6}),
    Case("exemption-is-used", [LOW, PAY], [PAY, LOW]),
    Case(
        "code-for-trusted-list",
        [
            call("AuthenticateCustomer", **{**SIGN_IN, "action": "change the trusted list"}),
            call("TrustPayee", payee_id=SHOP),
        ],
        [SIGNED_IN, call("TrustPayee", payee_id=SHOP)],
    ),
    Case(
        "code-for-trusted-list",
        [],
        [
            call("AuthenticateCustomer", **{**SIGN_IN, "action": "change the trusted list"}),
            call("TrustPayee", payee_id=SHOP),
            call("TrustPayee", payee_id=SAVINGS),
        ],
    ),
    Case(
        "code-for-unblocking",
        [call("AuthenticateCustomer", **{**SIGN_IN, "action": "unblock a card"}), UNBLOCKED],
        [UNBLOCKED],
    ),
    Case(
        "unblock-without-reason",
        [TRAVEL_FILE, UNBLOCKED],
        [TRAVEL_FILE, UNBLOCKED],
        otherwise={("cards", TRAVEL, "reason_persists"): True},
    ),
    Case(
        "lost-stays-blocked",
        [TRAVEL_FILE, UNBLOCKED],
        [call("ReadCardFile", card_id=GREY), call("UnblockCard", card_id=GREY)],
    ),
    Case("usable-card", [BLUE_FILE, TAPPED], [BLUE_FILE, TAPPED], otherwise={("cards", BLUE, "status"): "blocked"}),
    Case("usable-card", [UNBLOCKED, call("ApproveContactless", **{**TAP, "card_id": TRAVEL})], [TAPPED]),
    Case(
        "pin-above-fifty",
        [call("AskForPin", **LARGE), call("ApproveContactless", **LARGE)],
        [BLUE_FILE, PIN, call("ApproveContactless", **LARGE)],
    ),
    Case(
        "pin-or-counters",
        [BLUE_FILE, TAPPED],
        [BLUE_FILE, TAPPED],
        {("cards", BLUE, "contactless_total"): 150.01, ("cards", BLUE, "contactless_count"): 4},
        {("cards", BLUE, "contactless_total"): 150.01, ("cards", BLUE, "contactless_count"): 6},
    ),
    Case(
        "pin-or-counters",
        [BLUE_FILE, TAPPED, PIN, TAPPED],
        [BLUE_FILE, TAPPED, TAPPED],
        {("cards", BLUE, "contactless_total"): 150.0, ("cards", BLUE, "contactless_count"): 6},
    ),
    Case(
        "pin-blocked-after-five",
        [BLUE_FILE, PIN],
        [BLUE_FILE, PIN],
        {("cards", BLUE, "pin_failures"): 4},
        {("cards", BLUE, "pin_failures"): 5},
    ),
    Case("view-of-long-past", [SIGNED_IN, 4 * 60, YEAR], [SIGNED_IN, 5 * 60, YEAR]),
    Case("view-of-long-past", [SIGNED_IN, 4 * 60, FILE, 4 * 60, YEAR], [FILE, YEAR]),
    Case("view-of-last-days", [FILE, QUARTER], [FILE, QUARTER], otherwise={LAST_VIEW: "2025-09-06"}),
    Case("view-of-last-days", [FILE, QUARTER], [FILE, QUARTER], {LAST_VIEW: "2025-09-07"}, {LAST_VIEW: None}),
    Case("view-of-last-days", [SIGNED_IN, QUARTER], [SIGNED_IN, HOUR, QUARTER]),
    Case(
        "consent-to-provider",
        [PROVIDER_FILE, SHARED],
        [PROVIDER_FILE, SHARED],
        otherwise={("providers", "PV-1", "consent"): "withdrawn"},
    ),
    Case(
        "designated-account",
        [PROVIDER_FILE, SHARED],
        [PROVIDER_FILE, call("ShareAccountData", **{**SHARE, "account_id": POT})],
    ),
    Case(
        "no-needless-authentication",
        [PROVIDER_FILE, FOR_PROVIDER],
        [PROVIDER_FILE, FOR_PROVIDER],
        {PROVIDER_VIEW: None},
        {},
    ),
    Case(
        "no-needless-authentication",
        [PROVIDER_FILE, FOR_PROVIDER],
        [FOR_PROVIDER],
        {("providers", "PV-1", "evidence_of_misuse"): True},
    ),
    Case(
        "code-for-provider", [PROVIDER_FILE, SHARED], [PROVIDER_FILE, SHARED], otherwise={PROVIDER_VIEW: "2025-05-19"}
    ),
    Case("code-for-provider", [FOR_PROVIDER, SHARED], [SIGNED_IN, SHARED]),
    Case(
        "revoke-in-time", [RENT_FILE, call("CancelOrder", order_id=RENT)], [GYM_FILE, call("CancelOrder", order_id=GYM)]
    ),
    Case(
        "revoke-in-time",
        [RENT_FILE, call("CancelOrder", order_id=RENT)],
        [RENT_FILE, call("CancelOrder", order_id=RENT)],
        {("orders", RENT, "due"): "2026-03-07"},
        {("orders", RENT, "due"): "2026-03-06"},
    ),
    Case(
        "revoke-in-time",
        [BIKE_FILE, asks(BIKE, "payee's institution"), call("CancelOrder", order_id=BIKE)],
        [BIKE_FILE, asks(BIKE, "payee's institution"), call("CancelOrder", order_id=BIKE)],
        otherwise={("orders", BIKE, "institution_agrees"): False},
    ),
    Case(
        "order-file-read",
        [RENT_FILE, call("CancelOrder", order_id=RENT)],
        [GYM_FILE, call("CancelOrder", order_id=RENT)],
    ),
    Case(
        "payee-agrees",
        [GYM_FILE, asks(GYM, "payee"), call("CancelOrder", order_id=GYM)],
        [GYM_FILE, asks(GYM, "payee"), call("CancelOrder", order_id=GYM)],
        otherwise={("orders", GYM, "payee_agrees"): False},
    ),
    Case(
        "payee-agrees", [BIKE_FILE, call("CancelOrder", order_id=BIKE)], [GYM_FILE, call("CancelOrder", order_id=GYM)]
    ),
    Case("ask-only-if-late", [GYM_FILE, asks(GYM, "payee")], [RENT_FILE, call("AskAgreement", **ASKED)]),
    Case("payee-asked-for-debits", [GYM_FILE, asks(GYM, "payee")], [BIKE_FILE, asks(BIKE, "payee")]),
    Case(
        "file-for-claim",
        [CLAIM, LOG],
        [call("ReadClaim", transaction_id=LOAN), call("ReadTransactionFile", transaction_id=LOAN)],
    ),
    # From Friday to Monday at the end of the day.
    Case("refund-next-day", [CLAIM, 3 * DAY + 13 * HOUR, REFUND], [CLAIM, 3 * DAY + 14 * HOUR, REFUND]),
    Case(
        "refund-next-day",
        [CLAIM, decline(HOTEL_NAME, "it was authorised")],
        [CLAIM, decline(CARS_NAME, "it was authorised")],
    ),
    Case(
        "answer-in-ten-days", [WATER_CLAIM, 14 * DAY, WATER_REFUND], [WATER_CLAIM, 14 * DAY + 14 * HOUR, WATER_REFUND]
    ),
    Case(
        "bodies-in-ten-days",
        [CARS_CLAIM, call("NameComplaintBodies", transaction_id=CARS)],
        [CARS_CLAIM, decline(CARS_NAME, "it was agreed or expected")],
    ),
    Case(
        "bodies-in-ten-days",
        [WATER_CLAIM, WATER_REFUND],
        [CARS_CLAIM, call("NameComplaintBodies", transaction_id=WATER)],
    ),
    Case("finding-before-refund", [finding(HOTEL, "unauthorised"), REFUND], [REFUND, finding(HOTEL, "unauthorised")]),
    Case(
        "finding-unauthorised",
        [CLAIM, LOG, finding(HOTEL, "unauthorised")],
        [CLAIM, LOG, finding(HOTEL, "unauthorised")],
        {("transactions", HOTEL, "evidence"): "use of the card or password only"},
        {("transactions", HOTEL, "evidence"): "full proof"},
    ),
    Case(
        "finding-unauthorised",
        [CLAIM, LOG, finding(HOTEL, "unauthorised")],
        [WATER_CLAIM, WATER_LOG, finding(WATER, "unauthorised")],
        {("transactions", HOTEL, "evidence"): "full proof", ("transactions", HOTEL, "consent"): "withdrawn"},
    ),
    Case(
        "thirteen-months",
        [LOG, finding(HOTEL, "unauthorised")],
        [LOG, finding(HOTEL, "unauthorised")],
        {("transactions", HOTEL, "debited"): OLD},
        {("transactions", HOTEL, "debited"): OLDER},
    ),
    Case(
        "finding-direct-debit",
        [WATER_CLAIM, WATER_LOG, finding(WATER, "direct debit within eight weeks")],
        [WATER_CLAIM, WATER_LOG, finding(WATER, "direct debit within eight weeks")],
        {("transactions", WATER, "debited"): "2026-01-09"},
        {("transactions", WATER, "debited"): "2026-01-08"},
    ),
    Case("finding-direct-debit", [], [CARS_CLAIM, CARS_LOG, finding(CARS, "direct debit within eight weeks")]),
    Case(
        "finding-too-much",
        [CARS_CLAIM, CARS_LOG, finding(CARS, "more than could be expected")],
        [CARS_CLAIM, CARS_LOG, finding(CARS, "more than could be expected")],
        otherwise={("transactions", CARS, "exact_amount_agreed"): True},
    ),
    Case(
        "finding-too-much",
        [],
        [CARS_CLAIM, CARS_LOG, finding(CARS, "more than could be expected")],
        otherwise={("transactions", CARS, "above_expectation"): False},
    ),
    Case(
        "report-of-grounds-only",
        [LOG, call("ReportFraudGrounds", transaction_id=HOTEL)],
        [LOG, call("ReportFraudGrounds", transaction_id=HOTEL)],
        {("transactions", HOTEL, "fraud_grounds"): True},
        {},
    ),
    Case(
        "grounds-in-writing",
        [CLAIM, decline(HOTEL_NAME, "suspected fraud"), call("ReportFraudGrounds", transaction_id=HOTEL)],
        [CLAIM, decline(HOTEL_NAME, "suspected fraud"), call("ReportFraudGrounds", transaction_id=WATER)],
    ),
    Case(
        "about-the-request",
        [call("FindOrder", description="rent"), decline("rent for Alder Court", "too late to revoke")],
        [call("FindAccount", nickname="pot"), decline("statement of the holiday pot", "sign-in is blocked")],
    ),
    Case(
        "suspicion-shown",
        [SCREEN, decline("Osier Street Garage", "suspected fraud")],
        [SCREEN, decline("Bellweather Dental", "suspected fraud")],
        {("payees", SHOP, "suspicious"): True},
    ),
    Case(
        "suspicion-shown",
        [CLAIM, LOG, decline(HOTEL_NAME, "suspected fraud")],
        [WATER_CLAIM, WATER_LOG, decline(WATER_NAME, "suspected fraud")],
        {("transactions", HOTEL, "fraud_grounds"): True, ("transactions", WATER, "fraud_grounds"): True},
    ),
    Case(
        "suspicion-shown",
        [PROVIDER_FILE, decline("Budgetwise", "suspected fraud")],
        [PROVIDER_FILE, decline("Pennyplan", "suspected fraud")],
        {("providers", "PV-1", "evidence_of_misuse"): True},
    ),
    Case(
        "withheld-by-law",
        [SHOP_RECORD, decline("Osier Street Garage", "reason withheld")],
        [SHOP_RECORD, decline("Osier Street Garage", "reason withheld")],
        {("payees", SHOP, "restriction"): "frozen, must not be told"},
        {("payees", SHOP, "restriction"): "frozen, may be told"},
    ),
    Case(
        "prohibition-told",
        [SHOP_RECORD, decline("Osier Street Garage", "the law forbids the payment")],
        [SHOP_RECORD, decline("Osier Street Garage", "the law forbids the payment")],
        {("payees", SHOP, "restriction"): "frozen, may be told"},
        {("payees", SHOP, "restriction"): "frozen, must not be told"},
    ),
    Case(
        "denial-reported",
        [PROVIDER_FILE, decline("Budgetwise", "suspected fraud"), DENIAL],
        [PROVIDER_FILE, decline("Budgetwise", "suspected fraud"), INCIDENT],
    ),
    Case(
        "true-report-of-denial",
        [PROVIDER_FILE, DENIAL],
        [call("ReadProviderFile", provider_id=PENNYPLAN), DENIAL],
        {("providers", "PV-1", "evidence_of_misuse"): True},
    ),
    Case(
        "block-shown",
        [FILE, decline("Osier Street Garage", "sign-in is blocked")],
        [FILE, decline("Osier Street Garage", "sign-in is blocked")],
        {FAILURES: 5},
        {FAILURES: 4},
    ),
    Case(
        "block-shown",
        [BLUE_FILE, decline("blue debit card", "sign-in is blocked")],
        [BLUE_FILE, decline("travel card", "sign-in is blocked")],
        {("cards", BLUE, "pin_failures"): 5},
    ),
    Case(
        "elements-shown",
        [FILE, decline("Osier Street Garage", "no two usable elements")],
        [FILE, decline("Osier Street Garage", "no two usable elements")],
        {PASSWORD: STOLEN, FINGER: "not enrolled"},
        {PASSWORD: STOLEN},
    ),
    Case(
        "no-elements-needed",
        [PROVIDER_FILE, decline("Budgetwise", "no two usable elements")],
        [PROVIDER_FILE, decline("Budgetwise", "no two usable elements")],
        {PROVIDER_VIEW: "2025-05-19"},
        {},
    ),
    Case(
        "reasons-of-their-own",
        [call("FindPayee", name="Osier"), decline("Osier Street Garage", "sign-in is blocked")],
        [call("FindTransaction", description="Halcyon"), decline(HOTEL_NAME, "sign-in is blocked")],
    ),
    Case(
        "lateness-shown",
        [asks(BIKE, "payee's institution"), decline("bike from Petra", "too late to revoke")],
        [asks(GYM, "payee's institution"), decline("Juniper Fitness membership", "too late to revoke")],
        {("orders", BIKE, "institution_agrees"): False},
    ),
    Case(
        "time-limit-shown",
        [CLAIM, LOG, decline(HOTEL_NAME, "outside the time limit")],
        [CLAIM, LOG, decline(HOTEL_NAME, "outside the time limit")],
        {("transactions", HOTEL, "debited"): OLDER},
        {("transactions", HOTEL, "debited"): OLD},
    ),
    Case(
        "time-limit-shown",
        [CARS_CLAIM, CARS_LOG, decline(CARS_NAME, "outside the time limit")],
        [CARS_CLAIM, CARS_LOG, decline(CARS_NAME, "outside the time limit")],
        {("transactions", CARS, "debited"): OLD},
        {},
    ),
    Case(
        "proof-shown",
        [CLAIM, LOG, decline(HOTEL_NAME, "it was authorised")],
        [CLAIM, LOG, decline(HOTEL_NAME, "it was authorised")],
        {("transactions", HOTEL, "evidence"): "full proof"},
        {("transactions", HOTEL, "evidence"): "use of the card or password only"},
    ),
    Case(
        "conditions-shown",
        [CARS_CLAIM, CARS_LOG, decline(CARS_NAME, "it was agreed or expected")],
        [CARS_CLAIM, CARS_LOG, decline(CARS_NAME, "it was agreed or expected")],
        {("transactions", CARS, "above_expectation"): False},
        {},
    ),
    Case(
        "conditions-shown",
        [],
        [WATER_CLAIM, WATER_LOG, decline(WATER_NAME, "it was agreed or expected")],
        otherwise={("transactions", WATER, "above_expectation"): False},
    ),
    Case(
        "consent-missing",
        [PROVIDER_FILE, decline("Budgetwise", "no consent for this account")],
        [PROVIDER_FILE, decline("Budgetwise", "no consent for this account")],
        {("providers", "PV-1", "consent"): "withdrawn"},
        {},
    ),
    Case(
        "consent-missing",
        [call("FindAccount", nickname="holiday"), PROVIDER_FILE, decline("Budgetwise", "no consent for this account")],
        [call("FindAccount", nickname="everyday"), PROVIDER_FILE, decline("Budgetwise", "no consent for this account")],
    ),
    Case(
        "reason-shown",
        [TRAVEL_FILE, decline("travel card", "reason for the block persists")],
        [TRAVEL_FILE, decline("travel card", "reason for the block persists")],
        {("cards", TRAVEL, "reason_persists"): True},
        {},
    ),
    Case(
        "loss-shown",
        [call("ReadCardFile", card_id=GREY), decline("grey credit card", "card was reported lost")],
        [TRAVEL_FILE, decline("travel card", "card was reported lost")],
    ),
    Case("incident-reported", [FILE, INCIDENT], [FILE, DENIAL], {("security_file", "current", "incident"): "major"}),
    Case(
        "customer-informed",
        [FILE, call("WarnCustomer")],
        [FILE, INCIDENT],
        {
            ("security_file", "current", "incident"): "major",
            ("security_file", "current", "touches_customers_money"): True,
        },
    ),
    Case(
        "true-report-of-incident",
        [FILE, INCIDENT],
        [FILE, INCIDENT],
        {("security_file", "current", "incident"): "major"},
        {("security_file", "current", "incident"): "minor"},
    ),
    Case(
        "true-warning",
        [FILE, call("WarnCustomer")],
        [call("WarnCustomer"), FILE],
        {("security_file", "current", "incident"): "major"},
    ),
)


def test_every_rule_has_a_case() -> None:
    assert list(dict.fromkeys(case.rule for case in CASES)) == list(RULES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_says_what_the_law_says(case: Case) -> None:
    assert is_kept(case.rule, case.kept, case.state)
    assert not is_kept(case.rule, case.broken, case.state if case.otherwise is None else case.otherwise)


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
    decline(HOTEL_NAME, "suspected fraud"),
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
    assert [rule for rule in RULES if not is_kept(rule, steps, lawful)] == []
    assert [rule for rule in RULES if not is_kept(rule, steps, unlawful)]
