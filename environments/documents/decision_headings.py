"""Headings of a decision: which lines are headings, and how they nest.

A heading is a short line between a complete paragraph and the next one. In running text only a line that is clearly
set as a heading is one: with a label of its own (*III.*, *B.*, *Annex 1*), in capitals, or marked by the format.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lawtrace.environments.documents.labels import roman_value
from lawtrace.environments.documents.lines import Line

_ROMAN = re.compile(r"^(?P<label>[IVX]{1,6})(?P<below>(?:\.\d{1,2})*)(?P<dot>[.)]|\s?[-–—:])?\s+(?=\S)")
_LETTER = re.compile(r"^\(?(?P<label>[A-Z])[.)]\s+(?=\S)")
_COUNTED = re.compile(r"^(?P<label>\d{1,2})(?P<dot>[.)])?\s+(?=[A-Z])")
_BRACKETED = re.compile(r"^\((?:[a-z]|\d{1,2}|[ivx]{1,4})[)l1\]]\s+(?=\S)")
_NAMED = re.compile(r"^(?:part|section|chapter|step)\s+(?:\d{1,2}|[A-Z]|[IVX]+)\b", re.IGNORECASE)
ANNEX = re.compile(r"^(?:annex|appendix|schedule)\b(?:\s+(?:\d{1,2}|[A-Z]|[IVX]+)\b)?", re.IGNORECASE)
_STOPS = '.;:,”"-–—?!'
_FUNCTION_WORD = re.compile(
    r"\b(?:a|an|and|any|as|at|by|for|from|in|its|of|on|or|that|the|to|under|when|which|whether|with)\s*$", re.IGNORECASE
)
SENTENCE_END = re.compile(
    r"[.!?:;][”\"’')\]]*(?:\s*\d{1,3}(?:\s?,\s?\d{1,3})*)?\s*$|[”\"]\s*$|(?<=[a-z)])[.;]\s?\w{1,2}$"
)
_QUESTION = re.compile(
    r"(?:did|do|does|is|are|was|were|has|have|can|could|should|must|what|which|who|when|why|how|whether)\b[^.!;]*\?$",
    re.IGNORECASE,
)
HEADING_WORDS = 22
_FULL_LINE = 50
_LONG_WORD = 6
"""Letters from which one word in capitals is a heading and no abbreviation."""

_LINES = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Attributes:
        text: in one line, with its label.
        rank: of two headings, the one of smaller rank contains the other.
        annex: the name of the annex that it begins, or empty.
        lines: how many lines it takes up.
    """

    text: str
    rank: int
    annex: str = ""
    lines: int = 1


ANNEX_RANK, TOP_RANK, CAPITALS_RANK, LETTER_RANK, PLAIN_RANK, ITEM_RANK = range(6)
"""Annex; Roman number; capitals; letter; nothing; letter or number in brackets."""


def looks_like_heading(text: str) -> bool:
    words = text.split()
    return (
        0 < len(words) <= HEADING_WORDS
        and (words[0][0].isupper() or words[0][0].isdigit() or words[0][0] in "“‘\"'(")
        and (text.rstrip()[-1] not in _STOPS or _QUESTION.match(text) is not None)
        and sum(map(str.isalpha, text)) >= 3
        and sum(map(str.isdigit, text)) * 2 < len(text.replace(" ", ""))
    )


def in_capitals(text: str) -> bool:
    letters = [sign for sign in text if sign.isalpha()]
    return len(letters) >= 4 and sum(map(str.isupper, letters)) >= 0.85 * len(letters)


def is_strong(text: str) -> bool:
    """Whether the line alone shows that it is a heading."""
    stripped = text.strip()
    if not stripped or len(stripped.split()) > HEADING_WORDS or stripped[-1] in ";,":
        return False
    label = _ROMAN.match(stripped)
    if label and label["dot"] and (stripped[label.end()].isupper() or stripped[label.end()].isdigit()):
        return stripped[-1] != "."
    if ANNEX.match(stripped):
        return len(stripped.split()) <= 4 and looks_like_heading(stripped)
    return in_capitals(stripped) and len(stripped.split()) >= 2 and looks_like_heading(stripped)


def heading_block(lines: Sequence[Line]) -> list[Heading]:
    """The lines as headings, if all of them together can be that; otherwise none."""
    found: list[tuple[str, int]] = []
    for line in lines:
        text = " ".join(line.text.split())
        if not text:
            continue
        if found and _continues(found[-1][0], text, found[-1][1]):
            found[-1] = (f"{found[-1][0]} {text}", found[-1][1] + 1)
        else:
            found.append((text, 1))
    most = 2 * _LINES if found and ANNEX.match(found[0][0]) else _LINES + 1
    if not found or len(found) > most or not all(looks_like_heading(text) or is_strong(text) for text, _ in found):
        return []
    return [_ranked(text, count) for text, count in found]


def _continues(heading: str, text: str, lines: int) -> bool:
    """Whether a line goes on with the heading above it."""
    if lines >= _LINES:
        return False
    if _labelled(text) or ANNEX.fullmatch(heading):
        return False
    if re.fullmatch(r"(?:[IVX]{1,6}|[A-Z]|\d{1,2})[.)]?", heading):
        return True  # a label alone in its line
    rest = text.lstrip("(")
    joined = f"{heading} {text}"
    if len(joined.split()) > HEADING_WORDS + 8:
        return False
    return (
        rest[:1].islower()
        or rest[:1].isdigit()
        or _FUNCTION_WORD.search(heading) is not None
        or heading[-1] in ",-–—("
        or (len(heading) >= _FULL_LINE and len(text.split()) <= 2 and not in_capitals(heading))
        or (text.startswith("(") and text.endswith(")"))
        or (_ROMAN.match(heading) is not None and in_capitals(heading) and in_capitals(text))
    )


def _labelled(text: str) -> bool:
    label = _ROMAN.match(text)
    bracketed = _BRACKETED.match(text) and not text.endswith(")")
    return bool((label and label["dot"]) or _LETTER.match(text) or bracketed or ANNEX.match(text) or _NAMED.match(text))


def _ranked(text: str, lines: int) -> Heading:
    annex = ANNEX.match(text)
    if annex:
        return Heading(text, ANNEX_RANK, annex[0].strip(), lines)
    roman = _ROMAN.match(text)
    if roman and roman["dot"] and roman_value(roman["label"].lower()):
        return Heading(text, LETTER_RANK if roman["below"] else TOP_RANK, "", lines)
    if _LETTER.match(text):
        return Heading(text, LETTER_RANK, "", lines)
    if _BRACKETED.match(text):
        return Heading(text, ITEM_RANK, "", lines)
    if in_capitals(text) and (len(text.split()) > 1 or len(text) >= _LONG_WORD):
        return Heading(text, CAPITALS_RANK, "", lines)
    return Heading(text, PLAIN_RANK, "", lines)


class HeadingOrder:
    """Decides about labels that are a letter and a Roman number (*C.*, *V.*) by those before them."""

    def __init__(self) -> None:
        self._roman: int = 0
        self._letter: str = ""

    def ranked(self, heading: Heading) -> Heading:
        label = re.match(r"\(?([A-Z]+)\b(?!\.\d)", heading.text)
        if label is None or heading.rank not in {TOP_RANK, LETTER_RANK}:
            return heading
        name = label[1]
        value = (roman_value(name.lower()) or 0) if set(name) <= set("IVX") else 0
        if value and self._is_roman(name, value):
            self._roman, self._letter = value, ""
            return replace(heading, rank=TOP_RANK)
        self._letter = name[0]
        return replace(heading, rank=LETTER_RANK)

    def _is_roman(self, name: str, value: int) -> bool:
        next_letter = len(name) == 1 and self._letter != "" and ord(name) == ord(self._letter) + 1
        return not next_letter or (value == self._roman + 1 and self._roman > 0)
