"""Lines of documents, and plain text to lines without page furniture.

Pages end in a form feed where the format has pages. Text extracted from PDF often has lost them but kept the page
numbers: far indented, counting from one, joined to the first words of the next page.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a block in formats that mark blocks.

    Attributes:
        page: from 1; 0 if the format has no pages.
        level: heading level from 1; 0 if marked as not a heading; None if unknown.
        depth: number of enclosing lists or tables; None if unknown.
        note: whether the format marks it as a footnote.
    """

    text: str
    page: int = 0
    level: int | None = None
    depth: int | None = None
    note: bool = False


_INDENTED = re.compile(r"^\s{10,}(?P<words>\d.*)$")
_PARAGRAPH = re.compile(r"^\s*\d{1,3}(?:\.\d{1,3})*[.)]?\s")
_ALONE = re.compile(r"^\s*(?:page\s+)?(?P<number>\d{1,3})(?:\s+of\s+\d+)?\s*$", re.IGNORECASE)
_EDGE = 2
_REPEATED = 3
"""A line at the edge of this many pages, equal but for digits, is a running head or foot."""


def split_page_furniture(text: str) -> tuple[list[Line], list[str]]:
    """The lines of the text without blank ones, and the page numbers and running heads."""
    pages = text.split("\f") if "\f" in text else _split_at_numbers(text)
    furniture = _furniture(pages)
    lines: list[Line] = []
    left_out: list[str] = []
    for number, page in enumerate(pages, 1):
        kept = [line.rstrip() for line in page.splitlines() if line.strip()]
        for place, line in enumerate(kept):
            at_edge = place < _EDGE or place >= len(kept) - _EDGE
            alone = _ALONE.match(line)
            repeated = _digits_masked(line) in furniture and not _PARAGRAPH.match(line)
            numbered = alone is not None and len(pages) > 1 and int(alone["number"]) == number
            if at_edge and (repeated or numbered):
                left_out.append(line)
            else:
                lines.append(Line(line, number))
    return lines, left_out


def _split_at_numbers(text: str) -> list[str]:
    """Split a text that kept only page numbers: a page ends where the next expected number is far indented."""
    pages: list[list[str]] = [[]]
    for line in text.splitlines():
        rest = _after_page_number(line, len(pages))
        if rest is None:
            pages[-1].append(line)
        else:
            pages.append([rest])
    return ["\n".join(page) for page in pages]


def _after_page_number(line: str, expected: int) -> str | None:
    """The rest of a line after its page number; None without a page number. A paragraph number may follow directly:
    ``36.`` is page number 3 and paragraph 6."""
    indented = _INDENTED.match(line)
    if indented is None or not indented["words"].startswith(str(expected)):
        return None
    rest = indented["words"].removeprefix(str(expected))
    if rest[:1].isdigit() and not _PARAGRAPH.match(rest):
        return None
    return rest.removeprefix(",")


def _furniture(pages: Sequence[str]) -> set[str]:
    edges = [[line for line in page.splitlines() if line.strip() and not _PARAGRAPH.match(line)] for page in pages]
    edges = [[*lines[:_EDGE], *lines[-_EDGE:]] for lines in edges]
    if len(pages) < _REPEATED:
        # With few pages, two may begin with articles that differ in their numbers.
        words = [{line for line in lines if not re.search(r"\d", line)} for lines in edges]
        return {_digits_masked(line) for line in set[str].intersection(*words)} if len(pages) > 1 else set()
    seen = Counter[str]()
    for lines in edges:
        seen.update({_digits_masked(line) for line in lines})
    return {shape for shape, count in seen.items() if count >= max(_REPEATED, len(pages) / 2)}


def _digits_masked(line: str) -> str:
    return re.sub(r"\d+", "#", " ".join(line.split()))
