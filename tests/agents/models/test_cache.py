"""Answers kept from run to run: found by everything that may change them, recorded as kept, and free."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from autogen_core.models import LLMMessage, UserMessage
from autogen_core.tools import ParametersSchema, ToolSchema

from lawtrace.agents.event_log import Context, MemoryEventLog, ModelCalled
from lawtrace.agents.model_spec import ModelParameters, ModelSpec
from lawtrace.agents.models.budget import Budget
from lawtrace.agents.models.stack import CallSettings, ModelClients
from lawtrace.environments.errors import OperationalError
from tests.support.openai_server import OpenAIServer, Status, calling, serving

SPEC = ModelSpec.parse("openai:m")
TOOL = ToolSchema(name="Look", description="looks", parameters=ParametersSchema(type="object", properties={}))


def said(words: str = "hello") -> Sequence[LLMMessage]:
    return [UserMessage(content=words, source="user")]


@pytest.fixture
def settings(tmp_path: Path) -> CallSettings:
    return CallSettings(deadline_seconds=5, cache=tmp_path / "answers.sqlite")


async def ask(
    server: OpenAIServer,
    settings: CallSettings,
    context: Context,
    parameters: ModelParameters | None = None,
    words: str = "hello",
    spec: ModelSpec = SPEC,
) -> ModelCalled:
    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=settings, environment=server.environment) as clients:
        await clients.client_for(spec, context, parameters or ModelParameters()).create(said(words))
    (entry,) = (entry for entry in event_log.entries if isinstance(entry, ModelCalled))
    return entry


async def test_the_same_call_is_answered_from_the_disk(
    server: OpenAIServer, settings: CallSettings, context: Context
) -> None:
    first, second = [await ask(server, settings, context) for _ in range(2)]
    assert len(server.requests) == 1
    assert (first.cached, second.cached) == (False, True)
    assert (second.answer, second.prompt_tokens) == (first.answer, first.prompt_tokens)


async def test_whatever_may_change_an_answer_is_another_call(
    server: OpenAIServer, settings: CallSettings, context: Context
) -> None:
    await ask(server, settings, context)
    await ask(server, settings, context.at(trial=1))
    await ask(server, settings, context, ModelParameters(temperature=0.5))
    await ask(server, settings, context, words="good evening")
    await ask(server, settings, context, spec=ModelSpec.parse("openai:other"))
    assert len(server.requests) == 5
    with serving(lambda request: "another endpoint") as other:  # the same name at another address
        assert (await ask(other, settings, context)).answer == "another endpoint"


async def test_a_hit_is_in_no_budget(server: OpenAIServer, tmp_path: Path, context: Context) -> None:
    settings = CallSettings(deadline_seconds=5, cache=tmp_path / "a.sqlite", budget=Budget(messages=1))
    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=settings, environment=server.environment) as clients:
        for task in ("one", "two", "three"):
            await clients.client_for(SPEC, context.at(task=task)).create(said())
    assert len(server.requests) == 1


async def test_tool_calls_come_back_whole(tmp_path: Path, context: Context) -> None:
    settings = CallSettings(deadline_seconds=5, cache=tmp_path / "answers.sqlite")
    with serving(lambda request: calling(("Look", {"at": "it"}), saying="let me see")) as server:
        event_log = MemoryEventLog()
        async with ModelClients(event_log, settings=settings, environment=server.environment) as clients:
            first, second = [
                await clients.client_for(SPEC, context.at(task=task)).create(said(), tools=[TOOL]) for task in "ab"
            ]
    assert len(server.requests) == 1
    assert (second.content, second.thought, second.finish_reason) == (first.content, first.thought, first.finish_reason)


async def test_a_failure_is_never_kept(server: OpenAIServer, settings: CallSettings, context: Context) -> None:
    server.then(Status(400))
    with pytest.raises(OperationalError):
        await ask(server, settings, context)
    assert not (await ask(server, settings, context)).cached


async def test_a_file_that_is_no_cache_is_named(server: OpenAIServer, tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_text("something else" * 100, encoding="utf-8")
    with pytest.raises(OperationalError, match=r"answers\.sqlite.*without --cache"):
        ModelClients(MemoryEventLog(), settings=CallSettings(cache=path), environment=server.environment)
