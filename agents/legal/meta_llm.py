"""The Meta-LLM: answers a legal question from retrieved passages (M 3.2, 5.1, Table 9)."""

import json
from collections.abc import Sequence
from typing import Annotated, TypeVar

from autogen_agentchat.messages import BaseChatMessage
from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, BeforeValidator, ConfigDict

from lawtrace.agents.conversation import record_turn
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.participants import RoleAgent, RoleFailure, content_of
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.case import Chunk, Question
from lawtrace.environments.legal.choice_parser import is_refusal
from lawtrace.prompts.loader import Prompt


def _as_text(value: object) -> object:
    """The answer as text: models also write ["A"], true or 3. `parse_choice` interprets it."""
    if isinstance(value, list):
        members: list[object] = [*value]
        return _as_text(members[0]) if len(members) == 1 else json.dumps(members)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


class Citation(BaseModel):
    """A passage that an answer rests on, with a quote from it."""

    model_config = ConfigDict(frozen=True)

    passage: str
    quote: str = ""


class LegalAnswer(BaseModel):
    """The answer as written. A null answer is a refusal."""

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
    """The answer or a failure. Raises errors that stop the run."""
    client, prompt = role_models.client("meta_llm", context), role_models.prompt("meta_llm")
    role = make_meta_llm(client, prompt, question, passages, may_refuse=may_refuse)
    context = with_model_of(client, context)
    return await ask_role(role, LegalAnswer, "Answer the question.", context=context, event_log=event_log)


def with_model_of(client: ChatCompletionClient, context: Context) -> Context:
    """The context with the model that the client calls."""
    return context.at(model=client.context.model) if isinstance(client, RecordedClient) else context


async def ask_role(
    role: RoleAgent[Answer], answer: type[Answer], opening: str, *, context: Context, event_log: EventLog
) -> Answer | RoleFailure:
    """Ask a single role and record its answer. Raises errors that stop the run."""
    result = await role.run(task=opening)
    message = result.messages[-1]
    if role.fatal_error is not None:
        raise role.fatal_error
    assert isinstance(message, BaseChatMessage)
    content = content_of(message)
    assert isinstance(content, answer | RoleFailure)
    record_turn(role, content, context.at(role=role.name, turn=context.turn + 1), event_log)
    return content
