"""Paragraph numbers: which of the numbers at the beginnings of lines count the paragraphs of the document.

Lists, dates and lost line ends also put numbers there. The sequence is chosen as a whole: each number adds to its
weight, gaps, steps back and signs of a list take from it. So a number that was lost or misread ends nothing.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lawtrace.environments.documents.lines import Line

Number = tuple[int, ...]

_NUMBERED = re.compile(
    r"^(?P<indent>\s*)[(\[]?(?P<number>\d{1,4}(?:\s?\.\s?\d{1,3})*)(?P<dot>[.)\]]{0,2})(?:\s+(?P<rest>\S.*)|\s*|(?P<glued>[A-Z“‘\"].*))$"
)
_SENTENCE_END = re.compile(r"[.!?:;][”\"’')\]]*(?:\s*\d{1,3})?\s*$|[”\"]\s*$")
_ANNEX = re.compile(r"^\s*(?:annex|appendix|schedule)\b", re.IGNORECASE)
_UNIT = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|days?|months?|years?|weeks?|hours?|minutes|per cent|million|billion|%)\b",
    re.IGNORECASE,
)
_LOOK_BACK = 150
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
    """A line chosen as the beginning of a numbered paragraph.

    Attributes:
        place: index of the line.
        rest: the words after the number.
        restarts: the numbering begins again here.
        gap: count of numbers that are missing before it.
    """

    place: int
    number: Number
    rest: str
    restarts: bool = False
    gap: int = 0


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: int
    number: Number
    rest: str
    indent: int
    weight: float
    restart_cost: float


def number_paragraphs(lines: Sequence[Line], *, marked: bool) -> list[NumberedLine]:
    """The lines that begin the numbered paragraphs, in order. ``marked``: the format marks its headings."""
    candidates = _candidates(lines, marked=marked)
    chosen = _best_sequence(candidates, None)
    if len(chosen) >= 5 and not marked:
        indents = Counter(one.indent for one in chosen)
        usual = max(indents, key=lambda column: sum(indents[column + step] for step in (-1, 0, 1)))
        chosen = _best_sequence(candidates, usual)
    deepest = [at for at, one in enumerate(chosen) if len(one.number) > 1]
    rest = chosen[deepest[-1] + 1 :] if deepest else []
    if rest and rest[0].number != (1,) and not all(0 < len(one.rest.split()) <= _TITLE_WORDS for one in rest):
        del chosen[deepest[-1] + 1 :]  # the items of a list at the end
    if not chosen or (len(chosen) < 2 and chosen[0].weight < _SURE):
        return []
    again = sum(set(one.number) == {1} for one in chosen)
    if len(lines) >= _SHORT and again < 2 and chosen[-1].place - chosen[0].place < _LEAST_SPAN * len(lines):
        return []  # the items of one list
    found: list[NumberedLine] = []
    last: Number | None = None
    for one in chosen:
        step = _step(last, one.number)
        restarts = last is not None and step is None
        found.append(NumberedLine(one.place, one.number, one.rest, restarts, 0 if restarts else step or 0))
        last = one.number
    return found


def _candidates(lines: Sequence[Line], *, marked: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    for place, line in enumerate(lines):
        if line.level:
            continue
        match = _NUMBERED.match(line.text)
        if match is None:
            continue
        rest = match["rest"] or match["glued"] or ""
        above = [lines[at] for at in range(max(0, place - 8), place)]
        for number, text in _readings(match["number"], match["dot"], rest):
            if max(number) > _LARGEST or 0 in number:
                continue
            dotted = bool(match["dot"]) or len(number) > 1
            weight = _weight(dotted, text, above, marked=marked, bracket=match[0].lstrip()[:1] in "([")
            found.append(
                _Candidate(place, number, text, len(match["indent"]), weight, _restart_cost(above, text, marked=marked))
            )
    return found


def _readings(digits: str, dot: str, rest: str) -> list[tuple[Number, str]]:
    """The number with spaces closed up (*2. 7 Chapter*), and the number before the space."""
    whole = tuple(int(part) for part in re.split(r"\s?\.\s?", digits))
    readings = [(whole, rest)]
    cut = re.search(r"\.?\s|\s", digits)
    if cut:
        first = tuple(int(part) for part in digits[: cut.start()].split("."))
        readings.append((first, f"{digits[cut.end() :].lstrip('. ')}{dot} {rest}".strip()))
    return readings


def _weight(dotted: bool, rest: str, above: Sequence[Line], *, marked: bool, bracket: bool) -> float:
    weight = 1.0 if dotted else 0.6
    if bracket:
        weight -= 0.4
    if rest[:1].islower():
        weight -= 0.6
    if _UNIT.match(rest):
        weight -= 0.9
    if not rest:
        weight -= 0.1
    if marked or not above:
        return weight
    before = above[-1]
    if not _SENTENCE_END.search(before.text) and len(before.text.strip()) > 55 and not before.level:
        weight -= 0.5  # the line above goes on
    return weight


def _restart_cost(above: Sequence[Line], rest: str, *, marked: bool) -> float:
    """The cost of beginning again at one: small below a heading, none in an annex."""
    if any(_ANNEX.match(line.text) for line in above):
        return 0.0
    if not above:
        return 0.0
    before = above[-1]
    text = before.text.strip()
    if before.level:
        return 0.6
    if marked or rest[:1].islower():
        return 4.0
    short = len(text.split()) <= 14 and text[:1].isupper() and text[-1:] not in '.;:,”"-–'
    ended = len(above) < 2 or _SENTENCE_END.search(above[-2].text) is not None
    if short and ended and (text.isupper() or not rest or rest[:1].isupper()):
        return 0.8
    return 4.0


def _step(last: Number | None, number: Number) -> int | None:
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
    if number[common] < last[common]:
        return None
    return number[common] - last[common] - 1 + below


def _best_sequence(candidates: Sequence[_Candidate], column: int | None) -> list[_Candidate]:
    best: list[tuple[float, int]] = []
    for at, one in enumerate(candidates):
        weight = one.weight
        if column is not None and one.indent > column + 5:
            weight -= 0.5
        first = _step(None, one.number) or 0
        score, before = weight - 0.5 * min(first, 20), -1
        for earlier in range(max(0, at - _LOOK_BACK), at):
            other = candidates[earlier]
            if other.place == one.place:
                continue
            cost = _transition(other, one)
            if cost is None:
                continue
            reached = best[earlier][0] + weight - cost
            if reached > score:
                score, before = reached, earlier
        best.append((score, before))
    if not best:
        return []
    at = max(range(len(best)), key=lambda place: best[place][0])
    if best[at][0] <= 0:
        return []
    chosen: list[_Candidate] = []
    while at >= 0:
        chosen.append(candidates[at])
        at = best[at][1]
    return chosen[::-1]


def _transition(last: _Candidate, one: _Candidate) -> float | None:
    step = _step(last.number, one.number)
    if step is None:
        return one.restart_cost if set(one.number) == {1} else None
    if step > _LARGEST_GAP:
        return None
    cost = 0.4 + 0.3 * step if step else 0.0
    if len(one.number) < len(last.number) and len(one.number) == 1:
        # After 1.25 comes a heading with the number 2, or the second item of a list.
        cost += 0.3 if _names_section(one.rest) or one.restart_cost < 1 else 1.1
    if len(one.number) - len(last.number) > 1:
        cost += 0.5
    return cost


def _names_section(rest: str) -> bool:
    return not rest or (len(rest.split()) <= 16 and rest[:1].isupper() and rest[-1] not in '.;:,”"')
