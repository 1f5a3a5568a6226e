"""How people say values: amounts, numbers, dates, times and names in common spellings, found in a text.

Every function returns the spans at which the text says the value. A span tells which words are accounted for, so that
what remains can be looked at: another amount, another name.
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lawtrace.environments.spec.types import DATE, INTEGER, MONEY, TIME, Calendar, Choice, ListOf, ValueType, scalars_in
from lawtrace.schemas.events import Json

Span = tuple[int, int]


def _listed(words: str) -> list[str]:
    return words.split()


MONTHS = _listed("January February March April May June July August September October November December")
WEEKDAYS = _listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_UNITS = _listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _listed("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = _listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_WORD_VALUES = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
}
CURRENCY = r"(?:€|euros?|eur|\$|dollars?|usd|bucks|£|pounds?)"
CENTS = r"(?:cents?|ct|pence)"
_DIGITS = re.compile(
    r"(?<![\w,:/])(?<!\d[.-])(?:(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?|(\d+),(\d{2}))(?:(?:st|nd|rd|th)\b)?"
    rf"(?!\d|[.,:/-]\d|(?!{CURRENCY}\b)\w)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"\b(?:(?:an? )?(?:{'|'.join([*_WORD_VALUES, 'hundred', 'thousand'])})\b(?:[\s-]+(?:and[\s-]+)?(?=\w)"
    rf"(?=(?:{'|'.join([*_WORD_VALUES, 'hundred', 'thousand'])})\b))?)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ValueMention:
    """A number in a text. ``money``: with a currency, or with two decimals; ``digits``: written in digits."""

    value: float
    span: Span
    money: bool
    digits: bool


def plain(text: str) -> str:
    """The text with straight quotes and plain spaces, character by character."""
    return text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0xA0: " ", 0x202F: " ", 0x2011: "-"})


def phrase_spans(text: str, phrase: str, *, inflected: bool = False) -> list[Span]:
    """Where the text has these words, in upper or lower case, perhaps with a hyphen, a plural or a possessive.

    `inflected`: with any ending of the last word, as in ``cancelled`` for ``cancel``.
    """
    words = re.findall(r"[^\s-]+", phrase)
    if not words:
        return []
    last, ending = words[-1], r"\w*" if inflected else r"(?:'s|s'|s)?"
    if inflected and len(last) > 3 and last.endswith("e"):  # dated and dating, but not data
        last, ending = last[:-1], r"(?:e|i|al|ab|ur|or)\w*"
    pattern = r"[\s-]+".join([*map(re.escape, words[:-1]), re.escape(last) + ending])
    start = r"(?<![\w])" if phrase[0].isalnum() else ""
    return [match.span() for match in re.finditer(rf"{start}{pattern}(?!\w)", text, re.IGNORECASE)]


def says(text: str, words: str) -> bool:
    """Whether the text has these words."""
    return bool(phrase_spans(plain(text), plain(words)))


def value_spans(text: str, value: Json, value_type: ValueType) -> list[Span]:
    """Where the text says the value. Empty also if an item or a field is not said, and for a truth value."""
    match value:
        case list():
            items = value_type.items if isinstance(value_type, ListOf) else value_type
            found = [value_spans(text, item, items) for item in value]
            return [span for spans in found for span in spans] if all(found) else []
        case dict():
            parts = [one for one in scalars_in(value, value_type) if not isinstance(one[0], bool)]
            found = [value_spans(text, *part) for part in parts]
            return [span for spans in found for span in spans] if all(found) else []
        case bool() | None:
            return []
        case int() | float():
            return [one.span for one in numbers_in(text) if abs(one.value - value) < 1e-6]
        case str() if value_type is DATE:
            return date_spans(text, dt.date.fromisoformat(value))
        case str() if value_type is TIME:
            return time_spans(text, value)
        case str() if isinstance(value_type, Calendar):
            days, times = date_spans(text, dt.date.fromisoformat(value[:10])), time_spans(text, value[11:16])
            return days + times if days and times else []
        case _:
            return phrase_spans(text, str(value), inflected=isinstance(value_type, Choice))


def numbers_in(text: str) -> list[ValueMention]:
    """The numbers in the text, in digits or words, without those in dates and times. ``85 euros and 40 cents`` is
    one."""
    taken = [match.span() for match in _ANY_DATE.finditer(text)]
    found = sorted(
        (one for one in (*_in_digits(text), *_in_words(text)) if not overlaps(one.span, taken)),
        key=lambda one: one.span,
    )
    joined: list[ValueMention] = []
    for one in found:
        if joined and one.value < 100 and float(one.value).is_integer():
            between = text[joined[-1].span[1] : one.span[0]]
            if joined[-1].value.is_integer() and re.fullmatch(rf"\s*{CURRENCY}(?:\s+and)?\s+", between, re.IGNORECASE):
                start = joined.pop()
                one = ValueMention(start.value + one.value / 100, (start.span[0], one.span[1]), True, start.digits)
        joined.append(one)
    return joined


def _in_digits(text: str) -> Iterator[ValueMention]:
    for match in _DIGITS.finditer(text):
        if re.search(r"(?:^|\n)\s*$", text[: match.start()]) and re.match(r"[.)]\s", text[match.end() :]):
            continue  # the number of a step
        whole, decimals, comma_whole, comma_decimals = match.groups()
        number = f"{(whole or comma_whole).replace(',', '')}.{decimals or comma_decimals or 0}"
        two = len(decimals or comma_decimals or "") == 2
        yield ValueMention(float(number), match.span(), two or _has_currency(text, match.span()), True)


def _in_words(text: str) -> Iterator[ValueMention]:
    for match in _WORDS.finditer(text):
        if re.match(r"-\w+(?:st|nd|rd|th)\b", text[match.end() :]):
            continue  # twenty-eighth
        total, current = 0, 0
        for word in re.findall(r"[a-z]+", match[0].lower()):
            if word in _WORD_VALUES:
                current += _WORD_VALUES[word]
            elif word == "hundred":
                current = 100 * max(current, 1)
            elif word == "thousand":
                total, current = total + 1000 * max(current, 1), 0
        yield ValueMention(float(total + current), match.span(), _has_currency(text, match.span()), False)
    for number in range(1, 32):
        for match in re.finditer(
            rf"(?:(?<=\bthe\s)|(?<=\bevery\s)){_ordinal_word(number)}\b(?!-)", text, re.IGNORECASE
        ):
            yield ValueMention(float(number), match.span(), False, False)


def _has_currency(text: str, span: Span) -> bool:
    before, after = text[: span[0]], text[span[1] :]
    return bool(
        re.search(r"[€$£]\s?$|\b(?:EUR|USD)\s$", before)
        or re.match(rf"\s?-?{CURRENCY}(?!\w)|\s?{CENTS}\b", after, re.IGNORECASE)
    )


def _ordinal_word(number: int) -> str:
    if number <= 20:
        return _ORDINALS[number - 1]
    if number == 30:
        return "thirtieth"
    return rf"{_TENS[number // 10 - 2]}[\s-]{_ORDINALS[number % 10 - 1]}"


def _month_pattern(month: str) -> str:
    short = "Sept?" if month == "September" else month[:3]
    return rf"(?:{month}|{short}\b\.?)"


_ANY_MONTH = "|".join(_month_pattern(month) for month in MONTHS)
_ANY_DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}(?: \d{{2}}:\d{{2}})?\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}\b|\b\d{{1,2}}:\d{{2}}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+(?:{_ANY_MONTH})(?:,?\s+\d{{4}})?\b"
    rf"|\b(?:{_ANY_MONTH})\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
    rf"|\b(?:{_ANY_MONTH})\s+\d{{4}}\b|\b\d{{1,2}}\s?[ap]\.?m\b",
    re.IGNORECASE,
)


def date_spans(text: str, day: dt.date) -> list[Span]:
    """Where the text names the day; the year may be left out, and a weekday may stand before it."""
    month = _month_pattern(MONTHS[day.month - 1])
    number = rf"(?:{day.day}(?:st|nd|rd|th)?|{_ordinal_word(day.day)})"
    year = rf"(?:,?\s+{day.year}\b|(?!,?\s+\d{{4}}))"
    patterns = [
        rf"{day.isoformat()}\b(?!-)",
        rf"{number}(?:\s+(?:day\s+)?of)?\s+{month}{year}",
        rf"{month}\s+(?:the\s+)?{number}\b{year}",
        rf"0?{day.day}\.0?{day.month}\.{day.year}\b",
        *([rf"{day.day}/0?{day.month}/{day.year}\b"] if day.day > 12 else []),
    ]
    return [
        match.span() for pattern in patterns for match in re.finditer(rf"(?<![\w.-]){pattern}", text, re.IGNORECASE)
    ]


def time_spans(text: str, time: str) -> list[Span]:
    """Where the text says a time of day, given as ``HH:mm``."""
    hour, minute = int(time[:2]), int(time[3:])
    twelve, half = (hour - 1) % 12 + 1, "p" if hour >= 12 else "a"
    minutes = rf"[:.]{minute:02d}" if minute else r"(?:[:.]00)?"
    patterns = [rf"0?{hour}[:.]{minute:02d}(?!\d|\s?[ap]\.?m)", rf"{twelve}{minutes}\s?{half}\.?m\b\.?"]
    patterns += {0: ["midnight"], 12: ["noon", "midday"]}.get(hour, []) if minute == 0 else []
    return [
        match.span() for pattern in patterns for match in re.finditer(rf"(?<![\w:.]){pattern}", text, re.IGNORECASE)
    ]


def other_values(text: str, value_type: ValueType, accounted: Sequence[Span]) -> list[str]:
    """What the text says outside those spans that could be a value of this type, too."""
    found: list[Span] = []
    if value_type is MONEY:
        found = [one.span for one in numbers_in(text) if one.money]
    elif value_type is INTEGER:
        found = [one.span for one in numbers_in(text) if one.digits and not one.money]
    elif value_type is DATE:
        found = [match.span() for match in _ANY_DATE.finditer(text)]
    elif isinstance(value_type, Choice):
        found = [span for option in value_type.options for span in phrase_spans(text, option)]
    return [text[slice(*span)] for span in sorted(found) if not overlaps(span, accounted)]


def overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)
