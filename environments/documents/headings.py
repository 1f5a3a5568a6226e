"""Headings of the units and divisions of a law (``Article 7``, ``§ 164.312 Safeguards.``, ``CHAPTER 2 Duties``), and of
a decision.

A heading of a law has a label, or the format marks it. One of a decision is a short line between a complete paragraph
and the next one; in running text only a line that is clearly set as a heading: with a label of its own (*III.*, *B.*,
*Annex 1*), in capitals, or marked by the format.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lawtrace.environments.documents.labels import ROMAN_VALUES
from lawtrace.environments.documents.lines import Line

ANNEXES = ("Annex", "Appendix", "Schedule")
"""First words of citations of annexes of a law. Their divisions are cited, and their points follow after a comma."""

HEADING_WORDS = 30
"""Maximum number of words of a heading of a law."""

_ORDINAL = r"(?:[IVXLC]+|\d+|[A-Z])\b"
ANNEX = re.compile(rf"^(?P<label>(?:annex|appendix|schedule)\b(?:\s+{_ORDINAL})?)\s*[:.–—-]?\s*(?P<heading>.*)$", re.I)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Attributes:
        text: its words. In a law they follow the label; behind a decimal number they may be a paragraph.
        rank: of two headings, the one of smaller rank contains the other.
        citation: ``Article 7``, ``Part II``, ``5.1``, ``Provision 5.1-2``; of a decision only ``Annex 1``.
        label: as printed, in a law.
        lines: how many lines it takes up.
    """

    text: str
    rank: int = 0
    citation: str = ""
    label: str = ""
    lines: int = 1

    @property
    def number(self) -> tuple[int, ...]:
        """The parts of its number; empty if it has no number or one with a letter."""
        cited = _CITED_NUMBER.fullmatch(self.citation)
        return tuple(map(int, re.split(r"[.-]", cited[1]))) if cited else ()

    @property
    def titles(self) -> bool:
        """Whether the words are a title rather than a paragraph."""
        return len(self.text.split()) <= _TITLE_WORDS and not self.text.endswith((".", ":", ";", ","))


# Laws.

_UNIT = re.compile(
    r"^(?:(?:Article|ARTICLE|Art\.)\s+(?P<article>(?:\d+[a-z]{0,2}|[IVXL]+)\b(?:\s+(?:bis|ter|quater)\b)?)"
    r"|(?P<section>§{1,2}\s*[\d.]*\d+[a-z]?(?:\s*[-–]\s*[\d.]*\d+[a-z]?)?)\.?"
    r"|(?:Section|SECTION|Sec\.|SEC\.)\s+(?P<pointed>\d+[A-Za-z]?)\.(?!\d))"
    r"(?:\s*[.:–—-])?(?:\s+(?P<heading>\S.*))?$"
)
_NUMBERED = re.compile(
    r"^(?P<label>(?:Section|Sec\.|Regulation|Rule|Clause)?\s*\d+(?:\.\d+)*[A-Z]?)[.:]?\s+(?P<heading>\S.*)$"
)
_PLAINLY_NUMBERED = re.compile(
    r"^(?P<label>(?:(?:Section|Regulation|Rule|Clause)\s+)?\d{1,3}[A-Z]?)\s+(?P<heading>[A-Z].*)$"
)
_TITLE_WORDS = 12
_DECIMAL = re.compile(
    r"^(?P<label>(?:Provision\s+)?(?P<number>\d{1,3}(?:\.\d{1,3})+(?:-\d{1,3})?)[.:]?)\s+(?P<rest>[A-Z‘’“”\"'(\[].*)$"
)
_TO_PART = re.compile(r"to (?:Sub)?[Pp]art\b")
_DIVISION = re.compile(
    rf"^(?P<label>(?:part|title|chapter|section|subpart|subchapter|book)\s+{_ORDINAL})\s*[:.–—-]?\s*(?P<heading>.*)$",
    re.I,
)
_CITED_NUMBER = re.compile(r"(?:[A-Z][a-z]+ )?(\d{1,3}(?:[.-]\d{1,3})*)")
_RANKS = {"title": 0, "book": 0, "part": 0, "chapter": 1, "subchapter": 1, "subpart": 1, "section": 2}


def may_head_unit(text: str) -> bool:
    """Whether the line may be the heading of a unit; it may also be a reference."""
    annex = ANNEX.match(text)
    return _UNIT.match(text) is not None or (annex is not None and (" " in annex["label"] or annex["label"].isupper()))


def names_division(text: str) -> bool:
    return division_heading(Line(text), has_units=True) is not None


def may_head_provision(text: str) -> bool:
    return may_head_unit(text) or names_division(text)


def unit_heading(line: Line, *, has_units: bool) -> Heading | None:
    """The unit heading on the line, if any. Numbered headings count as units only without ``has_units``."""
    text = line.text
    found = _UNIT.match(text)
    if found is not None and _heads(line, found):
        if found["section"]:
            return _heading(" ".join(found["section"].split()), text, found)
        number = " ".join((found["article"] or found["pointed"]).split())
        return _heading(f"{'Article' if found['article'] else 'Section'} {number}", text, found)
    annex = ANNEX.match(text)
    if annex is not None and (line.level or _heads_annex(annex, text)):
        word, _, ordinal = annex["label"].partition(" ")
        return _heading(f"{word.capitalize()} {ordinal.strip()}".strip(), text, annex)
    if has_units or line.level == 0:
        return None
    numbered = _NUMBERED.match(text) if line.level else _PLAINLY_NUMBERED.match(text)
    if numbered is None:
        return None
    label = numbered["label"]
    unit = _heading(label if label[0].isalpha() else f"Section {label}", text, numbered)
    return unit if line.level or unit.titles else None


def read_decimal(text: str) -> Heading | None:
    """The decimal number at the start of the line, if any: ``1.2 The bank ...``, but not ``1.2 million``."""
    found = _DECIMAL.match(text)
    if found is None:
        return None
    word = "Provision " if found["label"].startswith("Provision") else ""
    return Heading(found["rest"], citation=f"{word}{found['number']}", label=found["label"])


def division_heading(line: Line, *, has_units: bool) -> Heading | None:
    """The division heading on the line, if any."""
    text = line.text
    found = _DIVISION.match(text)
    if found is None or len(text.split()) > HEADING_WORDS or text.endswith((".", ",", ";")):
        return None
    heading, (word, ordinal) = found["heading"], found["label"].split()
    if heading[:1].islower() or (heading and not line.level and not text[0].isupper()):
        return None
    if word.lower() == "section" and not has_units:
        return None
    return _heading(f"{word.capitalize()} {ordinal}", text, found, _RANKS[word.lower()])


def count_up(lines: Sequence[Line]) -> bool:
    """Whether a numbered unit is followed by the next number somewhere below."""
    plain = (unit_heading(line, has_units=False) for line in lines)
    numbers = [unit.number for unit in plain if unit and len(unit.number) == 1]
    return any(later == earlier + 1 for (earlier,), (later,) in pairwise(numbers))


def _heads(line: Line, found: re.Match[str]) -> bool:
    """Whether it is a heading and not a cross-reference such as *Article 98(1) shall apply.*"""
    heading = found["heading"] or ""
    if line.level or not heading:
        return True
    by_sections = bool(found["section"] or found["pointed"])
    begins = heading[0].isupper() or (by_sections and heading[0] == "[")
    return begins and (by_sections or not heading.endswith((".", ",", ";")))


def _heads_annex(found: re.Match[str], text: str) -> bool:
    """Whether unmarked text is an annex heading; *Annex I does not apply* is a reference."""
    if text.endswith("."):
        return False
    if found["label"].isupper():
        return True
    heading = found["heading"]
    named = " " in found["label"] and found["label"][0].isupper() and len(heading.split()) <= HEADING_WORDS
    return named and (not heading or heading[0].isupper() or _TO_PART.match(heading) is not None)


def _heading(citation: str, text: str, found: re.Match[str], rank: int = 0) -> Heading:
    heading = found["heading"] or ""
    return Heading(heading, rank, citation, text.removesuffix(heading).rstrip())


# Decisions.

_ROMAN = re.compile(r"^(?P<label>[IVX]{1,6})(?P<below>(?:\.\d{1,2})*)(?P<dot>[.)]|\s?[-–—:])?\s+(?=\S)")
_LETTER = re.compile(r"^\(?(?P<label>[A-Z])[.)]\s+(?=\S)")
_BRACKETED = re.compile(r"^\((?:[a-z]|\d{1,2}|[ivx]{1,4})[)l1\]]\s+(?=\S)")
_NAMED = re.compile(r"^(?:part|section|chapter|step)\s+(?:\d{1,2}|[A-Z]|[IVX]+)\b", re.IGNORECASE)
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
_MOST_WORDS = 22
_FULL_LINE = 50
_LONG_WORD = 6
"""Letters from which one word in capitals is a heading and no abbreviation."""

_LINES = 3

ANNEX_RANK, TOP_RANK, CAPITALS_RANK, LETTER_RANK, PLAIN_RANK, ITEM_RANK = range(6)
"""Annex; Roman number; capitals; letter; nothing; letter or number in brackets."""


def looks_like_heading(text: str) -> bool:
    words = text.split()
    return (
        0 < len(words) <= _MOST_WORDS
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
    if not stripped or len(stripped.split()) > _MOST_WORDS or stripped[-1] in ";,":
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
        if found and _continues(found[-1][0], text, found[-1][1]):
            found[-1] = (f"{found[-1][0]} {text}", found[-1][1] + 1)
        else:
            found.append((text, 1))
    most = 2 * _LINES if found and ANNEX.match(found[0][0]) else _LINES + 1
    if not found or len(found) > most or not all(looks_like_heading(text) or is_strong(text) for text, _ in found):
        return []
    annexes = [ANNEX.match(text) for text, _ in found]
    named = [annex["label"] if annex else "" for annex in annexes]
    return [Heading(text, _rank(text), name, lines=count) for (text, count), name in zip(found, named, strict=True)]


def _continues(heading: str, text: str, lines: int) -> bool:
    """Whether a line goes on with the heading above it."""
    if lines >= _LINES:
        return False
    annex = ANNEX.match(heading)
    if _labelled(text) or (annex and not annex["heading"]):
        return False
    if re.fullmatch(r"(?:[IVX]{1,6}|[A-Z]|\d{1,2})[.)]?", heading):
        return True  # a label alone in its line
    rest = text.lstrip("(")
    joined = f"{heading} {text}"
    if len(joined.split()) > _MOST_WORDS + 8:
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
    rank = _rank(text)
    bracketed = rank == ITEM_RANK and not text.endswith(")")
    return bracketed or rank in {ANNEX_RANK, TOP_RANK, LETTER_RANK} or _NAMED.match(text) is not None


def _rank(text: str) -> int:
    roman = _ROMAN.match(text)
    if ANNEX.match(text):
        return ANNEX_RANK
    if roman and roman["dot"] and roman["label"].lower() in ROMAN_VALUES:
        return LETTER_RANK if roman["below"] else TOP_RANK
    if _LETTER.match(text):
        return LETTER_RANK
    if _BRACKETED.match(text):
        return ITEM_RANK
    capitals = in_capitals(text) and (len(text.split()) > 1 or len(text) >= _LONG_WORD)
    return CAPITALS_RANK if capitals else PLAIN_RANK


def told_apart(headings: Iterable[Heading]) -> Iterator[Heading]:
    """The headings in order, with labels that are a letter and a Roman number (*C.*, *V.*) ranked by those before."""
    roman, letter = 0, ""
    for heading in headings:
        label = re.match(r"\(?([A-Z]+)\b(?!\.\d)", heading.text)
        if label is None or heading.rank not in {TOP_RANK, LETTER_RANK}:
            yield heading
            continue
        name = label[1]
        value = ROMAN_VALUES.get(name.lower(), 0) if set(name) <= set("IVX") else 0
        next_letter = len(name) == 1 and letter != "" and ord(name) == ord(letter) + 1
        if value and (not next_letter or value == roman + 1 > 1):
            roman, letter = value, ""
        else:
            letter = name[0]
        yield replace(heading, rank=LETTER_RANK if letter else TOP_RANK)
