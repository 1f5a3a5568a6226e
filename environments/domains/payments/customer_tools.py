"""What customers ask for: look-ups by name, payments, standing orders, contactless payments, cards and account data."""

from lawtrace.environments.spec import (
    INTEGER,
    INVALID_REQUEST,
    MONEY,
    TODAY,
    Fails,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Tool,
    Update,
    ValueResult,
    argument,
    choose,
    constant,
    exists,
    value_of,
)

from .entities import (
    ACCOUNTS,
    CARDS,
    COUNTERS,
    LINKED_CODES,
    ORDERS,
    PAYEES,
    PAYMENTS,
    PIN_ENTRIES,
    PROVIDERS,
    SERIES,
    SHARINGS,
    STATEMENTS,
    TAPS,
    TRANSACTIONS,
    VIEWS,
)
from .terms import (
    ACCOUNT,
    CARD,
    DONE,
    NOT_COVERED,
    NOT_POSITIVE,
    ORDER,
    PAYEE,
    PROVIDER,
    STATEMENT,
    account,
    amount,
    card,
    find_by_name,
    money,
    order,
    payee,
    provider,
    unknown,
)

FIND_ACCOUNT = find_by_name(
    "FindAccount",
    ACCOUNTS,
    "nickname",
    ("iban",),
    "the customer's payment accounts",
    plural="accounts",
    question="Find the account called {nickname}.",
)
FIND_STATEMENT = find_by_name(
    "FindStatement",
    STATEMENTS,
    "name",
    (),
    "the online statements of the customer's accounts",
    plural="statements",
    question="Find the {name}.",
)
FIND_PAYEE = find_by_name(
    "FindPayee",
    PAYEES,
    "name",
    ("iban",),
    "payees in the customer's address book",
    plural="payees",
    question="Find the payee {name}.",
)
FIND_CARD = find_by_name(
    "FindCard",
    CARDS,
    "nickname",
    (),
    "the customer's cards",
    plural="cards",
    question="Find the card called {nickname}.",
)
FIND_ORDER = find_by_name(
    "FindOrder",
    ORDERS,
    "description",
    ("kind", "amount"),
    "pending payment orders",
    plural="orders",
    question="Find the order for the {description}.",
)
FIND_TRANSACTION = find_by_name(
    "FindTransaction",
    TRANSACTIONS,
    "description",
    ("amount",),
    "executed transactions",
    plural="transactions",
    question="Find the transaction {description}.",
)
FIND_PROVIDER = find_by_name(
    "FindProvider",
    PROVIDERS,
    "name",
    (),
    "providers of account information services that the customer uses",
    plural="providers",
    question="Find the provider {name}.",
)

_was_authenticated = exists(LINKED_CODES, lambda c: (c.payee_id == payee) & (c.amount == amount))
_pin_was_given = exists(PIN_ENTRIES, lambda p: (p.card_id == card) & (p.amount == amount))

SEND_PAYMENT = Tool(
    name="SendPayment",
    summary="Executes a credit transfer that the customer orders online, from an account to a payee.",
    phrases=Phrases(
        step="Send {amount} from {account_id} to {payee_id}.",
        outcome="{amount} has been sent from {account_id} to {payee_id}.",
    ),
    parameters=(ACCOUNT, PAYEE, money("The amount in euro, more than zero.", 4_00, 120_00)),
    raises=(NOT_POSITIVE, unknown(ACCOUNTS), unknown(PAYEES)),
    fails=(NOT_COVERED,),
    effects=(
        Insert(PAYMENTS, {"account_id": account, "payee_id": payee, "amount": amount}),
        Update(ACCOUNTS, lambda a: a.account_id == account, {"balance": lambda a: a.balance - amount}),
        Update(
            COUNTERS,
            lambda c: c.counter_id == "current",
            {
                "remote_total": lambda c: choose(_was_authenticated, 0, c.remote_total + amount),
                "remote_count": lambda c: choose(_was_authenticated, 0, c.remote_count + 1),
            },
        ),
    ),
    results=(DONE,),
    critical=True,
)

CREATE_STANDING_ORDER = Tool(
    name="CreateStandingOrder",
    summary="Sets up a series of monthly transfers of one amount to one payee.",
    phrases=Phrases(
        step="Set up a standing order of {amount} a month from {account_id} to {payee_id}, on day {day_of_month}.",
        outcome="There is a standing order of {amount} a month from {account_id} to {payee_id}, on day {day_of_month}.",
    ),
    parameters=(
        ACCOUNT,
        PAYEE,
        money("The amount of each transfer in euro, more than zero.", 10_00, 120_00),
        Parameter(
            "day_of_month", INTEGER, "The day of the month, from 1 to 28.", FromUser(OneOf((1, 3, 10, 15, 20, 28)))
        ),
    ),
    raises=(
        NOT_POSITIVE,
        unknown(ACCOUNTS),
        unknown(PAYEES),
        Raises(
            INVALID_REQUEST,
            "The 'day_of_month' is not a whole number from 1 to 28.",
            (argument("day_of_month") < 1) | (argument("day_of_month") > 28),
        ),
    ),
    effects=(
        Insert(
            SERIES,
            {
                "account_id": account,
                "payee_id": payee,
                "amount": amount,
                "day_of_month": argument("day_of_month"),
            },
        ),
    ),
    results=(DONE,),
    critical=True,
)

TRUST_PAYEE = Tool(
    name="TrustPayee",
    summary="Adds a payee to the customer's list of trusted payees.",
    phrases=Phrases(
        step="Add {payee_id} to my trusted payees.", outcome="{payee_id} is on the list of trusted payees."
    ),
    parameters=(PAYEE,),
    raises=(unknown(PAYEES),),
    fails=(Fails("The payee is on the list already.", exists(PAYEES, lambda p: (p.payee_id == payee) & p.trusted)),),
    effects=(Update(PAYEES, lambda p: p.payee_id == payee, {"trusted": lambda p: constant(True)}),),
    results=(DONE,),
    critical=True,
)

CANCEL_ORDER = Tool(
    name="CancelOrder",
    summary="Revokes a pending payment order, so that it is not executed.",
    phrases=Phrases(step="Cancel the order for {order_id}.", outcome="The order for {order_id} has been cancelled."),
    parameters=(ORDER,),
    raises=(unknown(ORDERS),),
    fails=(Fails("The order is revoked already.", exists(ORDERS, lambda o: (o.order_id == order) & o.revoked)),),
    effects=(Update(ORDERS, lambda o: o.order_id == order, {"revoked": lambda o: constant(True)}),),
    results=(DONE,),
    critical=True,
)

APPROVE_CONTACTLESS = Tool(
    name="ApproveContactless",
    summary="Lets a contactless payment through that waits at a shop's terminal for the answer of the institution.",
    phrases=Phrases(
        step="Let a contactless payment of {amount} with {card_id} through.",
        outcome="A contactless payment of {amount} with {card_id} has gone through.",
    ),
    parameters=(CARD, money("The amount in euro, more than zero.", 6_00, 90_00)),
    raises=(NOT_POSITIVE, unknown(CARDS)),
    effects=(
        Insert(TAPS, {"card_id": card, "amount": amount}),
        Update(
            CARDS,
            lambda c: c.card_id == card,
            {
                "contactless_total": lambda c: choose(_pin_was_given, 0, c.contactless_total + amount),
                "contactless_count": lambda c: choose(_pin_was_given, 0, c.contactless_count + 1),
            },
        ),
    ),
    results=(DONE,),
    critical=True,
)

UNBLOCK_CARD = Tool(
    name="UnblockCard",
    summary="Makes a card usable again.",
    phrases=Phrases(step="Unblock {card_id}.", outcome="{card_id} can be used again."),
    parameters=(CARD,),
    raises=(unknown(CARDS),),
    fails=(Fails("The card is active.", exists(CARDS, lambda c: (c.card_id == card) & (c.status == "active"))),),
    effects=(Update(CARDS, lambda c: c.card_id == card, {"status": lambda c: constant("active")}),),
    results=(DONE,),
    critical=True,
)

_account_shown = value_of(STATEMENTS, lambda s: s.statement_id == argument("statement_id"), "account_id", otherwise="")

SHOW_STATEMENT = Tool(
    name="ShowStatement",
    summary="Shows the customer online the balance of an account and its transactions of the last days.",
    phrases=Phrases(
        step="Show me the {statement_id} for the last {days_back} days.",
        outcome="I have seen the {statement_id} for the last {days_back} days.",
    ),
    parameters=(
        STATEMENT,
        Parameter("days_back", INTEGER, "How many days back, more than zero.", FromUser(OneOf((30, 60, 90, 120, 365)))),
    ),
    raises=(
        unknown(STATEMENTS),
        Raises(INVALID_REQUEST, "The 'days_back' are not a whole number above zero.", argument("days_back") <= 0),
    ),
    effects=(Insert(VIEWS, {"statement_id": argument("statement_id"), "days_back": argument("days_back")}),),
    results=(
        ValueResult(
            "balance",
            "The balance.",
            MONEY,
            value_of(ACCOUNTS, lambda a: a.account_id == _account_shown, "balance", otherwise=0),
        ),
        RowsResult(
            "transactions",
            "The transactions of these days.",
            TRANSACTIONS,
            lambda t: (t.account_id == _account_shown) & (t.debited >= TODAY - argument("days_back")),
            ("debited", "description", "amount"),
            reveals_key=False,
        ),
    ),
    critical=True,
)

SHARE_ACCOUNT_DATA = Tool(
    name="ShareAccountData",
    summary=(
        "Answers the request of a provider of account information services through which the customer looks at an "
        "account: with its balance and its transactions of the last 90 days."
    ),
    phrases=Phrases(
        step="Let {provider_id} see {account_id}.",
        outcome="{provider_id} has received the balance and recent transactions of {account_id}.",
    ),
    parameters=(PROVIDER, ACCOUNT),
    raises=(unknown(PROVIDERS), unknown(ACCOUNTS)),
    effects=(Insert(SHARINGS, {"provider_id": provider, "account_id": account}),),
    results=(DONE,),
    critical=True,
)

TOOLS = (
    FIND_ACCOUNT,
    FIND_STATEMENT,
    FIND_PAYEE,
    FIND_CARD,
    FIND_ORDER,
    FIND_TRANSACTION,
    FIND_PROVIDER,
    SEND_PAYMENT,
    CREATE_STANDING_ORDER,
    TRUST_PAYEE,
    CANCEL_ORDER,
    APPROVE_CONTACTLESS,
    UNBLOCK_CARD,
    SHOW_STATEMENT,
    SHARE_ACCOUNT_DATA,
)
