"""Lines of documents: what every reader of a file gives, and every parser takes."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a block in formats that mark blocks.

    Attributes:
        page: from 1; 0 if the format has no pages.
        level: heading level from 1; 0 if marked as not a heading; None if unknown.
        depth: number of enclosing lists or tables; None if unknown.
        note: whether the format marks it as a footnote.
        gap: whether there is more blank space above it than between the lines of a paragraph.
    """

    text: str
    page: int = 0
    level: int | None = None
    depth: int | None = None
    note: bool = False
    gap: bool = False


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """The lines of a document without page numbers and running heads, and its footnotes, which are no lines of it."""

    lines: Sequence[Line]
    notes: tuple[str, ...] = ()
