"""The fields of an initial state on which the law turns."""

from lawtrace.environments import spec as s

from . import entities as e
from .initial_state import AUTUMN, DUE_DAYS, LAST_SPRING, LATELY, WEEKS_AGO, YEARS_AGO

FACTS = (
    s.Fact("status of a device", e.DEVICES, "status", ("active", "reported lost", "awaiting activation")),
    s.Fact("failed attempts in a row", e.SECURITY_FILE, "failed_attempts", (1, 4, 5)),
    s.Fact("state of the password", e.SECURITY_FILE, "password", ("sound", "on a list of stolen passwords")),
    s.Fact("fingerprint", e.SECURITY_FILE, "fingerprint", ("enrolled", "not enrolled")),
    s.Fact("last authenticated view", e.SECURITY_FILE, "last_authenticated_view", (AUTUMN, LAST_SPRING, None)),
    s.Fact("open incident", e.SECURITY_FILE, "incident", ("none", "minor", "major")),
    s.Fact("remote payments since the last authentication", e.COUNTERS, "remote_total", (61_40, 97_30, 112_80, 140_25)),
    s.Fact("number of remote payments", e.COUNTERS, "remote_count", (4, 5, 6, 7)),
    s.Fact("payee on the trusted list", e.PAYEES, "trusted", (True, False)),
    s.Fact("holder of the payee's account", e.PAYEES, "held_by", ("the customer", "someone else")),
    s.Fact("payee's account with this institution", e.PAYEES, "same_institution", (True, False)),
    s.Fact("payments to the payee forbidden", e.PAYEES, "restriction", e.RESTRICTION.options),
    s.Fact("status of a card", e.CARDS, "status", ("active", "blocked", "reported lost")),
    s.Fact("wrong PINs in a row", e.CARDS, "pin_failures", (0, 2, 5)),
    s.Fact("contactless sum", e.TAP_COUNTERS, "contactless_total", (88_10, 146_75, 163_20, 181_55)),
    s.Fact("contactless payments", e.TAP_COUNTERS, "contactless_count", (3, 4, 7, 8)),
    s.Fact("day on which an order is due", e.ORDERS, "due", DUE_DAYS),
    s.Fact("institution agrees to a late revocation", e.ORDERS, "institution_agrees", (True, False)),
    s.Fact("payee agrees to a late revocation", e.ORDERS, "payee_agrees", (True, False)),
    s.Fact("day of the debit", e.TRANSACTIONS, "debited", (LATELY, WEEKS_AGO, YEARS_AGO)),
    s.Fact(
        "evidence of authorisation", e.FINDINGS, "evidence", ("none", "use of the card or password only", "full proof")
    ),
    s.Fact("consent at the debit", e.TRANSACTIONS, "consent", ("given", "withdrawn")),
    s.Fact("information on a transaction", e.TRANSACTIONS, "informed", (True, False)),
    s.Fact("exact amount agreed", e.TRANSACTIONS, "exact_amount_agreed", (True, False)),
    s.Fact("above expectation", e.TRANSACTIONS, "above_expectation", (True, False)),
    s.Fact("ground of the claim", e.TRANSACTIONS, "claim", ("not authorised", "payee took too much")),
    s.Fact("last authentication through a provider", e.PROVIDERS, "last_authenticated", (AUTUMN, LAST_SPRING, None)),
)
