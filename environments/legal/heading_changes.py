"""Changes to the headings of a parsed decision: other levels, and headings that are none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.environments.legal.document import Document, Paragraph, Section
from lawtrace.schemas.errors import InputError

_DEEPEST = 9


class HeadingChange(BaseModel):
    """A heading by its id (`list_headings`) and its right level: 1 for the outermost, 0 if it is no heading."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    heading: str = Field(min_length=1)
    level: int = Field(ge=0, le=_DEEPEST)


@dataclass(frozen=True, slots=True)
class ListedHeading:
    """A heading of a decision.

    Attributes:
        id: ``h1``, ``h2``, in the order of the text; empty for the text before the first heading.
        level: from 1 for the outermost.
        section: the section itself, without its subsections.
    """

    id: str
    level: int
    section: Section


def list_headings(document: Document) -> list[ListedHeading]:
    """All sections in the order of the text."""
    found: list[ListedHeading] = []

    def add(sections: Sequence[Section], level: int) -> None:
        for section in sections:
            named = f"h{sum(bool(one.id) for one in found) + 1}" if section.heading else ""
            found.append(ListedHeading(named, level, section))
            add(section.sections, level + 1)

    add(document.sections, 1)
    return found


def check_heading_changes(document: Document, changes: Sequence[HeadingChange]) -> list[str]:
    """Objections to changes: headings that are not there or named twice, and levels that skip one."""
    known = {listed.id for listed in list_headings(document) if listed.id}
    objections = [f"there is no heading {change.heading}" for change in changes if change.heading not in known]
    named = Counter(change.heading for change in changes)
    objections += [f"heading {heading} has {count} levels" for heading, count in named.items() if count > 1]
    if objections:
        return objections
    levels = {change.heading: change.level for change in changes}
    above = 0
    for listed in list_headings(document):
        level = levels.get(listed.id, listed.level)
        if not listed.id or not level:
            continue
        if level > above + 1 and listed.id in levels:
            objections.append(f"heading {listed.id} has level {level}, but the heading before it has level {above}")
        above = level
    return objections


def change_headings(document: Document, changes: Sequence[HeadingChange]) -> Document:
    """The document with these changes; its paragraphs stay the same, in the same order.

    The words of a heading that is none go to the end of the paragraph before, unless another heading has the same
    words: those are a running head, and are left out. Raises InputError for changes with objections.
    """
    if objections := check_heading_changes(document, changes):
        raise InputError("; ".join(objections))
    if not changes:
        return document
    levels = {change.heading: change.level for change in changes}
    listed = list_headings(document)
    words = Counter(one.section.heading for one in listed)
    root = _Open("", 0)
    path = [root]
    for one in listed:
        level = levels.get(one.id, one.level) if one.id else len(path)
        heading = one.section.heading
        if level == 0:
            if words[heading] == 1:
                _add_words(path, heading)
            path[-1].paragraphs += one.section.paragraphs
            continue
        while path[-1].level >= level:
            path.pop()
        opened = _Open(heading, level, [*one.section.paragraphs])
        path[-1].sections.append(opened)
        path.append(opened)
    sections = tuple(section.closed() for section in root.sections)
    if root.paragraphs:
        sections = (Section(heading="", paragraphs=tuple(root.paragraphs)), *sections)
    return document.model_copy(update={"sections": sections})


@dataclass(slots=True)
class _Open:
    """A section under construction."""

    heading: str
    level: int
    paragraphs: list[Paragraph] = field(default_factory=list[Paragraph])
    sections: list["_Open"] = field(default_factory=list["_Open"])

    def closed(self) -> Section:
        sections = tuple(section.closed() for section in self.sections)
        return Section(heading=self.heading, paragraphs=tuple(self.paragraphs), sections=sections)


def _add_words(path: Sequence[_Open], words: str) -> None:
    """Add words to the last paragraph of the sections that are open, if there is one."""
    for section in reversed(path):
        if section.paragraphs:
            last = section.paragraphs[-1]
            section.paragraphs[-1] = last.model_copy(update={"text": f"{last.text} {words}"})
            return
