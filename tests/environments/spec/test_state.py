"""States: conversion to JSON and back, and errors of unreadable states."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.domains.banking.entities import ENTITIES, TRANSACTIONS
from lawtrace.environments.spec.state import Entity, Field, Row, decode_state, encode_state
from lawtrace.environments.spec.types import TEXT
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

ACCOUNT: dict[str, Json] = {
    "account_number": "123-4567-8901",
    "account_type": "savings",
    "balance": 12.5,
    "status": "active",
}


@given(st.integers())
def test_a_populated_state_survives_the_round_trip(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    raw = encode_state(state, ENTITIES)
    assert decode_state(raw, ENTITIES) == state
    assert encode_state(decode_state(raw, ENTITIES), ENTITIES) == raw


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"acounts": {}}, r"unknown table 'acounts'"),
        ({"accounts": []}, None),
        ({"accounts": [ACCOUNT]}, r"'accounts' must be an object of rows by key"),
        ({"accounts": {"123-4567-8901": 5}}, r"row '123-4567-8901' must be an object"),
        ({"accounts": {"999-4567-8901": ACCOUNT}}, r"row '999-4567-8901' has another 'account_number' inside"),
        ({"accounts": {"123-4567-8901": {**ACCOUNT, "colour": "red"}}}, r"colour: there is no such field"),
        ({"accounts": {"123-4567-8901": {**ACCOUNT, "balance": None}}}, r"balance: the field is missing"),
        ({"accounts": {"123-4567-8901": {**ACCOUNT, "balance": "12"}}}, r"balance: expected a number"),
        ({"accounts": {"123-4567-8901": {**ACCOUNT, "account_type": "gold"}}}, r"account_type: 'gold' is not"),
    ],
)
def test_errors_name_the_place(raw: dict[str, Json], message: str | None) -> None:
    if message is None:  # an empty list is accepted like an empty object
        assert decode_state(raw, ENTITIES) == decode_state({}, ENTITIES)
        return
    with pytest.raises(InputError, match=message):
        decode_state(raw, ENTITIES)


def test_a_key_must_be_a_field() -> None:
    with pytest.raises(InputError, match="its key 'id' is not one of its fields"):
        Entity("things", "thing", "id", {"name": Field(TEXT)})


def test_generated_keys_are_never_reused() -> None:
    rows = tuple(Row({"transaction_id": f"T-{number:05d}"}, present=number != 3) for number in (1, 3, 4, 5))
    assert TRANSACTIONS.generated_key(rows) == "T-00006"
    assert TRANSACTIONS.generated_key(()) == "T-00001"
