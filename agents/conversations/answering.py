"""The simple pipeline of the legal bench: what was retrieved goes to the Meta-LLM, which answers once (M 5.1)."""

from collections.abc import Sequence
from typing import TypeVar

from autogen_agentchat.messages import BaseChatMessage
from pydantic import BaseModel

from lawtrace.agents.casting import Casting
from lawtrace.agents.conversations.hold import record_sent_back
from lawtrace.agents.ledger import Context, Ledger, MessageSent, RoleFailed
from lawtrace.agents.roles.meta_llm import LegalAnswer, seat_meta_llm
from lawtrace.agents.speaker import RoleFailure, RoleSpeaker, content_of
from lawtrace.environments.casebook.case import Chunk, Question

Answer = TypeVar("Answer", bound=BaseModel)


async def answer_once(
    question: Question,
    passages: Sequence[Chunk],
    *,
    casting: Casting,
    context: Context,
    ledger: Ledger,
    may_refuse: bool = True,
) -> LegalAnswer | RoleFailure:
    """The answer, or why there is none. Raises what the whole run must stop for."""
    client, prompt = casting.client("meta_llm", context), casting.prompt("meta_llm")
    speaker = seat_meta_llm(client, prompt, question, passages, may_refuse=may_refuse)
    return await speak_once(speaker, LegalAnswer, "Answer the question.", context=context, ledger=ledger)


async def speak_once(
    speaker: RoleSpeaker[Answer], answer: type[Answer], opening: str, *, context: Context, ledger: Ledger
) -> Answer | RoleFailure:
    """What a role says when it is asked alone, put on record. Raises what the whole run must stop for."""
    said = await speaker.run(task=opening)
    message = said.messages[-1]
    if speaker.stopped_by is not None:
        raise speaker.stopped_by
    assert isinstance(message, BaseChatMessage)
    content = content_of(message)
    assert isinstance(content, answer | RoleFailure)
    asked = context.at(role=speaker.name, turn=context.turn + 1)
    place = asked.at(turn=asked.turn + record_sent_back(speaker, asked, ledger))
    ledger.record(
        MessageSent(
            context=place,
            source=speaker.name,
            content=content.model_dump_json(),
            prompt_id=speaker.prompt.id,
            prompt_hash=speaker.prompt.hash,
        )
    )
    if isinstance(content, RoleFailure) and content.answered:  # the client has recorded the others
        ledger.record(RoleFailed(context=place, reason="answer", text=f"{content.reason}\n{content.text}"))
    return content
