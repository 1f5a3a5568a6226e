"""Holding a conversation: AutoGen moves the messages, code decides who speaks next, everything said is recorded."""

from collections.abc import Callable, Sequence

from autogen_agentchat.base import ChatAgent
from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core.models import LLMMessage
from pydantic import BaseModel

from agents.clients.scripted import ScriptedClient
from agents.ledger import Context, Ledger, MessageSent, RoleFailed
from agents.speaker import RoleFailure, RoleSpeaker, content_of

__all__ = ["NextSpeaker", "Said", "hold_conversation"]

Said = tuple[str, BaseModel | str]
"""Who spoke, and the content."""

NextSpeaker = Callable[[Sequence[Said]], str | None]
"""Given all that was said so far (the opening first), the name of who speaks next, or None to end."""


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
    prompts = {agent.name: agent.prompt for agent in participants if isinstance(agent, RoleSpeaker)}
    async for message in team.run_stream(task=opening):
        if not isinstance(message, BaseChatMessage):
            continue
        content = content_of(message)
        place = context.at(role=message.source, turn=len(said))
        prompt = prompts.get(message.source)
        ledger.record(
            MessageSent(
                context=place,
                source=message.source,
                content=content if isinstance(content, str) else content.model_dump_json(),
                prompt_id=prompt.id if prompt else None,
                prompt_hash=prompt.hash if prompt else None,
            )
        )
        if isinstance(content, RoleFailure) and content.answered:  # the client has recorded the others
            ledger.record(RoleFailed(context=place, reason="answer", text=f"{content.reason}\n{content.text}"))
        said.append((message.source, content))
    for agent in participants:
        if isinstance(agent, RoleSpeaker) and agent.stopped_by is not None:
            raise agent.stopped_by
    return said
