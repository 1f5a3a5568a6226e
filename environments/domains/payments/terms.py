"""Parameters, refusals and terms that the payments tools share."""

from lawtrace.environments import spec as s

from . import entities as e

amount = s.argument("amount")
account, payee, card = s.argument("account_id"), s.argument("payee_id"), s.argument("card_id")
order, transaction, provider = s.argument("order_id"), s.argument("transaction_id"), s.argument("provider_id")
device = s.argument("device_id")

NOT_POSITIVE = s.Raises(s.INVALID_REQUEST, "The 'amount' is not more than zero.", amount <= 0)
DONE = s.success_result("Whether it was done.")


def money(description: str, lowest: int, highest: int) -> s.Parameter:
    return s.Parameter("amount", s.MONEY, description, s.FromUser(s.Amount(lowest, highest)))


STATEMENT = s.key(e.STATEMENTS, "The online statement of an account.")
ACCOUNT = s.key(e.ACCOUNTS, "The customer's account.")
PAYEE = s.key(e.PAYEES, "Who is paid.")
CARD = s.key(e.CARDS, "The customer's card.")
ORDER = s.key(e.ORDERS, "The payment order.")
TRANSACTION = s.key(e.TRANSACTIONS, "The transaction.")
PROVIDER = s.key(e.PROVIDERS, "The provider of account information services.")
NOT_COVERED = s.Fails("The balance does not cover the amount.", s.field_of(e.ACCOUNTS, "balance", 0) < amount)


NOT_AN_OPTION = s.Raises(s.INVALID_REQUEST, "An argument is not one of its options.")
