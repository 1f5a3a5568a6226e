"""The section mapper: assigns each paragraph to a part of the decision (M 4.2)."""

import json
from dataclasses import dataclass

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.conversation import run_proposal_loop
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.document import Document
from lawtrace.environments.legal.document_parts import PartRange, check_coverage, check_order
from lawtrace.prompts.loader import Prompt

_SHOWN_CHARACTERS = 300


class PartMapping(BaseModel):
    """The complete mapping, in every turn."""

    model_config = ConfigDict(frozen=True)

    parts: tuple[PartRange, ...] = Field(min_length=1)


def make_section_mapper(client: ChatCompletionClient, prompt: Prompt, document: Document) -> RoleAgent[PartMapping]:
    shown = [
        {"paragraph": paragraph.ref, "heading": path, "begins": paragraph.text[:_SHOWN_CHARACTERS]}
        for path, section in document.outline()
        for paragraph in section.paragraphs
    ]
    return RoleAgent(
        "section_mapper",
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=json.dumps(shown, indent=1, ensure_ascii=False)),
        answer=PartMapping,
        attend=read_objections,
        remembers=True,
    )


@dataclass(frozen=True, slots=True)
class SectionMapping:
    """The result of the conversation.

    Attributes:
        parts: the last mapping that covers the document; empty if there was none.
        doubts: unusual order of the parts.
        failure: why there is no mapping, or None.
    """

    parts: tuple[PartRange, ...]
    doubts: tuple[str, ...]
    failure: str | None


async def map_sections(
    document: Document, *, role_models: RoleModels, context: Context, event_log: EventLog, most_rounds: int
) -> SectionMapping:
    """Map the sections of a document. An incomplete mapping is never used; one in unusual order only after the last
    round."""

    found = await run_proposal_loop(
        make_section_mapper(
            role_models.client("section_mapper", context), role_models.prompt("section_mapper"), document
        ),
        PartMapping,
        lambda proposed: check_coverage(document, proposed.parts) or check_order(proposed.parts),
        opening="Sort the paragraphs.",
        context=context,
        event_log=event_log,
        most_rounds=most_rounds,
    )
    whole = [proposed.parts for proposed in found.proposals if not check_coverage(document, proposed.parts)]
    if whole:
        return SectionMapping(whole[-1], tuple(check_order(whole[-1])), None)
    if found.failure is not None:
        return SectionMapping((), (), found.failure)
    return SectionMapping((), (), "; ".join(check_coverage(document, found.proposals[-1].parts)))
