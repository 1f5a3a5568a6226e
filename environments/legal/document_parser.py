"""Parser from lines to a decision: finds numbered paragraphs by counting, and headings by their context."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lawtrace.environments.errors import InputError
from lawtrace.environments.legal.document import Document, Paragraph, Section
from lawtrace.environments.regulations.lines import Line

Number = tuple[int, ...]

_NUMBERED = re.compile(r"^\s*(?P<number>\d{1,4}(?:\.\d{1,3})*)(?P<dot>[.)]?)(?:\s+(?P<rest>\S.*)|\s*)$")
_FINISHED = re.compile(r"[.!?:;][”\"’')\]]*(?:\s*\d{1,2})?$|[”\"]$")
_ANNEX = re.compile(r"^(?:annex|appendix|schedule)\b(?:\s+\w{1,3}\b)?", re.IGNORECASE)
_CLOSING = re.compile(r"^(?:dated|signed|yours)\b", re.IGNORECASE)
_LONE_DIGITS = re.compile(r"^\s*\d{1,2}\s*$")
_OPENING = re.compile(
    r"^(?:introduction|summary|overview|(?:the )?(?:(?:legal|regulatory|statutory) framework|facts)"
    r"|(?:(?:case|factual) )?background)\b",
    re.IGNORECASE,
)
"""Texts of a first heading. In plain text nothing marks it, and it follows the title."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_ENDS_IN_FUNCTION_WORD = re.compile(r"\b(?:a|an|and|by|for|from|in|of|on|or|the|to|under|with)\s*$", re.IGNORECASE)
_HEADING_WORDS = 16
_HEADING_LINES = 3
_LARGEST_GAP = 2
_PREAMBLE_LEVEL = 99
"""Level of text before the first heading, below every heading."""


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading in one line, and the number of lines that it was joined from."""

    line: Line
    lines: int = 1

    def with_more(self, line: Line) -> "_Heading | None":
        """The heading with the next line added, if that clearly continues it: it begins in lower case, is a lone year,
        or follows *of* or a similar word. Otherwise None."""
        rest = line.text.strip()
        whole = f"{self.line.text.strip()} {rest}"
        goes_on = rest[:1].islower() or _YEAR.fullmatch(rest) or _ENDS_IN_FUNCTION_WORD.search(self.line.text)
        return (
            _Heading(replace(self.line, text=whole), self.lines + 1) if goes_on and _looks_like_heading(whole) else None
        )


@dataclass(slots=True)
class _OpenSection:
    """A section under construction."""

    heading: str
    level: int
    paragraphs: list[tuple[str, int, list[str]]] = field(default_factory=list[tuple[str, int, list[str]]])
    sections: list["_OpenSection"] = field(default_factory=list["_OpenSection"])

    def closed(self) -> Section:
        return Section(
            heading=self.heading,
            paragraphs=tuple(
                Paragraph(ref=ref, text=_join_lines(lines), page=page) for ref, page, lines in self.paragraphs
            ),
            sections=tuple(section.closed() for section in self.sections),
        )


def parse_document(lines: Sequence[Line]) -> Document:
    """Parse a decision. Raises InputError if it has no text."""
    parser = _Parser(lines)
    parser.read()
    if not any(section.paragraphs or section.sections for section in parser.sections):
        if not any(line.text.strip() for line in lines):
            raise InputError("the document holds no text")
        return _unnumbered(lines)
    return Document(
        front=_join_lines(parser.front),
        sections=tuple(section.closed() for section in parser.sections if section.paragraphs or section.sections),
        closing=_join_lines(parser.closing),
        notes=tuple(parser.notes),
        parse_warnings=tuple(parser.parse_warnings),
    )


class _Parser:
    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines, self.notes = _remove_footnotes(lines)
        self.front: list[str] = []
        self.closing: list[str] = []
        self.parse_warnings: list[str] = []
        self.sections: list[_OpenSection] = [_OpenSection("", _PREAMBLE_LEVEL)]
        self._path: list[_OpenSection] = [self.sections[0]]
        self._annex = ""
        self._annexes = Counter[str]()
        self._last: Number | None = None
        self._current: list[str] | None = None
        self._closed = False
        self._unnumbered = 0
        self._again = 1

    def read(self) -> None:
        place = 0
        while place < len(self._lines):
            headings = self._headings(place)
            if headings:
                for heading in headings:
                    self._begin_section(heading.line)
                place += sum(heading.lines for heading in headings)
                continue
            self._read_line(self._lines[place])
            place += 1
        if self._unnumbered:
            self.parse_warnings.append(
                f"{self._unnumbered} paragraphs below headings have no number; they count as p1, p2 ..."
            )

    def _read_line(self, line: Line) -> None:
        text = line.text.strip()
        number = self._next_number(line.text)
        if number is None and self._restarts(line):
            self._begin_again()
            number = (1,)
        if number is not None and not self._closed:
            self._begin_paragraph(number, line)
        elif self._closed or (self._finished() and not self._annex and _CLOSING.match(text)):
            self._closed = True
            self.closing.append(text)
        elif self._begins_unnumbered(line):
            self._unnumbered += 1
            self._current = [text]
            self._path[-1].paragraphs.append((f"{self._prefix()}p{self._unnumbered}", line.page, self._current))
        elif self._current is None:
            self.front.append(text)
        else:
            self._current.append(text)

    def _begins_unnumbered(self, line: Line) -> bool:
        """Whether the line begins a paragraph without a number.

        Text below a heading does not belong to the paragraph above the heading. Where the format marks blocks, each
        block is a paragraph until a number occurs.
        """
        section = self._path[-1]
        if self._current is None:
            return section.level < _PREAMBLE_LEVEL
        ref = section.paragraphs[-1][0] if section.paragraphs else ""
        return line.level == 0 and not line.depth and ref == f"{self._prefix()}p{self._unnumbered}"

    def _begin_paragraph(self, number: Number, line: Line) -> None:
        found = _NUMBERED.match(line.text)
        assert found is not None
        ref = ".".join(map(str, number))
        if number not in _successors(self._last):
            self.parse_warnings.append(
                f"paragraph {self._prefix()}{ref} follows {_format_number(self._last)}: a number is missing"
            )
        self._last = number
        self._current = [found["rest"]] if found["rest"] else []
        self._path[-1].paragraphs.append((self._prefix() + ref, line.page, self._current))

    def _begin_again(self) -> None:
        self._again += 1
        self._last = None
        heading = self._path[-1].heading
        self.parse_warnings.append(
            f"the numbers begin again below {heading!r}: its first paragraph is {self._prefix()}1"
        )

    def _begin_section(self, line: Line) -> None:
        heading = " ".join(line.text.split())
        annex = _ANNEX.match(heading)
        if annex:
            name = annex[0].strip()
            self._annexes[name.casefold()] += 1
            count = self._annexes[name.casefold()]
            self._annex = name if count == 1 else f"{name} ({count})"
            self._last, self._closed, self._again = None, False, 1
        level = line.level or (2 if self._annex and not annex else 1)
        while self._path and self._path[-1].level >= level:
            self._path.pop()
        section = _OpenSection(heading, level)
        (self._path[-1].sections if self._path else self.sections).append(section)
        self._path.append(section)
        self._current = None

    def _headings(self, place: int) -> list[_Heading]:
        """The headings that begin at this line: a marked one, or short lines between a complete paragraph and the next
        number. Empty if the line is not a heading."""
        first = self._lines[place]
        if first.level is not None:
            begun = self._last is not None or self._annex != ""
            return [_Heading(first)] if first.level > 0 and (begun or self._leads_to_number(place)) else []
        if self._opens(place):
            return [_Heading(first)]
        annexed = _ANNEX.match(first.text.strip()) is not None
        if not annexed and (self._closed or not self._finished()):
            return []
        found: list[_Heading] = []
        annex = ""
        for line in self._lines[place : place + 2 * _HEADING_LINES]:
            annex = annex or (_ANNEX.match(line.text.strip()) or [""])[0]
            if found and self._next_number(line.text, below_heading=True, restart=bool(annex)) is not None:
                return found
            if len(found) == 1 and _begins_at_one(line.text):
                below = " ".join(found[0].line.text.split())
                self.parse_warnings.append(
                    f"'1.' below {below!r} does not follow {_format_number(self._last)}, so both were read as part of "
                    "that paragraph; if the numbers begin again there, number the paragraphs through"
                )
            longer = found[-1].with_more(line) if found else None
            if longer is not None:
                found[-1] = longer
            elif len(found) < _HEADING_LINES and _looks_like_heading(line.text):
                found.append(_Heading(line))
            else:
                return []
        return []

    def _opens(self, place: int) -> bool:
        """Whether the line is the first heading in a format without marked headings: it has a known text, and the first
        number follows."""
        line, below = self._lines[place].text.strip(), self._lines[place + 1 : place + 2]
        return (
            self._last is None
            and self._current is None
            and _OPENING.match(line) is not None
            and _looks_like_heading(line)
            and any(self._next_number(after.text, below_heading=True) is not None for after in below)
        )

    def _restarts(self, line: Line) -> bool:
        """Whether the numbering restarts at this line, directly below a marked heading."""
        below_heading = self._last is not None and not self._path[-1].paragraphs
        return below_heading and line.level == 0 and _begins_at_one(line.text)

    def _leads_to_number(self, place: int) -> bool:
        """Whether a numbered paragraph follows before the next heading. Otherwise the heading may be a title."""
        for line in self._lines[place + 1 :]:
            if line.level:
                return False
            if self._next_number(line.text, below_heading=True) is not None:
                return True
        return False

    def _finished(self) -> bool:
        """Whether the last paragraph is complete, so that a new one may begin."""
        if self._current is None:
            return self._closed
        return self._closed or not self._current or bool(_FINISHED.search(self._current[-1].strip()))

    def _next_number(self, text: str, *, below_heading: bool = False, restart: bool = False) -> Number | None:
        """The number at the start of the line, if it may follow the last one."""
        found = _NUMBERED.match(text)
        if found is None:
            return None
        number = tuple(int(part) for part in found["number"].split("."))
        if len(number) == 1 and not found["dot"]:
            return None
        last = None if restart else self._last
        below_heading = below_heading or not self._path[-1].paragraphs
        if last is not None and len(number) < len(last) and not below_heading:
            return None  # a list item in the paragraph; a shorter number needs a new heading
        if number in _successors(last):
            return number
        if last is not None and len(number) == len(last) and number[:-1] == last[:-1]:
            gap = number[-1] - last[-1] - 1
            if 0 < gap <= _LARGEST_GAP and self._finished():
                return number
        return None

    def _prefix(self) -> str:
        again = f"{self._again}:" if self._again > 1 else ""
        return f"{self._annex}/{again}" if self._annex else again


def _begins_at_one(text: str) -> bool:
    found = _NUMBERED.match(text)
    return found is not None and found["number"] == "1" and found["dot"] != ""


def _successors(last: Number | None) -> set[Number]:
    """The possible next numbers: the next at this depth, the first below, the next at any depth above."""
    if last is None:
        return {(1,), (1, 1)}
    above = {(*last[:depth], last[depth] + 1) for depth in range(len(last))}
    first_below = {(*number, 1) for number in (*above, last)}
    return above | first_below


def _format_number(number: Number | None) -> str:
    return "nothing" if number is None else ".".join(map(str, number))


def _looks_like_heading(text: str) -> bool:
    stripped = text.strip()
    words = stripped.split()
    return (
        0 < len(words) <= _HEADING_WORDS
        and (stripped[0].isupper() or stripped[0].isdigit())
        and stripped[-1] not in '.;:,”"-–'
        and not stripped.startswith(("•", "-", "–"))
    )


def _remove_footnotes(lines: Sequence[Line]) -> tuple[list[Line], list[str]]:
    """Separate footnotes from the text: a line of digits alone, then text, to the end of the page. Other lines of
    digits are footnote marks and are dropped."""
    kept: list[Line] = []
    notes: list[str] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        if line.level is None and _LONE_DIGITS.match(line.text):
            end = place + 1
            while end < len(lines) and lines[end].page == line.page:
                end += 1
            below = lines[place + 1 : end]
            if below and len(below) <= _HEADING_LINES and end < len(lines):
                notes.append(f"{line.text.strip()} {_join_lines([note.text for note in below])}")
                place = end
            else:
                place += 1
            continue
        kept.append(line)
        place += 1
    return kept, notes


def _unnumbered(lines: Sequence[Line]) -> Document:
    """Parse a document without paragraph numbers: each line that ends a sentence ends a paragraph."""
    sections: list[_OpenSection] = [_OpenSection("", 1)]
    current: list[str] = []
    count = 0

    def end(page: int) -> None:
        nonlocal count
        if current:
            count += 1
            sections[-1].paragraphs.append((f"p{count}", page, list(current)))
            current.clear()

    for line in lines:
        if line.level:
            end(line.page)
            sections.append(_OpenSection(" ".join(line.text.split()), 1))
            continue
        current.append(line.text.strip())
        if line.level == 0 or _FINISHED.search(line.text.strip()):
            end(line.page)
    end(lines[-1].page)
    closed = tuple(section.closed() for section in sections if section.paragraphs)
    return Document(sections=closed, parse_warnings=("no paragraph is numbered; they are counted instead",))


def _join_lines(lines: Sequence[str]) -> str:
    """Lines as running text; after a hyphen the next line follows without a space."""
    text = ""
    for line in lines:
        words = " ".join(line.split())
        text = text + words if text.endswith("-") and not text.endswith(" -") else f"{text} {words}"
    return text.strip()
