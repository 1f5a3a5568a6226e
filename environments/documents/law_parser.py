"""Parser from lines to the tree of a legal text.

The label of a line and the open nodes decide its place: ``(b)`` continues the list that has reached ``(a)``; a first
label that continues no list opens one below the last node. If the format gives the depth of a line, that takes
precedence. Everything that is not a label is text, and all text is kept.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lawtrace.environments.documents.files import read_lines, read_text
from lawtrace.environments.documents.labels import LabelReading, ListLabel, first_label, read_labels
from lawtrace.environments.documents.law_headings import (
    ANNEXES,
    HEADING_WORDS,
    detect_heading_style,
    division_heading,
    may_head_unit,
    read_decimal,
    unit_heading,
)
from lawtrace.environments.documents.legal_text import LegalText, Node, NodeKind
from lawtrace.environments.documents.lines import Line
from lawtrace.environments.documents.oscal import parse_oscal
from lawtrace.environments.documents.paragraphs import DEFINITION, unwrap_lines
from lawtrace.schemas.errors import InputError

_NOTE = re.compile(r"^\[.*\]$")
_WHEREAS = re.compile(r"^whereas:?$", re.I)
_RUN_IN = re.compile(r"(?:[.:;—–]| -) (?P<label>\((?:1|i|A)\)) (?=[A-Z])")
_DUTY = re.compile(r"\b(?:shall|must)\b")
MAX_DEPTH = 50
"""Levels of nodes; laws have fewer than ten."""
_ENACTED = re.compile(r"^(?:have|has) adopted this\b", re.I)


@dataclass(slots=True)
class _OpenNode:
    """A node under construction. ``depth``: of its first line. ``number``: of a unit or decimal heading."""

    kind: NodeKind
    label: str = ""
    citation: str = ""
    heading: str = ""
    pieces: list[str] = field(default_factory=list[str])
    nodes: list["_OpenNode"] = field(default_factory=list["_OpenNode"])
    reading: LabelReading | None = None
    depth: int | None = None
    rank: int = 0
    number: tuple[int, ...] = ()

    def closed(self) -> Node:
        nodes = tuple(node.closed() for node in self.nodes)
        if len(self.number) > 1 and not self.pieces and not nodes:
            # Text alone after a decimal number is a paragraph, not a title.
            return Node(kind="point", label=self.label, citation=self.citation, text=self.heading)
        return Node(
            kind=self.kind,
            label=self.label,
            citation=self.citation,
            heading=self.heading,
            text=" ".join(self.pieces),
            nodes=nodes,
        )

    @property
    def last_words(self) -> str:
        return self.pieces[-1] if self.pieces else ""


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
    parser = _Parser([line for line in lines if line.text.strip()])
    parser.read()
    if not parser.root.nodes:
        raise InputError("the document contains no text that could be a provision")
    return LegalText(
        title="\n".join(parser.title),
        nodes=tuple(node.closed() for node in parser.root.nodes),
        parse_warnings=tuple(parser.parse_warnings),
    )


class _Parser:
    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = unwrap_lines(lines)
        self.title: list[str] = []
        self.parse_warnings: list[str] = []
        self.root = _OpenNode("division", rank=-1)
        self._path: list[_OpenNode] = [self.root]
        self._cited: dict[str, int] = {}
        self._passages = 0
        self._recitals = False
        self._outside: list[str] = []
        self._forms = detect_heading_style(self._lines)

    def read(self) -> None:
        if not (self._forms.units or self._forms.numbers or self._forms.decimals):
            self.parse_warnings.append(
                "no heading of an article, section or annex found; paragraphs are cited by their numbers"
            )
        for place, line in enumerate(self._lines):
            text = " ".join(line.text.split())
            if not (
                self._opens_unit(line, text)
                or self._opens_division(line, text)
                or self._opens_decimal(line, text)
                or self._is_heading(line, text)
            ):
                self._read_text(place, line, text)
        if self._outside:
            self.parse_warnings.append(
                f"{len(self._outside)} paragraphs with a duty are outside every article or section and have no "
                f"citation, beginning with {self._outside[0][:80]!r}"
            )

    # Units and divisions.

    def _opens_unit(self, line: Line, text: str) -> bool:
        if line.level == 0 and self._forms.marked:
            return False
        plain = line.level is None and not self._forms.numbers
        found = unit_heading(line, text, has_units=self._forms.units or plain)
        if found is None:
            return False
        self._recitals = False
        while self._path[-1].kind != "division" or self._path[-1].citation:
            self._path.pop()
        if found.citation.startswith(ANNEXES):  # it follows the last chapter and is not in it
            del self._path[1:]
        citation = self._unique(found.citation)
        self._open(_OpenNode("unit", found.label, citation, found.heading, depth=line.depth, number=found.number))
        return True

    def _opens_decimal(self, line: Line, text: str) -> bool:
        """Whether a decimal number is a label: below a unit with its prefix, or where only decimals are headings."""
        found = None if line.level else read_decimal(text)
        if found is None:
            return False
        shorter = (found.number[:length] for length in range(len(found.number) - 1, 0, -1))
        open_ = {node.number: node for node in self._path}
        above = next((open_[number] for number in shorter if number in open_), None)
        if above is None and (self._forms.units or not self._forms.decimals):
            return False
        while self._path[-1] is not above and (above is not None or self._path[-1].kind != "division"):
            self._path.pop()
        word = above.citation.split()[0] if above is not None else "Section"
        citation = self._unique(found.citation if " " in found.citation else f"{word} {found.citation}")
        opened = _OpenNode(
            "unit" if found.titles else "point", found.label, citation, depth=line.depth, number=found.number
        )
        if found.titles:
            opened.heading = found.heading
        else:
            opened.pieces.append(found.heading)
        self._open(opened)
        return True

    def _opens_division(self, line: Line, text: str) -> bool:
        if line.level == 0 and self._forms.marked:
            return False
        found = division_heading(line, text, has_units=self._forms.units)
        if found is None:
            return False
        annex = next((node for node in self._path if node.citation.startswith(ANNEXES)), None)
        top = annex or self.root
        while self._path[-1] is not top and (self._path[-1].kind != "division" or self._path[-1].rank >= found.rank):
            self._path.pop()
        citation = self._unique(f"{self._path[-1].citation}, {found.citation}") if annex else ""
        self._open(_OpenNode("division", found.label, citation, found.heading, rank=found.rank))
        return True

    def _is_heading(self, line: Line, text: str) -> bool:
        current = self._path[-1]
        bare = current.label and not current.heading and not current.pieces and not current.nodes
        plain = not read_labels(text)[0] and not _NOTE.match(text)
        if line.level:
            if bare and current.kind in {"unit", "division"}:
                current.heading = text
            elif self._forms.units and current is self.root and not self.root.nodes:
                self.title.append(text)
            elif current.kind == "unit" and not current.pieces and not current.nodes:
                current.heading = f"{current.heading} {text}".strip()
            else:
                self._begin_headed(text, line.level)
            return True
        if (
            not plain
            or (line.level == 0 and not bare)
            or current.kind not in {"unit", "division"}
            or current is self.root
        ):
            return False
        looks = len(text.split()) <= HEADING_WORDS and not text.endswith((".", ":", ";", ",")) and text[0] not in "‘“"
        if bare and looks and (line.level is None or not self._forms.marked):
            current.heading = text
            return True
        return False

    def _begin_headed(self, text: str, level: int) -> None:
        """Open a division for an unnumbered heading."""
        rank = 10 + level
        inside = self._forms.units and any(node.kind == "unit" for node in self._path)
        while len(self._path) > 1 and (self._path[-1].kind == "point" or self._path[-1].rank >= rank):
            if inside and self._path[-1].kind == "unit":
                break
            self._path.pop()
        citation = "" if self._forms.units and not inside else self._unique(text)
        if inside:
            citation = self._unique(f"{self._path[-1].citation}, {text}")
        self._open(_OpenNode("division", "", citation, text, rank=rank))

    # Recitals, points and text.

    def _read_text(self, place: int, line: Line, text: str) -> None:
        current = self._path[-1]
        if self._forms.units and not any(node.kind in {"unit", "recital"} or node.citation for node in self._path):
            if _WHEREAS.match(text) or _ENACTED.match(text):
                self._recitals = text.lower().startswith("whereas")
                self._loose(text)
                return
            if current is self.root and not self.root.nodes and not self._recitals:
                self._note_duty(text)
                self.title.append(text)
                return
        if _ENACTED.match(text):
            self._recitals = False
            del self._path[1:]
            self._loose(text)
            return
        if _NOTE.match(text):
            self._note(text)
            return
        labels, rest = read_labels(text) if self._recitals or self._cites() else ((), text)
        if not labels:
            self._words(place, line, text)
            return
        for label in labels:
            self._point(place, line, label)
        self._take(place, rest)

    def _take(self, place: int, rest: str) -> None:
        """The words of the open node, with the points in them."""
        while rest and (found := self._run_in(place, rest)) is not None:
            before, label, reading, rest = found
            self._path[-1].pieces.append(before)
            self._open_run_in(label, reading, [])
        if rest:
            self._path[-1].pieces.append(rest)

    def _cites(self) -> bool:
        """Whether an open node can be cited, so that its points can."""
        return not self._forms.units or any(node.citation for node in self._path)

    def _point(self, place: int, line: Line, label: ListLabel) -> None:
        if self._recitals:
            del self._path[1:]
            number = label.cited.strip("()")
            self._open(_OpenNode("recital", label.text, self._unique(f"Recital {number}"), depth=line.depth))
            return
        if line.depth is not None:
            while self._path[-1].kind in {"point", "passage"} and (self._path[-1].depth or 0) > line.depth:
                self._path.pop()
        reading, sibling = self._choose(place, line, label)
        if sibling is not None:
            self._return_to(sibling)
            self._path.pop()
        while self._path[-1].kind in {"passage", "note"}:
            self._path.pop()
        above = self._path[-1]
        inner = above.kind == "point" or (above.kind == "unit" and not above.citation.startswith(ANNEXES))
        if above is self.root or not above.citation:
            citation = f"paragraph {label.cited}"
        else:
            citation = f"{above.citation}{label.cited}" if inner else f"{above.citation}, {label.cited}"
        self._open(_OpenNode("point", label.text, self._unique(citation), reading=reading, depth=line.depth))

    def _choose(self, place: int, line: Line, label: ListLabel) -> tuple[LabelReading, _OpenNode | None]:
        """The interpretation of the label, and the open point before it in the same list; None for the first point."""
        points = [node for node in reversed(self._path) if node.kind == "point" and node.reading is not None]
        if line.depth is not None and (level := [node for node in points if node.depth == line.depth]):
            points = level
        elif line.depth is not None and points and all((node.depth or 0) < line.depth for node in points):
            points = []  # deeper than all open points: a new list
        going_on = [(r, node) for node in points for r in label.readings if node.reading and r.follows(node.reading)]
        beginning = [reading for reading in label.readings if reading.first]
        if going_on and beginning:
            reading, sibling = going_on[0]
            return (reading, sibling) if self._goes_on(place, reading, beginning[0]) else (beginning[0], None)
        if going_on:
            return going_on[0]
        if beginning:
            return beginning[0], None
        if self._splits_run_in(label):
            return self._choose(place, line, label)
        later = [(r, node) for node in points for r in label.readings if node.reading and r.is_after(node.reading)]
        if later:
            self.parse_warnings.append(f"{label.text} follows {later[0][1].citation}: a number is missing between them")
            return later[0]
        if self._path[-1].kind == "point":
            self.parse_warnings.append(
                f"{label.text} below {self._path[-1].citation} neither begins nor continues a list"
            )
            self._leave_points_of_section(label)
        return label.readings[0], None

    def _leave_points_of_section(self, label: ListLabel) -> None:
        """In a section of a code letters are the first level, so *(c)* after a gap is not below another point."""
        unit = next((node for node in reversed(self._path) if node.kind == "unit"), None)
        if unit is None or not unit.citation.startswith("§") or label.readings[0].style != "a (#)":
            return
        self._return_to(unit)

    def _splits_run_in(self, label: ListLabel) -> bool:
        """Split the first point of the label's list from the text read last (*Time limit. (i) Keep ...*).

        Without a second point it cannot be distinguished from a cross-reference. Returns whether it was split.
        """
        current = self._path[-1]
        for reading in label.readings:
            first = first_label(reading)
            before, found, rest = current.last_words.partition(f" {first} ")
            if reading.value == (2, "") and found and before.endswith((".", ":", "—", "–", " -", ";")):
                current.pieces[-1] = before
                (begun,) = read_labels(first)[0]
                meant = next(meant for meant in begun.readings if meant.style == reading.style)
                self._open_run_in(begun, meant, [rest])
                return True
        return False

    def _run_in(self, place: int, text: str) -> tuple[str, ListLabel, LabelReading, str] | None:
        """The first point of a list in the words of a labelled line (*Notice - (1) Form. The notice ...*), if a second
        one follows below: the words before it, its label with its reading, and the rest."""
        for found in _RUN_IN.finditer(text):
            (label,) = read_labels(found["label"])[0]
            reading = next(reading for reading in label.readings if reading.first)
            if self._has_second(place, reading):
                return text[: found.start("label")].rstrip(), label, reading, text[found.end() :]
        return None

    def _has_second(self, place: int, first: LabelReading) -> bool:
        """Whether the list goes on below, before one of the open lists does."""
        open_ = [node.reading for node in self._path if node.reading is not None]
        for labels in self._labels_below(place):
            for reading in labels[0].readings if labels else ():
                if reading.follows(first):
                    return True
                if any(reading.follows(other) for other in open_):
                    return False
        return False

    def _open_run_in(self, label: ListLabel, reading: LabelReading, pieces: list[str]) -> None:
        current = self._path[-1]
        citation = self._unique(f"{current.citation}{label.cited}")
        self._open(_OpenNode("point", label.text, citation, pieces=pieces, reading=reading, depth=current.depth))

    def _goes_on(self, place: int, going_on: LabelReading, beginning: LabelReading) -> bool:
        """Whether ``(i)`` is the letter after ``(h)`` rather than a numeral: whether ``(j)`` comes before ``(ii)``."""
        if self._path[-1].last_words.endswith((":", "—", "–")):
            return False
        for reading in (one for labels in self._labels_below(place) for label in labels for one in label.readings):
            if reading.follows(going_on):
                return True
            if reading.follows(beginning):
                return False
        return True

    def _labels_below(self, place: int) -> Iterator[tuple[ListLabel, ...]]:
        """The labels of each line below, up to the heading of a unit."""
        for line in self._lines[place + 1 : place + 200]:
            yield read_labels(line.text)[0]
            if may_head_unit(line.text.strip()):
                break

    def _opens_definition(self, place: int, text: str) -> bool:
        """Whether the line defines a term, in a unit of unnumbered definitions: *Breach means ...*."""
        unit = next((node for node in reversed(self._path) if node.kind == "unit"), None)
        found = DEFINITION.match(text)
        if unit is None or not unit.citation or found is None or not unit.heading.lower().startswith("definitions"):
            return False
        self._return_to(unit)
        self._open(_OpenNode("point", "", self._unique(f"{unit.citation} ({found['term'].lower()})")))
        self._take(place, text)
        return True

    def _words(self, place: int, line: Line, text: str) -> None:
        if self._opens_definition(place, text):
            return
        current = self._path[-1]
        if self._forms.units and not self._cites():
            self._note_duty(text)
            self._loose(text)
            return
        if current is self.root or (current.kind == "division" and not self._forms.units):
            self._count(text)
            return
        if line.depth is not None:
            while self._path[-1].kind == "point" and (self._path[-1].depth or 0) > line.depth:
                self._path.pop()
        elif (owner := self._list_owner(current)) and current.last_words.endswith("."):
            # The point ended the sentence: the text belongs to the node that opened the outermost list.
            self._return_to(owner)
        current = self._path[-1]
        if current.nodes:
            current.nodes.append(_OpenNode("passage", citation=current.citation, pieces=[text]))
        else:
            current.pieces.append(text)

    def _list_owner(self, current: _OpenNode) -> _OpenNode | None:
        if current.kind != "point":
            return None
        above = self._path[: self._path.index(current)]
        return next((node for node in above if node.last_words.endswith((":", "—", "–"))), None)

    def _loose(self, text: str) -> None:
        """Keep text outside every unit, without a citation."""
        while self._path[-1].kind not in {"division"}:
            self._path.pop()
        self._path[-1].nodes.append(_OpenNode("passage", pieces=[text]))

    def _note_duty(self, text: str) -> None:
        if _DUTY.search(text):
            self._outside.append(text)

    def _count(self, text: str) -> None:
        """Cite a paragraph outside all units and numbers by counting."""
        current = self._path[-1]
        self._passages += 1
        citation = f"{current.citation}, passage" if current.citation else "passage"
        current.nodes.append(_OpenNode("unit", citation=self._unique(f"{citation} {self._passages}"), pieces=[text]))

    def _note(self, text: str) -> None:
        while self._path[-1].kind in {"point", "passage"}:
            self._path.pop()
        self._path[-1].nodes.append(_OpenNode("note", pieces=[text]))

    def _return_to(self, node: _OpenNode) -> None:
        """Close the nodes below an open one."""
        while self._path[-1] is not node:
            self._path.pop()

    def _open(self, node: _OpenNode) -> None:
        if len(self._path) > MAX_DEPTH:
            place = next((one.citation for one in self._path if one.citation), "the text")
            raise InputError(f"{place}: points are nested more than {MAX_DEPTH} deep")
        self._path[-1].nodes.append(node)
        self._path.append(node)

    def _unique(self, citation: str) -> str:
        self._cited[citation] = self._cited.get(citation, 0) + 1
        if self._cited[citation] == 1:
            return citation
        self.parse_warnings.append(f"{citation} occurs {self._cited[citation]} times")
        return f"{citation} [{self._cited[citation]}]"
