"""Quantities in legal texts and tool documentation: counts, amounts of money, spans of time, in digits or in words.

    quantities("at most 13 months after the debit, five times, up to EUR 30")   13 months; 5; 30 of money

Numbers of articles, paragraphs and points, and those in dates, are not quantities. A unit without a number counts as
one: *the following business day*, *an hour*, *monthly*; so do *once* and *twice* as 1 and 2.
"""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from lawtrace.solver.logic.windows import SECONDS, Span, Unit
from lawtrace.solver.masking.sayings import CENTS, SaidNumber, numbers_in, overlaps

Measure = Unit | Literal["money", "percent", "count"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts. ``count``: things, or nothing that the text names.

    Attributes:
        elliptic: nothing follows that could be its unit, as in *so to three in all*.
        added: it comes on top of another, as in *30 more days*.
    """

    value: float
    measure: Measure
    elliptic: bool = False
    added: bool = False

    @property
    def is_time(self) -> bool:
        return self.measure not in ("money", "percent", "count")

    def seconds(self) -> tuple[float, float]:
        """The shortest and the longest length of a span of time. A month has 28 to 31 days."""
        days: tuple[float, float]
        match self.measure:
            case "calendar month":
                days = _months(self.value)
            case "calendar year":
                days = _months(12 * self.value)
            case "business day":
                days = (self.value, self.value + 2 * (self.value // 5 + 1))
            case "calendar day":
                days = (self.value, self.value)
            case "s" | "min" | "h" | "d" | "w":
                length = self.value * SECONDS[self.measure]
                return length, length
            case _:
                raise ValueError(f"not a span of time: {self}")
        return days[0] * SECONDS["d"], days[1] * SECONDS["d"]


def of_span(span: Span) -> Quantity:
    return Quantity(span.amount, span.unit)


def _months(months: float) -> tuple[float, float]:
    """The fewest and the most days of so many months in a row."""
    lengths = [calendar.monthrange(2000 + month // 12, month % 12 + 1)[1] for month in range(48 + int(months))]
    sums = [sum(lengths[start : start + int(months)]) for start in range(48)]
    return min(sums), max(sums)


_UNITS: Final[dict[str, Unit]] = {
    "second": "s", "minute": "min", "min": "min", "hour": "h", "h": "h", "day": "d", "week": "w", "fortnight": "w",
    "month": "calendar month", "year": "calendar year",
}  # fmt: skip
_UNIT: Final = rf"(?P<unit>{'|'.join(_UNITS)})s?\b"
_DAY_KIND: Final = (
    r"(?:(?P<business>business|working)|calendar|full|whole|consecutive|(?P<added>further|more|additional)|other)"
)
_AFTER: Final = re.compile(rf"[\s-]*(?:{_DAY_KIND}[\s-]+)*{_UNIT}", re.IGNORECASE)
_SINGLE: Final = re.compile(
    rf"\b(?:an?|the|each|every|per|following|next|same|this|that|previous)\s+(?:(?:following|next|same)\s+)?"
    rf"(?:{_DAY_KIND}\s+)*(?P<unit>{'|'.join(_UNITS)})\b",
    re.IGNORECASE,
)
_ADVERBS: Final[dict[str, tuple[float, Measure]]] = {
    "hourly": (1, "h"), "daily": (1, "d"), "weekly": (1, "w"), "monthly": (1, "calendar month"),
    "yearly": (1, "calendar year"), "annual": (1, "calendar year"), "annually": (1, "calendar year"),
    "once": (1, "count"), "twice": (2, "count"),
}  # fmt: skip
_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)
_LABEL: Final = (
    r"(?:articles?|sections?|§+|paragraphs?|points?|parts?|subparts?|annex|chapters?|titles?|regulation|cfr)"
)
_REFERENCE: Final = re.compile(
    rf"(?:\b|(?=§)){_LABEL}\s*[\w.]*\d[\w.]*(?:\(\w+\))*"
    rf"(?:\s*(?:,|to|and|or|–|-)\s*\d[\w.]*(?:\(\w+\))*(?![\w.]|[\s-]+(?:business\s+|calendar\s+)?(?:{'|'.join(_UNITS)})))*"
    r"|\(\w{1,4}\)",
    re.IGNORECASE,
)
"""References: *Articles 15 to 22*, *§ 164.312(a)*, *paragraph 5*, *(b)*."""
_GROUPED: Final = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}\b)")
_GLUED: Final = re.compile(r"(?<=\d)(?=(?:h|min)\b)")
_FACTOR: Final = re.compile(r"\s+(million|billion)\b", re.IGNORECASE)
_FUNCTION_WORD: Final = re.compile(
    r"in|at|to|of|or|and|but|if|that|which|when|before|after|for|from|with|is|are|was|were|may|as|by|on|so",
    re.IGNORECASE,
)


def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities that a text names."""
    words = _REFERENCE.sub(" ", _GLUED.sub(" ", _GROUPED.sub("", text)))
    numbers = numbers_in(words)
    found = [*(_measured(words, number) for number in numbers), *_unnumbered(words, numbers)]
    added = [quantity for quantity in found if quantity.added]
    sums = (
        Quantity(one.value + more.value, one.measure)
        for more in added
        for one in found
        if one.measure == more.measure and not one.added
    )
    return *found, *dict.fromkeys(sums)


def _measured(text: str, number: SaidNumber) -> Quantity:
    after = text[number.span[1] :]
    if number.money:
        cents = re.match(rf"\s?{CENTS}\b", after, re.IGNORECASE)
        return Quantity(number.value / 100 if cents else number.value, "money")
    if re.match(r"\s?%|\s+per\s?cent\b", after, re.IGNORECASE):
        return Quantity(number.value, "percent")
    if found := _AFTER.match(after):
        return _span(number.value, found)
    if factor := _FACTOR.match(after):
        size = {"million": 1e6, "billion": 1e9}[factor[1].lower()]
        return Quantity(number.value * size, "count", elliptic=True)
    following = re.match(r"\s+([A-Za-z]+)", after)
    return Quantity(number.value, "count", elliptic=following is None or bool(_FUNCTION_WORD.fullmatch(following[1])))


def _span(value: float, found: re.Match[str]) -> Quantity:
    unit = found["unit"].lower()
    if unit == "fortnight":
        value *= 2
    measure = "business day" if unit == "day" and found["business"] else _UNITS[unit]
    return Quantity(value, measure, added=found["added"] is not None)


def _unnumbered(text: str, numbers: list[SaidNumber]) -> Iterator[Quantity]:
    taken = [number.span for number in numbers]
    for found in _SINGLE.finditer(text):
        if not overlaps(found.span(), taken):
            yield _span(1, found)
    for word in _WORD.findall(text):
        if (meant := _ADVERBS.get(word.lower())) is not None:
            yield Quantity(*meant)
