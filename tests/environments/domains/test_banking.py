"""Effects and results of the banking tools. Refusals are in runtime/test_documented_results.py."""

from typing import Any, cast

import pytest

from lawtrace.environments.runtime.simulation import INVALID_CALL
from lawtrace.schemas.events import Json
from tests.support.small_bank import BILL, MAIN, SPARE, STATE, STATEMENT, TRANSFER, do, tables


def test_a_transfer_moves_money_and_leaves_two_transactions() -> None:
    event, after = do("TransferFunds", TRANSFER)
    assert event.result == {"success": True}
    accounts = tables(after)["accounts"]
    assert (accounts[MAIN]["balance"], accounts[SPARE]["balance"]) == (90.0, 30.0)
    out, into = (tables(after)["transactions"][key] for key in ("T-00003", "T-00004"))
    assert (out["account_number"], out["amount"], out["balance"], out["reference"]) == (MAIN, -10.0, 90.0, SPARE)
    assert (into["account_number"], into["amount"], into["balance"], into["reference"]) == (SPARE, 10.0, 30.0, MAIN)
    assert out["date"] == into["date"] == "2026-02-01"


def test_a_bill_leaves_a_transaction_of_the_day_of_payment() -> None:
    _, after = do("PayBill", BILL)
    assert tables(after)["accounts"][MAIN]["balance"] == 74.5
    assert tables(after)["transactions"]["T-00003"] == {
        "transaction_id": "T-00003",
        "account_number": MAIN,
        "date": "2026-02-03",
        "description": "Harbour Water",
        "amount": -25.5,
        "balance": 74.5,
        "reference": "42",
    }


@pytest.mark.parametrize(("said", "taken"), [(0.1 + 0.2, 0.3), (33.83 + 14.62 + 51.55, 100.0), (10, 10), (10.0, 10.0)])
def test_an_event_holds_the_amount_that_was_moved(said: float, taken: float) -> None:
    """Rules on amounts see exact cents, without float rounding errors."""
    event, _ = do("TransferFunds", {**TRANSFER, "amount": said})
    assert (event.arguments["amount"], list(event.arguments)) == (taken, list(TRANSFER))
    assert type(event.arguments["amount"]) is type(said)


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        (["WATER"], ["P-000001"]),
        (["arbo"], ["P-000001", "P-000002"]),
        (["tax", "water"], ["P-000001", "P-000002"]),
        (["gas"], []),
        (["harbour taxes"], ["P-000002"]),
    ],
)
def test_a_payee_is_found_by_any_keyword(keywords: list[Json], found: list[str]) -> None:
    result = cast("dict[str, Any]", do("SearchPayee", {"keywords": keywords})[0].result)
    assert [payee["payee_id"] for payee in result["payees"]] == found


@pytest.mark.parametrize(
    ("filters", "amounts"),
    [
        ({}, [-30.0, 80.0]),
        ({"keyword": "sal"}, [80.0]),
        ({"min_amount": 30}, [-30.0, 80.0]),
        ({"min_amount": 30.01}, [80.0]),
        ({"max_amount": 30}, [-30.0]),
        ({"max_amount": 29.99}, []),
        ({"min_amount": 31, "max_amount": 79.99}, []),
        ({"keyword": None, "min_amount": None}, [-30.0, 80.0]),
    ],
)
def test_filters_that_are_not_given_are_not_applied(filters: dict[str, Json], amounts: list[float]) -> None:
    result = cast("dict[str, Any]", do("SearchTransactions", {"account_number": MAIN, **filters})[0].result)
    assert [row["amount"] for row in result["transactions"]] == amounts


@pytest.mark.parametrize(
    ("start", "end", "amounts"),
    [("2026-01-10", "2026-01-10", [-30.0]), ("2026-01-11", "2026-01-20", [80.0]), ("2026-01-20", "2026-01-10", [])],
)
def test_a_statement_holds_the_days_of_its_period(start: str, end: str, amounts: list[float]) -> None:
    arguments: dict[str, Json] = {"account_number": MAIN, "start_date": start, "end_date": end}
    result = cast("dict[str, Any]", do("GetAccountStatement", arguments)[0].result)
    assert [row["amount"] for row in result["transactions"]] == amounts
    assert result["statement_file_path"] == ""
    saved = cast("dict[str, Any]", do("GetAccountStatement", {**arguments, "download": True})[0].result)
    assert saved["statement_file_path"] == f"statements/{MAIN}.csv"


# Values of the right type in a wrong format.
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


@pytest.mark.parametrize(("name", "arguments", "reason"), REJECTED)
def test_an_invalid_call_is_rejected_and_changes_nothing(name: str, arguments: dict[str, Json], reason: str) -> None:
    event, after = do(name, arguments)
    assert (event.outcome, event.result) == ("rejected", None)
    assert event.error is not None
    assert event.error.startswith(f"{INVALID_CALL}: ")
    assert reason in event.error
    assert after is STATE


def test_a_wrong_type_takes_precedence_over_a_wrong_format() -> None:
    event, _ = do("TransferFunds", {**TRANSFER, "from_account_number": "mine", "amount": "ten"})
    assert event.outcome == "rejected"
