"""From a document and its parts to a case: one chunk for each paragraph of facts and of rules."""

from collections.abc import Sequence

from lawtrace.environments.casebook.case import Agent, Case, Chunk
from lawtrace.environments.casebook.documents.parts import Part, PartRange, check_coverage, paragraphs_by_part
from lawtrace.environments.casebook.documents.tree import Document
from lawtrace.environments.errors import InputError

_AGENT_OF_PART: dict[Part, Agent] = {"facts": "F", "rules": "LR"}


def build_case(id: str, document: Document, parts: Sequence[PartRange]) -> Case:  # noqa: A002 (the field's name)
    """The case as it stands before any agent has read it. Raises InputError if the parts do not cover the document."""
    wrong = check_coverage(document, parts)
    if wrong:
        raise InputError(f"{id}: the parts do not cover the document: {'; '.join(wrong)}")
    opening = [paragraph.text for part, paragraph in paragraphs_by_part(document, parts) if part == "introduction"]
    return Case(
        id=id,
        introduction="\n".join(opening),
        chunks=whole_paragraphs(document, parts),
        document=document,
        parts=tuple(parts),
    )


def whole_paragraphs(document: Document, parts: Sequence[PartRange]) -> tuple[Chunk, ...]:
    """A chunk for each paragraph of facts and of rules, cited by its number (``F:17``)."""
    return tuple(
        Chunk(
            ref=f"{_AGENT_OF_PART[part]}:{paragraph.ref}",
            agent=_AGENT_OF_PART[part],
            text=f"{paragraph.ref}. {paragraph.text}",
            paragraphs=(paragraph.ref,),
        )
        for part, paragraph in paragraphs_by_part(document, parts)
        if part in _AGENT_OF_PART and paragraph.text
    )
