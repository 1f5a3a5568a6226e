"""Runs a conversation: AutoGen passes the messages, code chooses the next speaker, and every message is recorded.

The team is AutoGen's `SelectorGroupChat` with a selector function. Termination and selection are one decision:
``next_speaker`` is called once after every message, and None ends the conversation.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core import CancellationToken
from pydantic import BaseModel

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.model_call import ModelCall
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.participants import CodeCheck, Objections, Participant, RoleAgent, RoleFailure, content_of
from lawtrace.environments.logs import get_logger, log_context
from lawtrace.prompts.loader import Prompt
from lawtrace.schemas.log_entries import Context, FunctionCalled, MessageSent, RoleFailed

log = get_logger(__name__)

Answer = TypeVar("Answer", bound=BaseModel)

Loop = TypeVar("Loop", bound="HasResult")

Utterance = tuple[str, BaseModel | str]
"""The speaker and the content of a message."""

NextSpeaker = Callable[[Sequence[Utterance]], str | None]
"""From all messages so far (the opening first) to the name of the next speaker, or None to end."""

ANSWER_CHECK = "answer_check"
"""The source of requests to repair an answer."""


async def run_conversation(
    participants: Sequence[Participant],
    *,
    opening: str,
    next_speaker: NextSpeaker,
    context: Context,
    event_log: EventLog,
    most_messages: int = 60,
) -> list[Utterance]:
    """All messages of the conversation, the opening first.

    A `RoleFailure` or ``most_messages`` ends it, whatever ``next_speaker`` says. Raises the fatal error of a
    participant, such as an event log that cannot be written.
    """
    messages: list[Utterance] = []
    selected: str | None = None

    def select(new: Sequence[BaseAgentEvent | BaseChatMessage]) -> bool:
        """Choose the next speaker after new messages; whether the conversation is over."""
        nonlocal selected
        messages.extend((one.source, content_of(one)) for one in new if isinstance(one, BaseChatMessage))
        is_last = isinstance(messages[-1][1], RoleFailure) or len(messages) >= most_messages
        selected = None if is_last else next_speaker(messages)
        return selected is None

    team = SelectorGroupChat(
        list(participants),
        model_client=ScriptedClient(_no_model),
        selector_func=lambda _: selected,
        allow_repeated_speaker=True,
        termination_condition=FunctionalTermination(select),
    )
    by_name = {participant.name: participant for participant in participants}
    cancellation = CancellationToken()

    async def record() -> None:
        turn = 0
        stream = team.run_stream(task=opening, cancellation_token=cancellation)
        try:
            async for message in stream:
                if not isinstance(message, BaseChatMessage):
                    continue
                if any(participant.fatal_error for participant in participants):
                    break  # not a message of the conversation: a resumed run repeats this turn
                content = content_of(message)
                speaker = by_name.get(message.source)
                to: str | None = getattr(content, "to", None)
                for by, said in (speaker and speaker.spoken) or [(speaker, content)]:
                    turn = record_turn(by, said, context.at(role=message.source, turn=turn), event_log, to)
        finally:
            cancellation.cancel()
            with suppress(asyncio.CancelledError):  # raised by the team when it is cancelled
                await stream.aclose()

    with log_context(context):
        await _cancel_with_caller(record(), cancellation)
        log.debug("conversation ended", messages=len(messages), last=messages[-1][0] if messages else None)
    for participant in participants:
        if participant.fatal_error is not None:
            raise participant.fatal_error
    return messages


def _no_model(_: object) -> NoReturn:
    raise AssertionError("the selector function chooses the speakers; the team must never call a model")


def record_turn(
    speaker: Participant | None, content: BaseModel | str, context: Context, event_log: EventLog, to: str | None = None
) -> int:
    """Record a message, after the answers that were rejected in the same turn; returns the turn that follows."""
    turn = context.turn

    def record(source: str, text: str, prompt: Prompt | None, call: ModelCall | None) -> Context:
        nonlocal turn
        place = context.at(role=source, model=call and call.context.model, turn=turn)
        event_log.record(sent_message(place, text, prompt, call, to=context.role if source == ANSWER_CHECK else to))
        turn += 1
        return place

    prompt, call = (speaker.prompt, speaker.call) if speaker else (None, None)
    for rejected in speaker.rejected_answers if speaker else ():
        record(context.role, rejected.text, prompt, rejected.call)
        record(ANSWER_CHECK, rejected.request, None, None)
    text = content if isinstance(content, str) else content.model_dump_json()
    place = record(context.role, text, prompt, call)
    if isinstance(content, RoleFailure) and content.answered:  # the model client records the other failures
        event_log.record(RoleFailed(context=place, reason="answer", text=f"{content.reason}\n{content.text}"))
    return turn


async def ask_role(
    agent: RoleAgent[Answer], asked: BaseModel | str, context: Context, event_log: EventLog
) -> Answer | RoleFailure:
    """One answer of a role outside of a conversation, recorded. Raises errors that stop the run."""
    content = await agent.reply([asked], CancellationToken())
    record_turn(agent, content, context, event_log)
    return content


def sent_message(
    context: Context,
    content: str,
    prompt: Prompt | None,
    call: ModelCall | None,
    function_calls: tuple[FunctionCalled, ...] = (),
    to: str | None = None,
) -> MessageSent:
    """The entry for a message of the role in the context, with the prompt and the model call behind it."""
    return MessageSent(
        context=context,
        source=context.role,
        to=to,
        content=content,
        function_calls=function_calls,
        prompt_id=prompt and prompt.id,
        prompt_version=prompt and prompt.version,
        prompt_hash=prompt and prompt.hash,
        request_hash=call and call.request_hash,
        occurrence=call and call.occurrence,
    )


async def _cancel_with_caller(work: Coroutine[Any, Any, None], cancellation: CancellationToken) -> None:
    """Wait for the work, and cancel the team if the caller is cancelled; otherwise it would go on calling models."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        cancellation.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise


class HasResult(Protocol):
    """The result of a conversation. ``unusable``: there is none, as an answer did not parse."""

    @property
    def unusable(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ProposalLoopResult(Generic[Answer]):
    """All proposals in order. ``failure``: why the loop broke off; ``unusable``: there is none, as an answer did not
    parse. ``last``: the last message, which may be a review."""

    proposals: tuple[Answer, ...]
    failure: str | None
    unusable: bool = False
    last: BaseModel | str = ""


async def first_usable(converse: Callable[[Context], Awaitable[Loop]], place: Context, trials: int) -> Loop:
    """The first result that has a usable answer, or the last of ``trials``, each of which is asked anew."""
    for trial in range(trials - 1):
        if not (result := await converse(place.at(trial=trial))).unusable:
            return result
    return await converse(place.at(trial=trials - 1))


async def run_proposal_loop(
    speaker: RoleAgent[Answer],
    object_to: Callable[[Answer], Sequence[str]],
    *,
    opening: str,
    context: Context,
    event_log: EventLog,
    most_rounds: int,
    reviewer: Participant | None = None,
) -> ProposalLoopResult[Answer]:
    """A role proposes; code has ``objections``, and a reviewer to what code accepts, until none, or ``most_rounds``."""
    answer = speaker.role.answer
    check = CodeCheck("check", answer, Objections, lambda content: Objections(objections=tuple(object_to(content))))

    def next_speaker(messages: Sequence[Utterance]) -> str | None:
        source, content = messages[-1]
        if isinstance(content, answer):
            return check.name
        if not getattr(content, "objections", ("the opening",)):
            return reviewer.name if reviewer and source == check.name else None
        rounds = sum(isinstance(content, answer) for _, content in messages)
        return speaker.name if rounds < most_rounds else None

    messages = await run_conversation(
        [speaker, check, *([reviewer] if reviewer else [])],
        opening=opening,
        next_speaker=next_speaker,
        context=context,
        event_log=event_log,
        most_messages=3 * most_rounds + 2,
    )
    last = messages[-1][1]
    proposals = tuple(content for _, content in messages if isinstance(content, answer))
    if isinstance(last, RoleFailure):
        return ProposalLoopResult(proposals, last.reason, last.answered and not proposals)
    return ProposalLoopResult(proposals, None, last=last)
