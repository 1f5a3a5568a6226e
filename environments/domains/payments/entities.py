"""The tables of the payments environment."""

from lawtrace.environments import spec as s

DEVICE_KIND = s.Choice(("phone", "card reader"))
DEVICE_STATUS = s.Choice(("active", "reported lost", "awaiting activation"))
SECOND_ELEMENT = s.Choice(("password", "fingerprint", "text message code"))
"""What the customer gives besides the device, to which the code is sent."""
PASSWORD_STATUS = s.Choice(("sound", "on a list of stolen passwords"))
FINGERPRINT_STATUS = s.Choice(("enrolled", "not enrolled"))
ACTION = s.Choice(("view account data", "change the trusted list", "unblock a card"))
EXEMPTION = s.Choice(("trusted payee", "own account", "low value"))
INCIDENT = s.Choice(("none", "minor", "major"))
HOLDER = s.Choice(("the customer", "someone else"))
ORDER_KIND = s.Choice(("scheduled transfer", "direct debit", "transfer under way"))
SCHEME = s.Choice(("card payment", "direct debit", "transfer"))
CLAIM_GROUND = s.Choice(("not authorised", "payee took too much"))
PARTY = s.Choice(("payee's institution", "payee"))
EVIDENCE = s.Choice(("none", "use of the card or password only", "full proof"))
RESTRICTION = s.Choice(("none", "frozen, may be told", "frozen, must not be told"))
CONSENT = s.Choice(("given", "withdrawn"))
CARD_STATUS = s.Choice(("active", "blocked", "reported lost"))
MATTER = s.Choice(("major incident", "provider denied access"))

REASON = s.Choice(
    (
        "sign-in is blocked",
        "the PIN is blocked",
        "there is no usable device",
        "there is no usable second element",
        "suspected fraud",
        "the law forbids the payment",
        "reason withheld",
        "too late to revoke",
        "outside the time limit",
        "it was authorised",
        "it was agreed or expected",
        "the account is not designated",
        "reason for the block persists",
        "card was reported lost",
    )
)

REQUEST = s.Choice(
    (
        "transfer",
        "standing order",
        "contactless payment",
        "trusted payee",
        "unblocking of a card",
        "revocation",
        "refund",
        "access of a provider",
        "statement",
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
STATEMENTS = s.table("statements", "statement", statement_id=s.TEXT, name=s.TEXT, account_id=s.TEXT)

PAYEES = s.table(
    "payees",
    "payee",
    payee_id=s.TEXT,
    name=s.TEXT,
    iban=s.TEXT,
    trusted=s.BOOLEAN,
    held_by=HOLDER,
    same_institution=s.BOOLEAN,
    suspicious=s.BOOLEAN,
    restriction=RESTRICTION,
)

CARDS = s.table(
    "cards",
    "card",
    card_id=s.TEXT,
    nickname=s.TEXT,
    status=CARD_STATUS,
    reason_persists=s.BOOLEAN,
    pin_failures=s.INTEGER,
)

# Contactless payments with a card since the last one with its PIN.
TAP_COUNTERS = s.table(
    "tap_counters",
    "counter of contactless payments",
    card_id=s.TEXT,
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
    consent=CONSENT,
    informed=s.BOOLEAN,
    fraud_grounds=s.BOOLEAN,
    exact_amount_agreed=s.BOOLEAN,
    above_expectation=s.BOOLEAN,
    # What the customer says in a claim that the institution received today; absent without a claim.
    claim=s.Field(CLAIM_GROUND, optional=True),
)

FINDINGS = s.table("findings", "finding", transaction_id=s.TEXT, evidence=EVIDENCE)

# What happens without a call.
PROOFS = s.table("proofs", "proof", proof_id=s.TEXT, transaction_id=s.TEXT, arrives=s.MOMENT)
PIN_PAYMENTS = s.table("pin_payments", "payment with a PIN", pin_payment_id=s.TEXT, card_id=s.TEXT, made=s.MOMENT)
INQUIRIES = s.table(
    "inquiries", "inquiry", prefix="IQ-", inquiry_id=s.TEXT, order_id=s.TEXT, party=PARTY, arrives=s.MOMENT
)
PLANNED_PAYMENTS = s.table(
    "planned_payments",
    "planned payment",
    prefix="PP-",
    plan_id=s.TEXT,
    account_id=s.TEXT,
    payee_id=s.TEXT,
    amount=s.MONEY,
    planned=s.MOMENT,
)

PROVIDERS = s.table(
    "providers",
    "provider",
    provider_id=s.TEXT,
    name=s.TEXT,
    designated_account=s.TEXT,
    last_authenticated=s.Field(s.DATE, optional=True),
    evidence_of_misuse=s.BOOLEAN,
)


PAYMENTS = s.table(
    "payments", "payment", prefix="PM-", payment_id=s.TEXT, account_id=s.TEXT, payee_id=s.TEXT, amount=s.MONEY
)
SERIES = s.table(
    "series",
    "standing order",
    prefix="SO-",
    series_id=s.TEXT,
    account_id=s.TEXT,
    payee_id=s.TEXT,
    amount=s.MONEY,
    day_of_month=s.INTEGER,
)
TAPS = s.table("taps", "contactless payment", prefix="CT-", tap_id=s.TEXT, card_id=s.TEXT, amount=s.MONEY)
REFUNDS = s.table("refunds", "refund", prefix="RF-", refund_id=s.TEXT, transaction_id=s.TEXT, amount=s.MONEY)
VIEWS = s.table("views", "view", prefix="VW-", view_id=s.TEXT, statement_id=s.TEXT, days_back=s.INTEGER)
SHARINGS = s.table("sharings", "answer", prefix="SH-", sharing_id=s.TEXT, provider_id=s.TEXT, account_id=s.TEXT)
REFUSALS = s.table(
    "refusals", "refusal", prefix="RL-", refusal_id=s.TEXT, request=REQUEST, subject=s.TEXT, reason=REASON
)

SCREENINGS = s.table("screenings", "screening", prefix="SC-", screening_id=s.TEXT, payee_id=s.TEXT, amount=s.MONEY)
PRESENTED = s.table("presented", "confirmation page", prefix="PG-", page_id=s.TEXT, payee_id=s.TEXT, amount=s.MONEY)
LINKED_CODES = s.table(
    "linked_codes",
    "authentication code",
    prefix="AU-",
    code_id=s.TEXT,
    device_id=s.TEXT,
    second_element=SECOND_ELEMENT,
    payee_id=s.TEXT,
    amount=s.MONEY,
)
SIGN_INS = s.table(
    "sign_ins",
    "sign-in",
    prefix="SI-",
    sign_in_id=s.TEXT,
    device_id=s.TEXT,
    second_element=SECOND_ELEMENT,
    action=ACTION,
)
PROVIDER_SIGN_INS = s.table(
    "provider_sign_ins",
    "sign-in",
    prefix="SP-",
    sign_in_id=s.TEXT,
    device_id=s.TEXT,
    second_element=SECOND_ELEMENT,
    provider_id=s.TEXT,
)
EXEMPTIONS = s.table(
    "exemptions", "exemption", prefix="EX-", exemption_id=s.TEXT, payee_id=s.TEXT, amount=s.MONEY, ground=EXEMPTION
)
PIN_ENTRIES = s.table("pin_entries", "PIN entry", prefix="PN-", entry_id=s.TEXT, card_id=s.TEXT, amount=s.MONEY)
ANSWERS = s.table("answers", "answer", prefix="AN-", answer_id=s.TEXT, order_id=s.TEXT, party=PARTY)
FRAUD_REPORTS = s.table("fraud_reports", "report", prefix="RP-", report_id=s.TEXT, transaction_id=s.TEXT)
INCIDENT_REPORTS = s.table("incident_reports", "report", prefix="RI-", report_id=s.TEXT, matter=MATTER)
REFERRALS = s.table("referrals", "letter", prefix="LT-", letter_id=s.TEXT, transaction_id=s.TEXT)
WARNINGS = s.table("warnings", "warning", prefix="WN-", warning_id=s.TEXT, sent=s.DATE)

SESSION = s.table("session", "session", session_id=s.TEXT, now=s.MOMENT, today=s.DATE)

ENTITIES = s.tables_of(globals())
