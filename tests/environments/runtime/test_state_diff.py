"""Comparison of final states: only differences that a goal leaves open are ignored."""

from collections.abc import Mapping
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.types import INTEGER, TEXT, TEXTS
from lawtrace.schemas.events import Json
from lawtrace.schemas.verdict_rows import StateDifference
from tests.support.small_bank import BILL, SPARE, STATE, TRANSFER

Calls = list[tuple[str, dict[str, Json]]]
OTHER_BILL: dict[str, Json] = {**BILL, "payee_id": "P-000002", "amount": 12.25}
TARGET: Calls = [("PayBill", BILL), ("TransferFunds", TRANSFER), ("PayBill", OTHER_BILL)]


def after(calls: Calls) -> State:
    session = Session(ENVIRONMENT, STATE)
    for name, arguments in calls:
        assert session.call(name, arguments).event.completed
    return session.state


def differences(actual: Calls, expected: Calls = TARGET) -> tuple[StateDifference, ...]:
    return compare_states(ENVIRONMENT, STATE, after(expected), after(actual))


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_payments_does_not_matter(seed: int) -> None:
    assert differences(Random(seed).sample(TARGET, 3)) == ()


def test_keys_of_created_rows_do_not_matter() -> None:
    state = after(TARGET)
    renamed = tuple(
        Row({**row.values, "transaction_id": f"X-{number}"}) if number >= 2 else row
        for number, row in enumerate(state.tables["transactions"])
    )
    assert compare_states(ENVIRONMENT, STATE, state, state.with_table("transactions", renamed)) == ()


@pytest.mark.parametrize(
    ("wrong", "field", "value"),
    [
        ({**BILL, "amount": 25.51}, "amount", -25.51),
        ({**BILL, "payment_date": "2026-02-04"}, "date", "2026-02-04"),
        ({**BILL, "service_account_number": "43"}, "reference", "43"),
        ({**BILL, "payee_id": "P-000002"}, "description", "Harbour Taxes"),
        ({**BILL, "from_account_number": SPARE, "amount": 20}, "account_number", SPARE),
    ],
)
def test_a_wrong_value_is_found(wrong: dict[str, Json], field: str, value: Json) -> None:
    found = differences([("PayBill", wrong)], [("PayBill", BILL)])
    surplus = [
        difference.actual for difference in found if difference.row == "(created)" and difference.expected is None
    ]
    missing = [
        difference.expected for difference in found if difference.row == "(created)" and difference.actual is None
    ]
    assert len(surplus) == len(missing) == 1
    assert isinstance(surplus[0], dict)
    assert isinstance(missing[0], dict)
    assert surplus[0][field] == value != missing[0][field]
    assert "transaction_id" not in surplus[0]
    assert "balance" not in surplus[0]


# A small environment in which other rows refer to created rows, unlike in banking.

GUESTS = Entity("guests", "guest", "id", {"id": Field(TEXT), "name": Field(TEXT)}, key_prefix="N-")
VISITS = Entity(
    "visits", "visit", "id", {"id": Field(TEXT), "guest": Field(TEXT), "hours": Field(INTEGER)}, key_prefix="N-"
)
DOORS = Entity("doors", "door", "id", {"id": Field(TEXT), "last": Field(TEXT), "invited": Field(TEXTS)})
HOUSE = Environment(
    "house",
    "House",
    "House",
    "-",
    {entity.table: entity for entity in (GUESTS, VISITS, DOORS)},
    {},
    lambda random: INITIAL,
)
INITIAL = State({"guests": (), "visits": (), "doors": (Row({"id": "D", "last": "", "invited": ()}),)})


def house(guests: dict[str, str], visits: list[tuple[str, str, int]], last: str = "", *invited: str) -> State:
    return State(
        {
            "guests": tuple(Row({"id": key, "name": name}) for key, name in guests.items()),
            "visits": tuple(Row({"id": key, "guest": guest, "hours": hours}) for key, guest, hours in visits),
            "doors": (Row({"id": "D", "last": last, "invited": invited}),),
        }
    )


EXPECTED = house({"N-1": "Ann", "N-2": "Bob"}, [("N-3", "N-2", 3)], "N-2", "N-1", "N-2")


def test_references_to_created_rows_are_matched_by_content() -> None:
    """Also references in existing rows and in lists."""
    swapped = house({"N-7": "Bob", "N-8": "Ann"}, [("N-9", "N-7", 3)], "N-7", "N-8", "N-7")
    assert compare_states(HOUSE, INITIAL, EXPECTED, swapped) == ()


@pytest.mark.parametrize(
    "actual",
    [
        house({"N-7": "Bob", "N-8": "Ann"}, [("N-9", "N-8", 3)], "N-7", "N-8", "N-7"),
        house({"N-7": "Bob", "N-8": "Ann"}, [("N-9", "N-7", 3)], "N-8", "N-8", "N-7"),
        house({"N-7": "Bob", "N-8": "Ann"}, [("N-9", "N-7", 3)], "N-7", "N-7", "N-8"),
        house({"N-7": "Bob"}, [("N-9", "N-7", 3)], "N-7", "N-8", "N-7"),
        house({"N-1": "Ann", "N-2": "Bob"}, [], "N-2", "N-1", "N-2"),
    ],
)
def test_a_different_referenced_row_is_found(actual: State) -> None:
    assert compare_states(HOUSE, INITIAL, EXPECTED, actual) != ()
    assert compare_states(HOUSE, INITIAL, actual, EXPECTED) != ()


def twins(*hours_of_visits: tuple[str, int], last: str = "") -> State:
    """Two guests with the same name, with different stays."""
    visits = [(f"N-{number}", guest, hours) for number, (guest, hours) in enumerate(hours_of_visits, 3)]
    return house({"N-1": "Ann", "N-2": "Ann"}, visits, last)


def test_equal_rows_are_distinguished_by_their_references() -> None:
    both_of_one, one_each = twins(("N-1", 2), ("N-1", 3)), twins(("N-1", 2), ("N-2", 3))
    assert compare_states(HOUSE, INITIAL, both_of_one, twins(("N-2", 3), ("N-2", 2))) == ()
    assert compare_states(HOUSE, INITIAL, one_each, twins(("N-1", 3), ("N-2", 2))) == ()
    (found,) = compare_states(HOUSE, INITIAL, both_of_one, one_each)
    assert (found.table, found.field) == ("guests", "mentioned in")
    two, three = (f"visits.guest of visits(guest=\"<guests(name='Ann')>\", hours={hours})" for hours in (2, 3))
    assert (found.expected, found.actual) == (["", f"{two}, {three}"], [two, three])
    assert compare_states(HOUSE, INITIAL, one_each, both_of_one) != ()


def test_equal_rows_are_distinguished_by_references_from_existing_rows() -> None:
    first = twins(("N-1", 2), ("N-2", 3), last="N-1")
    assert compare_states(HOUSE, INITIAL, first, twins(("N-2", 2), ("N-1", 3), last="N-2")) == ()
    assert compare_states(HOUSE, INITIAL, first, twins(("N-1", 2), ("N-2", 3), last="N-2")) != ()


@given(st.data())
def test_states_are_equal_up_to_renaming_of_created_keys(data: st.DataObject) -> None:
    guests = ["Ann"] * data.draw(st.integers(1, 3))
    hours = data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    keys: list[str] = [f"N-{number}" for number in range(len(guests) + len(hours))]

    def some_house() -> State:
        names = data.draw(st.permutations(keys))
        who = st.sampled_from(names[: len(guests)])
        visits = [(name, data.draw(who), length) for name, length in zip(names[len(guests) :], hours, strict=True)]
        return house(
            dict(zip(names, guests, strict=False)), visits, data.draw(who), *data.draw(st.lists(who, max_size=2))
        )

    def rows(state: State, names: Mapping[str, str]) -> object:
        found = {table: [row.values for row in state.rows(table)] for table in ("guests", "visits", "doors")}
        return (
            sorted((names[row["id"]], row["name"]) for row in found["guests"]),
            sorted((names[row["id"]], names[row["guest"]], row["hours"]) for row in found["visits"]),
            [(names[row["last"]], [names[guest] for guest in row["invited"]]) for row in found["doors"]],
        )

    one, other = some_house(), some_house()
    same = any(
        rows(one, dict(zip(keys, keys, strict=True))) == rows(other, dict(zip(keys, chosen, strict=True)))
        for chosen in permutations(keys)
    )
    assert (compare_states(HOUSE, INITIAL, one, other) == ()) == same


def test_two_tables_may_generate_the_same_key() -> None:
    alike = house({"N-1": "Ann", "N-2": "Ann"}, [("N-1", "-", 3)])
    assert compare_states(HOUSE, INITIAL, alike, house({"N-1": "Ann", "N-2": "Ann"}, [("N-3", "-", 3)])) == ()
    both = house({"N-1": "Ann"}, [("N-1", "-", 3)])
    assert compare_states(HOUSE, INITIAL, both, house({"N-5": "Ann"}, [("N-6", "-", 3)])) == ()
    assert [d.table for d in compare_states(HOUSE, INITIAL, both, house({"N-1": "Ann"}, []))] == ["visits"]
    assert [d.table for d in compare_states(HOUSE, INITIAL, both, house({}, [("N-1", "-", 3)]))] == ["guests"]
