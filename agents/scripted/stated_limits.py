"""Periods and amounts that a sentence states: *within 72 hours of*, *of more than 10,000 euro*."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lawtrace.solver.masking.surface_forms import currencies_named, numbers_in


@dataclass(frozen=True, slots=True)
class Window:
    """A period in the rule language: `<= 72h`."""

    bound: str
    words: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A comparison with a number.

    Attributes:
        currency: that of the number, or empty.
        span: where the words stand in the text.
        unit: the word after a number without a currency; empty if there is none.
    """

    comparison: str
    value: float
    currency: str
    span: tuple[int, int]
    words: str
    unit: str


WINDOW: Final = re.compile(
    r"\b(?P<how>within|(?:no|not) (?:later|more|earlier) than|at most|at the latest|at least)"
    r" (?P<number>[\w-]+(?: [\w-]+)??) (?P<kind>business |working |calendar )?"
    r"(?P<unit>second|minute|hour|day|week|month|year)s?\b(?: (?P<then>of|from|after|before|following|prior to)\b)?",
    re.IGNORECASE,
)
_UNITS: Final = {"second": "s", "minute": "min", "hour": "h", "day": "d", "week": "w"}
_COMPARED: Final[Mapping[str, str]] = {
    "(?:(?:does|do|is|are) )?not (?:exceed|more than|above|over)|no more than|not exceeding|at most|up to": "<=",
    "(?:(?:is|are) )?not (?:less than|below|under)|no less than|at least": ">=",
    "more than|above|over|exceeding|exceeds?|greater than|higher than|in excess of": ">",
    "less than|below|under|lower than|fewer than": "<",
}
_LIMIT: Final = re.compile("|".join(rf"(?P<c{n}>\b(?:{words})\b)" for n, words in enumerate(_COMPARED)), re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\s+(?:EUR|USD|GBP)?\s*[€$£]?\s*", re.IGNORECASE)
_OPPOSITE: Final = {"<=": ">", ">": "<=", ">=": "<", "<": ">="}


def window_of(found: re.Match[str], *, before: bool) -> Window | None:
    """The period of a match of `WINDOW`, on the time before or after an event; None if its words do not fit that."""
    numbers = numbers_in(found["number"])
    if len(numbers) != 1 or not numbers[0].value.is_integer() or numbers[0].span != (0, len(found["number"])):
        return None
    how, then = found["how"].lower().replace("not ", "no "), (found["then"] or "").lower()
    is_before = then in {"before", "prior to"}
    latest = {"within", "at most", "no more than", "no earlier than" if is_before else "no later than"}
    longest = how in latest or (how == "at the latest" and not is_before)
    if is_before != before or (not longest and not before):
        return None
    value, unit, day = int(numbers[0].value), found["unit"].lower(), (found["kind"] or "").strip().lower()
    if day and unit != "day":
        return None
    if day or unit in {"month", "year"}:
        kind = "business" if day in {"business", "working"} else "calendar"
        length = f"{value} {kind} {unit}{'' if value == 1 else 's'}"
    else:
        length = f"{value}{_UNITS[unit]}"
    return Window(f"{'<=' if longest else '>='} {length}", found[0])


def currency_in(text: str) -> str:
    """The currency that a text names; empty if it names none or several."""
    named = currencies_named(text)
    return named[0] if len(named) == 1 else ""


def limits_in(text: str) -> list[Limit]:
    """The comparisons with numbers in a text."""
    found: list[Limit] = []
    numbers = numbers_in(text)
    for match in _LIMIT.finditer(text):
        number = next(
            (one for one in numbers if _BETWEEN.fullmatch(text[match.end() : max(one.span[0], match.end())])), None
        )
        if number is None:
            continue
        end = number.span[1]
        unit = re.match(r"\s*([€$£]|[A-Za-z]+)", text[end:])
        currency = currency_in(text[match.end() : end]) or (currency_in(unit[1]) if unit else "")
        if unit and currency_in(unit[1]):
            end += unit.end()
        comparison = list(_COMPARED.values())[int((match.lastgroup or "c0")[1:])]
        words = "" if currency or not unit else unit[1].lower()
        span = (match.start(), end)
        found.append(Limit(comparison, number.value, currency, span, text[match.start() : end], words))
    return found


def opposite(comparison: str) -> str:
    return _OPPOSITE[comparison]
