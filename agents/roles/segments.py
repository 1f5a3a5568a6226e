"""The facts agent and the rules agent: cut paragraphs into pieces that can be found alone (M 3.2, 5.1)."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.documents.tree import Paragraph
from lawtrace.prompts.loader import Prompt


class Segment(BaseModel):
    """Words of one paragraph."""

    model_config = ConfigDict(frozen=True)

    paragraph: str
    text: str


class Segments(BaseModel):
    """All pieces of the paragraphs at hand."""

    model_config = ConfigDict(frozen=True)

    segments: tuple[Segment, ...]


def seat_segmenter(
    role: Literal["facts", "rules"], client: ChatCompletionClient, prompt: Prompt, paragraphs: Sequence[Paragraph]
) -> RoleSpeaker[Segments]:
    return RoleSpeaker(
        role,
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=paragraphs_json(paragraphs)),
        answer=Segments,
        attend=hear_objections,
        remembers=True,
    )


def check_segments(segment: Segment, texts: Mapping[str, str]) -> str | None:
    """What speaks against a piece: it cites no paragraph, or words that do not stand there. None if nothing."""
    if segment.paragraph not in texts:
        return f"{segment.text[:40]!r} cites {segment.paragraph!r}, which is no paragraph"
    if not segment.text.strip():
        return f"a piece of paragraph {segment.paragraph} is empty"
    if " ".join(segment.text.split()) not in " ".join(texts[segment.paragraph].split()):
        return f"{segment.text[:40]!r} does not stand in paragraph {segment.paragraph} in these words"
    return None


def paragraphs_json(paragraphs: Sequence[Paragraph]) -> str:
    shown = [{"paragraph": paragraph.ref, "text": paragraph.text} for paragraph in paragraphs]
    return json.dumps(shown, indent=1, ensure_ascii=False)
