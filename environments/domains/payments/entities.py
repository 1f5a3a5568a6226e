"""The tables of the payments environment."""

from lawtrace.environments.spec import BOOLEAN, DATE, INTEGER, MOMENT, MONEY, TEXT, Choice, Entity, Field

DEVICE_KIND = Choice(("phone", "card reader"))
DEVICE_STATUS = Choice(("active", "reported lost", "awaiting activation"))
SECOND_ELEMENT = Choice(("password", "fingerprint", "text message code"))
"""What the customer gives besides the device. The code goes to the number of the device."""
PASSWORD_STATUS = Choice(("sound", "on a list of stolen passwords"))
FINGERPRINT_STATUS = Choice(("enrolled", "not enrolled"))
ACTION = Choice(("view account data", "change the trusted list", "unblock a card", "let a provider see account data"))
EXEMPTION = Choice(("trusted payee", "own account", "low value"))
INCIDENT = Choice(("none", "minor", "major"))
HOLDER = Choice(("the customer", "someone else"))
ORDER_KIND = Choice(("scheduled transfer", "direct debit", "transfer under way"))
SCHEME = Choice(("card payment", "direct debit", "transfer"))
CLAIM_GROUND = Choice(("not authorised", "payee took too much"))
FINDING = Choice(("unauthorised", "direct debit within eight weeks", "more than could be expected"))
PARTY = Choice(("payee's institution", "payee"))
EVIDENCE = Choice(("none", "use of the card or password only", "full proof"))
RESTRICTION = Choice(("none", "frozen, may be told", "frozen, must not be told"))
CONSENT = Choice(("given", "withdrawn"))
CARD_STATUS = Choice(("active", "blocked", "reported lost"))
MATTER = Choice(("major incident", "provider denied access"))

REASON = Choice(
    (
        "sign-in is blocked",
        "no two usable elements",
        "suspected fraud",
        "the law forbids the payment",
        "reason withheld",
        "too late to revoke",
        "outside the time limit",
        "it was authorised",
        "it was agreed or expected",
        "no consent for this account",
        "reason for the block persists",
        "card was reported lost",
    )
)

ACCOUNTS = Entity(
    table="accounts",
    singular="account",
    key="account_id",
    fields={
        "account_id": Field(TEXT),
        "nickname": Field(TEXT),
        "iban": Field(TEXT),
        # It depends on refunds and payments in any order; goals are about the payments themselves.
        "balance": Field(MONEY, order_dependent=True),
    },
)

# What customers see of an account online.
STATEMENTS = Entity(
    table="statements",
    singular="statement",
    key="statement_id",
    fields={"statement_id": Field(TEXT), "name": Field(TEXT), "account_id": Field(TEXT)},
)

PAYEES = Entity(
    table="payees",
    singular="payee",
    key="payee_id",
    fields={
        "payee_id": Field(TEXT),
        "name": Field(TEXT),
        "iban": Field(TEXT),
        "trusted": Field(BOOLEAN),
        "held_by": Field(HOLDER),
        "same_institution": Field(BOOLEAN),
        "suspicious": Field(BOOLEAN),
        "restriction": Field(RESTRICTION),
    },
)

CARDS = Entity(
    table="cards",
    singular="card",
    key="card_id",
    fields={
        "card_id": Field(TEXT),
        "nickname": Field(TEXT),
        "status": Field(CARD_STATUS),
        "reason_persists": Field(BOOLEAN),
        "pin_failures": Field(INTEGER),
        "contactless_total": Field(MONEY, order_dependent=True),
        "contactless_count": Field(INTEGER, order_dependent=True),
    },
)

DEVICES = Entity(
    table="devices",
    singular="device",
    key="device_id",
    fields={
        "device_id": Field(TEXT),
        "kind": Field(DEVICE_KIND),
        "model": Field(TEXT),
        "status": Field(DEVICE_STATUS),
    },
)

SECURITY_FILE = Entity(
    table="security_file",
    singular="security file",
    key="file_id",
    fields={
        "file_id": Field(TEXT),
        "failed_attempts": Field(INTEGER),
        "password": Field(PASSWORD_STATUS),
        "fingerprint": Field(FINGERPRINT_STATUS),
        "last_authenticated_view": Field(DATE, optional=True),
        "incident": Field(INCIDENT),
        "touches_customers_money": Field(BOOLEAN),
    },
)

# Remote payments since the last one that was authenticated.
COUNTERS = Entity(
    table="counters",
    singular="counter",
    key="counter_id",
    fields={
        "counter_id": Field(TEXT),
        "remote_total": Field(MONEY, order_dependent=True),
        "remote_count": Field(INTEGER, order_dependent=True),
    },
)

ORDERS = Entity(
    table="orders",
    singular="order",
    key="order_id",
    fields={
        "order_id": Field(TEXT),
        "description": Field(TEXT),
        "kind": Field(ORDER_KIND),
        "amount": Field(MONEY),
        "due": Field(DATE),
        "institution_agrees": Field(BOOLEAN),
        "payee_agrees": Field(BOOLEAN),
        "revoked": Field(BOOLEAN),
    },
)

TRANSACTIONS = Entity(
    table="transactions",
    singular="transaction",
    key="transaction_id",
    fields={
        "transaction_id": Field(TEXT),
        "account_id": Field(TEXT),
        "description": Field(TEXT),
        "debited": Field(DATE),
        "amount": Field(MONEY),
        "scheme": Field(SCHEME),
        "evidence": Field(EVIDENCE),
        "consent": Field(CONSENT),
        "fraud_grounds": Field(BOOLEAN),
        "exact_amount_agreed": Field(BOOLEAN),
        "above_expectation": Field(BOOLEAN),
        # What the customer says in a claim that the institution received today; absent without a claim.
        "claim": Field(CLAIM_GROUND, optional=True),
    },
)

PROVIDERS = Entity(
    table="providers",
    singular="provider",
    key="provider_id",
    fields={
        "provider_id": Field(TEXT),
        "name": Field(TEXT),
        "consent": Field(CONSENT),
        "designated_account": Field(TEXT),
        "last_authenticated": Field(DATE, optional=True),
        "evidence_of_misuse": Field(BOOLEAN),
    },
)


def _made(table: str, singular: str, key: str, prefix: str, **fields: Field) -> Entity:
    """A table that only tools fill."""
    return Entity(table=table, singular=singular, key=key, key_prefix=prefix, fields={key: Field(TEXT), **fields})


PAYMENTS = _made(
    "payments",
    "payment",
    "payment_id",
    "PM-",
    account_id=Field(TEXT),
    payee_id=Field(TEXT),
    amount=Field(MONEY),
)
SERIES = _made(
    "series",
    "standing order",
    "series_id",
    "SO-",
    account_id=Field(TEXT),
    payee_id=Field(TEXT),
    amount=Field(MONEY),
    day_of_month=Field(INTEGER),
)
TAPS = _made("taps", "contactless payment", "tap_id", "CT-", card_id=Field(TEXT), amount=Field(MONEY))
REFUNDS = _made("refunds", "refund", "refund_id", "RF-", transaction_id=Field(TEXT), amount=Field(MONEY))
VIEWS = _made("views", "view", "view_id", "VW-", statement_id=Field(TEXT), days_back=Field(INTEGER))
SHARINGS = _made("sharings", "answer", "sharing_id", "SH-", provider_id=Field(TEXT), account_id=Field(TEXT))
REFUSALS = _made("refusals", "refusal", "refusal_id", "RL-", subject=Field(TEXT), reason=Field(REASON))

SCREENINGS = _made("screenings", "screening", "screening_id", "SC-", payee_id=Field(TEXT), amount=Field(MONEY))
PRESENTED = _made("presented", "confirmation page", "page_id", "PG-", payee_id=Field(TEXT), amount=Field(MONEY))
LINKED_CODES = _made(
    "linked_codes",
    "authentication code",
    "code_id",
    "AU-",
    device_id=Field(TEXT),
    second_element=Field(SECOND_ELEMENT),
    payee_id=Field(TEXT),
    amount=Field(MONEY),
)
SIGN_INS = _made(
    "sign_ins",
    "sign-in",
    "sign_in_id",
    "SI-",
    device_id=Field(TEXT),
    second_element=Field(SECOND_ELEMENT),
    action=Field(ACTION),
)
EXEMPTIONS = _made(
    "exemptions",
    "exemption",
    "exemption_id",
    "EX-",
    payee_id=Field(TEXT),
    amount=Field(MONEY),
    ground=Field(EXEMPTION),
)
PIN_ENTRIES = _made("pin_entries", "PIN entry", "entry_id", "PN-", card_id=Field(TEXT), amount=Field(MONEY))
FINDINGS = _made("findings", "finding", "finding_id", "FI-", transaction_id=Field(TEXT), finding=Field(FINDING))
INQUIRIES = _made("inquiries", "inquiry", "inquiry_id", "IQ-", order_id=Field(TEXT), party=Field(PARTY))
FRAUD_REPORTS = _made("fraud_reports", "report", "report_id", "RP-", transaction_id=Field(TEXT))
INCIDENT_REPORTS = _made("incident_reports", "report", "report_id", "RI-", matter=Field(MATTER))
REFERRALS = _made("referrals", "letter", "letter_id", "LT-", transaction_id=Field(TEXT))
WARNINGS = _made("warnings", "warning", "warning_id", "WN-", sent=Field(DATE))

SESSION = Entity(
    table="session", singular="session", key="session_id", fields={"session_id": Field(TEXT), "now": Field(MOMENT)}
)

ENTITIES = {
    entity.table: entity
    for entity in (
        ACCOUNTS,
        STATEMENTS,
        PAYEES,
        CARDS,
        DEVICES,
        SECURITY_FILE,
        COUNTERS,
        ORDERS,
        TRANSACTIONS,
        PROVIDERS,
        PAYMENTS,
        SERIES,
        TAPS,
        REFUNDS,
        VIEWS,
        SHARINGS,
        REFUSALS,
        SCREENINGS,
        PRESENTED,
        LINKED_CODES,
        SIGN_INS,
        EXEMPTIONS,
        PIN_ENTRIES,
        FINDINGS,
        INQUIRIES,
        FRAUD_REPORTS,
        INCIDENT_REPORTS,
        REFERRALS,
        WARNINGS,
        SESSION,
    )
}
