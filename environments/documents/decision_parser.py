"""Parser from lines to a decision: numbered paragraphs, the headings between them, and annexes."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from lawtrace.environments.documents.decision import Document, Paragraph, Section
from lawtrace.environments.documents.files import read_lines
from lawtrace.environments.documents.headings import (
    ANNEX,
    LETTER_RANK,
    SENTENCE_END,
    TOP_RANK,
    Heading,
    heading_block,
    in_capitals,
    is_strong,
    looks_like_heading,
    told_apart,
)
from lawtrace.environments.documents.lines import Line
from lawtrace.environments.documents.numbering import Number, NumberedLine, missing_before, number_paragraphs
from lawtrace.environments.documents.tree import OpenNode, TreeParser
from lawtrace.schemas.errors import InputError

_CLOSING = re.compile(r"^(?:dated\b|signed\b|yours\b|for and on behalf of\b)", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[•◦▪●‣*–-]|\(?[a-z]\)|\(?[ivx]{1,4}[.)]|[a-z]\.)(?:\s|$)")
_ADDRESS = re.compile(r"^(?:to|of|from|re|ref|date|address)\s*:", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:introduction|summary|overview|(?:the )?(?:(?:legal|regulatory|statutory) framework|facts)"
    r"|(?:(?:case|factual) )?background)\b",
    re.IGNORECASE,
)
"""Words of a first heading that follows the title and that nothing marks."""

_TELLING = re.compile(
    r"\b(?:introduction|summary|framework|background|facts|contraventions?|infringements?|breach(?:es)?|seriousness"
    r"|penalty|decision|conclusion|findings?|appeals?|factors|intent)\b",
    re.IGNORECASE,
)
"""Words of a heading that stands between a number and the text of its paragraph."""

_BLOCK_LINES = 8
"""Lines above a number that may hold headings."""

_LEAST_COUNTED, _MOST_TITLED = 3, 0.6
"""Titles behind numbers of one depth, and their share, from which these numbers count sections."""

_COUNTED = re.compile(r"\s*\d{1,2}[.)]\s+[A-Z]")
"""A line that may be the title of a section whose number is out of order."""

_JOINED_WORDS = 8
"""Words of a heading that was joined to a number."""

_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|shall|should|must|may|will|did|do|does|failed)\b", re.IGNORECASE)

_JOINED_AFTER = re.compile(r"^(?P<text>.*[.”\"])\s+(?P<heading>[A-Z][^.:;,]{4,60})$")
_JOINED_BEFORE = re.compile(
    r"^\s*(?P<heading>[A-Z][^.:;]{3,70}?)\s+(?P<rest>(?P<number>\d{1,3})\.(?:\d{1,3}\.?)?\s+[A-Z“].*)$"
)
_REFERRING = re.compile(
    r"\b(?:articles?|sections?|paragraphs?|paras?|regulations?|principles?|schedules?|annex|steps?|pages?|nos?|numbers?|table"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)$",
    re.IGNORECASE,
)

_SHORT_SHARE = 0.75
"""Share of the usual width below which a line is short."""

_DEDENT = 3
"""Columns by which a heading stands out from the text above."""

_PROSE = 20
"""Words of a block before the first number from which it is a paragraph, if it ends a sentence."""

_SHORT_LINE = 40
"""Characters of a line above a blank one that need not end a sentence."""

_SHORT_HEADING = 12
"""Words of a heading that nothing but blank space marks."""

_PREAMBLE_LEVEL = 999
"""Level of text before the first heading, below every heading."""


def read_decision(path: Path) -> Document:
    """Read a decision. Raises InputError; OperationalError for a PDF without the extra ``pdf``."""
    read = read_lines(path, "decision")
    return parse_document(read.lines, read.notes)


def parse_document(lines: Sequence[Line], notes: Sequence[str] = ()) -> Document:
    """Parse a decision without its footnotes, which ``notes`` gives. Raises InputError if it has no text."""
    lines = [line for line in lines if line.text.strip()]
    if not lines:
        raise InputError("the document holds no text")
    parser = _DecisionParser(lines)
    parser.read()
    sections = parser.root.nodes
    begun = next((place for place, section in enumerate(sections) if section.nodes), len(sections))
    return Document(
        front=_join_lines([*(section.heading for section in sections[:begun]), *parser.front]),
        sections=tuple(map(_section, sections[begun:])),
        closing=_join_lines(parser.closing),
        notes=tuple(notes),
        parse_warnings=tuple(parser.parse_warnings),
    )


def _section(node: OpenNode) -> Section:
    points = (below for below in node.nodes if below.kind == "point")
    return Section(
        heading=node.heading,
        paragraphs=tuple(Paragraph(ref=one.citation, text=_join_lines(one.pieces), page=one.page) for one in points),
        sections=tuple(_section(below) for below in node.nodes if below.kind == "division"),
    )


def _without_few_marks(lines: Sequence[Line]) -> Sequence[Line]:
    """Blocks as lines that stand apart, if the format marks no headings but the title."""
    marked = [place for place, line in enumerate(lines) if line.level]
    if len(marked) > 1 and marked[-1] - marked[0] >= len(marked):
        return lines
    return [line if line.level is None else replace(line, level=None, gap=not line.depth) for line in lines]


def _split_joined(lines: Sequence[Line]) -> list[Line]:
    """The lines with headings apart that were joined to the end of a paragraph, or to a number from before it."""
    numbers = {one.place: one.number for one in number_paragraphs(lines, marked=False)}
    found: list[Line] = []
    last = 0
    for place, line in enumerate(lines):
        last = numbers[place][0] if place in numbers else last
        before = _JOINED_BEFORE.match(line.text)
        after = _JOINED_AFTER.match(line.text) if place + 1 in numbers else None
        if place not in numbers and before and last and int(before["number"]) - last in {0, 1}:
            heading = before["heading"]
            if _is_short_title(heading) and not _REFERRING.search(heading):
                found += [replace(line, text=heading, gap=True), replace(line, text=before["rest"], gap=True)]
                last = int(before["number"])
                continue
        if after and _is_short_title(after["heading"]):
            found += [replace(line, text=after["text"]), replace(line, text=after["heading"], gap=True)]
        else:
            found.append(line)
    return found


def _is_short_title(text: str) -> bool:
    return len(text.split()) <= _JOINED_WORDS and not _VERB.search(text)


class _DecisionParser(TreeParser):
    """All headings and numbers are chosen before the first line is read: text of a decision is often damaged, so that a
    number or a short line means something only beside the others."""

    repeated = "{} ({})"

    def __init__(self, lines: Sequence[Line]) -> None:
        lines = _without_few_marks(lines)
        self._marked = any(line.level is not None for line in lines)
        super().__init__(lines if self._marked else _split_joined(lines))
        self._width = sorted(len(line.text) for line in self.lines)[len(self.lines) * 9 // 10]
        numbers = number_paragraphs(self.lines, marked=self._marked)
        self._numbers = {one.place: one for one in numbers}
        self._missing = {one.place: missing_before(last.number, one.number) for last, one in pairwise(numbers)}
        self._headings: dict[int, list[Heading]] = {}
        self.front: list[str] = []
        self.closing: list[str] = []
        self._annex = ""
        self._last: Number | None = None
        self._closed = False
        self._unnumbered = 0
        self._again = 1
        self._spaced = any(line.gap for line in self.lines[1:])
        self._counted_rank = TOP_RANK
        if self._marked:
            self._marked_headings()
        else:
            self._find_headings()
        self._bare = not (self._numbers or self._headings)
        self.open(OpenNode("division", rank=_PREAMBLE_LEVEL))

    def read(self) -> None:
        super().read()
        if not self._numbers:
            self.parse_warnings.append("no paragraph is numbered; they are counted instead")
        elif self._unnumbered:
            self.parse_warnings.append(
                f"{self._unnumbered} paragraphs below headings have no number; they count as p1, p2 ..."
            )

    # headings

    def _find_headings(self) -> None:
        """Those that nothing marks, by the place of their first line."""
        found = self._headings
        for place in sorted(self._numbers):
            self._headings_above(place)
        self._counted_headings()
        for place in range(len(self.lines)):
            self._heading_in_text(place)
        # Before the first number only the lines directly above it, and those with a number of their own, are headings;
        # the others are the title.
        begun = min([*self._numbers, *(place for place, headings in found.items() if headings[0].citation)], default=0)
        for place in [place for place in found if place < begun and self._numbers]:
            if found[place][0].rank != TOP_RANK and place + _height(found[place]) < begun:
                del found[place]
        order = sorted(found)
        ranked = told_apart(heading for place in order for heading in found[place])
        self._headings = {place: [next(ranked) for _ in found[place]] for place in order}

    def _marked_headings(self) -> None:
        """Those that the format marks, from the first with text below, if paragraphs are numbered."""
        found: dict[int, list[Heading]] = {}
        for place, line in enumerate(self.lines):
            if line.level and not _ADDRESS.match(line.text):
                text = " ".join(line.text.split())
                annex = ANNEX.match(text)
                found[place] = [Heading(text, line.level, annex["label"] if annex else "")]
        annexes = [place for place, headings in found.items() if headings[0].citation]
        begun = min([*self._numbers, *annexes], default=0)
        before = [place for place in found if place < begun]
        telling = (place for place in before if place + 1 not in found and self._is_prose(place + 1))
        first = next(telling, max(before, default=begun)) if self._numbers else 0
        self._headings = {place: headings for place, headings in found.items() if place >= first}

    def _headings_above(self, place: int) -> None:
        """The longest block of lines directly above a number that reads as headings after a complete paragraph."""
        for start in range(max(0, place - _BLOCK_LINES), place):
            if any(at in self._numbers or at in self._headings for at in range(start, place)):
                continue
            block = self.lines[start:place]
            above = self.lines[start - 1].text.rstrip() if start else ""
            if (_ITEM.match(block[0].text) and not above.endswith(".")) or _CLOSING.match(block[0].text.strip()):
                continue
            headings = heading_block(block)
            if not headings or any(one.citation for one in headings[1:]):
                continue
            first = headings[0]
            if self._is_front(start) and not first.citation:
                headings = [] if _ADDRESS.match(headings[-1].text) else headings[-1:]
                start = place - _height(headings)
            clear = is_strong(self.lines[start].text) or first.rank <= LETTER_RANK
            if headings and self._ends_above(start, clear=clear):
                self._headings[start] = headings
                return

    def _is_front(self, place: int) -> bool:
        """Whether no number comes before."""
        return not any(at < place for at in self._numbers)

    def _ends_above(self, start: int, *, clear: bool) -> bool:
        """Whether the text above a line is complete, so that a heading may follow."""
        if start == 0:
            return clear
        above = self.lines[start - 1]
        text = above.text.strip()
        if start - 1 in self._numbers and not self._numbers[start - 1].rest:
            return False
        gap = self.lines[start].gap
        if self._is_front(start):
            heading = self.lines[start].text.strip()
            clear = clear or _OPENING.match(heading) is not None or SENTENCE_END.search(text) is not None
            return clear or (gap and heading.replace(" ", "").isalpha())
        if text.endswith(":"):
            return clear
        if not any(map(str.isalpha, text)) or text.endswith("]"):
            return True  # a closing quotation mark that was misread, or an omission
        if _indent(self.lines[start]) <= _indent(above) - _DEDENT and not text.endswith((",", ";", "and", "or")):
            return True
        return SENTENCE_END.search(text) is not None or (clear and (gap or len(text) < 60))

    def _counted_headings(self) -> None:
        """Numbers that do not count paragraphs: those of sections (*2. LEGAL FRAMEWORK*, with *2.1* or text without
        numbers below), and one that was joined to a heading (*5.Background*, followed by 6)."""
        places = sorted(self._numbers)
        ends = dict(pairwise([*places, len(self.lines)]))
        titles = {place: title for place in places if (title := self._title(place, ends[place]))}
        depths = Counter(len(self._numbers[place].number) for place in places)
        titled = Counter(len(self._numbers[place].number) for place in titles)
        tops = (one for headings in self._headings.values() for one in headings if one.rank == TOP_RANK)
        top = self._counted_rank = LETTER_RANK if any(tops) else TOP_RANK
        for place, headings in titles.items():
            number, end = self._numbers[place].number, ends[place]
            depth = len(number)
            below = self._numbers[end].number if end < len(self.lines) else ()
            whole = place + _height(headings) == end
            counts = titled[depth] >= min(depths[depth], max(_LEAST_COUNTED, _MOST_TITLED * depths[depth])) > 1
            text = headings[0].text
            told = len(text) < self._width / 2 and _TELLING.search(text) is not None
            joined = _is_short_title(text) and (whole or told)
            parent = whole and below[:-1] == number and (depth == 1 or len(text.split()) <= _JOINED_WORDS)
            if not (counts or parent or joined):
                continue
            for inner in range(place + 1, place + _height(headings)):
                self._headings.pop(inner, None)
            if counts or parent:
                headings[0] = replace(headings[0], text=f"{_written(number)}. {text}", rank=top + depth - 1)
            elif not whole:  # the number is that of the text below the heading
                begun = place + _height(headings)
                self._numbers[begun] = replace(self._numbers[place], place=begun, rest=self.lines[begun].text.strip())
                self._missing[begun] = self._missing.get(place, 0)
            self._headings[place] = headings
            del self._numbers[place]

    def _title(self, place: int, end: int) -> list[Heading]:
        """The lines of a number as headings, if they are set apart from what follows before the next number."""
        one = self._numbers[place]
        lines = [*([Line(one.rest)] if one.rest else []), *self.lines[place + 1 : end]]
        headings = heading_block(lines) if len(lines) <= _BLOCK_LINES else []
        if not headings:
            apart = range(1, min(_BLOCK_LINES, len(lines)) + 1)
            count = next((at for at in apart if lines[at:] and (lines[at].gap or in_capitals(lines[0].text))), 0)
            headings = heading_block(lines[:count])
            if not headings or lines[count].text.strip()[:1].islower():
                return []
            if len(lines[count - 1].text) >= _SHORT_SHARE * self._width and _VERB.search(headings[0].text):
                return []
        return [replace(headings[0], lines=headings[0].lines + (not one.rest)), *headings[1:]]

    def _heading_in_text(self, place: int) -> None:
        """A line in running text that is clearly set as a heading, with the lines that go on with it."""
        apart = (not self._numbers or _COUNTED.match(self.lines[place].text)) and self._stands_apart(place)
        if place in self._numbers or self._taken(place) or not (apart or is_strong(self.lines[place].text)):
            return
        text = self.lines[place].text.strip()
        own = heading_block(self.lines[place : place + 1])
        if self._is_front(place) and self._numbers and not (own and own[0].rank <= TOP_RANK):
            return
        above = self.lines[place - 1].text.strip() if place else ""
        ended = not above or SENTENCE_END.search(above) or self._taken(place - 1)
        if not (ended or apart or ANNEX.match(text)):
            return
        end = place + 1
        best: list[Heading] = heading_block(self.lines[place:end])
        while (
            end < min(place + _BLOCK_LINES, len(self.lines)) and end not in self._numbers and end not in self._headings
        ):
            longer = heading_block(self.lines[place : end + 1])
            if len(longer) != 1:
                break
            best, end = longer, end + 1
        if best:
            self._headings[place] = [replace(best[0], rank=self._counted_rank)] if _COUNTED.match(text) else best

    def _stands_apart(self, place: int) -> bool:
        """Whether a short line has blank space above and below."""
        line, below = self.lines[place], self.lines[place + 1 : place + 2]
        return (
            (place == 0 or line.gap)
            and bool(below)
            and below[0].gap
            and len(line.text.split()) <= _SHORT_HEADING
            and not _ITEM.match(line.text)
            and not _ADDRESS.match(line.text.strip())
            and looks_like_heading(line.text.strip())
        )

    def _taken(self, place: int) -> bool:
        """Whether the line is one of a heading."""
        starts = range(max(0, place - _BLOCK_LINES), place + 1)
        return any(start + _height(self._headings.get(start, ())) > place for start in starts)

    # the walk

    def read_headings(self, place: int) -> int:
        headings = self._headings.get(place, [])
        if self._closed and not any(heading.citation for heading in headings[:1]):
            return 0
        for heading in headings:
            self._begin_section(heading)
        return _height(headings)

    def read_text(self, place: int) -> None:
        line = self.lines[place]
        text = line.text.strip()
        one = self._numbers.get(place)
        if one is not None and (not self._closed or self._missing.get(place, 0) is None):
            self._begin_paragraph(one, line)
        elif self._closed or (self._numbers and not self._annex and _CLOSING.match(text) and self._is_finished()):
            self._closed = True
            self.closing.append(text)
        elif self._begins_unnumbered(place):
            self._unnumbered += 1
            self._open_paragraph(f"p{self._unnumbered}", line, [text])
        else:
            (self.current.pieces if self.current.kind == "point" else self.front).append(text)

    def _begins_unnumbered(self, place: int) -> bool:
        """Whether the line begins a paragraph without a number.

        Text below a heading does not belong to the paragraph above the heading. Where the format marks blocks, each
        block is a paragraph until a number occurs; elsewhere blank space after a sentence ends one.
        """
        line, current = self.lines[place], self.current
        if current.kind == "division":
            return current.rank < _PREAMBLE_LEVEL or self._bare or self._is_prose(place)
        if current.citation != f"{self._prefix()}p{self._unnumbered}":
            return False
        if line.level is not None:
            return line.level == 0 and not line.depth
        if _ITEM.match(line.text):
            return False
        above = self.lines[place - 1]
        ended = SENTENCE_END.search(above.text) is not None and not above.text.rstrip().endswith((":", ";"))
        blank = line.gap or (line.text[:1].isspace() and not above.text[:1].isspace())
        if not line.text.strip()[:1].isupper():
            return False
        apart = blank or not (self._numbers or self._spaced)
        return (ended and apart) or (line.gap and len(above.text) < _SHORT_LINE)

    def _is_prose(self, place: int) -> bool:
        """Whether the block at a line of the front is a paragraph, not a part of the title or the address."""
        line = self.lines[place]
        if line.level or place in self._numbers:
            return False
        end = place + 1
        while not self._marked and end < len(self.lines) and not (end in self._numbers or self.lines[end].gap):
            end += 1
        words = " ".join(one.text for one in self.lines[place:end]).split()
        return (line.gap or self._marked) and words[0][0].isupper() and len(words) >= _PROSE and words[-1][-1] in ".:"

    def _begin_paragraph(self, one: NumberedLine, line: Line) -> None:
        ref = _written(one.number)
        missing = self._missing.get(one.place, missing_before(None, one.number))
        if missing is None and self._last is not None:
            self._again += 1
            heading = next(node.heading for node in reversed(self.path) if node.kind == "division")
            self.parse_warnings.append(
                f"the numbers begin again below {heading!r}: its first paragraph is {self._prefix()}{ref}"
            )
        elif missing:
            self.parse_warnings.append(
                f"paragraph {self._prefix()}{ref} follows {_written(self._last or ()) or 'nothing'}: "
                + ("a number is missing" if missing == 1 else f"{missing} numbers are missing")
            )
        self._closed = False
        self._last = one.number
        self._open_paragraph(ref, line, [one.rest] if one.rest else [])

    def _open_paragraph(self, number: str, line: Line, pieces: list[str]) -> None:
        self.close_to(lambda node: node.kind == "division")
        citation = self.unique(f"{self._prefix()}{number}")
        self.open(OpenNode("point", citation=citation, pieces=pieces, page=line.page))

    def _begin_section(self, heading: Heading) -> None:
        level = 10 * heading.rank
        if heading.citation:
            self._annex = self.unique(heading.citation, heading.citation.casefold())
            self._last, self._closed, self._again, self._unnumbered = None, False, 1, 0
        elif self._annex:
            level += 10
        above = self.current
        if above.rank == level and above.heading and above.empty and not self._annex:
            level += 1  # a heading directly below another of its kind
        self.close_to(lambda node: node.kind == "division" and node.rank < level)
        self.open(OpenNode("division", heading=heading.text, rank=level))

    def _is_finished(self) -> bool:
        """Whether the last paragraph is complete."""
        node = self.current
        return node.kind == "point" and (node.empty or SENTENCE_END.search(node.last_words) is not None)

    def _prefix(self) -> str:
        again = f"{self._again}:" if self._again > 1 else ""
        return f"{self._annex}/{again}" if self._annex else again


def _height(headings: Sequence[Heading]) -> int:
    """The lines of headings."""
    return sum(heading.lines for heading in headings)


def _indent(line: Line) -> int:
    return len(line.text) - len(line.text.lstrip())


def _written(number: Number) -> str:
    return ".".join(map(str, number))


def _join_lines(lines: Sequence[str]) -> str:
    """Lines as running text; after a hyphen the next line follows without a space."""
    text = ""
    for line in lines:
        words = " ".join(line.split())
        text = text + words if text.endswith("-") and not text.endswith(" -") else f"{text} {words}"
    return text.strip()
