"""Claims about executed transactions, and refusals of any request."""

from lawtrace.environments.spec import (
    INVALID_REQUEST,
    TEXT,
    AnySampler,
    Entity,
    Fails,
    FieldValue,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    RowVariable,
    Term,
    Tool,
    Update,
    argument,
    exists,
    value_of,
)

from .entities import (
    ACCOUNTS,
    CARDS,
    FINDING,
    FINDINGS,
    FRAUD_REPORTS,
    ORDERS,
    PAYEES,
    PROVIDERS,
    REASON,
    REFERRALS,
    REFUNDS,
    REFUSALS,
    STATEMENTS,
    TRANSACTIONS,
)
from .terms import DONE, NOT_FOUND, TRANSACTION, transaction, unknown

NAMED: tuple[tuple[Entity, str], ...] = (
    (STATEMENTS, "name"),
    (PAYEES, "name"),
    (CARDS, "nickname"),
    (ORDERS, "description"),
    (TRANSACTIONS, "description"),
    (PROVIDERS, "name"),
)
"""What a request can be about, with the field of its name."""

subject = argument("subject")
_is_on_file = exists(STATEMENTS, lambda s: s.name == subject)
for _entity, _field in NAMED[1:]:
    _is_on_file = _is_on_file | exists(_entity, lambda row, field=_field: getattr(row, field) == subject)


def _claimed(row: RowVariable) -> Term:
    return (row.claim == "not authorised") | (row.claim == "payee took too much")


REFUND_TRANSACTION = Tool(
    name="RefundTransaction",
    summary=(
        "Refunds the full amount of a transaction on the ground that was recorded, with the day of the debit as value "
        "date."
    ),
    phrases=Phrases(
        step="Give me the money for {transaction_id} back.",
        outcome="The money for {transaction_id} is back on my account.",
    ),
    parameters=(TRANSACTION,),
    raises=(unknown(TRANSACTIONS),),
    fails=(
        Fails("The transaction was refunded already.", exists(REFUNDS, lambda r: r.transaction_id == transaction)),
        Fails(
            "There is no claim about the transaction.",
            ~exists(TRANSACTIONS, lambda t: (t.transaction_id == transaction) & _claimed(t)),
        ),
    ),
    effects=(
        Insert(
            REFUNDS,
            {
                "transaction_id": transaction,
                "amount": value_of(TRANSACTIONS, lambda t: t.transaction_id == transaction, "amount", otherwise=0),
            },
        ),
        Update(
            ACCOUNTS,
            lambda a: (
                a.account_id
                == value_of(TRANSACTIONS, lambda t: t.transaction_id == transaction, "account_id", otherwise="")
            ),
            {
                "balance": lambda a: (
                    a.balance + value_of(TRANSACTIONS, lambda t: t.transaction_id == transaction, "amount", otherwise=0)
                )
            },
        ),
    ),
    results=(DONE,),
    critical=True,
)

DECLINE_REQUEST = Tool(
    name="DeclineRequest",
    summary="Tells the customer that a request is declined, and why.",
    phrases=Phrases(
        step="Decline what was asked about {subject}, with the reason that {reason}.",
        outcome="What was asked about {subject} has been declined, with the reason that {reason}.",
    ),
    parameters=(
        Parameter(
            "subject",
            TEXT,
            "What the request was about, by its full name on file: the payee of a payment or standing order, or one to "
            "be trusted; the provider that was to see an account; the order, transaction, card or statement.",
            FromUser(AnySampler(tuple(FieldValue(entity, field) for entity, field in NAMED))),
        ),
        Parameter("reason", REASON, "What the customer is told as the reason.", FromUser(OneOf(REASON.options))),
    ),
    raises=(
        Raises(NOT_FOUND, "Nothing on file has the name 'subject'.", ~_is_on_file),
        Raises(INVALID_REQUEST, "The 'reason' is not one of the reasons."),
    ),
    effects=(Insert(REFUSALS, {"subject": subject, "reason": argument("reason")}),),
    results=(DONE,),
    critical=True,
)

READ_CLAIM = Tool(
    name="ReadClaim",
    summary="Shows the claim for a refund of a transaction that the institution received from the customer today.",
    parameters=(TRANSACTION,),
    raises=(unknown(TRANSACTIONS),),
    results=(
        RowsResult(
            "claim",
            (
                "The claim: the name of the transaction, and its ground: that the customer did not authorise the "
                "transaction, or that the payee, who initiated it, took more than could be expected. Null if there is "
                "none."
            ),
            TRANSACTIONS,
            lambda t: (t.transaction_id == transaction) & _claimed(t),
            ("description", "claim"),
            single=True,
        ),
    ),
    leak_words=("claim form", "ground of the claim", "ground of my claim"),
    compliance=True,
    critical=True,
)

READ_TRANSACTION_FILE = Tool(
    name="ReadTransactionFile",
    summary="Collects what is known about a transaction: logs, the payee's mandate, and what the fraud team found.",
    parameters=(TRANSACTION,),
    raises=(unknown(TRANSACTIONS),),
    results=(
        RowsResult(
            "file",
            (
                "The file. 'evidence' is what proves that the customer authorised the transaction; 'consent' whether "
                "the consent to it stood or had been withdrawn when it was debited; 'fraud_grounds' whether there are "
                "reasonable grounds to suspect the customer of fraud; 'exact_amount_agreed' whether the authorisation "
                "named the exact amount; 'above_expectation' whether the amount exceeds what the customer could "
                "reasonably expect."
            ),
            TRANSACTIONS,
            lambda t: t.transaction_id == transaction,
            (
                "description",
                "debited",
                "scheme",
                "evidence",
                "consent",
                "fraud_grounds",
                "exact_amount_agreed",
                "above_expectation",
            ),
            single=True,
        ),
    ),
    leak_words=("transaction file", "mandate", "fraud team", "proof", "evidence"),
    duration=90 * 60,
    compliance=True,
    critical=True,
)

REPORT_FRAUD_GROUNDS = Tool(
    name="ReportFraudGrounds",
    summary="Writes to the national authority why fraud is suspected in a transaction.",
    parameters=(TRANSACTION,),
    raises=(unknown(TRANSACTIONS),),
    effects=(Insert(FRAUD_REPORTS, {"transaction_id": transaction}),),
    results=(DONE,),
    leak_words=("authority", "regulator", "supervisor"),
    duration=600,
    compliance=True,
    critical=True,
)

RECORD_FINDING = Tool(
    name="RecordFinding",
    summary="Records what the institution found about a claim: on what ground a refund is owed.",
    parameters=(
        TRANSACTION,
        Parameter("finding", FINDING, "The ground of the refund.", FromUser(OneOf(FINDING.options))),
    ),
    raises=(unknown(TRANSACTIONS), Raises(INVALID_REQUEST, "The 'finding' is not one of the grounds.")),
    effects=(Insert(FINDINGS, {"transaction_id": transaction, "finding": argument("finding")}),),
    results=(DONE,),
    leak_words=("the finding", "a finding", "your finding", "your assessment"),
    compliance=True,
    critical=True,
)

NAME_COMPLAINT_BODIES = Tool(
    name="NameComplaintBodies",
    summary=(
        "Sends the customer a letter about a transaction that names the authority for complaints and the body for "
        "out-of-court dispute resolution."
    ),
    parameters=(TRANSACTION,),
    raises=(unknown(TRANSACTIONS),),
    effects=(Insert(REFERRALS, {"transaction_id": transaction}),),
    results=(DONE,),
    leak_words=("ombudsman", "complaints bod", "dispute resolution", "out-of-court", "where can i complain"),
    compliance=True,
    critical=True,
)

TOOLS = (
    REFUND_TRANSACTION,
    DECLINE_REQUEST,
    READ_CLAIM,
    READ_TRANSACTION_FILE,
    RECORD_FINDING,
    REPORT_FRAUD_GROUNDS,
    NAME_COMPLAINT_BODIES,
)
