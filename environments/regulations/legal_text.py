"""A legal text as a tree: divisions, articles or sections, paragraphs and points, each with its own words."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.environments.regulations.regulation import Provision, Regulation

NodeKind = Literal["division", "unit", "recital", "point", "passage", "note"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Node(_Frozen):
    """A piece of the text, with the pieces below it in the order of the text.

    Attributes:
        kind: *division*: a part, chapter or subpart, that other pieces are only found by. *unit*: an article, section,
            annex or control. *point*: a numbered paragraph or anything numbered below it. *passage*: words that go on
            after the points of a list, or that nothing numbers. *note*: where an editor says when the text was made.
        label: as printed: ``Article 97``, ``(a)``, ``1.``; empty where there is none.
        citation: what the piece is cited by, unique but for passages, which go by what they belong to; empty for what
            nobody cites.
        heading: the title behind or below the label.
        text: its own words, before those of the pieces below it.
    """

    kind: NodeKind
    label: str = ""
    citation: str = ""
    heading: str = ""
    text: str = ""
    nodes: tuple["Node", ...] = ()

    def words(self) -> Iterator[str]:
        """Everything that it says, with what stands below it, in the order of the text."""
        yield from (piece for piece in (self.label, self.heading, self.text) if piece)
        for node in self.nodes:
            yield from node.words()

    def walk(self) -> Iterator["Node"]:
        """It and all that stands below it, in the order of the text."""
        yield self
        for node in self.nodes:
            yield from node.walk()

    @property
    def opens(self) -> bool:
        """Whether its words are only the opening of the points below it."""
        return any(node.kind == "point" for node in self.nodes) and self.text.endswith((":", "—", "–", "-"))


class LegalText(_Frozen):
    """A legal text as it was read.

    Attributes:
        title: what stands before the first division or unit.
        notes: footnotes, taken out of the text that they interrupted.
        left_out: page numbers and running heads.
        doubts: what somebody should look at: gaps in the numbering, labels that could mean two things.
    """

    title: str = ""
    nodes: tuple[Node, ...] = Field(min_length=1)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def walk(self) -> Iterator[Node]:
        for node in self.nodes:
            yield from node.walk()

    def words(self) -> Iterator[str]:
        """The whole text but footnotes and what was left out, in its order."""
        if self.title:
            yield self.title
        for node in self.nodes:
            yield from node.words()

    def provisions(self) -> tuple[Provision, ...]:
        """The smallest citable parts, in the order of the text.

        A paragraph that only opens a list (*the provider shall:*) is no provision; its words stand with each of the
        list's points, which could not be understood without them. Recitals and notes are no provisions.
        """
        return tuple(provision for node in self.nodes for provision in _provisions(node, "", ""))

    def as_regulation(self, id: str, source: str) -> Regulation:  # noqa: A002 (the field's name)
        """The regulation that the rest of the house reads. Raises pydantic's ValidationError without provisions."""
        title = " ".join(self.title.split())[:200] or id
        return Regulation(id=id, title=title, source=source, restated=False, provisions=self.provisions())


def _provisions(node: Node, opening: str, heading: str) -> Iterator[Provision]:
    if node.kind in {"note", "recital"} or (not node.citation and node.kind != "division"):
        return
    if node.kind == "unit":
        heading = node.heading or heading
    own = [node.text, *(below.text for below in node.nodes if below.kind == "passage")]
    text = " ".join(piece for piece in own if piece)
    if text and node.citation and not (node.opens and text == node.text):
        yield Provision(citation=node.citation, text=text, opening=opening or None, heading=heading or None)
    below_opening = f"{opening} {node.text}".strip() if node.opens else opening
    for below in node.nodes:
        if below.kind != "passage":
            yield from _provisions(below, below_opening, heading)
