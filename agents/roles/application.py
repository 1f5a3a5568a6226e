"""The application agent: which legal role or class the text gives to whom, and what relates to what (M Table 7)."""

from collections.abc import Mapping, Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.segments import paragraphs_json
from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.documents.tree import Paragraph
from lawtrace.environments.casebook.retrieval.words import words_of
from lawtrace.prompts.loader import Prompt

ALIGNMENTS = (
    "Controller",
    "Processor",
    "Supervisory Authority",
    "Data Subject",
    "Filing System",
    "Personal Data",
    "Special Category Data",
)
"""The roles and classes that an entity or concept may have; the list is closed."""


class Alignment(BaseModel):
    """A legal role or class that a paragraph gives to something."""

    model_config = ConfigDict(frozen=True)

    paragraph: str
    entity_or_concept: str
    legal_alignment: str
    legal_source: str | None = None
    rationale: str = ""


class Relation(BaseModel):
    """A relation that a paragraph states."""

    model_config = ConfigDict(frozen=True)

    paragraph: str
    source: str
    relation: str
    target: str
    rationale: str = ""


class Application(BaseModel):
    """What the paragraphs at hand say in terms of law. Both lists must be there, if empty: a part of an answer that was
    cut off is an object, too, and must not pass for one that found nothing."""

    model_config = ConfigDict(frozen=True)

    entities_and_concepts: tuple[Alignment, ...]
    relations: tuple[Relation, ...]


def seat_application(
    client: ChatCompletionClient, prompt: Prompt, paragraphs: Sequence[Paragraph]
) -> RoleSpeaker[Application]:
    return RoleSpeaker(
        "application",
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=paragraphs_json(paragraphs), alignments=", ".join(ALIGNMENTS)),
        answer=Application,
        attend=hear_objections,
        remembers=True,
    )


def check_alignment(alignment: Alignment, texts: Mapping[str, str]) -> str | None:
    """What speaks against an entry: no paragraph, a role outside the list, a name that the paragraph does not have."""
    name = alignment.entity_or_concept
    if alignment.legal_alignment not in ALIGNMENTS:
        return f"{name!r}: {alignment.legal_alignment!r} is none of {', '.join(ALIGNMENTS)}"
    return _check_names(alignment.paragraph, (name,), texts)


def check_relation(relation: Relation, texts: Mapping[str, str]) -> str | None:
    """What speaks against a relation: no paragraph, or names that the paragraph does not have."""
    if not relation.relation.strip():
        return f"{relation.source!r} and {relation.target!r}: the relation is empty"
    return _check_names(relation.paragraph, (relation.source, relation.target), texts)


def _check_names(paragraph: str, names: Sequence[str], texts: Mapping[str, str]) -> str | None:
    if paragraph not in texts:
        return f"{names[0]!r} cites {paragraph!r}, which is no paragraph"
    said = f" {' '.join(words_of(texts[paragraph]))} "
    for name in names:
        words = " ".join(words_of(name))
        if not words or f" {words} " not in said:
            return f"paragraph {paragraph} does not speak of {name!r}"
    return None
