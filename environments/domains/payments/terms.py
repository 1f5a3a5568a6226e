"""Parameters, refusals and terms that the payments tools share."""

from lawtrace.environments import spec as s

from . import entities as e

NOT_FOUND = "NotFoundException"

amount = s.argument("amount")
account, payee, card = s.argument("account_id"), s.argument("payee_id"), s.argument("card_id")
order, transaction, provider = s.argument("order_id"), s.argument("transaction_id"), s.argument("provider_id")
device = s.argument("device_id")

NOT_POSITIVE = s.Raises(s.INVALID_REQUEST, "The 'amount' is not more than zero.", amount <= 0)
DONE = s.success_result("Whether it was done.")


def key(entity: s.Entity, description: str) -> s.Parameter:
    """The parameter with the key of a row that was looked up."""
    return s.Parameter(entity.key, s.TEXT, description, s.FromLookup(entity))


def unknown(entity: s.Entity) -> s.Raises:
    """The refusal of a key that no row has."""
    description = f"There is no {entity.singular} with that '{entity.key}'."
    return s.Raises(NOT_FOUND, description, s.is_unknown(entity, entity.key))


def money(description: str, lowest: int, highest: int) -> s.Parameter:
    return s.Parameter("amount", s.MONEY, description, s.FromUser(s.Amount(lowest, highest)))


STATEMENT = key(e.STATEMENTS, "The online statement of an account.")
ACCOUNT = key(e.ACCOUNTS, "The customer's account.")
PAYEE = key(e.PAYEES, "Who is paid.")
CARD = key(e.CARDS, "The customer's card.")
ORDER = key(e.ORDERS, "The payment order.")
TRANSACTION = key(e.TRANSACTIONS, "The transaction.")
PROVIDER = key(e.PROVIDERS, "The provider of account information services.")
NOT_COVERED = s.Fails(
    "The balance does not cover the amount.",
    s.field_of(e.ACCOUNTS, "balance", 0) < amount,
)


def option(name: str, kind: s.Choice, description: str) -> s.Parameter:
    """A parameter with one of the options."""
    return s.option(name, kind, description)


NOT_AN_OPTION = s.Raises(s.INVALID_REQUEST, "An argument is not one of its options.")


def find_by_name(
    name: str, entity: s.Entity, field: str, shown: tuple[str, ...], what: str, *, plural: str, question: str
) -> s.Tool:
    """A look-up by a part of the name of a row."""
    said: s.Term = s.argument(field)
    return s.Tool(
        name=name,
        summary=f"Finds {what} by name.",
        phrases=s.Phrases(step=question, noun_phrase=f"{{{field}}}"),
        parameters=(
            s.Parameter(
                field,
                s.TEXT,
                "The name, or a part of it, in upper or lower case.",
                s.FromUser(s.FieldValue(entity, field)),
            ),
        ),
        raises=(s.Raises(s.INVALID_REQUEST, f"The '{field}' is blank.", s.is_blank(said)),),
        results=(
            s.RowsResult(
                plural,
                "What was found.",
                entity,
                lambda row: s.contains_text(getattr(row, field), said),
                (entity.key, field, *shown),
            ),
        ),
    )
