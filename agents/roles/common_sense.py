"""The common-sense agent: what strictly follows from alignments and relations that are known (M Table 8)."""

import json
from collections.abc import Collection, Mapping, Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.application import ALIGNMENTS
from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.case import Chunk
from lawtrace.prompts.loader import Prompt


class Inference(BaseModel):
    """An alignment that no text states, with the entries that it follows from."""

    model_config = ConfigDict(frozen=True)

    rests_on: tuple[str, ...]
    entity_or_concept: str
    legal_alignment: str
    legal_source: str | None = None
    rationale: str = ""


class Inferences(BaseModel):
    """Everything that follows from what is at hand. The list must be there, if empty (see `Application`)."""

    model_config = ConfigDict(frozen=True)

    inferred_alignments: tuple[Inference, ...]


def seat_common_sense(client: ChatCompletionClient, prompt: Prompt, known: Sequence[Chunk]) -> RoleSpeaker[Inferences]:
    shown = [{"ref": chunk.ref, **json.loads(chunk.text)} for chunk in known]
    return RoleSpeaker(
        "common_sense",
        client=client,
        prompt=prompt,
        system=prompt.fill(known=json.dumps(shown, indent=1, ensure_ascii=False), alignments=", ".join(ALIGNMENTS)),
        answer=Inferences,
        attend=hear_objections,
        remembers=True,
    )


def check_inference(
    inference: Inference, known: Mapping[str, Chunk], stated: Collection[tuple[str, str]]
) -> str | None:
    """What speaks against it: it rests on nothing known, has a role outside the list, or repeats what is stated
    (``stated`` holds names in lower case with their alignment)."""
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
