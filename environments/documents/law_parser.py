"""Parser from lines to the tree of a legal text.

The label of a line and the open nodes decide its place: ``(b)`` continues the list that has reached ``(a)``; a first
label that continues no list opens one below the last node. If the format gives the depth of a line, that takes
precedence. Everything that is not a label is text, and all text is kept.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from lawtrace.environments.documents.files import read_lines, read_text
from lawtrace.environments.documents.headings import (
    ANNEXES,
    HEADING_WORDS,
    count_up,
    division_heading,
    may_head_unit,
    read_decimal,
    unit_heading,
)
from lawtrace.environments.documents.labels import LabelReading, ListLabel, read_labels
from lawtrace.environments.documents.legal_text import LegalText, Node
from lawtrace.environments.documents.lines import Line
from lawtrace.environments.documents.oscal import parse_oscal
from lawtrace.environments.documents.paragraphs import DEFINITION, unwrap_lines
from lawtrace.environments.documents.tree import OpenNode, TreeParser
from lawtrace.schemas.errors import InputError

_NOTE = re.compile(r"^\[.*\]$")
_WHEREAS = re.compile(r"^whereas:?$", re.I)
_RUN_IN = re.compile(r"(?:[.:;—–]| -) (?P<label>\((?:1|i|A|a)\)|[1ai]\)|1\.) ")
_ENOUGH = 2
"""Minimum number of lines: a single decimal number is an amount or a version."""
_DUTY = re.compile(r"\b(?:shall|must)\b")
_ENACTED = re.compile(r"^(?:have|has) adopted this\b", re.I)


SUFFIXES = frozenset({".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml", ".xml", ".json", ".pdf"})
"""Of the files that `read_legal_text` reads, in lower case."""
FORMATS = ".txt, .md, .html, .xhtml, .xml (Formex), .json (OSCAL) or .pdf"


def read_legal_text(path: Path) -> LegalText:
    """Read a regulation. Raises InputError naming the file and the remedy; OperationalError for a PDF without the extra
    ``pdf``."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: a regulation is {FORMATS}; a restated one is .toml")
    try:
        if suffix == ".json":
            text = parse_oscal(read_text(path))
        else:
            read = read_lines(path, "law")
            text = parse_legal_text(read.lines).model_copy(update={"notes": read.notes})
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error
    if not any(char.isalpha() for provision in text.provisions() for char in provision.text):
        raise InputError(f"{path}: contains no provision: nothing citable has text")
    return text


def parse_legal_text(lines: Sequence[Line]) -> LegalText:
    """Build the tree. Raises InputError if it has no text."""
    parser = _LawParser([line for line in lines if line.text.strip()])
    parser.read()
    if not parser.root.nodes:
        raise InputError("the document contains no text that could be a provision")
    return LegalText(
        title="\n".join(parser.title),
        nodes=tuple(map(_closed, parser.root.nodes)),
        parse_warnings=tuple(parser.parse_warnings),
    )


class _LawParser(TreeParser):
    """Labels and open nodes decide where a line belongs, so each line is read when the nodes above it are known."""

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__(unwrap_lines(lines))
        self.title: list[str] = []
        self._passages = 0
        self._recitals = False
        self._outside: list[str] = []
        # How the text is headed. With units (articles, sections, annexes) numbers are points; annexes alone do not make
        # them that. Else numbered plain lines are headings (*1 Scope*, later *2 Duties*), or only decimals (*1.1*). If
        # the format marks headings, other lines are none.
        headed = [found for line in self.lines if (found := unit_heading(line, has_units=True))]
        self._numbers = count_up([line for line in self.lines if line.level is None])
        self._decimals = sum(read_decimal(line.text) is not None for line in self.lines if not line.level) >= _ENOUGH
        only_annexes = all(found.citation.startswith(ANNEXES) for found in headed)
        self._units = bool(headed) and not (only_annexes and (self._numbers or self._decimals))
        self._marked = any(line.level and may_head_unit(line.text) for line in self.lines)

    def read(self) -> None:
        if not (self._units or self._numbers or self._decimals):
            self.parse_warnings.append(
                "no heading of an article, section or annex found; paragraphs are cited by their numbers"
            )
        super().read()
        if self._outside:
            self.parse_warnings.append(
                f"{len(self._outside)} paragraphs with a duty are outside every article or section and have no "
                f"citation, beginning with {self._outside[0][:80]!r}"
            )

    # Units and divisions.

    def read_headings(self, place: int) -> int:
        line = self.lines[place]
        unmarked = line.level == 0 and self._marked
        if not unmarked and (self._opens_unit(line) or self._opens_division(line)):
            return 1
        return int(self._opens_decimal(line) or self._is_heading(line, line.text))

    def _opens_unit(self, line: Line) -> bool:
        plain = line.level is None and not self._numbers
        found = unit_heading(line, has_units=self._units or plain)
        if found is None:
            return False
        self._recitals = False
        self.close_to(lambda node: node.kind == "division" and not node.citation)
        if found.citation.startswith(ANNEXES):  # it follows the last chapter and is not in it
            del self.path[1:]
        citation = self.unique(found.citation)
        self.open(OpenNode("unit", found.label, citation, found.text, depth=line.depth, number=found.number))
        return True

    def _opens_division(self, line: Line) -> bool:
        found = division_heading(line, has_units=self._units)
        if found is None:
            return False
        annex = next((node for node in self.path if node.citation.startswith(ANNEXES)), None)
        self.close_to(lambda node: node is annex or (node.kind == "division" and node.rank < found.rank))
        citation = self.unique(f"{self.current.citation}, {found.citation}") if annex else ""
        self.open(OpenNode("division", found.label, citation, found.text, rank=found.rank))
        return True

    def _opens_decimal(self, line: Line) -> bool:
        """Whether a decimal number is a label: below a unit with its prefix, or where only decimals are headings."""
        found = None if line.level else read_decimal(line.text)
        if found is None:
            return False
        shorter = (found.number[:length] for length in range(len(found.number) - 1, 0, -1))
        open_ = {node.number: node for node in self.path}
        above = next((open_[number] for number in shorter if number in open_), None)
        if above is None and (self._units or not self._decimals):
            return False
        self.close_to(lambda node: node is above or (above is None and node.kind == "division"))
        word = above.citation.split()[0] if above is not None else "Section"
        citation = self.unique(found.citation if " " in found.citation else f"{word} {found.citation}")
        opened = OpenNode("point", found.label, citation, depth=line.depth, number=found.number)
        if found.titles:
            opened.kind, opened.heading = "unit", found.text
        else:
            opened.pieces.append(found.text)
        self.open(opened)
        return True

    def _is_heading(self, line: Line, text: str) -> bool:
        """Whether the line is the title of the open unit or division, or a heading of its own."""
        current = self.current
        bare = current.label and current.empty and not current.heading and current.kind in {"unit", "division"}
        if not line.level:
            plain = line.level is None or not self._marked
            ends = text.endswith((".", ":", ";", ",")) or text[0] in "‘“" or len(text.split()) > HEADING_WORDS
            if not (bare and plain) or ends or read_labels(text)[0] or _NOTE.match(text):
                return False
            current.heading = text
        elif bare or (current.kind == "unit" and current.empty):
            current.heading = f"{current.heading} {text}".strip()
        elif self._units and current is self.root and current.empty:
            self.title.append(text)
        else:
            self._begin_headed(text, line.level)
        return True

    def _begin_headed(self, text: str, level: int) -> None:
        """Open a division for an unnumbered heading."""
        rank = 10 + level
        inside = self._units and self._unit() is not None
        self.close_to(lambda node: node.kind != "point" and node.rank < rank)
        citation = ""
        if inside or not self._units:
            citation = self.unique(f"{self.current.citation}, {text}" if inside else text)
        self.open(OpenNode("division", "", citation, text, rank=rank))

    # Recitals, points and text.

    def read_text(self, place: int) -> None:
        text = self.lines[place].text
        if _ENACTED.match(text):
            self._recitals = False
            del self.path[1:]
            self._loose(text)
            return
        if self._units and not any(node.kind in {"unit", "recital"} or node.citation for node in self.path):
            if _WHEREAS.match(text):
                self._recitals = True
                self._loose(text)
                return
            if self.current is self.root and self.root.empty and not self._recitals:
                self._note_duty(text)
                self.title.append(text)
                return
        if _NOTE.match(text):
            self.close_to(lambda node: node.kind != "point")
            self.current.nodes.append(OpenNode("note", pieces=[text]))
            return
        labels, rest = read_labels(text) if self._recitals or self._cites() else ((), text)
        if not labels:
            self._words(place, text)
            return
        for label in labels:
            self._point(place, label)
        self._take(place, rest)

    def _cites(self) -> bool:
        """Whether an open node can be cited, so that its points can."""
        return not self._units or any(node.citation for node in self.path)

    def _unit(self) -> OpenNode | None:
        return self.innermost(lambda node: node.kind == "unit")

    def _point(self, place: int, label: ListLabel) -> None:
        depth = self.lines[place].depth
        if self._recitals:
            del self.path[1:]
            number = label.cited.strip("()")
            self.open(OpenNode("recital", label.text, self.unique(f"Recital {number}"), depth=depth))
            return
        if depth is not None:
            self._leave_deeper(depth)
        reading, sibling = self._choose(depth, place, label)
        if sibling is not None:
            self.close_to(lambda node: node is sibling)
            self.path.pop()
        self._open_point(label, reading, depth)

    def _open_point(self, label: ListLabel, reading: LabelReading, depth: int | None) -> None:
        above = self.current
        inner = above.kind == "point" or (above.kind == "unit" and not above.citation.startswith(ANNEXES))
        if above is self.root or not above.citation:
            citation = f"paragraph {label.cited}"
        else:
            citation = f"{above.citation}{label.cited}" if inner else f"{above.citation}, {label.cited}"
        self.open(OpenNode("point", label.text, self.unique(citation), reading=reading, depth=depth))

    def _leave_deeper(self, depth: int) -> None:
        """Close the points that the format sets deeper."""
        self.close_to(lambda node: node.kind != "point" or (node.depth or 0) <= depth)

    def _choose(self, depth: int | None, place: int, label: ListLabel) -> tuple[LabelReading, OpenNode | None]:
        """The interpretation of the label, and the open point before it in the same list; None for the first point."""
        points = [node for node in reversed(self.path) if node.kind == "point" and node.reading is not None]
        if depth is not None and (level := [node for node in points if node.depth == depth]):
            points = level
        elif depth is not None and points and all((node.depth or 0) < depth for node in points):
            points = []  # deeper than all open points: a new list
        going_on = [(r, node) for node in points for r in label.readings if node.reading and r.follows(node.reading)]
        beginning = [reading for reading in label.readings if reading.first]
        if going_on and not (beginning and self._begins(place, going_on[0][0], beginning[0])):
            return going_on[0]
        if beginning:
            return beginning[0], None
        later = [(r, node) for node in points for r in label.readings if node.reading and r.is_after(node.reading)]
        if later:
            self.parse_warnings.append(f"{label.text} follows {later[0][1].citation}: a number is missing between them")
            return later[0]
        if self.current.kind == "point":
            self.parse_warnings.append(
                f"{label.text} below {self.current.citation} neither begins nor continues a list"
            )
            unit = self._unit()
            if unit is not None and unit.citation.startswith("§") and label.readings[0].style == "a (#)":
                # In a section of a code letters are the first level, also after a gap.
                self.close_to(lambda node: node is unit)
        return label.readings[0], None

    def _take(self, place: int, text: str) -> None:
        """Add words to the open node. A point in them (*Notice - (1) Form. The notice ...*) opens a list, if a second
        one follows below; without that it cannot be distinguished from a reference."""
        open_ = [node.reading for node in self.path if node.reading is not None]
        seen: set[str] = set()
        for found in _RUN_IN.finditer(text):
            if found["label"] in seen:
                continue
            seen.add(found["label"])
            (label,) = read_labels(found["label"])[0]
            reading = next(reading for reading in label.readings if reading.first)
            if self._next_below(place, [reading, *open_]) is reading:
                self.current.pieces.append(text[: found.start("label")].rstrip())
                self._open_point(label, reading, self.current.depth)
                self._take(place, text[found.end() :])
                return
        if text:
            self.current.pieces.append(text)

    def _begins(self, place: int, going_on: LabelReading, beginning: LabelReading) -> bool:
        """Whether ``(i)`` is a numeral rather than the letter after ``(h)``: whether ``(ii)`` comes before ``(j)``."""
        opened = self.current.last_words.endswith((":", "—", "–"))
        return opened or self._next_below(place, [going_on, beginning]) is beginning

    def _next_below(self, place: int, lists: Sequence[LabelReading]) -> LabelReading | None:
        """Of the last labels of lists, the one whose list goes on first below, up to the heading of a unit."""
        for line in self.lines[place + 1 : place + 200]:
            for reading in (reading for label in read_labels(line.text)[0] for reading in label.readings):
                if last := next((last for last in lists if reading.follows(last)), None):
                    return last
            if may_head_unit(line.text):
                break
        return None

    def _opens_definition(self, place: int, text: str) -> bool:
        """Whether the line defines a term, in a unit of unnumbered definitions: *Breach means ...*."""
        unit, found = self._unit(), DEFINITION.match(text)
        if unit is None or not unit.citation or found is None or not unit.heading.lower().startswith("definitions"):
            return False
        self.close_to(lambda node: node is unit)
        self.open(OpenNode("point", "", self.unique(f"{unit.citation} ({found['term'].lower()})")))
        self._take(place, text)
        return True

    def _words(self, place: int, text: str) -> None:
        if self._opens_definition(place, text):
            return
        current, depth = self.current, self.lines[place].depth
        if self._units and not self._cites():
            self._note_duty(text)
            self._loose(text)
            return
        if current is self.root or (current.kind == "division" and not self._units):
            self._count(text)
            return
        if depth is not None:
            self._leave_deeper(depth)
        elif (owner := self._list_owner()) and current.last_words.endswith("."):
            # The point ended the sentence: the text belongs to the node that opened the outermost list.
            self.close_to(lambda node: node is owner)
        current = self.current
        if current.nodes:
            current.nodes.append(OpenNode("passage", citation=current.citation, pieces=[text]))
        else:
            self._take(place, text)

    def _list_owner(self) -> OpenNode | None:
        above = self.path[:-1] if self.current.kind == "point" else []
        return next((node for node in above if node.last_words.endswith((":", "—", "–"))), None)

    def _loose(self, text: str) -> None:
        """Keep text outside every unit, without a citation."""
        self.close_to(lambda node: node.kind == "division")
        self.current.nodes.append(OpenNode("passage", pieces=[text]))

    def _note_duty(self, text: str) -> None:
        if _DUTY.search(text):
            self._outside.append(text)

    def _count(self, text: str) -> None:
        """Cite a paragraph outside all units and numbers by counting."""
        self._passages += 1
        citation = f"{self.current.citation}, passage" if self.current.citation else "passage"
        self.current.nodes.append(OpenNode("unit", citation=self.unique(f"{citation} {self._passages}"), pieces=[text]))

    def unique(self, citation: str, key: str = "") -> str:
        found = super().unique(citation, key)
        if found != citation:
            self.parse_warnings.append(f"{citation} occurs {self.cited[citation]} times")
        return found


def _closed(node: OpenNode) -> Node:
    kind, heading, text = node.kind, node.heading, " ".join(node.pieces)
    if len(node.number) > 1 and node.empty:
        # Text alone after a decimal number is a paragraph, not a title.
        kind, heading, text = "point", "", heading
    nodes = tuple(map(_closed, node.nodes))
    return Node(kind=kind, label=node.label, citation=node.citation, heading=heading, text=text, nodes=nodes)
