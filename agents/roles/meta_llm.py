"""The Meta-LLM: answers a legal question from the passages that were retrieved (M 3.2, Table 9)."""

import json
from collections.abc import Sequence
from typing import Annotated

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, BeforeValidator, ConfigDict

from lawtrace.agents.speaker import RoleSpeaker
from lawtrace.environments.casebook.case import Chunk, Question
from lawtrace.environments.casebook.choices import declines
from lawtrace.prompts.loader import Prompt


def _as_text(value: object) -> object:
    """Models also write ["A"], true or 3 where a word is wanted; what that means is for `read_choice` to say."""
    if isinstance(value, list):
        members: list[object] = [*value]
        return _as_text(members[0]) if len(members) == 1 else json.dumps(members)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


class Citation(BaseModel):
    """A passage that an answer rests on, and words that are said to stand there."""

    model_config = ConfigDict(frozen=True)

    passage: str
    quote: str = ""


class LegalAnswer(BaseModel):
    """The answer as written; null declines."""

    model_config = ConfigDict(frozen=True)

    rationale: str = ""
    citations: tuple[Citation, ...] = ()
    answer: Annotated[str | None, BeforeValidator(_as_text)]


def question_json(question: Question) -> str:
    return json.dumps({"question": question.text, "options": question.options}, indent=1, ensure_ascii=False)


def seat_meta_llm(
    client: ChatCompletionClient, prompt: Prompt, question: Question, passages: Sequence[Chunk], *, may_refuse: bool
) -> RoleSpeaker[LegalAnswer]:
    shown = [{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in passages]
    return RoleSpeaker(
        "meta_llm",
        client=client,
        prompt=prompt,
        system=prompt.fill(
            question=question_json(question),
            passages=json.dumps(shown, indent=1, ensure_ascii=False),
            may_refuse=may_refuse,
        ),
        answer=LegalAnswer,
        attend=lambda content: content if isinstance(content, str) else None,
        remembers=False,
        declines=declines,
    )
