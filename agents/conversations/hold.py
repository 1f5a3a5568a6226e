"""Holding a conversation: AutoGen moves the messages, code decides who speaks next, everything said is recorded."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from autogen_agentchat.base import ChatAgent
from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core import CancellationToken
from autogen_core.models import LLMMessage
from pydantic import BaseModel

from lawtrace.agents.clients.scripted import ScriptedClient
from lawtrace.agents.ledger import Context, Ledger, MessageSent, RoleFailed
from lawtrace.agents.speaker import CodeCheck, RoleFailure, RoleSpeaker, content_of

Said = tuple[str, BaseModel | str]
"""Who spoke, and the content."""

NextSpeaker = Callable[[Sequence[Said]], str | None]
"""Given all that was said so far (the opening first), the name of who speaks next, or None to end."""


ANSWER_CHECK = "answer_check"
"""Who sends an unusable answer back: code."""


def record_sent_back(speaker: RoleSpeaker[Any], context: Context, ledger: Ledger) -> int:
    """Write down the unusable answers of the role's last turn, and what it was told; returns how many lines."""
    lines = 0
    for unusable in speaker.sent_back:
        prompt = speaker.prompt
        ledger.record(
            MessageSent(
                context=context.at(turn=context.turn + lines),
                source=speaker.name,
                content=unusable.text,
                prompt_id=prompt.id,
                prompt_hash=prompt.hash,
            )
        )
        told = context.at(role=ANSWER_CHECK, model=None, turn=context.turn + lines + 1)
        ledger.record(MessageSent(context=told, source=ANSWER_CHECK, content=unusable.request))
        lines += 2
    return lines


def _no_selector(_: Sequence[LLMMessage]) -> str:
    raise AssertionError("code chooses the speakers; the team must never ask a model for one")


async def hold_conversation(
    participants: Sequence[ChatAgent],
    *,
    opening: str,
    next_speaker: NextSpeaker,
    context: Context,
    ledger: Ledger,
    most_messages: int = 60,
) -> list[Said]:
    """Run the conversation to its end and return everything that was said, the opening first.

    A :class:`RoleFailure` ends it at once. ``most_messages`` is a hard limit, whatever ``next_speaker`` wants. Raises
    what the whole run must stop for, such as a record that cannot be written.
    """
    said: list[Said] = []

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
    speakers: dict[str, RoleSpeaker[Any]] = {
        agent.name: agent for agent in participants if isinstance(agent, RoleSpeaker)
    }
    stoppable: list[RoleSpeaker[Any] | CodeCheck[Any]] = [
        agent for agent in participants if isinstance(agent, RoleSpeaker | CodeCheck)
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
                    turn += record_sent_back(speaker, context.at(role=speaker.name, turn=turn), ledger)
                _write_down(message.source, content, speaker, context.at(role=message.source, turn=turn), ledger)
                turn += 1
                said.append((message.source, content))
        finally:
            given_up.cancel()
            with suppress(asyncio.CancelledError):  # the team's, of what was given up
                await stream.aclose()

    await _unless_cancelled(listen(), given_up)
    for agent in stoppable:
        if agent.stopped_by is not None:
            raise agent.stopped_by
    return said


def _write_down(
    source: str, content: BaseModel | str, speaker: RoleSpeaker[Any] | None, place: Context, ledger: Ledger
) -> None:
    prompt = speaker.prompt if speaker else None
    ledger.record(
        MessageSent(
            context=place,
            source=source,
            content=content if isinstance(content, str) else content.model_dump_json(),
            prompt_id=prompt.id if prompt else None,
            prompt_hash=prompt.hash if prompt else None,
        )
    )
    if isinstance(content, RoleFailure) and content.answered:  # the client has recorded the others
        ledger.record(RoleFailed(context=place, reason="answer", text=f"{content.reason}\n{content.text}"))


async def _unless_cancelled(listening: Coroutine[Any, Any, None], given_up: CancellationToken) -> None:
    """Waits for the conversation. If the caller is cancelled, the conversation is given up: left to itself, a team asks
    its models on to the end, for money that buys nothing."""
    conversation = asyncio.ensure_future(listening)
    try:
        await asyncio.shield(conversation)
    except asyncio.CancelledError:
        given_up.cancel()
        await asyncio.gather(conversation, return_exceptions=True)
        raise
