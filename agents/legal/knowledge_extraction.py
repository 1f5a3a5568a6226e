"""Knowledge extraction: the role agents read a case and produce its chunks (M 3.2, 5.1).

Facts and rules are the paragraphs of their parts, as in the published dataset; one that states a finding is left out.
Application and common sense are entries that a role writes. Both read the same paragraphs; the common-sense agent also
gets what the application agent found in them, if its prompt asks for it. Each entry keeps its paragraph: it cites it,
or it was the only one that the agent read (`RoleCalls.batches`).

Entries without a valid citation are rejected; those still invalid after the last round are left out and listed.
"""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from lawtrace.agents.legal.role_calls import RoleCalls, ValidItems, as_json, paragraphs_as_json, texts_of
from lawtrace.agents.participants import Role
from lawtrace.environments.documents.decision import Paragraph
from lawtrace.environments.legal.case import Case, Chunk, PreparedCase
from lawtrace.environments.legal.document_checks import states_finding
from lawtrace.environments.legal.document_parts import DocumentPart
from lawtrace.environments.legal.retrieval.tokenizer import occur_in, tokenize
from lawtrace.schemas.models import FrozenModel

PARAGRAPH_BATCH_SIZE = 10

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


def _in_list(value: object) -> object:
    """The role or class of the list that a text names in other case or number; an absent one is empty text."""
    plain = str(value or "").casefold()
    return next((one for one in ALIGNMENTS if plain in (one.casefold(), f"{one.casefold()}s")), value or "")


_Text = Annotated[str, BeforeValidator(lambda value: value or "")]
"""Text that a model may leave out or give as null."""


class Alignment(FrozenModel):
    """A legal role or class of an entity or concept."""

    entity_or_concept: _Text
    legal_alignment: Annotated[str, BeforeValidator(_in_list)]
    legal_source: str | None = None
    rationale: _Text = ""


class StatedAlignment(Alignment):
    """An alignment that a paragraph states."""

    paragraph: _Text = ""


class Relation(FrozenModel):
    """A relation that a paragraph states."""

    paragraph: _Text = ""
    source: _Text
    relation: _Text
    target: _Text
    rationale: _Text = ""


class Application(FrozenModel):
    """The legal statements of the given paragraphs.

    Both lists are required, even if empty: a fragment of a truncated answer is a JSON object too, and must not count as
    an answer without entries.
    """

    entities_and_concepts: tuple[StatedAlignment, ...]
    relations: tuple[Relation, ...]


class Inference(Alignment):
    """An alignment that the text does not state, with the entries from which it follows, if they were shown."""

    rests_on: tuple[str, ...] = ()


class Inferences(FrozenModel):
    """All inferences from the given entries. The list is required, even if empty (see `Application`)."""

    inferred_alignments: tuple[Inference, ...]


_APPLICATION = Role("application", Application)
_COMMON_SENSE = Role("common_sense", Inferences)


async def extract_knowledge(case: Case, calls: RoleCalls) -> PreparedCase:
    """The case with the chunks that the roles write, after those of its paragraphs."""
    calls = calls.about(case.id)
    read = _shown(case, "facts", "application")
    applied = await asyncio.gather(
        *(_apply(batch, calls) for batch in calls.batches("application", read, PARAGRAPH_BATCH_SIZE))
    )
    application = [chunk for _, chunks in applied for chunk in chunks]
    inferred = await asyncio.gather(
        *(
            _infer(batch, application, calls, f"CS:{number}")
            for number, batch in enumerate(calls.batches("common_sense", read, PARAGRAPH_BATCH_SIZE), 1)
        )
    )
    results = [items for items, _ in (*applied, *inferred)]
    entries = [*application, *(chunk for _, chunks in inferred for chunk in chunks)]
    return PreparedCase(
        case=case.model_copy(update={"chunks": (*case.chunks, *entries)}),
        refused=tuple(reason for items in results for reason in items.refused),
        failures=tuple(items.failure for items in results if items.failure is not None),
    )


def _shown(case: Case, *parts: DocumentPart) -> list[Paragraph]:
    """The paragraphs of these parts that do not state what the questions ask."""
    return [paragraph for paragraph in case.paragraphs_of(*parts) if not states_finding(paragraph.text, law=False)]


def _shown_to_both(batch: Sequence[Paragraph]) -> dict[str, str]:
    """The inputs of both roles; a prompt that reads a text has the paragraphs without their numbers."""
    text = "\n\n".join(paragraph.text for paragraph in batch)
    return {"paragraphs": paragraphs_as_json(batch), "text": text, "alignments": ", ".join(ALIGNMENTS)}


async def _apply(
    batch: Sequence[Paragraph], calls: RoleCalls
) -> tuple[ValidItems[StatedAlignment | Relation], list[Chunk]]:
    """The entries of one conversation, and their chunks by paragraph (``AR:4/2``)."""
    texts = texts_of(batch)
    items = await calls.propose_items(
        _APPLICATION,
        lambda answer: [_placed(entry, texts) for entry in (*answer.entities_and_concepts, *answer.relations)],
        lambda entry: check_entry(entry, texts),
        opening="Read the paragraphs.",
        unit=batch[0].ref,
        **_shown_to_both(batch),
    )
    kept: dict[str, dict[str, None]] = {}
    for entry in items.kept:
        kept.setdefault(entry.paragraph, {})[_entry_json(entry, "paragraph")] = None
    return items, [
        Chunk(ref=f"AR:{paragraph}/{number}", agent="AR", text=text, paragraphs=(paragraph,))
        for paragraph, entries in kept.items()
        for number, text in enumerate(entries, 1)
    ]


def _placed(entry: StatedAlignment | Relation, texts: Mapping[str, str]) -> StatedAlignment | Relation:
    """The entry with its paragraph, if it names none and there was only one."""
    if entry.paragraph or len(texts) > 1:
        return entry
    return entry.model_copy(update={"paragraph": next(iter(texts))})


async def _infer(
    batch: Sequence[Paragraph], application: Sequence[Chunk], calls: RoleCalls, name: str
) -> tuple[ValidItems[Inference], list[Chunk]]:
    refs = {paragraph.ref for paragraph in batch}
    known = {chunk.ref: chunk for chunk in application if refs.issuperset(chunk.paragraphs)}
    shows_known = "known" in calls.role_models.prompt(_COMMON_SENSE.name).inputs
    if shows_known and not known:
        return ValidItems(), []
    entries: list[dict[str, str]] = [json.loads(chunk.text) for chunk in application]
    stated = {(e["entity_or_concept"].casefold(), e["legal_alignment"]) for e in entries if "entity_or_concept" in e}
    items = await calls.propose_items(
        _COMMON_SENSE,
        lambda answer: answer.inferred_alignments,
        lambda entry: check_inference(entry, known if shows_known else None, stated),
        opening="Infer.",
        unit=batch[0].ref,
        known=as_json([{"ref": chunk.ref, **json.loads(chunk.text)} for chunk in known.values()]),
        **_shown_to_both(batch),
    )
    chunks = [
        Chunk(
            ref=f"{name}/{number}",
            agent="CS",
            text=_entry_json(entry, "rests_on"),
            paragraphs=tuple(dict.fromkeys(ref for source in entry.rests_on for ref in known[source].paragraphs))
            if shows_known
            else tuple(paragraph.ref for paragraph in batch),
        )
        for number, entry in enumerate(items.kept, 1)
    ]
    return items, chunks


def check_entry(entry: StatedAlignment | Relation, texts: Mapping[str, str]) -> str | None:
    """The objection to an entry: an unknown role, an empty relation, an unknown paragraph, or a name missing from the
    paragraph. None if valid."""
    match entry:
        case StatedAlignment():
            names = (entry.entity_or_concept,)
            if reason := _check_alignment(entry):
                return reason
        case Relation():
            names = (entry.source, entry.target)
            if not entry.relation.strip():
                return f"{entry.source!r} and {entry.target!r}: the relation is empty"
    if entry.paragraph not in texts:
        return f"{names[0]!r} cites {entry.paragraph!r}, which is not a paragraph"
    for name in names:
        if not tokenize(name) or not occur_in(name, texts[entry.paragraph]):
            return f"paragraph {entry.paragraph} does not mention {name!r}"
    return None


def check_inference(
    inference: Inference, known: Mapping[str, Chunk] | None, stated: Collection[tuple[str, str]]
) -> str | None:
    """The objection to an inference: no known entry behind it, unknown role, or already stated. None if valid.

    Args:
        known: the entries that it may rest on; None if the agent was shown none.
        stated: pairs of lower-case name and alignment.
    """
    name = inference.entity_or_concept
    missing = [ref for ref in inference.rests_on if known is not None and ref not in known]
    if known is not None and (missing or not inference.rests_on):
        return f"{name!r} rests on {missing[0]!r}, which is not known" if missing else f"{name!r} rests on nothing"
    if reason := _check_alignment(inference):
        return reason
    if not name.strip():
        return "an inference names no entity or concept"
    if (name.casefold(), inference.legal_alignment) in stated:
        return f"{name!r} is stated to be {inference.legal_alignment} already; this is not an inference"
    return None


def _check_alignment(entry: Alignment) -> str | None:
    if entry.legal_alignment in ALIGNMENTS:
        return None
    return f"{entry.entity_or_concept!r}: {entry.legal_alignment!r} is none of {', '.join(ALIGNMENTS)}"


def _entry_json(entry: BaseModel, without: str) -> str:
    return json.dumps(entry.model_dump(exclude={without}), ensure_ascii=False)
