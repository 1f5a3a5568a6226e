"""A legal text as a tree: divisions, articles or sections, paragraphs and points, each with its own words."""

from collections.abc import Collection, Iterator
from datetime import date
from typing import Literal

from pydantic import Field

from lawtrace.schemas.models import StrictModel

NodeKind = Literal["division", "unit", "recital", "point", "passage", "note"]


class Provision(StrictModel):
    """The smallest citable part of a regulation."""

    citation: str = Field(min_length=1)
    text: str = Field(min_length=1)
    opening: str | None = None
    """For a point of a list: the words above the list that begin its sentence."""
    heading: str | None = None
    """The title of its article or section."""
    within: tuple[str, ...] = ()
    """The citations of the units above it, outermost first: a rule may cite a paragraph and mean all its points."""
    in_force_from: date | None = None
    """The first day on which it applies; None for that of its act. ``in_force_to``: the last one."""
    in_force_to: date | None = None

    def words(self) -> str:
        """The quotable text: the opening of its list and its own words."""
        return " ".join(f"{self.opening or ''} {self.text}".split())


class Node(StrictModel):
    """A node of a legal text, with its child nodes in text order.

    Attributes:
        kind: *division*: a part, chapter or subpart, which is not cited itself. *unit*: an article, section, annex or
            control. *point*: a numbered paragraph or anything numbered below it. *passage*: unnumbered text, as after
            a list. *note*: an editorial note on the history of the text.
        label: as printed: ``Article 97``, ``(a)``, ``1.``; empty if there is none.
        citation: unique citation; passages have that of their parent; empty for nodes that cannot be cited.
        heading: the title after or below the label.
        text: its own text, before that of its children.
    """

    kind: NodeKind
    label: str = ""
    citation: str = ""
    heading: str = ""
    text: str = ""
    nodes: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """The node and its descendants, in text order."""
        yield self
        for node in self.nodes:
            yield from node.walk()

    @property
    def opens(self) -> bool:
        """Whether its text only introduces the points below it."""
        return any(node.kind == "point" for node in self.nodes) and self.text.endswith((":", "—", "–", "-"))


class LegalText(StrictModel):
    """A legal text as read from a file.

    Attributes:
        title: the text before the first division or unit.
        notes: footnotes, taken out of the running text.
        parse_warnings: points to review: gaps in the numbering, ambiguous labels.
    """

    title: str = ""
    nodes: tuple[Node, ...] = Field(min_length=1)
    notes: tuple[str, ...] = ()
    parse_warnings: tuple[str, ...] = ()

    def walk(self) -> Iterator[Node]:
        for node in self.nodes:
            yield from node.walk()

    def words(self) -> Iterator[str]:
        """The whole text in order, without footnotes."""
        pieces = (piece for node in self.walk() for piece in (node.label, node.heading, node.text))
        return (piece for piece in (self.title, *pieces) if piece)

    def provisions(self) -> tuple[Provision, ...]:
        """The smallest citable parts, in text order.

        A paragraph that only introduces a list (*the provider shall:*) is not a provision; its words become the opening
        of each point of the list. Recitals and notes are not provisions.
        """
        return tuple(provision for node in self.nodes for provision in _provisions(node, "", "", ()))

    @property
    def title_lines(self) -> tuple[str, ...]:
        """The lines of the title, each once: some formats give it twice."""
        return tuple(dict.fromkeys(line for line in self.title.split("\n") if line))

    def layout(self, chosen: Collection[str] | None = None) -> str:
        """The text in the order and with the labels of the document, without footnotes.

        Args:
            chosen: citations of provisions; only these are shown, below the headings and opening words that they need,
                and without the title.
        """
        shown = [line for node in self.nodes for line in _lines(node, chosen, 0)]
        return "\n".join([*(self.title_lines if chosen is None else ()), *shown])


def _lines(node: Node, chosen: Collection[str] | None, depth: int) -> Iterator[str]:
    """The lines of a node and of those below it; none if no provision in it is chosen."""
    if chosen is not None and not any(below.citation in chosen for below in node.walk() if below.kind != "division"):
        return
    own, indent = chosen is None or node.citation in chosen, "  " * depth
    words = node.text if own or node.opens else ""
    heading = [node.label, node.heading, "" if node.heading else words]
    if line := " ".join(piece for piece in heading if piece):
        yield indent + line
    if node.heading and words:
        yield indent + words
    inner = depth + 1 if node.kind == "point" else depth
    for below in node.nodes:
        if below.kind == "passage":
            if own:
                yield indent + below.text
        elif below.kind not in {"note", "recital"} or chosen is None:
            yield from _lines(below, chosen, inner)


def _provisions(node: Node, opening: str, heading: str, within: tuple[str, ...]) -> Iterator[Provision]:
    if node.kind in {"note", "recital"} or (not node.citation and node.kind != "division"):
        return
    if node.kind == "unit":
        heading = node.heading or heading
    own = [node.text, *(below.text for below in node.nodes if below.kind == "passage")]
    text = " ".join(piece for piece in own if piece)
    if text and node.citation and not (node.opens and text == node.text):
        yield Provision(
            citation=node.citation, text=text, opening=opening or None, heading=heading or None, within=within
        )
    below_opening = f"{opening} {node.text}".strip() if node.opens else opening
    inner = (*within, node.citation) if node.citation else within
    for below in node.nodes:
        if below.kind != "passage":
            yield from _provisions(below, below_opening, heading, inner)
