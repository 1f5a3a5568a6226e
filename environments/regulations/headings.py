"""What heads a unit or a division: ``Article 7``, ``§ 164.312 Safeguards.``, ``ANNEX II``, ``CHAPTER 2 Duties``."""

import re
from dataclasses import dataclass

from environments.documents.lines import Line

__all__ = [
    "ANNEXES",
    "HEADING_WORDS",
    "DivisionHeading",
    "UnitHeading",
    "division_heading",
    "names_unit",
    "unit_heading",
]

ANNEXES = ("Annex", "Appendix", "Schedule")
"""What the citation of an annex begins with. Divisions count in there, and points are set apart by a comma."""

HEADING_WORDS = 30
"""A line of more words is no heading."""

_UNIT = re.compile(
    r"^(?:(?P<article>Article\s+\d+[a-z]{0,2})|(?P<section>§{1,2}\s*[\d.]*\d+[a-z]?)\.?)"
    r"(?:\s*[.:–—-])?(?:\s+(?P<heading>\S.*))?$"
)
_NUMBERED = re.compile(
    r"^(?P<label>(?:Section|Sec\.|Regulation|Rule|Clause)?\s*\d+(?:\.\d+)*[A-Z]?)[.:]?\s+(?P<heading>\S.*)$"
)
_ORDINAL = r"(?:[IVXLC]+|\d+|[A-Z])\b"
_ANNEX = re.compile(rf"^(?P<label>(?:annex|appendix|schedule)(?:\s+{_ORDINAL})?)\s*[:.–—-]?\s*(?P<heading>.*)$", re.I)
_DIVISION = re.compile(
    rf"^(?P<label>(?:part|title|chapter|section|subpart|subchapter|book)\s+{_ORDINAL})\s*[:.–—-]?\s*(?P<heading>.*)$",
    re.I,
)
_RANKS = {"title": 0, "book": 0, "part": 0, "chapter": 1, "subchapter": 1, "subpart": 1, "section": 2}


@dataclass(frozen=True, slots=True)
class UnitHeading:
    """How a unit is cited, its label as printed with the marks behind it, and the title that follows on the line."""

    citation: str
    label: str
    heading: str


@dataclass(frozen=True, slots=True)
class DivisionHeading:
    """A division: how it is cited within an annex, its label, its title, and how high it ranks (0 is highest)."""

    citation: str
    label: str
    heading: str
    rank: int


def names_unit(text: str) -> bool:
    """Whether the line might head a unit, or only refer to one."""
    annex = _ANNEX.match(text)
    return _UNIT.match(text) is not None or (annex is not None and (" " in annex["label"] or annex["label"].isupper()))


def unit_heading(line: Line, text: str, *, has_units: bool) -> UnitHeading | None:
    """The unit that the line heads, if it does. Numbered headings are units where nothing else is (``has_units``)."""
    found = _UNIT.match(text)
    if found is not None and _heads(line, found):
        return _unit(" ".join((found["article"] or found["section"]).split()), text, found)
    annex = _ANNEX.match(text)
    if annex is not None and (line.level or (annex["label"].isupper() and not text.endswith("."))):
        word, _, ordinal = annex["label"].partition(" ")
        return _unit(f"{word.capitalize()} {ordinal.strip()}".strip(), text, annex)
    numbered = _NUMBERED.match(text) if line.level and not has_units else None
    if numbered is not None:
        label = numbered["label"]
        return _unit(label if label[0].isalpha() else f"Section {label}", text, numbered)
    return None


def division_heading(line: Line, text: str, *, has_units: bool) -> DivisionHeading | None:
    """The division that the line heads, if it does."""
    found = _DIVISION.match(text)
    if found is None or len(text.split()) > HEADING_WORDS or text.endswith((".", ",", ";")):
        return None
    label, heading = _parted(text, found)
    word, ordinal = found["label"].split()
    if heading[:1].islower() or (heading and not line.level and not text[0].isupper()):
        return None
    if word.lower() == "section" and not has_units:
        return None
    return DivisionHeading(f"{word.capitalize()} {ordinal}", label, heading, _RANKS[word.lower()])


def _heads(line: Line, found: re.Match[str]) -> bool:
    """A cross-reference may stand at the beginning of a line, too: *Article 98(1) shall apply.*"""
    heading = found["heading"] or ""
    if line.level or not heading:
        return True
    return heading[0].isupper() and (bool(found["section"]) or not heading.endswith((".", ",", ";")))


def _unit(citation: str, text: str, found: re.Match[str]) -> UnitHeading:
    return UnitHeading(citation, *_parted(text, found))


def _parted(text: str, found: re.Match[str]) -> tuple[str, str]:
    heading = found["heading"] or ""
    return text.removesuffix(heading).rstrip(), heading
