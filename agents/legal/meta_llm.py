"""The Meta-LLM: answers a legal question from the passages that were retrieved (M 3.2, Table 9)."""

import json
from collections.abc import Sequence
from typing import Annotated, TypeVar

from autogen_agentchat.messages import BaseChatMessage
from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, BeforeValidator, ConfigDict

from lawtrace.agents.conversation import record_turn
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.participants import RoleAgent, RoleFailure, content_of
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.case import Chunk, Question
from lawtrace.environments.legal.choice_parser import is_refusal
from lawtrace.prompts.loader import Prompt


def _as_text(value: object) -> object:
    """Models also write ["A"], true or 3 where a word is wanted; what that means is for `parse_choice` to say."""
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


def make_meta_llm(
    client: ChatCompletionClient, prompt: Prompt, question: Question, passages: Sequence[Chunk], *, may_refuse: bool
) -> RoleAgent[LegalAnswer]:
    shown = [{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in passages]
    return RoleAgent(
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
        declines=is_refusal,
    )


Answer = TypeVar("Answer", bound=BaseModel)


async def answer_once(
    question: Question,
    passages: Sequence[Chunk],
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    may_refuse: bool = True,
) -> LegalAnswer | RoleFailure:
    """The answer, or why there is none. Raises what the whole run must stop for."""
    client, prompt = role_models.client("meta_llm", context), role_models.prompt("meta_llm")
    speaker = make_meta_llm(client, prompt, question, passages, may_refuse=may_refuse)
    return await ask_role(speaker, LegalAnswer, "Answer the question.", context=context, event_log=event_log)


async def ask_role(
    speaker: RoleAgent[Answer], answer: type[Answer], opening: str, *, context: Context, event_log: EventLog
) -> Answer | RoleFailure:
    """What a role says when it is asked alone, put on record. Raises what the whole run must stop for."""
    result = await speaker.run(task=opening)
    message = result.messages[-1]
    if speaker.fatal_error is not None:
        raise speaker.fatal_error
    assert isinstance(message, BaseChatMessage)
    content = content_of(message)
    assert isinstance(content, answer | RoleFailure)
    record_turn(speaker, content, context.at(role=speaker.name, turn=context.turn + 1), event_log)
    return content
