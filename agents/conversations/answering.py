"""The simple pipeline of the legal bench: what was retrieved goes to the Meta-LLM, which answers once (M 5.1)."""

from collections.abc import Sequence

from autogen_agentchat.messages import BaseChatMessage

from agents.casting import Casting
from agents.ledger import Context, Ledger, MessageSent, RoleFailed
from agents.roles.meta_llm import LegalAnswer, seat_meta_llm
from agents.speaker import RoleFailure, content_of
from environments.casebook.case import Chunk, Question

__all__ = ["answer_once"]


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
    speaker = seat_meta_llm(casting.client("meta_llm", context), question, passages, may_refuse=may_refuse)
    said = await speaker.run(task="Answer the question.")
    message = said.messages[-1]
    if speaker.stopped_by is not None:
        raise speaker.stopped_by
    assert isinstance(message, BaseChatMessage)
    content = content_of(message)
    assert isinstance(content, LegalAnswer | RoleFailure)
    place = context.at(role=speaker.name, turn=1)
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
