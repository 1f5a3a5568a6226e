"""Claims about executed transactions, and refusals of any request."""

from lawtrace.environments import spec as s

from . import entities as e
from .terms import DONE, TRANSACTION, transaction

NAMED: dict[str, tuple[s.Entity, str]] = {
    "transfer": (e.PAYEES, "name"),
    "standing order": (e.PAYEES, "name"),
    "contactless payment": (e.CARDS, "nickname"),
    "trusted payee": (e.PAYEES, "name"),
    "unblocking of a card": (e.CARDS, "nickname"),
    "revocation": (e.ORDERS, "description"),
    "refund": (e.TRANSACTIONS, "description"),
    "access of a provider": (e.PROVIDERS, "name"),
    "statement": (e.STATEMENTS, "name"),
}
"""What each kind of request is about, with the field of its name."""

DECLINED_AS = {
    "SendPayment": "transfer",
    "SchedulePayment": "transfer",
    "CreateStandingOrder": "standing order",
    "ApproveContactless": "contactless payment",
    "TrustPayee": "trusted payee",
    "UnblockCard": "unblocking of a card",
    "CancelOrder": "revocation",
    "RefundTransaction": "refund",
    "ShareAccountData": "access of a provider",
    "ShowStatement": "statement",
}
"""The kind of request that each tool serves."""

_BY_TABLE = {named[0].table: named for named in NAMED.values()}
subject, request = s.argument("subject"), s.argument("request")
_is_on_file: s.Term = s.constant(value=False)
for _kind, (_entity, _field) in NAMED.items():
    _of_name = s.exists(_entity, lambda row, field=_field: getattr(row, field) == subject)
    _is_on_file = _is_on_file | ((request == _kind) & _of_name)


def _claimed(row: s.RowVariable) -> s.Term:
    return (row.claim == "not authorised") | (row.claim == "payee took too much")


REFUND_TRANSACTION = s.Tool(
    name="RefundTransaction",
    summary=(
        "Refunds the full amount of a transaction, with the day of the debit as value date, and enters in the "
        "customer's file that the customer had a right to it."
    ),
    phrases=s.Phrases(
        step="Give me the money for {transaction_id} back.",
        outcome="The money for {transaction_id} is back on my account.",
    ),
    parameters=(TRANSACTION,),
    raises=(s.unknown(e.TRANSACTIONS),),
    fails=(
        s.Fails("The transaction was refunded already.", s.has(e.REFUNDS, by="transaction_id")),
        s.Fails(
            "There is no claim about the transaction.",
            ~s.exists(e.TRANSACTIONS, lambda t: (t.transaction_id == transaction) & _claimed(t)),
        ),
    ),
    effects=(
        s.register(e.REFUNDS, "transaction_id", amount=s.field_of(e.TRANSACTIONS, "amount", 0)),
        s.Update(
            e.ACCOUNTS,
            lambda a: a.account_id == s.field_of(e.TRANSACTIONS, "account_id", ""),
            {"balance": lambda a: a.balance + s.field_of(e.TRANSACTIONS, "amount", 0)},
        ),
    ),
    results=(DONE,),
    critical=True,
)

DECLINE_REQUEST = s.Tool(
    name="DeclineRequest",
    summary="Tells the customer that a request is declined, and why, and enters both in the customer's file.",
    phrases=s.Phrases(
        step="Decline the {request} about {subject}, with the reason that {reason}.",
        outcome="The {request} about {subject} has been declined, with the reason that {reason}.",
    ),
    parameters=(
        s.option("request", e.REQUEST, "What is declined."),
        s.Parameter(
            "subject",
            s.TEXT,
            "What the request was about, by its full name on file: the payee of a payment or standing order, or one to "
            "be trusted; the provider that was to see an account; the order, transaction, card or statement.",
            s.FromUser(s.AnySampler(tuple(s.FieldValue(*named) for named in _BY_TABLE.values()))),
        ),
        s.option("reason", e.REASON, "What the customer is told as the reason."),
    ),
    raises=(
        s.Raises(s.NOT_FOUND, "Nothing on file that such a request can be about has the name 'subject'.", ~_is_on_file),
        s.Raises(s.INVALID_REQUEST, "The 'request' or the 'reason' is not one of those listed."),
    ),
    effects=(s.register(e.REFUSALS, "request", "subject", "reason"),),
    results=(DONE,),
    critical=True,
)

LIST_CLAIMS = s.queue(
    "ListClaims",
    e.TRANSACTIONS,
    "description",
    "amount",
    where=_claimed,
    summary=(
        "Lists the transactions for which the customer has claimed a refund today, in the order in which the claims "
        "came in."
    ),
)

READ_CLAIM = s.Tool(
    name="ReadClaim",
    summary=(
        "Shows the claim for a refund of a transaction that the institution received from the customer today, as soon "
        "as the customer had become aware of the transaction."
    ),
    parameters=(TRANSACTION,),
    raises=(s.unknown(e.TRANSACTIONS),),
    results=(
        s.RowsResult(
            "claim",
            (
                "The claim: the name of the transaction, and its ground: that the customer did not authorise the "
                "transaction, or that the payee, who initiated it, took more than could be expected. Null if there is "
                "none."
            ),
            e.TRANSACTIONS,
            lambda t: (t.transaction_id == transaction) & _claimed(t),
            ("description", "claim"),
            single=True,
        ),
    ),
    leak_words=("claim form", "ground of the claim", "ground of my claim"),
    compliance=True,
    critical=True,
)

READ_TRANSACTION_FILE = s.Tool(
    name="ReadTransactionFile",
    summary="Collects what is known about a transaction: logs, the payee's mandate, and what the fraud team found.",
    parameters=(TRANSACTION,),
    raises=(s.unknown(e.TRANSACTIONS),),
    results=(
        s.show_row(
            "file",
            "The file. 'consent' is whether the consent stood, "
            "or had been withdrawn in time, when the transaction was debited; 'informed' whether the institution "
            "supplied the information on the transaction that Title III of PSD2 demands; 'fraud_grounds' whether there "
            "are reasonable grounds to suspect the customer of fraud; 'exact_amount_agreed' whether the authorisation "
            "named the exact amount; 'above_expectation' whether the amount exceeds what the customer could "
            "reasonably expect. No transaction was made with a lost or stolen instrument, and no carelessness of the "
            "customer is known.",
            e.TRANSACTIONS,
            "description",
            "debited",
            "scheme",
            "consent",
            "informed",
            "fraud_grounds",
            "exact_amount_agreed",
            "above_expectation",
        ),
        s.show(
            e.FINDINGS,
            "evidence",
            "What proves that the customer once consented, and that the transaction was authenticated, recorded and "
            "entered in the accounts without fault, as far as the proof has come in.",
            "none",
        ),
    ),
    leak_words=("transaction file", "mandate", "fraud team", "proof", "evidence"),
    duration=90 * 60,
    compliance=True,
    critical=True,
)

REPORT_FRAUD_GROUNDS = s.Tool(
    name="ReportFraudGrounds",
    summary="Writes to the national authority why fraud is suspected in a transaction.",
    parameters=(TRANSACTION,),
    raises=(s.unknown(e.TRANSACTIONS),),
    effects=(s.register(e.FRAUD_REPORTS, "transaction_id"),),
    results=(DONE,),
    leak_words=("authority", "regulator", "supervisor"),
    duration=600,
    compliance=True,
    critical=True,
)

NAME_COMPLAINT_BODIES = s.Tool(
    name="NameComplaintBodies",
    summary=(
        "Sends the customer a letter about a transaction that names the authority for complaints and the body for "
        "out-of-court dispute resolution."
    ),
    parameters=(TRANSACTION,),
    raises=(s.unknown(e.TRANSACTIONS),),
    effects=(s.register(e.REFERRALS, "transaction_id"),),
    results=(DONE,),
    leak_words=("ombudsman", "complaints bod", "dispute resolution", "out-of-court", "where can i complain"),
    compliance=True,
    critical=True,
)

TOOLS = s.tools_of(globals())
