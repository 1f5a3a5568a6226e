"""From a file to lines: text drawn from PDF with its flaws, PDF itself, and HTML.

Pages end in a form feed where the form is known to have pages. Text that was drawn from PDF has often lost them, but
not the page numbers: indented far, counting from one, glued to the first words of the next page.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

from environments.errors import CannotCarryOut, InputError

__all__ = ["Line", "html_lines", "read_lines", "text_lines"]

_INDENTED = re.compile(r"^\s{10,}(?P<words>\d.*)$")
_PARAGRAPH = re.compile(r"^\s*\d{1,3}(?:\.\d{1,3})*[.)]?\s")
_ALONE = re.compile(r"^\s*(?:page\s+)?(?P<number>\d{1,3})(?:\s+of\s+\d+)?\s*$", re.IGNORECASE)
_BLOCKS = frozenset({"p", "li", "div", "td", "blockquote", "section", "article", "br", "tr", "pre", "dd", "dt"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SILENT = frozenset({"script", "style", "head", "nav", "footer", "template"})
_EDGE = 2
_REPEATED = 3
"""A line that opens or closes so many pages, word for word but for digits, belongs to the page and not to the text."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a decision. ``level``: of a heading, from 1; 0 where the form says that it is none; None if unknown."""

    text: str
    page: int = 0
    level: int | None = None


def read_lines(path: Path) -> list[Line]:
    """The lines of a .pdf, .html, .htm or .txt file. Raises InputError; CannotCarryOut without the extra ``pdf``."""
    kind = path.suffix.lower()
    if kind == ".pdf":
        return text_lines("\f".join(_pdf_pages(path)))
    if kind not in {".txt", ".text", ".html", ".htm", ".xhtml"}:
        raise InputError(f"{path}: a decision is .pdf, .html or .txt")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return text_lines(text) if kind in {".txt", ".text"} else html_lines(text)


def text_lines(text: str) -> list[Line]:
    """The lines of plain text without page numbers and what repeats from page to page; blank lines are left out."""
    pages = text.split("\f") if "\f" in text else _split_at_numbers(text)
    furniture = _furniture(pages)
    lines: list[Line] = []
    for number, page in enumerate(pages, 1):
        kept = [line.rstrip() for line in page.splitlines() if line.strip()]
        for place, line in enumerate(kept):
            at_edge = place < _EDGE or place >= len(kept) - _EDGE
            alone = _ALONE.match(line)
            repeated = _shape(line) in furniture and not _PARAGRAPH.match(line)
            numbered = alone is not None and len(pages) > 1 and int(alone["number"]) == number
            if at_edge and (repeated or numbered):
                continue
            lines.append(Line(line, number))
    return lines


def _split_at_numbers(text: str) -> list[str]:
    """Pages of a text that kept only the page numbers: each ends where the next expected number stands far indented."""
    pages: list[list[str]] = [[]]
    for line in text.splitlines():
        rest = _after_page_number(line, len(pages))
        if rest is None:
            pages[-1].append(line)
        else:
            pages.append([rest])
    return ["\n".join(page) for page in pages]


def _after_page_number(line: str, expected: int) -> str | None:
    """What a line says behind the page number, if it begins with that; None if it does not. A paragraph's own number
    may follow at once (``36.`` opens page 4 with paragraph 6)."""
    indented = _INDENTED.match(line)
    if indented is None or not indented["words"].startswith(str(expected)):
        return None
    rest = indented["words"].removeprefix(str(expected))
    if rest[:1].isdigit() and not _PARAGRAPH.match(rest):
        return None
    return rest.removeprefix(",")


def _furniture(pages: Sequence[str]) -> set[str]:
    seen = Counter[str]()
    for page in pages:
        lines = [line for line in page.splitlines() if line.strip() and not _PARAGRAPH.match(line)]
        seen.update({_shape(line) for line in (*lines[:_EDGE], *lines[-_EDGE:])})
    return {shape for shape, count in seen.items() if count >= max(_REPEATED, len(pages) / 2) and len(pages) > 1}


def _shape(line: str) -> str:
    return re.sub(r"\d+", "#", " ".join(line.split()))


def _pdf_pages(path: Path) -> list[str]:
    # An untyped library that only this function needs, and only where a PDF is read.
    try:
        pypdf: Any = import_module("pypdf")
        errors: Any = import_module("pypdf.errors")
    except ImportError as error:
        raise CannotCarryOut(f"{path}: reading PDF needs the extra: pip install 'lawtrace[pdf]'") from error
    try:
        pages = [str(page.extract_text()) for page in pypdf.PdfReader(path).pages]
    except (errors.PyPdfError, OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a PDF that can be read: {error}") from error
    if not any(page.strip() for page in pages):
        raise InputError(f"{path}: holds no text, only pictures of it; run it through OCR first")
    return pages


class _HtmlLines(HTMLParser):
    """Each block becomes a line; headings say so."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[Line] = []
        self._words: list[str] = []
        self._level = 0
        self._silent = 0
        self._lists: list[int | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag in _HEADINGS:
            self._end()
            self._level = _HEADINGS[tag]
        elif tag in {"ol", "ul"}:
            start = dict(attrs).get("start") or "1"
            self._end()
            self._lists.append(int(start) if tag == "ol" and start.isdigit() else None)
        elif tag in _BLOCKS:
            self._end()
            if tag == "li" and self._lists and (number := self._lists[-1]) is not None:
                self._words.append(f"{number}. ")
                self._lists[-1] = number + 1

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in {"ol", "ul"}:
            self._end()
            if self._lists:
                self._lists.pop()
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        text = " ".join("".join(self._words).split())
        if text and not re.fullmatch(r"\d+\.", text):
            self.lines.append(Line(text, level=self._level))
            self._words.clear()
        elif not text:
            self._words.clear()
        self._level = 0


def html_lines(text: str) -> list[Line]:
    """The blocks of a page, each as one line."""
    parser = _HtmlLines()
    parser.feed(text)
    parser.close()
    return parser.lines
