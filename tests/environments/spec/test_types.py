"""Types: internal and external form, and the two kinds of errors."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.domains.banking.entities import ACCOUNT_NUMBER, ACCOUNT_TYPE, PAYEE_ID
from lawtrace.environments.spec.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    MOMENT,
    MOMENT_FORMS,
    MONEY,
    TEXT,
    TEXTS,
    TIME,
    Calendar,
    ListOf,
    ObjectOf,
    ValueType,
    WrongFormat,
    WrongType,
)
from lawtrace.schemas.events import Json
from lawtrace.solver.logic.terms import parse_date

PAYEE_IDS = ListOf(PAYEE_ID)
ALL: tuple[ValueType, ...] = (
    BOOLEAN,
    DATE,
    INTEGER,
    MOMENT,
    MONEY,
    TEXT,
    TEXTS,
    TIME,
    ACCOUNT_NUMBER,
    ACCOUNT_TYPE,
    PAYEE_ID,
    PAYEE_IDS,
    ObjectOf({"payee_id": PAYEE_ID, "dates": ListOf(DATE)}, optional=("dates",)),
    ListOf(ObjectOf({"payee": ObjectOf({"payee_id": PAYEE_ID}), "amount": MONEY})),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=4), below, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(ALL), JSON)
def test_a_value_is_decoded_or_raises_one_of_two_errors(value_type: ValueType, value: Json) -> None:
    try:
        inside = value_type.decode(value)
    except (WrongType, WrongFormat) as error:
        assert str(error)  # noqa: PT017 (either is allowed; both must say why)
    else:
        assert value_type.decode(value_type.encode(inside)) == inside


@given(st.integers(-(10**12), 10**12))
def test_money_is_exact_to_the_cent(cents: int) -> None:
    assert MONEY.decode(MONEY.encode(cents)) == cents
    assert MONEY.decode(float(f"{cents / 100:.2f}")) == cents


@given(st.datetimes(max_value=dt.datetime(9999, 12, 31)), st.sampled_from(MOMENT_FORMS))
def test_moments_are_whole_minutes_or_seconds(moment: dt.datetime, form: str) -> None:
    kind, width = Calendar(form), 19 if "ss" in form else 16
    text, later = (
        f"{time.isoformat(form[10])[:width]}{form[width:]}" for time in (moment, moment + dt.timedelta(minutes=90))
    )
    assert kind.encode(kind.decode(text)) == text
    assert (kind.decode(later) - kind.decode(text)) * kind.unit == 90 * 60
    assert kind.seconds(kind.decode(text)) == parse_date(text)


@given(st.dates())
def test_dates_are_day_numbers(day: dt.date) -> None:
    assert DATE.decode(day.isoformat()) == day.toordinal()
    assert DATE.encode(day.toordinal()) == day.isoformat()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-30",
        "2026-13-01",
        "0000-01-01",
        "2026-1-5",
        "26-01-05",
        "05.01.2026",
        "2026-01-05 ",
        "2026-01-05\n",
        "2026-01-05T00:00",
        "20260105",
        "2026-W01-1",
        "٢٠٢٦-٠١-٠٥",
    ],
)
def test_invalid_dates(text: str) -> None:
    with pytest.raises(WrongFormat):
        DATE.decode(text)


@pytest.mark.parametrize(
    ("value_type", "value", "found"),
    [
        (TEXT, 1, "a number"),
        (TEXT, None, "null"),
        (ACCOUNT_NUMBER, 1234567, "a number"),
        (ACCOUNT_TYPE, ["savings"], "a list"),
        (DATE, {"year": 2026}, "an object"),
        (MONEY, "22.60", "a string"),
        (MONEY, True, "a boolean"),
        (INTEGER, "7", "a string"),
        (INTEGER, False, "a boolean"),
        (BOOLEAN, 1, "a number"),
        (BOOLEAN, "true", "a string"),
        (TEXTS, "PAYMENT", "a string"),
        (TEXTS, {"0": "PAYMENT"}, "an object"),
        (TEXTS, ["PAYMENT", 3], "a number"),
    ],
)
def test_a_wrong_type_is_named(value_type: ValueType, value: Json, found: str) -> None:
    with pytest.raises(WrongType, match=f"not {found}$"):
        value_type.decode(value)


@pytest.mark.parametrize(
    ("value_type", "value"),
    [(INTEGER, 2.5), (INTEGER, 2**53 + 1), (INTEGER, float("nan")), (ACCOUNT_TYPE, "Savings"), (PAYEE_ID, "P-12345")],
)
def test_a_wrong_format_is_named(value_type: ValueType, value: Json) -> None:
    with pytest.raises(WrongFormat):
        value_type.decode(value)


@pytest.mark.parametrize("value_type", ALL)
def test_the_schema_names_the_json_type(value_type: ValueType) -> None:
    assert value_type.schema()["type"] in {"string", "number", "integer", "boolean", "array", "object"}
    assert value_type.name == value_type.schema()["type"]
