"""Invalid declarations raise an error when they are built, with tool and place."""

from dataclasses import replace
from typing import Any

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.domains.banking.entities import ACCOUNTS, TRANSACTIONS
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, RowsResult, Update, ValueResult
from lawtrace.environments.spec.expressions import SUCCEEDED
from lawtrace.environments.spec.samplers import Amount, OneOf
from lawtrace.environments.spec.state import Entity, Field
from lawtrace.environments.spec.terms import argument, constant, exists, if_given
from lawtrace.environments.spec.tools import Fails, FromLookup, FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, DATE, INTEGER, MONEY, TEXT, Choice, Pattern, ValueType
from lawtrace.schemas.errors import InputError

PAGES = Entity("pages", "page", "id", {"id": Field(TEXT), "words": Field(TEXT)})
INVALID = Raises("InvalidRequestException", "The amount is malformed.")
AMOUNT = Parameter("amount", MONEY, "An amount.", FromUser(Amount(1, 9)))
SUCCESS = ValueResult("success", "Whether it worked.", BOOLEAN, SUCCEEDED)
TRANSACTION = {name: constant(0) for name in ("account_number", "date", "description", "amount", "balance")}


def declare(**parts: Any) -> Environment:
    """The banking tables with one tool, valid except for the given parts."""
    whole: dict[str, Any] = {"parameters": (AMOUNT,), "raises": (INVALID,), "phrases": Phrases("Do it with {amount}.")}
    tool = Tool("Do", "Does it.", **whole | parts)
    return replace(ENVIRONMENT, name="small", tools={"Do": tool})


def test_a_valid_declaration_is_accepted() -> None:
    assert declare(effects=(Insert(TRANSACTIONS, TRANSACTION),)).changing_tools == {"Do"}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"fails": (Fails("-", argument("amuont") > 1),), "results": (SUCCESS,)}, "uses the argument 'amuont'"),
        ({"raises": (INVALID, Raises("E", "-", argument("b") > 1))}, "uses the argument 'b'"),
        ({"results": (ValueResult("x", "-", MONEY, argument("c")),)}, "uses the argument 'c'"),
        (
            {"results": (RowsResult("x", "-", ACCOUNTS, lambda a: a.balance > argument("d"), ("status",)),)},
            "uses the argument 'd'",
        ),
        ({"effects": (Update(ACCOUNTS, lambda a: a.balance > argument("e"), {}),)}, "uses the argument 'e'"),
        (
            {"effects": (Update(ACCOUNTS, lambda a: a.balance > 1, {"status": lambda a: argument("f")}),)},
            "uses the argument 'f'",
        ),
        (
            {"effects": (Update(ACCOUNTS, lambda a: a.balance > 1, {"state": lambda a: a.status}),)},
            "sets 'state', which is not a field of account",
        ),
        ({"effects": (Update(ACCOUNTS, lambda a: a.blance > 1, {}),)}, "account has no field 'blance'"),
        ({"effects": (Insert(TRANSACTIONS, {**TRANSACTION, "note": constant("")}),)}, "sets 'note'"),
        ({"effects": (Insert(ACCOUNTS, {}),)}, "inserts into 'accounts', whose keys cannot be generated"),
        ({"effects": (Insert(TRANSACTIONS, {"amount": constant(0)}),)}, "without the required field 'account_number'"),
        (
            {"effects": (Insert(TRANSACTIONS, {**TRANSACTION, "transaction_id": constant("")}),)},
            "sets 'transaction_id', the key",
        ),
        (
            {"effects": (Update(ACCOUNTS, lambda a: a.balance > 1, {"account_number": lambda a: a.status}),)},
            "sets 'account_number', the key",
        ),
        (
            {"results": (RowsResult("x", "-", ACCOUNTS, lambda a: a.balance > 1, ("status", "colour")),)},
            "'x' lists the field 'colour', which account does not have",
        ),
        ({"results": (RowsResult("x", "-", PAGES, lambda p: p.id == "", ("id",)),)}, "uses the table 'pages'"),
        (
            {"parameters": (AMOUNT, Parameter("page", TEXT, "-", FromLookup(PAGES)))},
            "uses the table 'pages', which the environment does not declare",
        ),
        (
            {"results": (ValueResult("x", "-", BOOLEAN, exists(PAGES, lambda p: p.id == "")),)},
            "a term reads the table 'pages'",
        ),
        ({"parameters": (AMOUNT, AMOUNT)}, "its parameter 'amount' is declared twice"),
        (
            {"parameters": (replace(AMOUNT, name="from"),), "phrases": Phrases("Do it with {from}.")},
            "its parameter 'from' cannot be written in a program",
        ),
        (
            {"results": (ValueResult("the result", "-", TEXT, constant("")),)},
            "its result 'the result' cannot be written in a program",
        ),
        ({"raises": ()}, "'amount' can be malformed, but InvalidRequestException is not documented"),
        ({"phrases": None}, "an ordinary tool needs phrases"),
        ({"compliance": True}, "a compliance tool must not have any"),
        ({"phrases": Phrases("Do it with {amuont}.")}, "its phrases name 'amuont'"),
        ({"phrases": Phrases("Do it[note: with a note].")}, "its phrases name 'note'"),
        ({"fails": (Fails("-", argument("amount") > 1),)}, "has no boolean result 'success'"),
        (
            {
                "fails": (Fails("-", argument("amount") > 1),),
                "results": (ValueResult("success", "-", TEXT, constant("yes")),),
            },
            "has no boolean result 'success'",
        ),
    ],
)
def test_an_invalid_declaration_is_named(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        declare(**parts)
    assert "has no field" in message or "environment 'small', tool 'Do'" in str(caught.value)


TOO_MUCH = argument("limit") > 5
LIMIT = Parameter("limit", MONEY, "-", FromUser(Amount(1, 9)), required=False)


@pytest.mark.parametrize(
    "parts",
    [
        {"raises": (INVALID, Raises("E", "-", TOO_MUCH))},
        {"raises": (INVALID, Raises("E", "-", if_given(argument("amount"), TOO_MUCH)))},
        {
            "raises": (
                INVALID,
                Raises("E", "-", if_given(argument("limit"), argument("amount") > 5, argument("limit") > 5)),
            )
        },
        {"results": (RowsResult("x", "-", ACCOUNTS, lambda a: a.balance > argument("limit"), ("status",)),)},
        {"effects": (Insert(TRANSACTIONS, {**TRANSACTION, "amount": argument("limit")}),)},
    ],
)
def test_an_optional_argument_needs_a_guard(parts: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"tool 'Do': 'limit' is optional, and a term computes with it outside"):
        declare(parameters=(AMOUNT, LIMIT), **parts)


@pytest.mark.parametrize("value_type", [MONEY, INTEGER, DATE, Choice(("a", "b")), Pattern("X", r"\d")])
def test_a_parameter_with_a_format_needs_an_exception(value_type: ValueType) -> None:
    parameter = Parameter("amount", value_type, "-", FromUser(OneOf((1,))))
    with pytest.raises(InputError, match="can be malformed"):
        declare(parameters=(parameter,), raises=())
    assert declare(parameters=(parameter,)).tools["Do"].parameter("amount") is parameter
