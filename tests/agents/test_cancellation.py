"""Cancelled and failed conversations stop calling models."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from random import Random

import pytest
from pydantic import BaseModel

from lawtrace.agents.conversation import run_conversation
from lawtrace.agents.conversations.attempts import ask_for_program, run_tool_conversation
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.participants import CodeCheck, Role, RoleAgent
from lawtrace.agents.prompt_context import PromptContext
from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.prompts.loader import load_prompt
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.log_entries import Context, Entry, MessageSent
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.tool_conversation import AttemptLimits
from tests.support.openai_server import calling, serving

CONTEXT = Context(stage="tasks", role="writer")
INSTRUCTION = Instruction(style="goal", text="Pay the bill.", variables={"amount_1": 12.5})


class Word(BaseModel):
    word: str


class FullLedger(MemoryEventLog):
    """An event log that is full after some messages."""

    def __init__(self, messages: int) -> None:
        super().__init__()
        self._left = messages

    def record(self, entry: Entry) -> None:
        if isinstance(entry, MessageSent):
            if not self._left:
                raise OperationalError("the disk is full")
            self._left -= 1
        super().record(entry)


async def talk_for_long(clients: ModelClients, event_log: MemoryEventLog) -> None:
    writer = RoleAgent(
        Role("writer", Word, message_filter=lambda content: "Again.", stateful=False),
        clients.client_for(ModelSpec.parse("openai:m"), CONTEXT),
        load_prompt("executor_user"),
        "Say a word.",
    )
    await run_conversation(
        [writer, CodeCheck("echo", Word, Word, lambda content: Word(word="again"))],
        opening="Begin.",
        next_speaker=lambda said: "echo" if said[-1][0] == "writer" else "writer",
        context=CONTEXT,
        event_log=event_log,
        most_messages=20,
    )


async def write_a_program(clients: ModelClients, event_log: MemoryEventLog) -> None:
    await ask_for_program(
        ENVIRONMENT,
        INSTRUCTION,
        client=clients.client_for(ModelSpec.parse("openai:m"), CONTEXT),
        context=CONTEXT,
        event_log=event_log,
        prompt_context=PromptContext(),
    )


async def use_tools(clients: ModelClients, event_log: MemoryEventLog) -> None:
    await run_tool_conversation(
        Session(ENVIRONMENT, ENVIRONMENT.populate(Random(1))),
        INSTRUCTION,
        client=clients.client_for(ModelSpec.parse("openai:m"), CONTEXT),
        context=CONTEXT,
        event_log=event_log,
        limits=AttemptLimits(),
        prompt_context=PromptContext(),
    )


async def test_cancelled_conversation_stops() -> None:
    release = asyncio.Event()

    def answer(request: Mapping[str, object]) -> str:
        loop.call_soon_threadsafe(release.set)
        server.wait(0.2)
        return '{"word": "hm"}'

    loop = asyncio.get_running_loop()
    with serving(answer) as server:
        async with ModelClients(MemoryEventLog(), environment=server.environment) as clients:
            talk = asyncio.ensure_future(talk_for_long(clients, MemoryEventLog()))
            await release.wait()
            talk.cancel()
            with pytest.raises(asyncio.CancelledError):
                await talk
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("converse", "messages"),
    [(talk_for_long, 1), (talk_for_long, 2), (write_a_program, 1), (use_tools, 1), (use_tools, 2)],
)
async def test_full_event_log_stops_the_conversation(
    converse: Callable[[ModelClients, MemoryEventLog], Awaitable[None]], messages: int, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(request: Mapping[str, object]) -> str | Mapping[str, object]:
        return calling(("CheckAuthorization", {})) if request.get("tools") else '{"word": "hm"}'

    event_log = FullLedger(messages)
    with serving(answer) as server, caplog.at_level(logging.ERROR, logger="opentelemetry"):
        async with ModelClients(event_log, environment=server.environment) as clients:
            with pytest.raises(OperationalError, match="the disk is full"):
                await converse(clients, event_log)
            await asyncio.sleep(0.2)  # time in which uncancelled calls would still arrive
        assert len(server.requests) <= 2
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")]


async def test_error_of_a_check_ends_the_conversation_and_keeps_its_type() -> None:
    def refuse(content: str) -> Word:
        raise InputError("populate: tables.py, line 84: no names left")

    event_log = MemoryEventLog()
    with pytest.raises(InputError, match=r"tables\.py, line 84"):
        await run_conversation(
            [CodeCheck("echo", str, Word, refuse), CodeCheck("other", str, Word, lambda content: Word(word="never"))],
            opening="Begin.",
            next_speaker=lambda said: "echo" if len(said) == 1 else "other",
            context=CONTEXT,
            event_log=event_log,
        )
    assert {entry.source for entry in event_log.entries if isinstance(entry, MessageSent)} <= {"user"}
