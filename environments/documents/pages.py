"""Lines of a paged document without page numbers, running heads, tables of contents and footnotes.

Text drawn from PDF often has no form feeds. Its pages then end where a sequence of page numbers shows it, alone on a
line or joined to the next words. A sequence is chosen as a whole, so a number that was misread does not end it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import median
from typing import Literal

from lawtrace.environments.documents.chains import best_chain
from lawtrace.environments.documents.headings import may_head_provision
from lawtrace.environments.documents.lines import DocumentLines, Line

_PAGE_NUMBER = re.compile(
    r"^(?P<indent>\s*)(?P<word>page\s+)?[-–—]?\s?(?P<number>\d{1,3})(?P<of>\s+of\s+\d+)?\s?[-–—]?(?P<rest>(?=\D).*|)$",
    re.IGNORECASE,
)
_GLUED_PARAGRAPH = re.compile(r"^(?P<indent>\s{10,})(?P<number>\d{2,6})(?P<rest>[.)].*)$")
_FAR = 10
"""Columns of indentation from which a number with words after it may be a page number."""

_REPEATED = 3
"""Times that the words beside page numbers occur before they count as a running head."""

_EDGE = 3
"""Lines at the top and at the bottom of a page that may be a running head or foot."""

_PARAGRAPH = re.compile(r"^\s*\d{1,3}(?:\.\d{1,3})*[.)]?\s+\S|^\s*\d{1,3}(?:\.\d{1,3})*[.)]\s*$")
_USUAL = 12
"""What is blank above one of so many lines, or less, is no gap."""

_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\d{1,3}\s*$|…{2,}\s*\d{1,3}\s*$")
_NOTE = re.compile(r"^\s{0,6}(?P<number>\d{1,3})(?![\d.)])\s*(?P<text>\S.*)?$")
_DOTTED = re.compile(r"^\s*\d{1,3}(?:\.\d{1,3})*[.)]\s|^\s*\d{1,2}\.\d{1,3}\s")
_DATE = re.compile(r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b", re.I)
_MARKS = re.compile(r"^\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*$")
_LARGEST_GAP = 8
"""Footnotes that may be lost before the numbers are no longer followed."""

_SMALLEST_PAGE, _LARGEST_PAGE = 8, 110
"""Lines of a page, on average, that a sequence of page numbers must agree with."""


def text_lines(text: str, profile: Literal["law", "decision"] = "decision") -> DocumentLines:
    """The lines of a text without what belongs to its pages.

    In a decision tables of contents and footnotes are left out, too, and short lines that are repeated all over it. In
    a law all that may be articles and their titles.
    """
    pages = _split_pages(text)
    if profile == "law":
        return DocumentLines([line for page in _without_running_heads(pages, anywhere=False) for line in page])
    pages = [[line for line in page if not _LEADERS.search(line.text)] for page in pages]
    pages, notes = _without_footnotes(_without_running_heads(pages, anywhere=True))
    lines = [line for page in pages for line in page]
    if len(pages) > 1:
        lines = [line for line in lines if not (line.text.startswith(" " * 8) and _MARKS.match(line.text))]
    return DocumentLines(lines, tuple(notes))


def _split_pages(text: str) -> list[list[Line]]:
    if "\f" in text:
        parts = text.split("\f")
        return _without_page_numbers([_lines_of(part.splitlines(), number) for number, part in enumerate(parts, 1)])
    rows = text.splitlines()
    sequence = _page_sequence(rows)
    pages: list[list[str]] = [[]]
    for place, row in enumerate(rows):
        if place in sequence:
            pages.append([sequence[place]])
        else:
            pages[-1].append(row)
    return [_lines_of(page, number) for number, page in enumerate(pages, 1)]


def _lines_of(rows: Sequence[str], page: int) -> list[Line]:
    """The lines that are not blank; what is usual between two lines is no gap."""
    found: list[tuple[str, int]] = []
    blank = 0
    for row in rows:
        if row.strip():
            found.append((row.rstrip(), blank))
            blank = 0
        else:
            blank += 1
    usual = sorted(above for _, above in found[1:])[(len(found) - 1) // _USUAL] if len(found) > 1 else 0
    return [Line(row, page, gap=above > usual) for row, above in found]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line that may hold a page number: where, which, how it is set, and the words after it."""

    place: int
    number: int
    shape: str
    rest: str
    indent: int


def _candidates(rows: Sequence[str]) -> Iterator[_Candidate]:
    for at, row in enumerate(rows):
        if glued := _GLUED_PARAGRAPH.match(row):  # page 3 and paragraph 6 as "36."
            digits = glued["number"]
            for cut in range(1, len(digits) + 1):
                rest = f"{digits[cut:]}{glued['rest']}"
                yield _Candidate(at, int(digits[:cut]), "far", rest, len(glued["indent"]))
            continue
        found = _PAGE_NUMBER.match(row)
        if found is None:
            continue
        number, rest, indent = int(found["number"]), found["rest"], len(found["indent"])
        if found["word"] or found["of"]:
            if not rest.strip():
                yield _Candidate(at, number, "named", "", indent)
        elif indent >= _FAR:
            yield _Candidate(at, number, "far", rest.removeprefix(","), indent)
        elif not rest.strip():
            yield _Candidate(at, number, "alone", "", indent)


def _page_sequence(rows: Sequence[str]) -> dict[int, str]:
    """The lines that hold the page numbers, with the words after them; empty if there is no sequence."""
    ordinal = [*accumulate((bool(row.strip()) for row in rows), initial=0)]
    candidates = [*_candidates(rows)]
    best: list[_Candidate] = []
    for shape in ("far", "alone", "named"):
        chain = _longest_chain([one for one in candidates if one.shape == shape], ordinal)
        if len(chain) > len(best) and _plausible(chain, ordinal):
            best = chain
    return {one.place: one.rest for one in best}


def _longest_chain(candidates: Sequence[_Candidate], ordinal: Sequence[int]) -> list[_Candidate]:
    """The candidates with rising numbers at plausible distances that lose the fewest pages."""
    words = Counter(_key(one.rest) for one in candidates if _key(one.rest))
    columns = Counter(one.indent for one in candidates)
    most = max(columns.values(), default=1)

    def usual(one: _Candidate) -> float:
        # Marks of footnotes stand in any column; page numbers in one, or before a running head.
        return 0.4 if words[_key(one.rest)] >= _REPEATED else 0.3 * columns[one.indent] / most

    def begin(one: _Candidate) -> float:
        return (1.0 if one.number <= 3 else 1.0 - 0.4 * one.number) + usual(one)

    def follow(last: _Candidate, one: _Candidate) -> float | None:
        step, distance = one.number - last.number, ordinal[one.place] - ordinal[last.place]
        near = 1 <= step <= 4 and (2 if one.shape == "far" else 3) <= distance <= _LARGEST_PAGE * step
        return 1 + usual(one) - 0.4 * (step - 1) if near else None

    return best_chain(candidates, begin, follow)


def _plausible(chain: Sequence[_Candidate], ordinal: Sequence[int]) -> bool:
    if len(chain) < 2:
        return len(chain) == 1 and chain[0].shape in {"far", "named"} and chain[0].number <= 2
    pages = chain[-1].number - chain[0].number + 1
    first, last = ordinal[chain[0].place], ordinal[chain[-1].place]
    usual = (last - first) / max(1, pages - 1)
    whole = len(chain) < 5 or (last - first) * 2 > ordinal[-1]
    return chain[0].shape != "alone" or (_SMALLEST_PAGE <= usual <= _LARGEST_PAGE and whole and len(chain) >= 3)


def _without_page_numbers(pages: list[list[Line]]) -> list[list[Line]]:
    """Pages of a format that has them, without lines at their edges that hold the number of the page."""
    places: list[dict[int, int]] = []
    for index, page in enumerate(pages):
        found = {place: _PAGE_NUMBER.match(page[place].text) for place in _edges(len(page))}
        alone = {place: one for place, one in found.items() if one and not one["rest"].strip()}
        places.append({place: int(one["number"]) - index for place, one in alone.items()})
    offsets = Counter(offset for numbers in places for offset in set(numbers.values()))
    offset, count = offsets.most_common(1)[0] if offsets else (0, 0)
    if count < max(2, len(pages) / 3):
        return pages
    return [
        [line for place, line in enumerate(page) if numbers.get(place) != offset]
        for page, numbers in zip(pages, places, strict=True)
    ]


def _edges(count: int) -> list[int]:
    return sorted({*range(min(_EDGE, count)), *range(max(0, count - _EDGE), count)})


def _key(text: str) -> str:
    """The letters of a line, with its digits masked; equal for a running head with and without lost spaces."""
    return re.sub(r"[^a-z#]+", "", re.sub(r"\d+", "#", text.casefold()))


def _without_running_heads(pages: Sequence[Sequence[Line]], *, anywhere: bool) -> list[list[Line]]:
    heads = _running_heads(pages, repeated=anywhere)
    texts = sorted({text for text in heads.values() if len(text) >= 8}, key=len, reverse=True)
    kept: list[list[Line]] = []
    for page in pages:
        lines: list[Line] = []
        for line in page:
            if _key(line.text) in heads and not _PARAGRAPH.match(line.text):
                continue
            # A head that was joined to the last words of the page before.
            joined = next((head for head in texts if line.text.endswith(head) and line.text.strip() != head), None)
            before = line.text[: -len(joined)] if joined else ""
            lines.append(replace(line, text=before.rstrip()) if joined and not before[-1:].isspace() else line)
        kept.append(lines)
    return kept


def _running_heads(pages: Sequence[Sequence[Line]], *, repeated: bool) -> dict[str, str]:
    """The keys of running heads, with one of their texts. ``repeated``: wherever they stand.

    A head stands at the edge of a quarter of the pages. A short line that no sentence ends, repeated all over the text,
    is one, too: where pages were lost, and for marks of classification.
    """
    at_edge = Counter[str]()
    texts: dict[str, str] = {}
    places: dict[str, list[int]] = {}
    ordinal = 0
    for page in pages:
        edges = {place for place in _edges(len(page)) if not _PARAGRAPH.match(page[place].text)}
        at_edge.update({_key(page[place].text) for place in edges})
        for line in page:
            ordinal += 1
            text = line.text.strip()
            if len(text.split()) <= 10 and text[-1] not in ".;:," and not _PARAGRAPH.match(line.text):
                places.setdefault(_key(text), []).append(ordinal)
            texts.setdefault(_key(line.text), text)
    least = max(3, len(pages) / 4)
    found = {key for key, count in at_edge.items() if count >= least and len(pages) >= 3}
    for key, lines in places.items() if repeated else ():
        apart = [after - before for before, after in pairwise(lines)]
        if len(lines) >= max(4, ordinal / 250) and median(apart) >= _SMALLEST_PAGE and min(apart) > 1:
            found.add(key)
    if len(pages) == 2:
        found |= {key for key, count in at_edge.items() if count == 2 and "#" not in key}
    return {key: texts[key] for key in found if key.replace("#", "") and not may_head_provision(texts[key])}


def _without_footnotes(pages: Sequence[Sequence[Line]]) -> tuple[list[list[Line]], list[str]]:
    """Separate the footnotes at the foot of each page: they are numbered through, or from one on each page."""
    kept: list[list[Line]] = []
    notes: list[str] = []
    last = 0
    for page in pages:
        start, number = _first_note(page, last) if len(pages) > 1 else (len(page), last)
        kept.append(list(page[:start]))
        for line in page[start:]:
            begun = _NOTE.match(line.text)
            if begun and int(begun["number"]) in {number, number + 1}:
                number = int(begun["number"])
                notes.append(line.text.strip())
            else:
                notes[-1] = f"{notes[-1]} {line.text.strip()}"
        last = number
    return kept, notes


def _first_note(page: Sequence[Line], last: int) -> tuple[int, int]:
    """Where the footnotes of a page begin, and the number of the first; the end of the page if there are none."""
    for expected in (range(last + 1, last + _LARGEST_GAP), {1}):
        for place in range(len(page) * 2 // 5, len(page)):
            found = _NOTE.match(page[place].text)
            if found is None or int(found["number"]) not in expected:
                continue
            below = page[place:]
            if not found["text"] and (len(below) < 2 or any(_DOTTED.match(line.text) for line in below)):
                continue
            if any(_DOTTED.match(line.text) for line in below) or not _reads_as_note(found["text"], page, place):
                continue
            return place, int(found["number"])
    return len(page), last


def _reads_as_note(text: str | None, page: Sequence[Line], place: int) -> bool:
    """Whether a line beginning with a number is a note and not the middle of a sentence."""
    if text is None:
        return True
    if _DATE.match(text):
        return False
    before = page[place - 1].text.strip() if place else ""
    ended = before[-1:] in '.;:?!”"' or before[-1:].isdigit() or before == ""
    return not text[0].islower() and (ended or text[0].isupper())
