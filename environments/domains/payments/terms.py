"""Parameters, refusals and terms that the payments tools share."""

from lawtrace.environments.spec import (
    INVALID_REQUEST,
    MONEY,
    TEXT,
    Amount,
    Choice,
    Entity,
    Fails,
    FieldValue,
    FromLookup,
    FromUser,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Term,
    Tool,
    argument,
    contains_text,
    is_blank,
    is_unknown,
    success_result,
    value_of,
)

from .entities import (
    ACCOUNTS,
    CARDS,
    ORDERS,
    PAYEES,
    PROVIDERS,
    STATEMENTS,
    TRANSACTIONS,
)

NOT_FOUND = "NotFoundException"

amount = argument("amount")
account, payee, card = argument("account_id"), argument("payee_id"), argument("card_id")
order, transaction, provider = argument("order_id"), argument("transaction_id"), argument("provider_id")
device = argument("device_id")

NOT_POSITIVE = Raises(INVALID_REQUEST, "The 'amount' is not more than zero.", amount <= 0)
DONE = success_result("Whether it was done.")


def key(entity: Entity, description: str) -> Parameter:
    """The parameter with the key of a row that was looked up."""
    return Parameter(entity.key, TEXT, description, FromLookup(entity))


def unknown(entity: Entity) -> Raises:
    """The refusal of a key that no row has."""
    description = f"There is no {entity.singular} with that '{entity.key}'."
    return Raises(NOT_FOUND, description, is_unknown(entity, entity.key))


def money(description: str, lowest: int, highest: int) -> Parameter:
    return Parameter("amount", MONEY, description, FromUser(Amount(lowest, highest)))


STATEMENT = key(STATEMENTS, "The online statement of an account.")
ACCOUNT = key(ACCOUNTS, "The customer's account.")
PAYEE = key(PAYEES, "Who is paid.")
CARD = key(CARDS, "The customer's card.")
ORDER = key(ORDERS, "The payment order.")
TRANSACTION = key(TRANSACTIONS, "The transaction.")
PROVIDER = key(PROVIDERS, "The provider of account information services.")
NOT_COVERED = Fails(
    "The balance does not cover the amount.",
    value_of(ACCOUNTS, lambda a: a.account_id == account, "balance", otherwise=0) < amount,
)


def option(name: str, kind: Choice, description: str) -> Parameter:
    """A parameter with one of the options."""
    return Parameter(name, kind, description, FromUser(OneOf(kind.options)))


NOT_AN_OPTION = Raises(INVALID_REQUEST, "An argument is not one of its options.")


def find_by_name(
    name: str, entity: Entity, field: str, shown: tuple[str, ...], what: str, *, plural: str, question: str
) -> Tool:
    """A look-up by a part of the name of a row."""
    said: Term = argument(field)
    return Tool(
        name=name,
        summary=f"Finds {what} by name.",
        phrases=Phrases(step=question, noun_phrase=f"{{{field}}}"),
        parameters=(
            Parameter(
                field, TEXT, "The name, or a part of it, in upper or lower case.", FromUser(FieldValue(entity, field))
            ),
        ),
        raises=(Raises(INVALID_REQUEST, f"The '{field}' is blank.", is_blank(said)),),
        results=(
            RowsResult(
                plural,
                "What was found.",
                entity,
                lambda row: contains_text(getattr(row, field), said),
                (entity.key, field, *shown),
            ),
        ),
    )
