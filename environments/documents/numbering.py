"""Paragraph numbers: which of the numbers at the beginnings of lines count the paragraphs of the document.

Lists, dates and lost line ends also put numbers there. Each number adds to the weight of a sequence; gaps, steps back
and signs of a list take from it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lawtrace.environments.documents.chains import best_chain
from lawtrace.environments.documents.headings import ANNEX, SENTENCE_END
from lawtrace.environments.documents.lines import Line

Number = tuple[int, ...]

_NUMBERED = re.compile(
    r"^(?P<indent>\s*)[(\[]?(?P<number>\d{1,4}(?:\s?\.\s?\d{1,3})*)(?P<dot>[.)\]]{0,2})"
    r"(?:\s+(?P<rest>\S.*)|\s*|(?P<glued>[A-Z“‘\"].*))$"
)
_UNIT = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|days?|months?|years?|weeks?|hours?|minutes|per cent|million|billion|%)\b",
    re.IGNORECASE,
)
_LARGEST_GAP = 12
_LARGEST = 1500
_SURE = 0.3
"""Weight from which a single number counts."""

_TITLE_WORDS = 8
"""Words of the title of a section, behind its number."""

_SHORT, _LEAST_SPAN = 15, 0.3
"""In a text of more lines than the first, the numbers reach over at least this share of them."""


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line that begins with a number. ``rest``: the words after it; ``again``: the cost of counting anew from it."""

    place: int
    number: Number
    rest: str
    indent: int
    weight: float
    again: float


def number_paragraphs(lines: Sequence[Line], *, marked: bool) -> list[NumberedLine]:
    """The lines that begin the numbered paragraphs, in order. ``marked``: the format marks its headings."""
    candidates = [one for place in range(len(lines)) for one in _candidates(lines, place, marked=marked)]
    chosen = _best_sequence(candidates, None)
    if len(chosen) >= 5 and not marked:
        indents = Counter(one.indent for one in chosen)
        chosen = _best_sequence(
            candidates, max(indents, key=lambda column: sum(indents[column + step] for step in (-1, 0, 1)))
        )
    deepest = max((at for at, one in enumerate(chosen) if len(one.number) > 1), default=len(chosen))
    rest = chosen[deepest + 1 :]
    if rest and rest[0].number != (1,) and not all(0 < len(one.rest.split()) <= _TITLE_WORDS for one in rest):
        del chosen[deepest + 1 :]  # the items of a list at the end
    if not chosen or (len(chosen) < 2 and chosen[0].weight < _SURE):
        return []
    starts = sum(set(one.number) == {1} for one in chosen)
    if len(lines) >= _SHORT and starts < 2 and chosen[-1].place - chosen[0].place < _LEAST_SPAN * len(lines):
        return []  # the items of one list
    return chosen


def missing_before(last: Number | None, number: Number) -> int | None:
    """How many numbers are missing between two; None if the second does not come after the first."""
    if last is None:
        return 0 if set(number) == {1} else number[0] - 1 if len(number) == 1 else sum(number) - len(number)
    common = 0
    while common < min(len(last), len(number)) and last[common] == number[common]:
        common += 1
    if common == len(number):
        return None
    below = sum(part - 1 for part in number[common + 1 :])
    if common == len(last):
        return number[common] - 1 + below
    return None if number[common] < last[common] else number[common] - last[common] - 1 + below


def _candidates(lines: Sequence[Line], place: int, *, marked: bool) -> Iterator[NumberedLine]:
    match = None if lines[place].level else _NUMBERED.match(lines[place].text)
    if match is None:
        return
    above = lines[max(0, place - 8) : place]
    for number, rest in _readings(match["number"], match["dot"], match["rest"] or match["glued"] or ""):
        if max(number) > _LARGEST or 0 in number:
            continue
        weight = 1.0 if match["dot"] or len(number) > 1 else 0.6
        weight -= 0.4 * (match[0].lstrip()[:1] in "([") + 0.6 * rest[:1].islower() + 0.1 * (not rest)
        weight -= 0.9 * (_UNIT.match(rest) is not None)
        before = above[-1] if above and not marked else None
        if before and not before.level and len(before.text.strip()) > 55 and not SENTENCE_END.search(before.text):
            weight -= 0.5  # the line above goes on
        again = _restart_cost(above, rest, marked=marked)
        yield NumberedLine(place, number, rest, len(match["indent"]), weight, again)


def _readings(digits: str, dot: str, rest: str) -> Iterator[tuple[Number, str]]:
    """The number with spaces closed up (*2. 7 Chapter*), and the number before the space."""
    yield tuple(int(part) for part in re.split(r"\s?\.\s?", digits)), rest
    if cut := re.search(r"\.?\s|\s", digits):
        first = tuple(int(part) for part in digits[: cut.start()].split("."))
        yield first, f"{digits[cut.end() :].lstrip('. ')}{dot} {rest}".strip()


def _restart_cost(above: Sequence[Line], rest: str, *, marked: bool) -> float:
    """The cost of beginning again at one: small below a heading, none in an annex."""
    if not above or any(ANNEX.match(line.text.strip()) for line in above):
        return 0.0
    if above[-1].level:
        return 0.6
    text = above[-1].text.strip()
    short = len(text.split()) <= 14 and text[:1].isupper() and text[-1:] not in '.;:,”"-–'
    ended = len(above) < 2 or SENTENCE_END.search(above[-2].text) is not None
    heads = short and ended and not marked and (text.isupper() or not rest or rest[:1].isupper())
    return 0.8 if heads and not rest[:1].islower() else 4.0


def _best_sequence(candidates: Sequence[NumberedLine], column: int | None) -> list[NumberedLine]:
    def weight(one: NumberedLine) -> float:
        return one.weight - 0.5 * (column is not None and one.indent > column + 5)

    def begin(one: NumberedLine) -> float:
        return weight(one) - 0.5 * min(missing_before(None, one.number) or 0, 20)

    def follow(last: NumberedLine, one: NumberedLine) -> float | None:
        cost = None if last.place == one.place else _transition(last, one)
        return None if cost is None else weight(one) - cost

    return best_chain(candidates, begin, follow)


def _transition(last: NumberedLine, one: NumberedLine) -> float | None:
    missing = missing_before(last.number, one.number)
    if missing is None:
        return one.again if set(one.number) == {1} else None
    if missing > _LARGEST_GAP:
        return None
    cost = 0.4 + 0.3 * missing if missing else 0.0
    if len(one.number) < len(last.number) and len(one.number) == 1:
        # After 1.25 comes a heading with the number 2, or the second item of a list.
        words = one.rest.split()
        names = not words or (len(words) <= 16 and words[0][0].isupper() and one.rest[-1] not in '.;:,”"')
        cost += 0.3 if names or one.again < 1 else 1.1
    return cost + 0.5 * (len(one.number) - len(last.number) > 1)
