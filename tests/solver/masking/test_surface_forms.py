"""Values are found in the spellings that people use, and only these values."""

import pytest

from lawtrace.environments.spec.types import DATE, INTEGER, MOMENT, MONEY, TEXT, TIME, Choice, ListOf, ValueType
from lawtrace.schemas.events import Json
from lawtrace.solver.masking.surface_forms import numbers_in, other_values, phrase_spans, plain, value_spans

KIND = Choice(("cancel", "lab results"))
SAID: list[tuple[str, Json, ValueType]] = [
    ("send €1,250 now", 1250.0, MONEY),
    ("that's 85.40 euros", 85.4, MONEY),
    ("85,40 €", 85.4, MONEY),
    ("eighty-five euros and forty cents", 85.4, MONEY),
    ("85 euros 40, please", 85.4, MONEY),
    ("pay 85.40.", 85.4, MONEY),
    ("a hundred and twenty dollars", 120.0, MONEY),
    ("the past ninety days", 90, INTEGER),
    ("90-day", 90, INTEGER),
    ("on the 3rd of each month", 3, INTEGER),
    ("the first of the month", 1, INTEGER),
    ("every twenty-eighth", 28, INTEGER),
    ("Tuesday, 24 November", "2026-11-24", DATE),
    ("24 Nov 2026", "2026-11-24", DATE),
    ("Nov. 24, 2026", "2026-11-24", DATE),
    ("the twenty-fourth of November", "2026-11-24", DATE),
    ("24/11/2026", "2026-11-24", DATE),
    ("at 2:30 pm", "14:30", TIME),
    ("at 14:30", "14:30", TIME),
    ("at noon", "12:00", TIME),
    ("24 November at 9 am", "2026-11-24 09:00", MOMENT),
    ("it has been cancelled", "cancel", KIND),
    ("her lab results", "lab results", KIND),
    ("my rainy day pot's money", "rainy-day pot", TEXT),
    ("both the Harbour and the Gym", ["Harbour", "Gym"], ListOf(TEXT)),
]
NOT_SAID: list[tuple[str, Json, ValueType]] = [
    ("send 1,250.50", 250.5, MONEY),
    ("85.405", 85.4, MONEY),
    ("2026-11-24", 24, INTEGER),
    ("at 14:30", 14, INTEGER),
    ("1. Look it up\n2. Pay", 2, INTEGER),
    ("First look it up", 1, INTEGER),
    ("24 November 2025", "2026-11-24", DATE),
    ("11/12/2026", "2026-12-11", DATE),
    ("at 2:30", "14:30", TIME),
    ("24 November", "2026-11-24 09:00", MOMENT),
    ("the potter", "pot", TEXT),
    ("both the Harbour and the Gym", ["Harbour", "Pool"], ListOf(TEXT)),
]


@pytest.mark.parametrize(("text", "value", "value_type"), SAID)
def test_a_value_is_found_as_people_write_it(text: str, value: Json, value_type: ValueType) -> None:
    assert value_spans(text, value, value_type)


@pytest.mark.parametrize(("text", "value", "value_type"), NOT_SAID)
def test_another_value_is_not_taken_for_it(text: str, value: Json, value_type: ValueType) -> None:
    assert not value_spans(text, value, value_type)


def test_euros_and_cents_are_one_amount() -> None:
    assert [(one.value, one.money) for one in numbers_in("85 euros and 40 cents, 3 times")] == [
        (85.4, True),
        (3, False),
    ]


def test_what_else_would_fit_is_found_outside_the_spans() -> None:
    text = "Send 20.00 euros, no, 30 euros. And ask on 3 May about the lab results."
    twenty = value_spans(text, 20.0, MONEY)
    assert other_values(text, MONEY, twenty) == ["30"]
    assert other_values(text, DATE, ()) == ["3 May"]
    assert other_values(text, KIND, ()) == ["lab results"]


def test_typographic_quotes_and_spaces_do_not_matter() -> None:
    assert phrase_spans(plain("the payee\u2019s\u00a0bank"), "payee's bank")
