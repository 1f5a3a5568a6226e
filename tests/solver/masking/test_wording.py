"""Wording: calls as a user would say them."""

from random import Random

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.tools import FromUser, Parameter, Phrases, Tool
from lawtrace.environments.spec.types import BOOLEAN, DATE, MONEY, TEXT, TEXTS, ValueType
from lawtrace.schemas.events import Event, FromResult, Json, Origin, SaidByUser
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.wording import describe_outcome, describe_step, format_value, instruction_variables
from lawtrace.solver.traces import PlannedCall

SAVINGS = PlannedCall(
    Event("GetAccountInformation", {"account_type": "savings"}, result={"accounts": [{"account_number": "1"}]}),
    {"account_type": SaidByUser()},
)
PAYEE = PlannedCall(
    Event("SearchPayee", {"keywords": ["Tern"]}, result={"payees": [{"payee_id": "P-1"}]}), {"keywords": SaidByUser()}
)
FROM_SAVINGS: Origin = FromResult(0, ("accounts", 0, "account_number"))


def planned(tool: str, arguments: dict[str, Json], **origins: Origin) -> PlannedCall:
    return PlannedCall(Event(tool, arguments), {name: origins.get(name, SaidByUser()) for name in arguments})


BILL = planned(
    "PayBill",
    {
        "from_account_number": "1",
        "payee_id": "P-1",
        "service_account_number": "99",
        "payment_date": "2026-02-03",
        "amount": 22.6,
    },
    from_account_number=FROM_SAVINGS,
    payee_id=FromResult(1, ("payees", 0, "payee_id")),
)


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (22.6, MONEY, "22.60"),
        (5, MONEY, "5.00"),
        ("2026-01-31", DATE, "2026-01-31"),
        (["Harbour", "Taxes"], TEXTS, '"Harbour" "Taxes"'),
        ("22.6", TEXT, "22.6"),
    ],
)
def test_values(value: Json, kind: ValueType, words: str) -> None:
    assert format_value(value, kind) == words


def test_a_looked_up_argument_uses_the_noun_phrase_of_the_look_up() -> None:
    calls = [SAVINGS, PAYEE, BILL]
    assert describe_step(ENVIRONMENT, calls, 2) == (
        'Pay a bill of 22.60 from the savings account to the payee found by searching for "Tern", service account '
        "number 99, payment date 2026-02-03."
    )
    outcome = describe_outcome(ENVIRONMENT, calls, 2)
    assert outcome is not None
    assert outcome.startswith("A bill of 22.60 has been paid from the savings account to the payee found by")
    assert describe_outcome(ENVIRONMENT, calls, 0) is None
    assert describe_step(ENVIRONMENT, calls, 1) == 'Search the payees for "Tern".'


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({}, "."),
        ({"keyword": "Gas"}, ' with the words "Gas" in the description.'),
        ({"min_amount": 5.0}, ", of at least 5.00."),
        ({"min_amount": 5.0, "max_amount": 60.5}, ", of at least 5.00, of at most 60.50."),
        ({"keyword": None, "max_amount": 60.5}, ", of at most 60.50."),
    ],
)
def test_optional_phrases_appear_only_with_their_argument(filters: dict[str, Json], words: str) -> None:
    call = planned("SearchTransactions", {"account_number": "1", **filters}, account_number=FROM_SAVINGS)
    assert describe_step(ENVIRONMENT, [SAVINGS, call], 1) == f"Search the transactions of the savings account{words}"


@pytest.mark.parametrize(("download", "words"), [(True, " and save it as a CSV file."), (False, ".")])
def test_an_optional_boolean_is_stated_only_if_true(download: bool, words: str) -> None:
    arguments: dict[str, Json] = {"account_number": "1", "start_date": "2026-01-01", "end_date": "2026-02-01"}
    call = planned("GetAccountStatement", {**arguments, "download": download}, account_number=FROM_SAVINGS)
    assert describe_step(ENVIRONMENT, [SAVINGS, call], 1).endswith(f"to 2026-02-01{words}")


def test_a_required_boolean_is_always_stated() -> None:
    parameter = Parameter("on", BOOLEAN, "-", FromUser(OneOf((True, False))))
    tool = Tool("Switch", "-", parameters=(parameter,), phrases=Phrases("Switch it: {on}."))
    house = Environment("house", "House", "House", "-", {}, {"Switch": tool}, ENVIRONMENT.populate)
    for value in (True, False):
        assert describe_step(house, [planned("Switch", {"on": value})], 0) == f"Switch it: {value}."


def test_a_goal_has_the_changes_and_their_look_ups() -> None:
    unused = planned("SearchTransactions", {"account_number": "1"}, account_number=FROM_SAVINGS)
    state = ENVIRONMENT.populate(Random(0))
    assert goal_calls(ENVIRONMENT, state, [SAVINGS, PAYEE, unused, BILL]) == (0, 1, 3)
    assert goal_calls(ENVIRONMENT, state, [SAVINGS, unused]) == ()
    assert goal_calls(ENVIRONMENT, state, []) == ()


def test_variables_name_each_value_once() -> None:
    again = planned("PayBill", {"amount": 22.6, "service_account_number": "77", "payment_date": "2026-02-03"})
    assert instruction_variables([SAVINGS, PAYEE, BILL, again], range(4)) == {
        "account_type_1": "savings",
        "keywords_1": ["Tern"],
        "service_account_number_1": "99",
        "payment_date_1": "2026-02-03",
        "amount_1": 22.6,
        "service_account_number_2": "77",
    }
