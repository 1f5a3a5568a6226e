"""Knowledge extraction: the role agents read a case and produce its chunks (M 3.2, 5.1).

Facts and rules are segments of paragraphs; application and common sense are entries. Each chunk keeps its paragraph.
Entries without a valid citation are rejected; those still invalid after the last round are left out and listed. Facts
and rules are never lost: a paragraph without a valid segment becomes one chunk.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import BaseModel

from lawtrace.agents.conversation import run_proposal_loop
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.case_roles import (
    Application,
    Inference,
    Inferences,
    Segment,
    Segments,
    check_alignment,
    check_inference,
    check_relation,
    check_segment,
    make_application_agent,
    make_common_sense_agent,
    make_segmenter,
)
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.case import Agent, Case, Chunk, paragraph_chunks
from lawtrace.environments.legal.document import Paragraph

Item = TypeVar("Item")

PARAGRAPH_BATCH_SIZE = 10
ENTRY_BATCH_SIZE = 60

_DERIVED: tuple[Agent, ...] = ("AR", "CS")


@dataclass(frozen=True, slots=True)
class ExtractedKnowledge:
    """The case with the chunks of all four agents.

    Attributes:
        refused: the entries that code left out, with reasons.
        failures: conversations that broke off. Their paragraphs have no application entries and stay whole as facts or
            rules.
    """

    case: Case
    refused: tuple[str, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Setup:
    """What all conversations of a case share."""

    role_models: RoleModels
    context: Context
    event_log: EventLog
    most_rounds: int


@dataclass(frozen=True, slots=True)
class _ExtractionResult:
    """The result of one conversation."""

    chunks: tuple[Chunk, ...] = ()
    refused: tuple[str, ...] = ()
    failure: str | None = None


async def extract_knowledge(
    case: Case, *, role_models: RoleModels, context: Context, event_log: EventLog, most_rounds: int
) -> ExtractedKnowledge:
    """Extract the chunks of all four agents; they replace earlier chunks of the case."""
    table = _Setup(role_models, context.at(task=case.id), event_log, most_rounds)
    segmented = await asyncio.gather(
        *(
            _segment("facts", "F", batch, table)
            for batch in _batches(case.paragraphs_of("facts"), PARAGRAPH_BATCH_SIZE)
        ),
        *(
            _segment("rules", "LR", batch, table)
            for batch in _batches(case.paragraphs_of("rules"), PARAGRAPH_BATCH_SIZE)
        ),
    )
    applied = await asyncio.gather(
        *(_apply(batch, table) for batch in _batches(case.paragraphs_of("facts", "application"), PARAGRAPH_BATCH_SIZE))
    )
    application = [chunk for heard in applied for chunk in heard.chunks]
    inferred = await asyncio.gather(
        *(
            _infer(batch, application, table, f"CS:{number}")
            for number, batch in enumerate(_batches(application, ENTRY_BATCH_SIZE), 1)
        )
    )
    heard = [*segmented, *applied, *inferred]
    chunks = [chunk for said in heard for chunk in said.chunks]
    return ExtractedKnowledge(
        case.model_copy(
            update={"chunks": (*_keep_uncut_paragraphs(case, chunks), *(c for c in chunks if c.agent in _DERIVED))}
        ),
        tuple(reason for said in heard for reason in said.refused),
        tuple(said.failure for said in heard if said.failure is not None),
    )


def _keep_uncut_paragraphs(case: Case, chunks: Sequence[Chunk]) -> Iterable[Chunk]:
    """Chunks of facts and rules in the order of the text; a paragraph without segments is one chunk."""
    found: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        if chunk.agent not in _DERIVED:
            found.setdefault(chunk.paragraphs[0], []).append(chunk)
    assert case.document is not None
    for whole in paragraph_chunks(case.document, case.parts):
        yield from found.get(whole.paragraphs[0], [whole])


async def _segment(
    role: Literal["facts", "rules"], agent: Agent, batch: Sequence[Paragraph], table: _Setup
) -> _ExtractionResult:
    texts = {paragraph.ref: paragraph.text for paragraph in batch}

    def against(answer: Segments) -> list[str]:
        reasons = [reason for segment in answer.segments if (reason := check_segment(segment, texts))]
        missing = set(texts) - {segment.paragraph for segment in answer.segments}
        return [*reasons, *(f"nothing comes from paragraph {ref}" for ref in texts if ref in missing)]

    place = _context(table, role, batch[0].ref)
    found = await run_proposal_loop(
        make_segmenter(role, table.role_models.client(role, place), table.role_models.prompt(role), batch),
        Segments,
        against,
        opening="Cut the paragraphs.",
        context=place,
        event_log=table.event_log,
        most_rounds=table.most_rounds,
    )
    if not found.proposals:
        return _ExtractionResult(failure=f"{role}, from paragraph {batch[0].ref}: {found.failure}")
    kept: dict[str, list[Segment]] = {}
    refused: list[str] = []
    for segment in found.proposals[-1].segments:
        reason = check_segment(segment, texts)
        if reason:
            refused.append(f"{role}: {reason}")
        else:
            kept.setdefault(segment.paragraph, []).append(segment)
    chunks = [
        Chunk(ref=ref, agent=agent, text=f"{paragraph}. {segment.text.strip()}", paragraphs=(paragraph,))
        for paragraph, segments in kept.items()
        for ref, segment in zip(_refs(agent, paragraph, len(segments)), segments, strict=True)
    ]
    return _ExtractionResult(tuple(chunks), tuple(refused))


async def _apply(batch: Sequence[Paragraph], table: _Setup) -> _ExtractionResult:
    texts = {paragraph.ref: paragraph.text for paragraph in batch}

    def reasons(answer: Application) -> list[str | None]:
        return [
            *(check_alignment(entry, texts) for entry in answer.entities_and_concepts),
            *(check_relation(entry, texts) for entry in answer.relations),
        ]

    place = _context(table, "application", batch[0].ref)
    found = await run_proposal_loop(
        make_application_agent(
            table.role_models.client("application", place), table.role_models.prompt("application"), batch
        ),
        Application,
        lambda answer: [reason for reason in reasons(answer) if reason],
        opening="Read the paragraphs.",
        context=place,
        event_log=table.event_log,
        most_rounds=table.most_rounds,
    )
    if not found.proposals:
        return _ExtractionResult(failure=f"application, from paragraph {batch[0].ref}: {found.failure}")
    last = found.proposals[-1]
    entries = [*last.entities_and_concepts, *last.relations]
    judged = list(zip(entries, reasons(last), strict=True))
    by_paragraph: dict[str, list[str]] = {}
    for entry, reason in judged:
        text = _json(entry, {"paragraph"})
        if reason is None and text not in by_paragraph.setdefault(entry.paragraph, []):
            by_paragraph[entry.paragraph].append(text)
    chunks = [
        Chunk(ref=f"AR:{paragraph}/{number}", agent="AR", text=text, paragraphs=(paragraph,))
        for paragraph, members in by_paragraph.items()
        for number, text in enumerate(members, 1)
    ]
    return _ExtractionResult(tuple(chunks), tuple(f"application: {reason}" for _, reason in judged if reason))


async def _infer(batch: Sequence[Chunk], application: Sequence[Chunk], table: _Setup, name: str) -> _ExtractionResult:
    known = {chunk.ref: chunk for chunk in batch}
    stated = _stated(application)

    def against(answer: Inferences) -> list[str]:
        return [reason for entry in answer.inferred_alignments if (reason := check_inference(entry, known, stated))]

    place = _context(table, "common_sense", batch[0].ref)
    found = await run_proposal_loop(
        make_common_sense_agent(
            table.role_models.client("common_sense", place), table.role_models.prompt("common_sense"), batch
        ),
        Inferences,
        against,
        opening="Infer.",
        context=place,
        event_log=table.event_log,
        most_rounds=table.most_rounds,
    )
    if not found.proposals:
        return _ExtractionResult(failure=f"common_sense, from {batch[0].ref}: {found.failure}")
    last = found.proposals[-1]
    kept = [entry for entry in last.inferred_alignments if check_inference(entry, known, stated) is None]
    chunks = [
        Chunk(
            ref=f"{name}/{number}",
            agent="CS",
            text=_json(entry, {"rests_on"}),
            paragraphs=_source_paragraphs(entry, known),
        )
        for number, entry in enumerate(kept, 1)
    ]
    return _ExtractionResult(tuple(chunks), tuple(f"common_sense: {reason}" for reason in against(last)))


def _stated(application: Sequence[Chunk]) -> set[tuple[str, str]]:
    entries: list[dict[str, str]] = [json.loads(chunk.text) for chunk in application]
    return {(e["entity_or_concept"].casefold(), e["legal_alignment"]) for e in entries if "entity_or_concept" in e}


def _source_paragraphs(entry: Inference, known: Mapping[str, Chunk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paragraph for ref in entry.rests_on for paragraph in known[ref].paragraphs))


def _json(entry: BaseModel, without: set[str]) -> str:
    return json.dumps(entry.model_dump(exclude=without), ensure_ascii=False)


def _refs(agent: Agent, paragraph: str, count: int) -> list[str]:
    if count == 1:
        return [f"{agent}:{paragraph}"]
    return [f"{agent}:{paragraph}/{number}" for number in range(1, count + 1)]


def _context(table: _Setup, role: LegalRole, first: str) -> Context:
    """The context of a conversation: its role, and its first paragraph or entry as the unit."""
    return table.context.at(role=role, unit=first, conversation_kind=role)


def _batches(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
