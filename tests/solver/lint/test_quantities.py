"""Quantities in legal texts: numbers with what they count, in digits and in words."""

import pytest

from lawtrace.solver.lint.quantities import Measure, Quantity, quantities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("within 72 hours", [(72, "h")]),
        ("72h", [(72, "h")]),
        ("at most five minutes pass", [(5, "min")]),
        ("not later than thirteen months after the debit", [(13, "calendar month")]),
        ("for eight weeks", [(8, "w")]),
        ("10 business days", [(10, "business day")]),
        ("by the end of the following business day", [(1, "business day")]),
        ("an hour, monthly, twice", [(1, "h"), (1, "calendar month"), (2, "count")]),
        ("EUR 500, 30 euros, 50 cents", [(500, "money"), (30, "money"), (0.5, "money")]),
        ("one hundred and fifty euros", [(150, "money")]),
        ("20 000 000 EUR, or 4 %", [(20_000_000, "money"), (4, "percent")]),
        ("by two further months, so to three in all", [(2, "calendar month"), (3, "count")]),
        ("within 30 days, or by 30 more days", [(30, "d"), (30, "d"), (60, "d")]),
        ("Articles 15 to 22, § 164.508(a)(2), paragraph 5 and (b)", []),
        ("under Article 12, 30 days", [(30, "d")]),
        ("by 20 April 2005", []),
    ],
)
def test_quantities(text: str, found: list[tuple[float, Measure]]) -> None:
    assert [(one.value, one.measure) for one in quantities(text)] == found


@pytest.mark.parametrize(
    ("quantity", "days"),
    [
        (Quantity(13, "calendar month"), (393, 397)),
        (Quantity(1, "calendar year"), (365, 366)),
        (Quantity(1, "business day"), (1, 3)),
        (Quantity(8, "w"), (56, 56)),
    ],
)
def test_a_span_of_the_calendar_has_a_shortest_and_a_longest_length(quantity: Quantity, days: tuple[int, int]) -> None:
    assert quantity.seconds() == (days[0] * 86_400, days[1] * 86_400)
