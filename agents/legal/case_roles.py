"""The role agents that prepare a case: facts, rules, application, common sense (M 3.2, 5.1)."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.environments.legal.case import Chunk
from lawtrace.environments.legal.document import Paragraph
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.prompts.loader import Prompt


class Segment(BaseModel):
    """Words of one paragraph."""

    model_config = ConfigDict(frozen=True)

    paragraph: str
    text: str


class Segments(BaseModel):
    """All segments of the given paragraphs."""

    model_config = ConfigDict(frozen=True)

    segments: tuple[Segment, ...]


def make_segmenter(
    role: Literal["facts", "rules"], client: ChatCompletionClient, prompt: Prompt, paragraphs: Sequence[Paragraph]
) -> RoleAgent[Segments]:
    return RoleAgent(
        role,
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=paragraphs_as_json(paragraphs)),
        answer=Segments,
        attend=read_objections,
        remembers=True,
    )


def check_segment(segment: Segment, texts: Mapping[str, str]) -> str | None:
    """The objection to a segment: it cites an unknown paragraph, is empty, or misquotes the paragraph. None if
    valid."""
    if segment.paragraph not in texts:
        return f"{segment.text[:40]!r} cites {segment.paragraph!r}, which is no paragraph"
    if not segment.text.strip():
        return f"a piece of paragraph {segment.paragraph} is empty"
    if " ".join(segment.text.split()) not in " ".join(texts[segment.paragraph].split()):
        return f"{segment.text[:40]!r} does not stand in paragraph {segment.paragraph} in these words"
    return None


def paragraphs_as_json(paragraphs: Sequence[Paragraph]) -> str:
    shown = [{"paragraph": paragraph.ref, "text": paragraph.text} for paragraph in paragraphs]
    return json.dumps(shown, indent=1, ensure_ascii=False)


ALIGNMENTS = (
    "Controller",
    "Processor",
    "Supervisory Authority",
    "Data Subject",
    "Filing System",
    "Personal Data",
    "Special Category Data",
)
"""The closed list of roles and classes that an entity or concept may have."""


class LegalAlignment(BaseModel):
    """A legal role or class that a paragraph assigns to an entity or concept."""

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
    """The legal statements of the given paragraphs.

    Both lists are required, even if empty: a fragment of a truncated answer is a JSON object too, and must not count as
    an answer without entries.
    """

    model_config = ConfigDict(frozen=True)

    entities_and_concepts: tuple[LegalAlignment, ...]
    relations: tuple[Relation, ...]


def make_application_agent(
    client: ChatCompletionClient, prompt: Prompt, paragraphs: Sequence[Paragraph]
) -> RoleAgent[Application]:
    return RoleAgent(
        "application",
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=paragraphs_as_json(paragraphs), alignments=", ".join(ALIGNMENTS)),
        answer=Application,
        attend=read_objections,
        remembers=True,
    )


def check_alignment(alignment: LegalAlignment, texts: Mapping[str, str]) -> str | None:
    """The objection to an entry: unknown paragraph, unknown role, or a name missing from the paragraph. None if
    valid."""
    name = alignment.entity_or_concept
    if alignment.legal_alignment not in ALIGNMENTS:
        return f"{name!r}: {alignment.legal_alignment!r} is none of {', '.join(ALIGNMENTS)}"
    return _check_names(alignment.paragraph, (name,), texts)


def check_relation(relation: Relation, texts: Mapping[str, str]) -> str | None:
    """The objection to a relation: empty, unknown paragraph, or names missing from the paragraph. None if valid."""
    if not relation.relation.strip():
        return f"{relation.source!r} and {relation.target!r}: the relation is empty"
    return _check_names(relation.paragraph, (relation.source, relation.target), texts)


def _check_names(paragraph: str, names: Sequence[str], texts: Mapping[str, str]) -> str | None:
    if paragraph not in texts:
        return f"{names[0]!r} cites {paragraph!r}, which is no paragraph"
    said = f" {' '.join(tokenize(texts[paragraph]))} "
    for name in names:
        words = " ".join(tokenize(name))
        if not words or f" {words} " not in said:
            return f"paragraph {paragraph} does not speak of {name!r}"
    return None


class Inference(BaseModel):
    """An alignment that the text does not state, with the entries from which it follows."""

    model_config = ConfigDict(frozen=True)

    rests_on: tuple[str, ...]
    entity_or_concept: str
    legal_alignment: str
    legal_source: str | None = None
    rationale: str = ""


class Inferences(BaseModel):
    """All inferences from the given entries. The list is required, even if empty (see `Application`)."""

    model_config = ConfigDict(frozen=True)

    inferred_alignments: tuple[Inference, ...]


def make_common_sense_agent(
    client: ChatCompletionClient, prompt: Prompt, known: Sequence[Chunk]
) -> RoleAgent[Inferences]:
    shown = [{"ref": chunk.ref, **json.loads(chunk.text)} for chunk in known]
    return RoleAgent(
        "common_sense",
        client=client,
        prompt=prompt,
        system=prompt.fill(known=json.dumps(shown, indent=1, ensure_ascii=False), alignments=", ".join(ALIGNMENTS)),
        answer=Inferences,
        attend=read_objections,
        remembers=True,
    )


def check_inference(
    inference: Inference, known: Mapping[str, Chunk], stated: Collection[tuple[str, str]]
) -> str | None:
    """The objection to an inference: no known entry behind it, unknown role, or already stated. None if valid.

    ``stated`` holds pairs of lower-case name and alignment.
    """
    name = inference.entity_or_concept
    missing = [ref for ref in inference.rests_on if ref not in known]
    if not inference.rests_on or missing:
        return f"{name!r} rests on {missing[0]!r}, which is not known" if missing else f"{name!r} rests on nothing"
    if inference.legal_alignment not in ALIGNMENTS:
        return f"{name!r}: {inference.legal_alignment!r} is none of {', '.join(ALIGNMENTS)}"
    if not name.strip():
        return "an inference is about nothing"
    if (name.casefold(), inference.legal_alignment) in stated:
        return f"{name!r} is stated to be {inference.legal_alignment} already; nothing is inferred"
    return None
