"""Windows and calendar spans."""

from datetime import UTC, datetime

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic.windows import Bound, Span, Unit, Window


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("start", "amount", "unit", "last"),
    [
        ("2026-01-31 09:00", 1, "calendar month", "2026-02-28 23:59:59"),
        ("2028-01-31 09:00", 1, "calendar month", "2028-02-29 23:59:59"),
        ("2026-01-31 09:00", 3, "calendar month", "2026-04-30 23:59:59"),
        ("2026-11-30 00:00", 3, "calendar month", "2027-02-28 23:59:59"),
        ("2026-03-15 23:59:59", 0, "calendar month", "2026-03-15 23:59:59"),
        ("2028-02-29 12:00", 1, "calendar year", "2029-02-28 23:59:59"),
        ("2028-02-29 12:00", 4, "calendar year", "2032-02-29 23:59:59"),
        ("2026-03-06 00:00", 2, "calendar day", "2026-03-08 23:59:59"),
        ("2026-03-06 09:00", 1, "business day", "2026-03-09 23:59:59"),  # from a Friday
        ("2026-03-07 09:00", 1, "business day", "2026-03-09 23:59:59"),  # from a Saturday
        ("2026-03-05 09:00", 2, "business day", "2026-03-09 23:59:59"),
        ("2026-03-02 09:00", 10, "business day", "2026-03-16 23:59:59"),
        ("2026-03-02 09:00", 72, "h", "2026-03-05 09:00"),
        ("2026-03-29 00:30", 1, "d", "2026-03-30 00:30"),  # no summer time in UTC
    ],
)
def test_spans_end(start: str, amount: int, unit: Unit, last: str) -> None:
    assert Span(amount, unit).end(at(start)) == at(last)


@pytest.mark.parametrize(
    ("window", "distances"),
    [
        (Window(), range(8)),
        (Window(upper=Bound(Span(3))), range(4)),
        (Window(upper=Bound(Span(3), strict=True)), range(3)),
        (Window(lower=Bound(Span(3))), range(3, 8)),
        (Window(lower=Bound(Span(3), strict=True)), range(4, 8)),
        (Window(Bound(Span(2), strict=True), Bound(Span(5), strict=True)), range(3, 5)),
        (Window(Bound(Span(2)), Bound(Span(2))), range(2, 3)),
    ],
)
def test_windows_contain_distances(window: Window, distances: range) -> None:
    assert [later for later in range(8) if window.contains(100, 100 + later)] == [*distances]
    assert window.newest([100], 100 + max(distances)) == 0


def test_a_calendar_window_ends_with_the_day() -> None:
    window = Window(upper=Bound(Span(1, "calendar month")))
    start = at("2026-01-31 23:59:59")
    assert window.contains(start, at("2026-02-28 23:59:59"))
    assert not window.contains(start, at("2026-03-01 00:00"))


@pytest.mark.parametrize("unit", ["calendar day", "business day", "calendar month", "calendar year"])
def test_a_calendar_window_of_zero_excludes_the_rest_of_the_day(unit: Unit) -> None:
    window = Window(lower=Bound(Span(0, unit)))
    assert not window.unlimited
    assert not window.contains(at("2026-03-06 09:00"), at("2026-03-06 10:00"))
    assert window.contains(at("2026-03-06 09:00"), at("2026-03-09 10:00"))


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (Bound(Span(3)), Bound(Span(2))),
        (Bound(Span(3), strict=True), Bound(Span(3))),
        (Bound(Span(3), strict=True), Bound(Span(4), strict=True)),
        (None, Bound(Span(0), strict=True)),
    ],
)
def test_empty_windows_are_refused(lower: Bound | None, upper: Bound) -> None:
    with pytest.raises(FormulaError, match="contains no distance"):
        Window(lower, upper)


def test_spans_have_limits() -> None:
    with pytest.raises(FormulaError, match="not negative"):
        Span(-1, "h")
    with pytest.raises(FormulaError, match="too long"):
        Span(10**7, "calendar year")
    with pytest.raises(FormulaError, match="is not a date"):
        Span(9999, "calendar year").end(at("2026-03-06 09:00"))
