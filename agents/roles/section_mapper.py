"""The section mapper: says which part of a decision each paragraph belongs to (M 4.2)."""

import json

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.documents.parts import PartRange
from lawtrace.environments.casebook.documents.tree import Document
from lawtrace.prompts.loader import Prompt

_SHOWN_CHARACTERS = 300


class PartMapping(BaseModel):
    """The whole mapping. Later turns give the whole mapping again."""

    model_config = ConfigDict(frozen=True)

    parts: tuple[PartRange, ...] = Field(min_length=1)


def seat_section_mapper(client: ChatCompletionClient, prompt: Prompt, document: Document) -> RoleSpeaker[PartMapping]:
    shown = [
        {"paragraph": paragraph.ref, "heading": path, "begins": paragraph.text[:_SHOWN_CHARACTERS]}
        for path, section in document.outline()
        for paragraph in section.paragraphs
    ]
    return RoleSpeaker(
        "section_mapper",
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=json.dumps(shown, indent=1, ensure_ascii=False)),
        answer=PartMapping,
        attend=hear_objections,
        remembers=True,
    )
