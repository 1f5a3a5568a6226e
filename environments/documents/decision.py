"""A decision as a tree: headings, and below them numbered paragraphs that can be cited."""

from collections.abc import Iterator
from itertools import chain

from pydantic import Field

from lawtrace.schemas.models import StrictModel


class Paragraph(StrictModel):
    """One paragraph.

    Attributes:
        ref: its citation, unique in the document: its own number (``47``, ``1.12``), after the name of its annex if it
            is in one (``ANNEX 1/3``); ``p7`` where the document has no numbers.
        page: the page on which it begins, from 1; 0 where pages are unknown.
    """

    ref: str = Field(min_length=1)
    text: str
    page: int = 0


class Section(StrictModel):
    """A heading with its paragraphs and subsections. The heading is empty for text before the first one."""

    heading: str
    paragraphs: tuple[Paragraph, ...] = ()
    sections: tuple["Section", ...] = ()

    def outline(self, above: str = "") -> Iterator[tuple[str, "Section"]]:
        """The section and those within it, with the path of headings to each, in the order of the text."""
        path = f"{above} > {self.heading}" if above else self.heading
        yield path, self
        for section in self.sections:
            yield from section.outline(path)


class Document(StrictModel):
    """A parsed decision.

    Attributes:
        front: the text before the first numbered paragraph (title, addressee).
        closing: the text after the last one (date, signature).
        notes: footnotes, taken out of the paragraphs that they interrupted.
        parse_warnings: points to review, such as gaps in the numbering.
    """

    front: str = ""
    sections: tuple[Section, ...]
    closing: str = ""
    notes: tuple[str, ...] = ()
    parse_warnings: tuple[str, ...] = ()

    def paragraphs(self) -> tuple[Paragraph, ...]:
        return tuple(paragraph for _, section in self.outline() for paragraph in section.paragraphs)

    def outline(self) -> Iterator[tuple[str, Section]]:
        """Every section with the path of headings to it, in the order of the text."""
        return chain.from_iterable(section.outline() for section in self.sections)
