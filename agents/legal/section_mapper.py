"""The section mapper: assigns each paragraph to a part of the decision (M 4.2), and repairs its headings."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Role
from lawtrace.environments.legal.document import Document
from lawtrace.environments.legal.document_checks import check_mapped
from lawtrace.environments.legal.document_parts import PartRange, check_coverage, check_order
from lawtrace.environments.legal.heading_changes import (
    HeadingChange,
    change_headings,
    check_heading_changes,
    list_headings,
)

_SHOWN_CHARACTERS = 300


class PartMapping(BaseModel):
    """The complete mapping, in every turn. ``headings``: those whose level is wrong."""

    model_config = ConfigDict(frozen=True)

    parts: tuple[PartRange, ...] = Field(min_length=1)
    headings: tuple[HeadingChange, ...] = ()


class SectionMapping(BaseModel):
    """The result of the conversation.

    Attributes:
        parts: the last mapping that covers the document; empty if there was none.
        headings: changes to the headings, all valid.
        warnings: unusual order of the parts, and why the headings stay as they were parsed.
        failure: why there is no mapping, or None.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["lawtrace.section_mapping/1"] = "lawtrace.section_mapping/1"
    parts: tuple[PartRange, ...] = ()
    headings: tuple[HeadingChange, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: str | None = None


_SECTION_MAPPER = Role("section_mapper", PartMapping)


def shown_paragraphs(document: Document) -> list[dict[str, str]]:
    """What the mapper sees of each paragraph: its number, the headings above it, and its first words."""
    return [
        {"paragraph": paragraph.ref, "heading": path, "begins": paragraph.text[:_SHOWN_CHARACTERS]}
        for path, section in document.outline()
        for paragraph in section.paragraphs
    ]


def shown_headings(document: Document) -> list[dict[str, str | int]]:
    """What the mapper sees of each heading: its id, level and words, and the first paragraph directly below it."""
    return [
        {
            "heading": listed.id,
            "level": listed.level,
            "text": listed.section.heading,
            "first": next((paragraph.ref for paragraph in listed.section.paragraphs), ""),
        }
        for listed in list_headings(document)
        if listed.id
    ]


async def map_sections(document: Document, calls: RoleCalls) -> SectionMapping:
    """Map the sections of a document. An incomplete mapping is never used; one in unusual order, without a usual part
    or with a finding among the facts only after the last round. Headings stay as they were parsed if the changes to
    them are not valid."""
    found = await calls.propose(
        _SECTION_MAPPER,
        lambda proposed: (
            check_coverage(document, proposed.parts)
            or [
                *check_heading_changes(document, proposed.headings),
                *check_order(proposed.parts),
                *check_mapped(document, proposed.parts),
            ]
        ),
        opening="Sort the paragraphs.",
        headings=as_json(shown_headings(document)),
        paragraphs=as_json(shown_paragraphs(document)),
    )
    whole = [proposed for proposed in found.proposals if not check_coverage(document, proposed.parts)]
    if whole:
        mapping = make_mapping(whole[-1].parts)
        if objections := check_heading_changes(document, whole[-1].headings):
            why = f"the headings stay as they were parsed: {'; '.join(objections)}"
            return mapping.model_copy(update={"warnings": (*mapping.warnings, why)})
        return mapping.model_copy(update={"headings": whole[-1].headings})
    if found.failure is not None:
        return SectionMapping(failure=found.failure)
    return SectionMapping(failure="; ".join(check_coverage(document, found.proposals[-1].parts)))


def make_mapping(parts: Sequence[PartRange]) -> SectionMapping:
    """A mapping that covers its document, with warnings."""
    return SectionMapping(parts=tuple(parts), warnings=tuple(check_order(parts)))


def apply_mapping(document: Document, mapping: SectionMapping) -> Document:
    """The document with the headings that the mapper changed."""
    return change_headings(document, mapping.headings)
