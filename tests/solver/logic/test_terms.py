"""Terms: values of functions, dates and arithmetic, and what has no value."""

from datetime import UTC, datetime
from typing import cast

import pytest
from pydantic import TypeAdapter

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom

NOW = int(datetime(2026, 3, 6, 9, tzinfo=UTC).timestamp())
ARGUMENTS: dict[str, Json] = {
    "n": 3,
    "zero": 0,
    "flag": True,
    "text": "Rent",
    "digits": " 12.5 ",
    "day": "2026-03-06",
    "moment": "2026-03-06T10:00:00+01:00",
    "birthday": "2008-03-07",
    "leap": "2008-02-29",
    "numbers": [1, 2.5, -4],
    "mixed": [1, "2"],
    "empty": [],
    "rows": [{"id": "a", "sum": 1}, {"id": "b"}, 7],
    "nothing": None,
}


def true(condition: str) -> bool:
    atom = cast("Atom", parse(f"A({condition})"))
    return atom.matches(Event("A", ARGUMENTS, time=NOW))


@pytest.mark.parametrize(
    "condition",
    [
        'len(text) == 4 and len(numbers) == 3 and len(empty) == 0',
        'lower(text) == "rent"',
        "abs(n - 10) == 7",
        "number(digits) == 12.5 and number(n) == 3",
        "largest(numbers) == 2.5 and smallest(numbers) == -4 and total(numbers) == -0.5",
        "total(empty) == 0",
        "date(day) < now and date(moment) == now",
        "day < now and now == moment",
        'now - date(day) == 9h and date(day) + 9h == now',
        "date(0) < now",
        "years(birthday, now) == 17 and years(leap, now) == 18",
        "years(leap, \"2027-02-28\") == 18 and years(leap, \"2027-03-01\") == 19",
        "days(day, now) == 0 and days(\"2026-02-28\", \"2026-03-01\") == 1",
        "days(\"2028-02-28\", \"2028-03-01\") == 2",
        "n * 2 + 1 == 7 and (n + 1) * 2 == 8 and n - 1 - 1 == 1 and n / 2 == 1.5",
        '"b" in rows.id and rows.0.sum == 1',
        "any r in rows: r.sum == 1",
        "all x in numbers: x < 3",
        "all x in empty: x < 3",
        'text startswith "Re" and text endswith "nt" and text contains "en"',
        "flag and flag == true and not flag == 1",
        "nothing != 1 or not nothing == 1",
    ],
)  # fmt: skip
def test_true_conditions(condition: str) -> None:
    assert true(condition)


@pytest.mark.parametrize(
    "term",
    [
        "absent", "n / zero", "text + 1", "flag + 1", "text * 2", "number(text)", "date(text)", "years(text, now)",
        "days(n, now)", "len(n)", "lower(n)", "abs(text)", "largest(empty)", "total(mixed)", "largest(text)",
        "now + now", "now * 2", "n - now", "rows.9.id", "text.part", "date(\"2026-02-29\")", "absent.part",
    ],
)  # fmt: skip
def test_terms_without_a_value_make_comparisons_false(term: str) -> None:
    assert not any(true(f"{term} {sign} {other}") for sign in ("==", "!=", "<", ">=") for other in ("1", "now", '"a"'))
    assert true(f"not {term} == 1")


def test_an_element_condition_over_no_list_is_false() -> None:
    assert not true("any x in n: x == 3")
    assert not true("all x in n: x == 3")


def test_now_has_no_value_without_a_time() -> None:
    atom = cast("Atom", parse("A(now > 0s)"))
    assert not atom.matches(Event("A", {}))


def test_a_shielded_call_is_not_an_attempt() -> None:
    atom = cast("Atom", parse("attempted(A)"))
    assert atom.matches(Event("A", {}, "failed"))
    assert not atom.matches(Event("A", {}, "shielded"))


def test_the_time_of_an_event_is_written_only_if_it_is_known() -> None:
    events = TypeAdapter(Event)
    assert "time" not in events.dump_python(Event("A", {}))
    assert events.dump_python(Event("A", {}, time=0))["time"] == 0
    for event in (Event("A", {"x": 1}, time=NOW), Event("A", {})):
        assert events.validate_json(events.dump_json(event)) == event
