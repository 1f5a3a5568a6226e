"""Holding a conversation: AutoGen moves the messages, code decides who speaks next, everything said is recorded."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from autogen_agentchat.base import ChatAgent
from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core import CancellationToken
from autogen_core.models import LLMMessage
from pydantic import BaseModel

from lawtrace.agents.event_log import Context, EventLog, MessageSent, RoleFailed
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.participants import CodeCheck, RoleAgent, RoleFailure, content_of
from lawtrace.agents.roles.instruction_roles import Objections

Utterance = tuple[str, BaseModel | str]
"""Who spoke, and the content."""

NextSpeaker = Callable[[Sequence[Utterance]], str | None]
"""Given all that was said so far (the opening first), the name of who speaks next, or None to end."""


ANSWER_CHECK = "answer_check"
"""Who sends an unusable answer back: code."""


def record_rejected_answers(speaker: RoleAgent[Any], context: Context, event_log: EventLog) -> int:
    """Write down the unusable answers of the role's last turn, and what it was told; returns how many lines."""
    lines = 0
    for unusable in speaker.rejected_answers:
        prompt = speaker.prompt
        event_log.record(
            MessageSent(
                context=context.at(turn=context.turn + lines),
                source=speaker.name,
                content=unusable.text,
                prompt_id=prompt.id,
                prompt_hash=prompt.hash,
            )
        )
        told = context.at(role=ANSWER_CHECK, model=None, turn=context.turn + lines + 1)
        event_log.record(MessageSent(context=told, source=ANSWER_CHECK, content=unusable.request))
        lines += 2
    return lines


def _no_selector(_: Sequence[LLMMessage]) -> str:
    raise AssertionError("code chooses the speakers; the team must never ask a model for one")


async def run_conversation(
    participants: Sequence[ChatAgent],
    *,
    opening: str,
    next_speaker: NextSpeaker,
    context: Context,
    event_log: EventLog,
    most_messages: int = 60,
) -> list[Utterance]:
    """Run the conversation to its end and return everything that was said, the opening first.

    A :class:`RoleFailure` ends it at once. ``most_messages`` is a hard limit, whatever ``next_speaker`` wants. Raises
    what the whole run must stop for, such as a record that cannot be written.
    """
    said: list[Utterance] = []

    def after(messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> str | None:
        spoken = [(message.source, content_of(message)) for message in messages if isinstance(message, BaseChatMessage)]
        if isinstance(spoken[-1][1], RoleFailure) or len(spoken) >= most_messages:
            return None
        return next_speaker(spoken)

    thread: list[BaseAgentEvent | BaseChatMessage] = []

    def is_over(messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> bool:
        # The condition sees only what is new since it was last asked, so it keeps the thread itself.
        thread.extend(messages)
        return after(thread) is None

    team = SelectorGroupChat(
        list(participants),
        model_client=ScriptedClient(_no_selector),
        selector_func=after,
        allow_repeated_speaker=True,
        termination_condition=FunctionalTermination(is_over),
    )
    speakers: dict[str, RoleAgent[Any]] = {agent.name: agent for agent in participants if isinstance(agent, RoleAgent)}
    stoppable: list[RoleAgent[Any] | CodeCheck[Any]] = [
        agent for agent in participants if isinstance(agent, RoleAgent | CodeCheck)
    ]
    given_up = CancellationToken()

    async def listen() -> None:
        turn = 0
        stream = team.run_stream(task=opening, cancellation_token=given_up)
        try:
            async for message in stream:
                if not isinstance(message, BaseChatMessage):
                    continue
                if any(agent.stopped_by for agent in stoppable):
                    break  # nothing that was said: the run stops, and the agent speaks when it is resumed
                content = content_of(message)
                speaker = speakers.get(message.source)
                if speaker is not None:
                    turn += record_rejected_answers(speaker, context.at(role=speaker.name, turn=turn), event_log)
                _record_message(message.source, content, speaker, context.at(role=message.source, turn=turn), event_log)
                turn += 1
                said.append((message.source, content))
        finally:
            given_up.cancel()
            with suppress(asyncio.CancelledError):  # the team's, of what was given up
                await stream.aclose()

    await _cancel_with_caller(listen(), given_up)
    for agent in stoppable:
        if agent.stopped_by is not None:
            raise agent.stopped_by
    return said


def _record_message(
    source: str, content: BaseModel | str, speaker: RoleAgent[Any] | None, place: Context, event_log: EventLog
) -> None:
    prompt = speaker.prompt if speaker else None
    event_log.record(
        MessageSent(
            context=place,
            source=source,
            content=content if isinstance(content, str) else content.model_dump_json(),
            prompt_id=prompt.id if prompt else None,
            prompt_hash=prompt.hash if prompt else None,
        )
    )
    if isinstance(content, RoleFailure) and content.answered:  # the client has recorded the others
        event_log.record(RoleFailed(context=place, reason="answer", text=f"{content.reason}\n{content.text}"))


async def _cancel_with_caller(listening: Coroutine[Any, Any, None], given_up: CancellationToken) -> None:
    """Waits for the conversation. If the caller is cancelled, the conversation is given up: left to itself, a team asks
    its models on to the end, for money that buys nothing."""
    conversation = asyncio.ensure_future(listening)
    try:
        await asyncio.shield(conversation)
    except asyncio.CancelledError:
        given_up.cancel()
        await asyncio.gather(conversation, return_exceptions=True)
        raise


Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ProposalLoopResult(Generic[Answer]):
    """Everything that was proposed, in order, and why the conversation broke off, or None. ``unusable``: because of an
    answer, not for want of one."""

    proposals: tuple[Answer, ...]
    failure: str | None
    unusable: bool = False


async def run_proposal_loop(
    speaker: RoleAgent[Answer],
    answer: type[Answer],
    object_to: Callable[[Answer], Sequence[str]],
    *,
    opening: str,
    context: Context,
    event_log: EventLog,
    most_rounds: int,
) -> ProposalLoopResult[Answer]:
    """Hold the conversation until code has no objection, or for that many rounds."""

    def check(content: BaseModel | str) -> Objections:
        return Objections(objections=tuple(object_to(content)) if isinstance(content, answer) else ())

    def next_speaker(said: Sequence[Utterance]) -> str | None:
        content = said[-1][1]
        if isinstance(content, answer):
            return "check"
        rounds = sum(isinstance(content, answer) for _, content in said)
        if isinstance(content, Objections) and (not content.objections or rounds >= most_rounds):
            return None
        return speaker.name

    said = await run_conversation(
        [speaker, CodeCheck("check", Objections, check)],
        opening=opening,
        next_speaker=next_speaker,
        context=context,
        event_log=event_log,
        most_messages=2 * most_rounds + 2,
    )
    last = said[-1][1]
    proposals = tuple(content for _, content in said if isinstance(content, answer))
    if isinstance(last, RoleFailure):
        return ProposalLoopResult(proposals, last.reason, last.answered)
    return ProposalLoopResult(proposals, None)
