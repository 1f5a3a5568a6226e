"""A role proposes, code objects, the role proposes again: the smallest conversation there is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from lawtrace.agents.conversations.hold import Said, hold_conversation
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles.instruction_generator import Objections
from lawtrace.agents.speaker import CodeCheck, RoleFailure, RoleSpeaker

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Proposals(Generic[Answer]):
    """Everything that was proposed, in order, and why the conversation broke off, or None. ``unusable``: because of an
    answer, not for want of one."""

    proposals: tuple[Answer, ...]
    failure: str | None
    unusable: bool = False


async def propose(
    speaker: RoleSpeaker[Answer],
    answer: type[Answer],
    object_to: Callable[[Answer], Sequence[str]],
    *,
    opening: str,
    context: Context,
    ledger: Ledger,
    most_rounds: int,
) -> Proposals[Answer]:
    """Hold the conversation until code has no objection, or for that many rounds."""

    def check(content: BaseModel | str) -> Objections:
        return Objections(objections=tuple(object_to(content)) if isinstance(content, answer) else ())

    def next_speaker(said: Sequence[Said]) -> str | None:
        content = said[-1][1]
        if isinstance(content, answer):
            return "check"
        rounds = sum(isinstance(content, answer) for _, content in said)
        if isinstance(content, Objections) and (not content.objections or rounds >= most_rounds):
            return None
        return speaker.name

    said = await hold_conversation(
        [speaker, CodeCheck("check", Objections, check)],
        opening=opening,
        next_speaker=next_speaker,
        context=context,
        ledger=ledger,
        most_messages=2 * most_rounds + 2,
    )
    last = said[-1][1]
    proposals = tuple(content for _, content in said if isinstance(content, answer))
    if isinstance(last, RoleFailure):
        return Proposals(proposals, last.reason, last.answered)
    return Proposals(proposals, None)
