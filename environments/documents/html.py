"""HTML and XHTML to lines, one per block. Entities that the document declares are never expanded."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from html.parser import HTMLParser
from itertools import count
from string import ascii_lowercase

from lawtrace.environments.documents.labels import roman_numeral
from lawtrace.environments.documents.lines import Line

_BLOCKS = frozenset({"p", "li", "div", "td", "th", "blockquote", "section", "article", "tr", "pre", "dd", "dt"})
_BOLD = frozenset({"b", "strong"})
_BOLD_LEVEL = 7
_BOLD_HEADING = re.compile(r"(?=.*[^\W\d]{3})[\dA-Z“‘(][^\n]{0,160}[^\s.;:,]")
"""A block in bold type that is short and ends no sentence is a heading, below those that the page marks."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SILENT = frozenset({"script", "style", "head", "nav", "footer", "template"})
_NESTING = frozenset({"ol", "ul", "table"})
_EURLEX_HEADINGS: Mapping[str, int] = {
    **dict.fromkeys(("doc-ti", "oj-doc-ti"), 1),
    **dict.fromkeys(("ti-section-1", "oj-ti-section-1", "ti-section-2", "oj-ti-section-2", "title-division-1"), 2),
    **dict.fromkeys(("ti-art", "oj-ti-art", "sti-art", "oj-sti-art", "title-article-norm", "stitle-article-norm"), 4),
    **dict.fromkeys(("ti-grseq-1", "oj-ti-grseq-1"), 5),
}
"""Classes of headings on EUR-Lex: current, before 2023, and in consolidated texts."""
_EURLEX_NOTES = frozenset({"oj-note", "note"})


def _labels(style: str, first: int) -> Iterator[str]:
    """The labels of a list as displayed, letters and numerals in brackets: ``3.``, ``(c)``, ``(iii)``."""
    for number in count(first):
        label = f"{number}."
        if style.lower() == "i":
            label = f"({roman_numeral(number)})"
        elif style.lower() == "a" and 0 < number <= len(ascii_lowercase):
            label = f"({ascii_lowercase[number - 1]})"
        yield label.upper() if style.isupper() else label


class _HtmlLines(HTMLParser):
    """Collects each block as a line, with the level of headings."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[Line] = []
        self._words: list[str] = []
        self._level = 0
        self._note = False
        self._silent = 0
        self._bold = 0
        self._plain = False
        self._depth = 0
        self._label = ""
        self._lists: list[Iterator[str] | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if tag in _SILENT:
            self._silent += 1
        elif tag in _HEADINGS:
            self.end_block()
            self._level = _HEADINGS[tag]
        elif tag in _BOLD:
            self._bold += 1
        elif tag == "br":
            level, note = self._level, self._note
            self.end_block()
            self._level, self._note = level, note
        elif tag in _NESTING:
            self.end_block()
            self._depth += 1
            if tag != "table":
                given = dict(attrs)
                start, style = given.get("start") or "1", given.get("type") or "1"
                self._lists.append(_labels(style, int(start)) if tag == "ol" and start.isdigit() else None)
        elif tag in _BLOCKS:
            self.end_block()
            self._level = max((_EURLEX_HEADINGS.get(name, 0) for name in classes), default=0)
            self._note = not _EURLEX_NOTES.isdisjoint(classes)
            if tag == "li" and self._lists and (labels := self._lists[-1]) is not None:
                self._label = next(labels)
                self._words.append(f"{self._label} ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in _NESTING:
            self.end_block()
            self._depth = max(0, self._depth - 1)
            if tag != "table" and self._lists:
                self._lists.pop()
        elif tag in _BOLD:
            self._bold = max(0, self._bold - 1)
        elif tag in _HEADINGS or tag in _BLOCKS:
            self.end_block()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)
            self._plain |= not self._bold and bool(data.strip())

    def end_block(self) -> None:
        text = " ".join("".join(self._words).split())
        if text and text != self._label:  # the number of an item is kept until its text
            bold = not self._plain and not self._label and _BOLD_HEADING.fullmatch(text)
            level = self._level or (_BOLD_LEVEL if bold else 0)
            self.lines.append(Line(text, level=level, depth=self._depth, note=self._note))
            self._words.clear()
            self._label = ""
        else:
            # A number alone belongs to the next block.
            self._words = [f"{text} "] if text else []
        self._level, self._note, self._plain = 0, False, False


def html_lines(text: str) -> list[Line]:
    """The blocks of a page, each as one line."""
    parser = _HtmlLines()
    parser.feed(text)
    parser.close()
    parser.end_block()
    return parser.lines


def preformatted_text(text: str) -> str:
    """The text of the ``pre`` elements of a page, if most of its text is in them; else empty."""
    blocks = re.findall(r"<pre\b[^>]*>(.*?)</pre>", text, re.DOTALL | re.IGNORECASE)
    plain = "\n\n".join(unescape(re.sub(r"<[^>]*>", "", block)) for block in blocks)
    whole = sum(len(line.text) for line in html_lines(text)) if plain else 0
    return plain if len("".join(plain.split())) * 2 > whole else ""
