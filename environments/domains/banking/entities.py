"""The tables of the banking environment."""

from lawtrace.environments import spec as s

ACCOUNT_NUMBER = s.Pattern("XXX-XXXX-XXXX", r"\d{3}-\d{4}-\d{4}")
PAYEE_ID = s.Pattern("P-XXXXXX", r"P-\d{6}")
ACCOUNT_TYPE = s.Choice(
    (
        "checking",
        "savings",
        "mutual fund TFSA",
        "mutual fund non-registered",
        "self-directed TFSA",
        "self-directed non-registered",
        "mortgage",
        "credit_card",
    )
)

ACCOUNTS = s.table(
    "accounts",
    "account",
    account_number=ACCOUNT_NUMBER,
    account_type=ACCOUNT_TYPE,
    balance=s.MONEY,
    status=s.TEXT,
    remaining_contribution_room=s.Field(s.MONEY, optional=True),
)

PAYEES = s.table("payees", "payee", payee_id=PAYEE_ID, payee_name=s.TEXT)

TRANSACTIONS = s.table(
    "transactions",
    "transaction",
    prefix="T-",
    transaction_id=s.TEXT,
    account_number=ACCOUNT_NUMBER,
    date=s.DATE,
    description=s.TEXT,
    # Signed: money that leaves the account is negative.
    amount=s.MONEY,
    # A running balance depends on the order of the payments, which a goal leaves open.
    balance=s.Field(s.MONEY, order_dependent=True),
    # What the payment was for: a service account number, or the other account of a transfer.
    reference=s.Field(s.TEXT, optional=True),
)

SESSION = s.session_entity(today=s.Field(s.DATE))

ENTITIES = {entity.table: entity for entity in (ACCOUNTS, PAYEES, TRANSACTIONS, s.AUDIT_LOG, SESSION)}
