"""The fields of an initial state on which the law turns."""

from lawtrace.environments.spec import Fact

from .entities import (
    CARDS,
    COUNTERS,
    DEVICES,
    ORDERS,
    PAYEES,
    PROVIDERS,
    RESTRICTION,
    SECURITY_FILE,
    TRANSACTIONS,
)
from .initial_state import (
    AUTUMN,
    DUE_DAYS,
    LAST_SPRING,
    LATELY,
    WEEKS_AGO,
    YEARS_AGO,
)

FACTS = (
    Fact("status of a device", DEVICES, "status", ("active", "reported lost", "awaiting activation")),
    Fact("failed attempts in a row", SECURITY_FILE, "failed_attempts", (1, 4, 5)),
    Fact("state of the password", SECURITY_FILE, "password", ("sound", "on a list of stolen passwords")),
    Fact("fingerprint", SECURITY_FILE, "fingerprint", ("enrolled", "not enrolled")),
    Fact("last authenticated view", SECURITY_FILE, "last_authenticated_view", (AUTUMN, LAST_SPRING, None)),
    Fact("open incident", SECURITY_FILE, "incident", ("none", "minor", "major")),
    Fact("remote payments since the last authentication", COUNTERS, "remote_total", (61_40, 97_30, 112_80, 140_25)),
    Fact("number of remote payments", COUNTERS, "remote_count", (4, 5, 6, 7)),
    Fact("payee on the trusted list", PAYEES, "trusted", (True, False)),
    Fact("holder of the payee's account", PAYEES, "held_by", ("the customer", "someone else")),
    Fact("payee's account with this institution", PAYEES, "same_institution", (True, False)),
    Fact("signs of fraud", PAYEES, "suspicious", (True, False)),
    Fact("payments to the payee forbidden", PAYEES, "restriction", RESTRICTION.options),
    Fact("status of a card", CARDS, "status", ("active", "blocked", "reported lost")),
    Fact("reason for the block", CARDS, "reason_persists", (True, False)),
    Fact("wrong PINs in a row", CARDS, "pin_failures", (0, 2, 5)),
    Fact("contactless sum", CARDS, "contactless_total", (88_10, 146_75, 163_20, 181_55)),
    Fact("contactless payments", CARDS, "contactless_count", (3, 4, 7, 8)),
    Fact("day on which an order is due", ORDERS, "due", DUE_DAYS),
    Fact("institution agrees to a late revocation", ORDERS, "institution_agrees", (True, False)),
    Fact("payee agrees to a late revocation", ORDERS, "payee_agrees", (True, False)),
    Fact("day of the debit", TRANSACTIONS, "debited", (LATELY, WEEKS_AGO, YEARS_AGO)),
    Fact(
        "evidence of authorisation",
        TRANSACTIONS,
        "evidence",
        ("none", "use of the card or password only", "full proof"),
    ),
    Fact("consent at the debit", TRANSACTIONS, "consent", ("given", "withdrawn")),
    Fact("grounds to suspect fraud", TRANSACTIONS, "fraud_grounds", (True, False)),
    Fact("exact amount agreed", TRANSACTIONS, "exact_amount_agreed", (True, False)),
    Fact("above expectation", TRANSACTIONS, "above_expectation", (True, False)),
    Fact("ground of the claim", TRANSACTIONS, "claim", ("not authorised", "payee took too much")),
    Fact("consent to a provider", PROVIDERS, "consent", ("given", "withdrawn")),
    Fact("last authentication through a provider", PROVIDERS, "last_authenticated", (AUTUMN, LAST_SPRING, None)),
    Fact("evidence of misuse by a provider", PROVIDERS, "evidence_of_misuse", (True, False)),
)
