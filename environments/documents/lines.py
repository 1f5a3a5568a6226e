"""A line of a document, with what its form says of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or in forms that mark them a block, of a document.

    Attributes:
        page: from 1; 0 where the form has no pages.
        level: of a heading, from 1; 0 where the form says that it is none; None if unknown.
        depth: in how many lists or tables it stands; None where the form does not say.
        note: whether the form marks it as a footnote.
    """

    text: str
    page: int = 0
    level: int | None = None
    depth: int | None = None
    note: bool = False
