"""Headings of units and divisions: ``Article 7``, ``§ 164.312 Safeguards.``, ``ANNEX II``, ``CHAPTER 2 Duties``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lawtrace.environments.documents.lines import Line

ANNEXES = ("Annex", "Appendix", "Schedule")
"""First words of citations of annexes. Their divisions are cited, and their points follow after a comma."""

HEADING_WORDS = 30
"""Maximum number of words of a heading."""

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
_ORDINAL = r"(?:[IVXLC]+|\d+|[A-Z])\b"
_ANNEX = re.compile(rf"^(?P<label>(?:annex|appendix|schedule)(?:\s+{_ORDINAL})?)\s*[:.–—-]?\s*(?P<heading>.*)$", re.I)
_DIVISION = re.compile(
    rf"^(?P<label>(?:part|title|chapter|section|subpart|subchapter|book)\s+{_ORDINAL})\s*[:.–—-]?\s*(?P<heading>.*)$",
    re.I,
)
_CITED_NUMBER = re.compile(r"(?:[A-Z][a-z]+ )?(\d{1,3}(?:[.-]\d{1,3})*)")
_ENOUGH = 2
"""Minimum number of lines: a single decimal number is an amount or a version."""
_RANKS = {"title": 0, "book": 0, "part": 0, "chapter": 1, "subchapter": 1, "subpart": 1, "section": 2}


@dataclass(frozen=True, slots=True)
class LawHeading:
    """The heading of a unit or a division, or a decimal number at the start of a line.

    Attributes:
        citation: ``Article 7``, ``Part II``, ``5.1``, ``Provision 5.1-2``.
        label: as printed.
        heading: the rest of the line: the title, or behind a decimal number the paragraph.
        rank: of a division; 0 is highest.
    """

    citation: str
    label: str
    heading: str
    rank: int = 0

    @property
    def number(self) -> tuple[int, ...]:
        """The parts of its number; empty if it has no number or one with a letter."""
        cited = _CITED_NUMBER.fullmatch(self.citation)
        return tuple(map(int, re.split(r"[.-]", cited[1]))) if cited else ()

    @property
    def titles(self) -> bool:
        """Whether the rest of the line is a title rather than a paragraph."""
        return len(self.heading.split()) <= _TITLE_WORDS and not self.heading.endswith((".", ":", ";", ","))


@dataclass(frozen=True, slots=True)
class HeadingStyle:
    """Heading conventions of a text.

    Attributes:
        units: articles, sections or annexes have headings; numbers are then points.
        numbers: numbered plain lines are headings: *1 Scope*, later *2 Duties*.
        decimals: only decimal numbers are headings: *1.1*, *1.2*.
        marked: the format marks headings, so other lines are not headings.
    """

    units: bool
    numbers: bool
    decimals: bool
    marked: bool


def detect_heading_style(lines: Sequence[Line]) -> HeadingStyle:
    texts = [(line, " ".join(line.text.split())) for line in lines]
    headed = [found for line, text in texts if (found := unit_heading(line, text, has_units=True))]
    numbers = _count_up([text for line, text in texts if line.level is None])
    decimals = sum(read_decimal(text) is not None for line, text in texts if not line.level) >= _ENOUGH
    # Annexes alone do not make the numbers before them points.
    only_annexes = all(found.citation.startswith(ANNEXES) for found in headed)
    return HeadingStyle(
        units=bool(headed) and not (only_annexes and (numbers or decimals)),
        numbers=numbers,
        decimals=decimals,
        marked=any(line.level and may_head_unit(text) for line, text in texts),
    )


def may_head_unit(text: str) -> bool:
    """Whether the line may be the heading of a unit; it may also be a reference."""
    annex = _ANNEX.match(text)
    return _UNIT.match(text) is not None or (annex is not None and (" " in annex["label"] or annex["label"].isupper()))


def unit_heading(line: Line, text: str, *, has_units: bool) -> LawHeading | None:
    """The unit heading on the line, if any. Numbered headings count as units only without ``has_units``."""
    found = _UNIT.match(text)
    if found is not None and _heads(line, found):
        if found["section"]:
            return _heading(" ".join(found["section"].split()), text, found)
        number = " ".join((found["article"] or found["pointed"]).split())
        return _heading(f"{'Article' if found['article'] else 'Section'} {number}", text, found)
    annex = _ANNEX.match(text)
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


def read_decimal(text: str) -> LawHeading | None:
    """The decimal number at the start of the line, if any: ``1.2 The bank ...``, but not ``1.2 million``."""
    found = _DECIMAL.match(text)
    if found is None:
        return None
    word = "Provision " if found["label"].startswith("Provision") else ""
    return LawHeading(f"{word}{found['number']}", found["label"], found["rest"])


def division_heading(line: Line, text: str, *, has_units: bool) -> LawHeading | None:
    """The division heading on the line, if any."""
    found = _DIVISION.match(text)
    if found is None or len(text.split()) > HEADING_WORDS or text.endswith((".", ",", ";")):
        return None
    heading, (word, ordinal) = found["heading"], found["label"].split()
    if heading[:1].islower() or (heading and not line.level and not text[0].isupper()):
        return None
    if word.lower() == "section" and not has_units:
        return None
    return _heading(f"{word.capitalize()} {ordinal}", text, found, _RANKS[word.lower()])


def _count_up(texts: Sequence[str]) -> bool:
    """Whether a numbered unit is followed by the next number somewhere below."""
    plain = (unit_heading(Line(text), text, has_units=False) for text in texts)
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


def _heading(citation: str, text: str, found: re.Match[str], rank: int = 0) -> LawHeading:
    heading = found["heading"] or ""
    return LawHeading(citation, text.removesuffix(heading).rstrip(), heading, rank)
