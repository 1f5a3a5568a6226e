"""The tree of a document under construction, and the walk over its lines.

A profile (`law_parser.py`, `decision_parser.py`) says which lines are headings, what a label means and how nodes nest.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lawtrace.environments.documents.labels import LabelReading
from lawtrace.environments.documents.legal_text import NodeKind
from lawtrace.environments.documents.lines import Line
from lawtrace.schemas.errors import InputError

MAX_DEPTH = 50
"""Levels of nodes; laws have fewer than ten."""


@dataclass(slots=True)
class OpenNode:
    """A node under construction.

    Attributes:
        pieces: its own text.
        rank: of a division; those of greater rank are within it.
        page, depth: of its first line.
        reading: of the label of a point.
        number: of a unit or a decimal heading.
    """

    kind: NodeKind
    label: str = ""
    citation: str = ""
    heading: str = ""
    pieces: list[str] = field(default_factory=list[str])
    nodes: list["OpenNode"] = field(default_factory=list["OpenNode"])
    rank: int = 0
    page: int = 0
    depth: int | None = None
    reading: LabelReading | None = None
    number: tuple[int, ...] = ()

    @property
    def last_words(self) -> str:
        return self.pieces[-1] if self.pieces else ""

    @property
    def empty(self) -> bool:
        """Whether neither text nor a node is below its heading."""
        return not (self.pieces or self.nodes)


class TreeParser:
    """Reads lines, one after another, into nodes.

    Attributes:
        path: the open nodes, from the root to the innermost.
        repeated: how a citation is written that occurred before.
    """

    repeated = "{} [{}]"

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.parse_warnings: list[str] = []
        self.root = OpenNode("division", rank=-1)
        self.path = [self.root]
        self.cited = Counter[str]()

    def read(self) -> None:
        place = 0
        while place < len(self.lines):
            headings = self.read_headings(place)
            if not headings:
                self.read_text(place)
            place += headings or 1

    def read_headings(self, place: int) -> int:
        """How many lines from a place are headings, after opening their nodes."""
        raise NotImplementedError

    def read_text(self, place: int) -> None:
        """Add a line that is no heading."""
        raise NotImplementedError

    @property
    def current(self) -> OpenNode:
        return self.path[-1]

    def innermost(self, condition: Callable[[OpenNode], bool]) -> OpenNode | None:
        return next(filter(condition, reversed(self.path)), None)

    def close_to(self, condition: Callable[[OpenNode], bool]) -> None:
        """Close nodes, the innermost first, up to one for which the condition holds, or to the root."""
        while self.current is not self.root and not condition(self.current):
            self.path.pop()

    def open(self, node: OpenNode) -> None:
        """Raises InputError if nodes are nested too deep."""
        if len(self.path) > MAX_DEPTH:
            place = next((one.citation for one in self.path if one.citation), "the text")
            raise InputError(f"{place}: points are nested more than {MAX_DEPTH} deep")
        self.current.nodes.append(node)
        self.path.append(node)

    def unique(self, citation: str, key: str = "") -> str:
        """The citation, with a count if it, or its key, occurred before."""
        self.cited[key or citation] += 1
        count = self.cited[key or citation]
        return citation if count == 1 else self.repeated.format(citation, count)
