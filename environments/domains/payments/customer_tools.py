"""What customers ask for: look-ups by name, payments, standing orders, contactless payments, cards and account data."""

from lawtrace.environments import spec as s

from . import entities as e
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
    amount,
    money,
    order,
    payee,
)

FIND_ACCOUNT = s.lookup(
    "FindAccount",
    e.ACCOUNTS,
    "nickname",
    "iban",
    summary="Finds the customer's payment accounts by name.",
    step="Find the account called {nickname}.",
)
FIND_STATEMENT = s.lookup(
    "FindStatement",
    e.STATEMENTS,
    "name",
    summary="Finds the online statements of the customer's accounts by name.",
    step="Find the {name}.",
)
FIND_PAYEE = s.lookup(
    "FindPayee",
    e.PAYEES,
    "name",
    "iban",
    summary="Finds payees in the customer's address book by name.",
    step="Find the payee {name}.",
)
FIND_CARD = s.lookup(
    "FindCard",
    e.CARDS,
    "nickname",
    summary="Finds the customer's cards by name.",
    step="Find the card called {nickname}.",
)
FIND_ORDER = s.lookup(
    "FindOrder",
    e.ORDERS,
    "description",
    "kind",
    "amount",
    summary="Finds pending payment orders by name.",
    step="Find the order for the {description}.",
)
FIND_TRANSACTION = s.lookup(
    "FindTransaction",
    e.TRANSACTIONS,
    "description",
    "amount",
    summary="Finds executed transactions by name.",
    step="Find the transaction {description}.",
)
FIND_PROVIDER = s.lookup(
    "FindProvider",
    e.PROVIDERS,
    "name",
    summary="Finds providers of account information services that the customer uses by name.",
    step="Find the provider {name}.",
)

_was_authenticated = s.has(e.LINKED_CODES, by="payee_id", amount=amount)
_pin_was_given = s.has(e.PIN_ENTRIES, by="card_id", amount=amount)

_COUNTED = s.Update(
    e.COUNTERS,
    lambda c: c.counter_id == "current",
    {
        "remote_total": lambda c: s.choose(_was_authenticated, 0, c.remote_total + amount),
        "remote_count": lambda c: s.choose(_was_authenticated, 0, c.remote_count + 1),
    },
)

SEND_PAYMENT = s.Tool(
    name="SendPayment",
    summary="Executes a credit transfer that the customer orders online, from an account to a payee.",
    phrases=s.Phrases(
        step="Send {amount} from {account_id} to {payee_id}.",
        outcome="{amount} has been sent from {account_id} to {payee_id}.",
    ),
    parameters=(ACCOUNT, PAYEE, money("The amount in euro, more than zero.", 4_00, 120_00)),
    raises=(NOT_POSITIVE, s.unknown(e.ACCOUNTS), s.unknown(e.PAYEES)),
    fails=(NOT_COVERED,),
    effects=(
        s.register(e.PAYMENTS, "account_id", "payee_id", "amount"),
        s.change(e.ACCOUNTS, balance=lambda a: a.balance - amount),
        _COUNTED,
    ),
    results=(DONE,),
    critical=True,
)

SCHEDULE_PAYMENT = s.Tool(
    name="SchedulePayment",
    summary=(
        "Takes the customer's online order for a single credit transfer on a later day. The amount is set aside at "
        "once, and the transfer is executed at the beginning of that day."
    ),
    phrases=s.Phrases(
        step="Send {amount} from {account_id} to {payee_id} on {day}.",
        outcome="{amount} will be sent from {account_id} to {payee_id} on {day}.",
    ),
    parameters=(
        ACCOUNT,
        PAYEE,
        money("The amount in euro, more than zero.", 4_00, 120_00),
        s.Parameter("day", s.DATE, "The day, after today.", s.FromUser(s.DayAfter(e.SESSION, "today", 1, 14))),
    ),
    raises=(
        NOT_POSITIVE,
        s.unknown(e.ACCOUNTS),
        s.unknown(e.PAYEES),
        s.Raises(s.INVALID_REQUEST, "The 'day' is not a date after today.", s.argument("day") <= s.TODAY),
    ),
    fails=(NOT_COVERED,),
    effects=(
        s.register(
            e.PLANNED_PAYMENTS, "account_id", "payee_id", "amount", planned=s.argument("day") * s.MINUTES_PER_DAY
        ),
        s.change(e.ACCOUNTS, balance=lambda a: a.balance - amount),
        _COUNTED,
    ),
    results=(DONE,),
    critical=True,
)

CREATE_STANDING_ORDER = s.Tool(
    name="CreateStandingOrder",
    summary=(
        "Sets up a series of monthly transfers of one amount to one payee, which the institution executes without a "
        "further call."
    ),
    phrases=s.Phrases(
        step="Set up a standing order of {amount} a month from {account_id} to {payee_id}, on day {day_of_month}.",
        outcome="There is a standing order of {amount} a month from {account_id} to {payee_id}, on day {day_of_month}.",
    ),
    parameters=(
        ACCOUNT,
        PAYEE,
        money("The amount of each transfer in euro, more than zero.", 10_00, 120_00),
        s.Parameter(
            "day_of_month",
            s.INTEGER,
            "The day of the month, from 1 to 28.",
            s.FromUser(s.OneOf((1, 3, 10, 15, 20, 28))),
        ),
    ),
    raises=(
        NOT_POSITIVE,
        s.unknown(e.ACCOUNTS),
        s.unknown(e.PAYEES),
        s.Raises(
            s.INVALID_REQUEST,
            "The 'day_of_month' is not a whole number from 1 to 28.",
            (s.argument("day_of_month") < 1) | (s.argument("day_of_month") > 28),
        ),
    ),
    effects=(s.register(e.SERIES, "account_id", "payee_id", "amount", "day_of_month"),),
    results=(DONE,),
    critical=True,
)

TRUST_PAYEE = s.Tool(
    name="TrustPayee",
    summary="Adds a payee to the customer's list of trusted payees.",
    phrases=s.Phrases(
        step="Add {payee_id} to my trusted payees.", outcome="{payee_id} is on the list of trusted payees."
    ),
    parameters=(PAYEE,),
    raises=(s.unknown(e.PAYEES),),
    fails=(
        s.Fails("The payee is on the list already.", s.exists(e.PAYEES, lambda p: (p.payee_id == payee) & p.trusted)),
    ),
    effects=(s.change(e.PAYEES, trusted=True),),
    results=(DONE,),
    critical=True,
)

CANCEL_ORDER = s.Tool(
    name="CancelOrder",
    summary="Revokes a pending payment order, so that it is not executed.",
    phrases=s.Phrases(step="Cancel the order for {order_id}.", outcome="The order for {order_id} has been cancelled."),
    parameters=(ORDER,),
    raises=(s.unknown(e.ORDERS),),
    fails=(s.Fails("The order is revoked already.", s.exists(e.ORDERS, lambda o: (o.order_id == order) & o.revoked)),),
    effects=(s.change(e.ORDERS, revoked=True),),
    results=(DONE,),
    critical=True,
)

APPROVE_CONTACTLESS = s.Tool(
    name="ApproveContactless",
    summary="Lets a contactless payment through that waits at a shop's terminal for the answer of the institution.",
    phrases=s.Phrases(
        step="Let a contactless payment of {amount} with {card_id} through.",
        outcome="A contactless payment of {amount} with {card_id} has gone through.",
    ),
    parameters=(CARD, money("The amount in euro, more than zero.", 6_00, 90_00)),
    raises=(NOT_POSITIVE, s.unknown(e.CARDS)),
    effects=(
        s.register(e.TAPS, "card_id", "amount"),
        s.change(
            e.TAP_COUNTERS,
            contactless_total=lambda c: s.choose(_pin_was_given, 0, c.contactless_total + amount),
            contactless_count=lambda c: s.choose(_pin_was_given, 0, c.contactless_count + 1),
        ),
    ),
    results=(DONE,),
    critical=True,
)

UNBLOCK_CARD = s.Tool(
    name="UnblockCard",
    summary="Makes a card usable again, at the online request of the customer. A PIN that is blocked stays blocked.",
    phrases=s.Phrases(step="Unblock {card_id}.", outcome="{card_id} can be used again."),
    parameters=(CARD,),
    raises=(s.unknown(e.CARDS),),
    fails=(s.Fails("The card is active.", s.has(e.CARDS, status="active")),),
    effects=(s.change(e.CARDS, status=lambda c: s.choose(c.status == "reported lost", c.status, "active")),),
    results=(DONE,),
    critical=True,
)

_account_shown = s.field_of(e.STATEMENTS, "account_id", "")

SHOW_STATEMENT = s.Tool(
    name="ShowStatement",
    summary="Shows the customer online the transactions of an account in the last days. It shows no balance.",
    phrases=s.Phrases(
        step="Show me the {statement_id} for the last {days_back} days.",
        outcome="I have seen the {statement_id} for the last {days_back} days.",
    ),
    parameters=(
        STATEMENT,
        s.Parameter(
            "days_back", s.INTEGER, "How many days back, more than zero.", s.FromUser(s.OneOf((30, 60, 90, 120, 365)))
        ),
    ),
    raises=(
        s.unknown(e.STATEMENTS),
        s.Raises(s.INVALID_REQUEST, "The 'days_back' are not a whole number above zero.", s.argument("days_back") <= 0),
    ),
    effects=(s.register(e.VIEWS, "statement_id", "days_back"),),
    results=(
        s.RowsResult(
            "transactions",
            "The transactions of these days.",
            e.TRANSACTIONS,
            lambda t: (t.account_id == _account_shown) & (t.debited >= s.TODAY - s.argument("days_back")),
            ("debited", "description", "amount"),
            reveals_key=False,
        ),
    ),
    critical=True,
)

SHARE_ACCOUNT_DATA = s.Tool(
    name="ShareAccountData",
    summary=(
        "Answers the request of a provider of account information services through which the customer looks at an "
        "account online: with its transactions of the last 90 days, and without its balance."
    ),
    phrases=s.Phrases(
        step="Let {provider_id} see the transactions of {account_id}.",
        outcome="{provider_id} has received the recent transactions of {account_id}.",
    ),
    parameters=(PROVIDER, ACCOUNT),
    raises=(s.unknown(e.PROVIDERS), s.unknown(e.ACCOUNTS)),
    effects=(s.register(e.SHARINGS, "provider_id", "account_id"),),
    results=(DONE,),
    critical=True,
)

TOOLS = s.tools_of(globals())
