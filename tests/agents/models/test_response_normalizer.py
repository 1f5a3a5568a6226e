"""Normalization of responses of compatible endpoints."""

import json
from typing import Any

import pytest
from autogen_core.models import UserMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.schemas.log_entries import CallRetried, Context, ModelCalled
from lawtrace.schemas.model_spec import ModelSpec
from tests.support.call_limits import call_limits
from tests.support.openai_server import OpenAIServer, Raw

QUICK = call_limits(deadline_seconds=5)
COUNTED = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def completion(message: dict[str, Any], usage: object) -> Raw:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return Raw(json.dumps(reply))


async def ask(server: OpenAIServer, event_log: MemoryEventLog) -> ModelCalled:
    async with ModelClients(event_log, settings=QUICK, environment=server.environment) as clients:
        client = clients.client_for(ModelSpec.parse("openai:m"), Context(stage="tasks", role="executor"))
        await client.create([UserMessage(content="Hello", source="user")])
    (called,) = (entry for entry in event_log.entries if isinstance(entry, ModelCalled))
    return called


@pytest.mark.parametrize(
    ("message", "answer", "thought"),
    [
        ({"content": None, "refusal": "I cannot help with that."}, "I cannot help with that.", None),
        ({"content": "Gladly.", "refusal": None}, "Gladly.", None),
        ({"content": "", "refusal": ["no"]}, "", None),
        ({"content": [{"type": "text", "text": "He"}, {"type": "text", "text": "llo"}]}, "Hello", None),
        ({"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello"}]}, "Hello", None),
        ({"content": "Hello", "reasoning": "They greet."}, "Hello", "They greet."),
        ({"content": "Hello", "reasoning_content": "They greet."}, "Hello", "They greet."),
        ({"content": "Hello", "reasoning_content": ["They", "greet."]}, "Hello", None),
    ],
)
async def test_deviating_responses_are_normalized(
    server: OpenAIServer, message: dict[str, Any], answer: str, thought: str | None
) -> None:
    server.then(completion(message, COUNTED))
    called = await ask(server, MemoryEventLog())
    assert (called.answer, called.thought) == (answer, thought)
    assert (called.prompt_tokens, called.completion_tokens) == (7, 3)


@pytest.mark.parametrize("count", [None, "7", 7.5, -7, True])
async def test_missing_token_counts_are_zero(server: OpenAIServer, count: object) -> None:
    server.then(completion({"content": "Hello"}, {**COUNTED, "completion_tokens": count}))
    called = await ask(server, MemoryEventLog())
    assert (called.answer, called.prompt_tokens, called.completion_tokens) == ("Hello", 7, 0)


async def test_error_with_success_status_is_retried(server: OpenAIServer) -> None:
    event_log = MemoryEventLog()
    server.then(Raw(json.dumps({"error": {"message": "the provider is overloaded", "code": 502}})))
    assert (await ask(server, event_log)).answer == "echo: Hello"
    (retried,) = (entry for entry in event_log.entries if isinstance(entry, CallRetried))
    assert "overloaded" in retried.error


async def test_a_refusal_says_so_and_a_body_that_was_cut_off_is_asked_for_again(server: OpenAIServer) -> None:
    event_log = MemoryEventLog()
    server.then(Raw('{"id": "x", "choices": [{"mess'), completion({"content": None, "refusal": "No."}, COUNTED))
    called = await ask(server, event_log)
    assert (called.answer, called.finish_reason) == ("No.", "content_filter")
    (retried,) = (entry for entry in event_log.entries if isinstance(entry, CallRetried))
    assert "ends after 30 bytes" in retried.error
