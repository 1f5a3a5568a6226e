"""The section mapper: assigns each paragraph to a part of the decision (M 4.2)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Role
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.legal.document_checks import check_mapped
from lawtrace.environments.legal.document_parts import PartRange, check_coverage, check_order
from lawtrace.schemas.models import FrozenModel

_SHOWN_CHARACTERS = 300


class PartMapping(FrozenModel):
    """The complete mapping, in every turn."""

    parts: tuple[PartRange, ...] = Field(min_length=1)


class SectionMapping(FrozenModel):
    """The result of the conversation.

    Attributes:
        parts: the last mapping that covers the document; empty if there was none.
        warnings: unusual order of the parts.
        failure: why there is no mapping, or None.
    """

    schema_version: Literal["lawtrace.section_mapping/1"] = "lawtrace.section_mapping/1"
    parts: tuple[PartRange, ...] = ()
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


async def map_sections(document: Document, calls: RoleCalls) -> SectionMapping:
    """Map the sections of a document. An incomplete mapping is never used; one in unusual order, without a usual part
    or with a finding among the facts only after the last round."""
    found = await calls.propose(
        _SECTION_MAPPER,
        lambda proposed: (
            check_coverage(document, proposed.parts)
            or [*check_order(proposed.parts), *check_mapped(document, proposed.parts)]
        ),
        opening="Sort the paragraphs.",
        paragraphs=as_json(shown_paragraphs(document)),
    )
    whole = [proposed for proposed in found.proposals if not check_coverage(document, proposed.parts)]
    if whole:
        return make_mapping(whole[-1].parts)
    if found.failure is not None:
        return SectionMapping(failure=found.failure)
    return SectionMapping(failure="; ".join(check_coverage(document, found.proposals[-1].parts)))


def make_mapping(parts: Sequence[PartRange]) -> SectionMapping:
    """A mapping that covers its document, with warnings."""
    return SectionMapping(parts=tuple(parts), warnings=tuple(check_order(parts)))
