"""The tables of the payments environment."""

from lawtrace.environments import spec as s

DEVICE_KIND = s.Choice(("phone", "card reader"))
DEVICE_STATUS = s.Choice(("active", "reported lost", "awaiting activation"))
SECOND_ELEMENT = s.Choice(("password", "fingerprint", "text message code"))
"""What the customer gives besides the device. The code goes to the number of the device."""
PASSWORD_STATUS = s.Choice(("sound", "on a list of stolen passwords"))
FINGERPRINT_STATUS = s.Choice(("enrolled", "not enrolled"))
ACTION = s.Choice(("view account data", "change the trusted list", "unblock a card", "let a provider see account data"))
EXEMPTION = s.Choice(("trusted payee", "own account", "low value"))
INCIDENT = s.Choice(("none", "minor", "major"))
HOLDER = s.Choice(("the customer", "someone else"))
ORDER_KIND = s.Choice(("scheduled transfer", "direct debit", "transfer under way"))
SCHEME = s.Choice(("card payment", "direct debit", "transfer"))
CLAIM_GROUND = s.Choice(("not authorised", "payee took too much"))
FINDING = s.Choice(("unauthorised", "direct debit within eight weeks", "more than could be expected"))
PARTY = s.Choice(("payee's institution", "payee"))
EVIDENCE = s.Choice(("none", "use of the card or password only", "full proof"))
RESTRICTION = s.Choice(("none", "frozen, may be told", "frozen, must not be told"))
CONSENT = s.Choice(("given", "withdrawn"))
CARD_STATUS = s.Choice(("active", "blocked", "reported lost"))
MATTER = s.Choice(("major incident", "provider denied access"))

REASON = s.Choice(
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

ACCOUNTS = s.table(
    "accounts",
    "account",
    account_id=s.TEXT,
    nickname=s.TEXT,
    iban=s.TEXT,
    # It depends on refunds and payments in any order; goals are about the payments themselves.
    balance=s.Field(s.MONEY, order_dependent=True),
)

# What customers see of an account online.
STATEMENTS = s.Entity(
    table="statements",
    singular="statement",
    key="statement_id",
    fields={"statement_id": s.Field(s.TEXT), "name": s.Field(s.TEXT), "account_id": s.Field(s.TEXT)},
)

PAYEES = s.Entity(
    table="payees",
    singular="payee",
    key="payee_id",
    fields={
        "payee_id": s.Field(s.TEXT),
        "name": s.Field(s.TEXT),
        "iban": s.Field(s.TEXT),
        "trusted": s.Field(s.BOOLEAN),
        "held_by": s.Field(HOLDER),
        "same_institution": s.Field(s.BOOLEAN),
        "suspicious": s.Field(s.BOOLEAN),
        "restriction": s.Field(RESTRICTION),
    },
)

CARDS = s.table(
    "cards",
    "card",
    card_id=s.TEXT,
    nickname=s.TEXT,
    status=CARD_STATUS,
    reason_persists=s.BOOLEAN,
    pin_failures=s.INTEGER,
    contactless_total=s.Field(s.MONEY, order_dependent=True),
    contactless_count=s.Field(s.INTEGER, order_dependent=True),
)

DEVICES = s.table("devices", "device", device_id=s.TEXT, kind=DEVICE_KIND, model=s.TEXT, status=DEVICE_STATUS)

SECURITY_FILE = s.table(
    "security_file",
    "security file",
    file_id=s.TEXT,
    failed_attempts=s.INTEGER,
    password=PASSWORD_STATUS,
    fingerprint=FINGERPRINT_STATUS,
    last_authenticated_view=s.Field(s.DATE, optional=True),
    incident=INCIDENT,
    touches_customers_money=s.BOOLEAN,
)

# Remote payments since the last one that was authenticated.
COUNTERS = s.table(
    "counters",
    "counter",
    counter_id=s.TEXT,
    remote_total=s.Field(s.MONEY, order_dependent=True),
    remote_count=s.Field(s.INTEGER, order_dependent=True),
)

ORDERS = s.table(
    "orders",
    "order",
    order_id=s.TEXT,
    description=s.TEXT,
    kind=ORDER_KIND,
    amount=s.MONEY,
    due=s.DATE,
    institution_agrees=s.BOOLEAN,
    payee_agrees=s.BOOLEAN,
    revoked=s.BOOLEAN,
)

TRANSACTIONS = s.table(
    "transactions",
    "transaction",
    transaction_id=s.TEXT,
    account_id=s.TEXT,
    description=s.TEXT,
    debited=s.DATE,
    amount=s.MONEY,
    scheme=SCHEME,
    evidence=EVIDENCE,
    consent=CONSENT,
    fraud_grounds=s.BOOLEAN,
    exact_amount_agreed=s.BOOLEAN,
    above_expectation=s.BOOLEAN,
    # What the customer says in a claim that the institution received today; absent without a claim.
    claim=s.Field(CLAIM_GROUND, optional=True),
)

PROVIDERS = s.Entity(
    table="providers",
    singular="provider",
    key="provider_id",
    fields={
        "provider_id": s.Field(s.TEXT),
        "name": s.Field(s.TEXT),
        "consent": s.Field(CONSENT),
        "designated_account": s.Field(s.TEXT),
        "last_authenticated": s.Field(s.DATE, optional=True),
        "evidence_of_misuse": s.Field(s.BOOLEAN),
    },
)


def _made(table: str, singular: str, key: str, prefix: str, **fields: s.Field) -> s.Entity:
    """A table that only tools fill."""
    return s.Entity(table=table, singular=singular, key=key, key_prefix=prefix, fields={key: s.Field(s.TEXT), **fields})


PAYMENTS = _made(
    "payments",
    "payment",
    "payment_id",
    "PM-",
    account_id=s.Field(s.TEXT),
    payee_id=s.Field(s.TEXT),
    amount=s.Field(s.MONEY),
)
SERIES = _made(
    "series",
    "standing order",
    "series_id",
    "SO-",
    account_id=s.Field(s.TEXT),
    payee_id=s.Field(s.TEXT),
    amount=s.Field(s.MONEY),
    day_of_month=s.Field(s.INTEGER),
)
TAPS = _made("taps", "contactless payment", "tap_id", "CT-", card_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
REFUNDS = _made("refunds", "refund", "refund_id", "RF-", transaction_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
VIEWS = _made("views", "view", "view_id", "VW-", statement_id=s.Field(s.TEXT), days_back=s.Field(s.INTEGER))
SHARINGS = _made("sharings", "answer", "sharing_id", "SH-", provider_id=s.Field(s.TEXT), account_id=s.Field(s.TEXT))
REFUSALS = _made("refusals", "refusal", "refusal_id", "RL-", subject=s.Field(s.TEXT), reason=s.Field(REASON))

SCREENINGS = _made("screenings", "screening", "screening_id", "SC-", payee_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
PRESENTED = _made("presented", "confirmation page", "page_id", "PG-", payee_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
LINKED_CODES = _made(
    "linked_codes",
    "authentication code",
    "code_id",
    "AU-",
    device_id=s.Field(s.TEXT),
    second_element=s.Field(SECOND_ELEMENT),
    payee_id=s.Field(s.TEXT),
    amount=s.Field(s.MONEY),
)
SIGN_INS = _made(
    "sign_ins",
    "sign-in",
    "sign_in_id",
    "SI-",
    device_id=s.Field(s.TEXT),
    second_element=s.Field(SECOND_ELEMENT),
    action=s.Field(ACTION),
)
EXEMPTIONS = _made(
    "exemptions",
    "exemption",
    "exemption_id",
    "EX-",
    payee_id=s.Field(s.TEXT),
    amount=s.Field(s.MONEY),
    ground=s.Field(EXEMPTION),
)
PIN_ENTRIES = _made("pin_entries", "PIN entry", "entry_id", "PN-", card_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
FINDINGS = _made("findings", "finding", "finding_id", "FI-", transaction_id=s.Field(s.TEXT), finding=s.Field(FINDING))
INQUIRIES = _made("inquiries", "inquiry", "inquiry_id", "IQ-", order_id=s.Field(s.TEXT), party=s.Field(PARTY))
FRAUD_REPORTS = _made("fraud_reports", "report", "report_id", "RP-", transaction_id=s.Field(s.TEXT))
INCIDENT_REPORTS = _made("incident_reports", "report", "report_id", "RI-", matter=s.Field(MATTER))
REFERRALS = _made("referrals", "letter", "letter_id", "LT-", transaction_id=s.Field(s.TEXT))
WARNINGS = _made("warnings", "warning", "warning_id", "WN-", sent=s.Field(s.DATE))

SESSION = s.table("session", "session", session_id=s.TEXT, now=s.MOMENT)

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
