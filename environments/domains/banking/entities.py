"""The tables of the banking environment."""

from lawtrace.environments.spec import AUDIT_LOG, DATE, MONEY, TEXT, Choice, Entity, Field, Pattern, session_entity

ACCOUNT_NUMBER = Pattern("XXX-XXXX-XXXX", r"\d{3}-\d{4}-\d{4}")
PAYEE_ID = Pattern("P-XXXXXX", r"P-\d{6}")
ACCOUNT_TYPE = Choice(
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

ACCOUNTS = Entity(
    table="accounts",
    singular="account",
    key="account_number",
    fields={
        "account_number": Field(ACCOUNT_NUMBER),
        "account_type": Field(ACCOUNT_TYPE),
        "balance": Field(MONEY),
        "status": Field(TEXT),
        "remaining_contribution_room": Field(MONEY, optional=True),
    },
)

PAYEES = Entity(
    table="payees",
    singular="payee",
    key="payee_id",
    fields={"payee_id": Field(PAYEE_ID), "payee_name": Field(TEXT)},
)

TRANSACTIONS = Entity(
    table="transactions",
    singular="transaction",
    key="transaction_id",
    key_prefix="T-",
    fields={
        "transaction_id": Field(TEXT),
        "account_number": Field(ACCOUNT_NUMBER),
        "date": Field(DATE),
        "description": Field(TEXT),
        # Signed: money that leaves the account is negative.
        "amount": Field(MONEY),
        # A running balance depends on the order of the payments, which a goal leaves open.
        "balance": Field(MONEY, order_dependent=True),
        # What the payment was for: a service account number, or the other account of a transfer.
        "reference": Field(TEXT, optional=True),
    },
)

SESSION = session_entity(today=Field(DATE))

ENTITIES = {entity.table: entity for entity in (ACCOUNTS, PAYEES, TRANSACTIONS, AUDIT_LOG, SESSION)}
