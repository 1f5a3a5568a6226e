"""Calls of banking that are malformed or are none at all. What is documented is in test_documented_promises."""

import pytest

from lawtrace.environments.banking import ENVIRONMENT
from lawtrace.environments.events import Json
from lawtrace.environments.simulation import INVALID_CALL
from tests.support.small_bank import BILL, MAIN, STATE, STATEMENT, TRANSFER, do

# Values of the right type in a wrong format.
MALFORMED: list[tuple[str, dict[str, Json]]] = [
    ("TransferFunds", {**TRANSFER, "from_account_number": "1111111"}),
    ("TransferFunds", {**TRANSFER, "to_account_number": "my savings"}),
    ("TransferFunds", {**TRANSFER, "amount": 1.005}),
    ("TransferFunds", {**TRANSFER, "amount": 10**20}),
    ("PayBill", {**BILL, "payee_id": "Harbour Water"}),
    ("PayBill", {**BILL, "payment_date": "tomorrow"}),
    ("GetAccountStatement", {**STATEMENT, "account_number": "checking"}),
    ("SearchTransactions", {"account_number": MAIN, "min_amount": float("nan")}),
]
REJECTED: list[tuple[str, dict[str, Json], str]] = [
    ("TransferMoney", TRANSFER, "there is no tool 'TransferMoney'"),
    ("transferFunds", TRANSFER, "did you mean TransferFunds"),
    ("", {}, "there is no tool ''"),
    ("TransferFunds", {"from_account_number": MAIN, "amount": 1}, "needs the argument 'to_account_number'"),
    ("TransferFunds", {**TRANSFER, "amount": None}, "needs the argument 'amount'"),
    ("TransferFunds", {**TRANSFER, "currency": "EUR"}, "no parameter 'currency'; it takes"),
    ("TransferFunds", {**TRANSFER, "ammount": 1}, "no parameter 'ammount'; did you mean 'amount'"),
    ("TransferFunds", {**TRANSFER, "amount": "10"}, "argument 'amount': expected a number, not a string"),
    ("CheckAuthorization", {"user": "me"}, "no parameter 'user'"),
    ("RecordAuditEvent", {}, "needs the argument 'events'"),
    ("RecordAuditEvent", {"events": "BILL_PAYMENT"}, "expected a list of strings, not a string"),
    ("SearchPayee", {"keywords": ["water", 3]}, "expected a string, not a number"),
    ("GetAccountStatement", {**STATEMENT, "download": "yes"}, "expected true or false"),
]


@pytest.mark.parametrize(("name", "arguments"), MALFORMED)
def test_a_malformed_value_raises_a_documented_exception(name: str, arguments: dict[str, Json]) -> None:
    event, after = do(name, arguments)
    assert event.outcome == "raised"
    assert event.error is not None
    assert event.error.split(":")[0] in {raised.exception for raised in ENVIRONMENT.tools[name].raises}
    assert after is STATE


@pytest.mark.parametrize(("name", "arguments", "reason"), REJECTED)
def test_a_call_that_is_none_is_rejected_and_changes_nothing(
    name: str, arguments: dict[str, Json], reason: str
) -> None:
    event, after = do(name, arguments)
    assert (event.outcome, event.result) == ("rejected", None)
    assert event.error is not None
    assert event.error.startswith(f"{INVALID_CALL}: ")
    assert reason in event.error
    assert after is STATE


def test_a_wrong_type_weighs_more_than_a_wrong_format() -> None:
    event, _ = do("TransferFunds", {**TRANSFER, "from_account_number": "mine", "amount": "ten"})
    assert event.outcome == "rejected"
