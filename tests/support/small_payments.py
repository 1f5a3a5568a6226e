"""A small payment desk in a known state, a valid call of each tool, and calls that cause each documented refusal.

The session starts on Friday, 6 March 2026, at 10:00.
"""

from lawtrace.environments.domains.payments import ENVIRONMENT
from lawtrace.environments.spec.state import decode_state
from lawtrace.schemas.events import Json
from tests.support.environment_fixture import Arguments, EnvironmentFixture

EVERYDAY, POT = "AC-1", "AC-2"
SHOP, DENTIST, SAVINGS = "PY-1", "PY-2", "PY-3"
BLUE, TRAVEL, GREY = "CD-1", "CD-2", "CD-3"
PHONE, READER = "DV-1", "DV-2"
RENT, GYM, BIKE, GIFT = "OR-1", "OR-2", "OR-3", "OR-4"
HOTEL, WATER, LOAN, CARS, FILMS = "TR-1", "TR-2", "TR-3", "TR-4", "TR-5"
BUDGETWISE, PENNYPLAN = "PV-1", "PV-2"


def _account(key: str, name: str, balance: float) -> dict[str, Json]:
    return {"account_id": key, "nickname": name, "iban": f"EX00 {key}", "balance": balance}


def _payee(key: str, name: str, holder: str, *, trusted: bool, same: bool) -> dict[str, Json]:
    return {
        "payee_id": key,
        "name": name,
        "iban": f"EX00 {key}",
        "trusted": trusted,
        "held_by": holder,
        "same_institution": same,
        "suspicious": False,
        "restriction": "none",
    }


def _card(key: str, name: str, status: str) -> dict[str, Json]:
    return {
        "card_id": key,
        "nickname": name,
        "status": status,
        "reason_persists": status == "reported lost",
        "pin_failures": 0,
        "contactless_total": 88.1,
        "contactless_count": 3,
    }


def _order(key: str, name: str, kind: str, due: str) -> dict[str, Json]:
    return {
        "order_id": key,
        "description": name,
        "kind": kind,
        "amount": 60.0,
        "due": due,
        "institution_agrees": True,
        "payee_agrees": True,
        "revoked": key == GIFT,
    }


def _transaction(key: str, name: str, scheme: str, claim: str | None) -> dict[str, Json]:
    row: dict[str, Json] = {
        "transaction_id": key,
        "account_id": EVERYDAY,
        "description": name,
        "debited": "2026-02-12",
        "amount": 74.2,
        "scheme": scheme,
        "evidence": "none",
        "consent": "given",
        "fraud_grounds": False,
        "exact_amount_agreed": False,
        "above_expectation": True,
    }
    return row if claim is None else {**row, "claim": claim}


def _provider(key: str, name: str) -> dict[str, Json]:
    return {
        "provider_id": key,
        "name": name,
        "consent": "given",
        "designated_account": EVERYDAY,
        "last_authenticated": "2025-11-03",
        "evidence_of_misuse": False,
    }


def _by_key(key: str, *rows: dict[str, Json]) -> Json:
    return {str(row[key]): row for row in rows}


TABLES: dict[str, Json] = {
    "accounts": _by_key(
        "account_id", _account(EVERYDAY, "everyday account", 900.0), _account(POT, "holiday pot", 20.0)
    ),
    "statements": _by_key(
        "statement_id",
        {"statement_id": "ST-1", "name": "statement of the everyday account", "account_id": EVERYDAY},
        {"statement_id": "ST-2", "name": "statement of the holiday pot", "account_id": POT},
    ),
    "payees": _by_key(
        "payee_id",
        _payee(SHOP, "Osier Street Garage", "someone else", trusted=False, same=False),
        _payee(DENTIST, "Bellweather Dental", "someone else", trusted=True, same=False),
        _payee(SAVINGS, "My Larkspur savings", "the customer", trusted=False, same=True),
    ),
    "cards": _by_key(
        "card_id",
        _card(BLUE, "blue debit card", "active"),
        _card(TRAVEL, "travel card", "blocked"),
        _card(GREY, "grey credit card", "reported lost"),
    ),
    "devices": _by_key(
        "device_id",
        {"device_id": PHONE, "kind": "phone", "model": "Aster 12", "status": "active"},
        {"device_id": READER, "kind": "card reader", "model": "TapKey 3", "status": "reported lost"},
    ),
    "security_file": {
        "current": {
            "file_id": "current",
            "failed_attempts": 1,
            "password": "sound",
            "fingerprint": "enrolled",
            "last_authenticated_view": "2025-11-03",
            "incident": "none",
            "touches_customers_money": False,
        }
    },
    "counters": {"current": {"counter_id": "current", "remote_total": 61.4, "remote_count": 4}},
    "orders": _by_key(
        "order_id",
        _order(RENT, "rent for Alder Court", "scheduled transfer", "2026-03-12"),
        _order(GYM, "Juniper Fitness membership", "direct debit", "2026-03-06"),
        _order(BIKE, "bike from Petra", "transfer under way", "2026-03-06"),
        _order(GIFT, "gift to Aunt Isolde", "scheduled transfer", "2026-03-19"),
    ),
    "transactions": _by_key(
        "transaction_id",
        _transaction(HOTEL, "Halcyon Hotels, Lisbon", "card payment", "not authorised"),
        _transaction(WATER, "Harbour Water Works", "direct debit", "payee took too much"),
        _transaction(LOAN, "transfer to K. Osei", "transfer", None),
        _transaction(CARS, "Zephyr Car Hire", "card payment", "payee took too much"),
        _transaction(FILMS, "Tern Streaming", "direct debit", "payee took too much"),
    ),
    "refunds": {"RF-1": {"refund_id": "RF-1", "transaction_id": FILMS, "amount": 74.2}},
    "providers": _by_key("provider_id", _provider(BUDGETWISE, "Budgetwise"), _provider(PENNYPLAN, "Pennyplan")),
    "session": {"current": {"session_id": "current", "now": "2026-03-06 10:00"}},
}
STATE = decode_state(TABLES, ENVIRONMENT.entities)

PAYMENT: Arguments = {"payee_id": SHOP, "amount": 45.0}
SEND: Arguments = {"account_id": EVERYDAY, **PAYMENT}
SERIES: Arguments = {**SEND, "day_of_month": 3}
LINKED: Arguments = {"device_id": PHONE, "second_element": "password", **PAYMENT}
SIGN_IN: Arguments = {"device_id": PHONE, "second_element": "password", "action": "view account data"}
SHARE: Arguments = {"provider_id": BUDGETWISE, "account_id": EVERYDAY}
TAP: Arguments = {"card_id": BLUE, "amount": 30.0}
VIEW: Arguments = {"statement_id": "ST-1", "days_back": 90}
DECLINED: Arguments = {"subject": "rent for Alder Court", "reason": "too late to revoke"}
ASKED: Arguments = {"order_id": RENT, "party": "payee's institution"}
EXEMPT: Arguments = {**PAYMENT, "ground": "low value"}
FOUND: Arguments = {"transaction_id": HOTEL, "finding": "unauthorised"}

GOOD: dict[str, Arguments] = {
    "FindAccount": {"nickname": "holiday"},
    "FindStatement": {"name": "everyday"},
    "FindPayee": {"name": "dental"},
    "FindCard": {"nickname": "blue"},
    "FindOrder": {"description": "rent"},
    "FindTransaction": {"description": "halcyon"},
    "FindProvider": {"name": "Budgetwise"},
    "SendPayment": SEND,
    "CreateStandingOrder": SERIES,
    "TrustPayee": {"payee_id": SHOP},
    "CancelOrder": {"order_id": RENT},
    "ApproveContactless": TAP,
    "UnblockCard": {"card_id": TRAVEL},
    "ShowStatement": VIEW,
    "ShareAccountData": SHARE,
    "RefundTransaction": {"transaction_id": HOTEL},
    "DeclineRequest": DECLINED,
    "ReadClaim": {"transaction_id": HOTEL},
    "ReadTransactionFile": {"transaction_id": HOTEL},
    "RecordFinding": FOUND,
    "ReportFraudGrounds": {"transaction_id": HOTEL},
    "NameComplaintBodies": {"transaction_id": HOTEL},
    "ReadSecurityFile": {},
    "FindDevice": {"kind": "phone"},
    "ReadPayeeRecord": {"payee_id": SHOP},
    "ReadCardFile": {"card_id": BLUE},
    "ReadOrderFile": {"order_id": RENT},
    "ReadProviderFile": {"provider_id": BUDGETWISE},
    "AskAgreement": ASKED,
    "ScreenPayment": PAYMENT,
    "PresentPayment": PAYMENT,
    "AuthenticatePayment": LINKED,
    "AuthenticateCustomer": SIGN_IN,
    "ApplyExemption": EXEMPT,
    "AskForPin": TAP,
    "ReportIncident": {"matter": "major incident"},
    "WarnCustomer": {},
}
UNKNOWN = "XX-0"


def _refused(good: Arguments, *changes: Arguments) -> list[list[Arguments]]:
    """A refused call for each documented exception: the good one with a change."""
    return [[{**good, **change}] for change in changes]


RAISED: dict[str, list[list[Arguments]]] = {
    **{
        name: _refused(GOOD[name], {next(iter(GOOD[name])): " "})
        for name in (
            "FindAccount",
            "FindStatement",
            "FindPayee",
            "FindCard",
            "FindOrder",
            "FindTransaction",
            "FindProvider",
        )
    },
    **{
        name: _refused(GOOD[name], {next(iter(GOOD[name])): UNKNOWN})
        for name in (
            "TrustPayee",
            "CancelOrder",
            "UnblockCard",
            "RefundTransaction",
            "ReadClaim",
            "ReadTransactionFile",
            "ReportFraudGrounds",
            "NameComplaintBodies",
            "ReadPayeeRecord",
            "ReadCardFile",
            "ReadOrderFile",
            "ReadProviderFile",
        )
    },
    "SendPayment": _refused(SEND, {"amount": 0}, {"account_id": UNKNOWN}, {"payee_id": UNKNOWN}),
    "CreateStandingOrder": _refused(
        SERIES, {"amount": -1}, {"account_id": UNKNOWN}, {"payee_id": UNKNOWN}, {"day_of_month": 29}
    ),
    "ApproveContactless": _refused(TAP, {"amount": 0}, {"card_id": UNKNOWN}),
    "ShowStatement": _refused(VIEW, {"statement_id": UNKNOWN}, {"days_back": 0}),
    "ShareAccountData": _refused(SHARE, {"provider_id": UNKNOWN}, {"account_id": UNKNOWN}),
    "DeclineRequest": _refused(DECLINED, {"subject": "my rent"}, {"reason": "we do not want to"}),
    "RecordFinding": _refused(FOUND, {"transaction_id": UNKNOWN}, {"finding": "sympathy"}),
    "ReadSecurityFile": [],
    "FindDevice": _refused({}, {"kind": "watch"}),
    "AskAgreement": _refused(ASKED, {"order_id": UNKNOWN}, {"party": "the neighbour"}),
    "ScreenPayment": _refused(PAYMENT, {"payee_id": UNKNOWN}, {"amount": 0}),
    "PresentPayment": _refused(PAYMENT, {"payee_id": UNKNOWN}, {"amount": 0}),
    "AuthenticatePayment": _refused(
        LINKED, {"device_id": UNKNOWN}, {"second_element": "smile"}, {"payee_id": UNKNOWN}, {"amount": 0}
    ),
    "AuthenticateCustomer": _refused(SIGN_IN, {"device_id": UNKNOWN}, {"action": "look around"}),
    "ApplyExemption": _refused(EXEMPT, {"payee_id": UNKNOWN}, {"amount": 0}, {"ground": "a hurry"}),
    "AskForPin": _refused(TAP, {"card_id": UNKNOWN}, {"amount": 0}),
    "ReportIncident": _refused({}, {"matter": "rain"}),
    "WarnCustomer": [],
}
FAILED: dict[str, list[Arguments]] = {
    "SendPayment": [{**SEND, "account_id": POT}],
    "TrustPayee": [{"payee_id": DENTIST}],
    "CancelOrder": [{"order_id": GIFT}],
    "UnblockCard": [{"card_id": BLUE}],
    "RefundTransaction": [{"transaction_id": FILMS}, {"transaction_id": LOAN}],
}
MORE: dict[str, list[Arguments]] = {}
WORLD = EnvironmentFixture(ENVIRONMENT, STATE, GOOD, RAISED, FAILED, MORE)
do, tables = WORLD.do, WORLD.tables
