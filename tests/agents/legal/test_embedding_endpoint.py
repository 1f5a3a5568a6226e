"""Vectors from an endpoint: in order, in batches, each text once; recorded and replayable like other calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.legal.embedding_endpoint import endpoint_encoder
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.retrieval.embedding import Encoder
from lawtrace.schemas.log_entries import CallRetried, Context, ModelCalled, RequestSent, RoleFailed
from lawtrace.schemas.model_spec import ModelSpec
from tests.support.openai_server import OpenAIServer, Raw, Status, serving

SPEC = ModelSpec.parse("openai:small-embedder")
PLACE = Context(stage="retrieval", role="embedder")
Result = TypeVar("Result")


def of_kind(event_log: MemoryEventLog, kind: type[Result]) -> list[Result]:
    return [entry for entry in event_log.entries if isinstance(entry, kind)]


async def with_encoder(
    server: OpenAIServer, event_log: MemoryEventLog, act: Callable[[Encoder], Awaitable[Result]]
) -> Result:
    async with ModelClients(event_log, environment=server.environment) as clients:
        return await act(endpoint_encoder(clients, SPEC, PLACE, asyncio.get_running_loop()))


async def test_vectors_keep_the_order_and_each_text_is_requested_once() -> None:
    texts = ["a" * number for number in range(1, 100)]
    event_log = MemoryEventLog()
    with serving(lambda request: "") as server:

        async def act(encoder: Encoder) -> None:
            for _ in range(2):
                vectors = await asyncio.to_thread(encoder.encode, [*texts, *reversed(texts)])
                assert vectors[:, 0].tolist() == [*range(1, 100), *range(99, 0, -1)]
            assert (await asyncio.to_thread(encoder.encode, [])).shape == (0, 0)

        await with_encoder(server, event_log, act)
        assert [len(request["input"]) for request in server.requests] == [64, 35]
        assert {request["model"] for request in server.requests} == {"small-embedder"}
    asked, called = of_kind(event_log, RequestSent), of_kind(event_log, ModelCalled)
    assert [entry.request_hash for entry in asked] == [entry.request_hash for entry in called]
    assert [message.content for entry in called for message in entry.request] == texts
    assert {(entry.context.role, entry.context.model, entry.paid) for entry in called} == {
        ("embedder", str(SPEC), True)
    }


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (Status(401), "check the key"),
        (Raw("<html>"), "not a list of 1 vectors"),
        (Raw('{"data": []}'), "not a list of 1"),
    ],
)
async def test_a_reply_without_vectors_is_reported_and_recorded(behaviour: Status | Raw, message: str) -> None:
    event_log = MemoryEventLog()
    with serving(lambda request: "") as server:
        server.then(behaviour)
        with pytest.raises(CallFailed, match=f"openai:small-embedder.*{message}"):
            await with_encoder(server, event_log, lambda encoder: asyncio.to_thread(encoder.encode, ["text"]))
    (failed,) = of_kind(event_log, RoleFailed)
    assert message in failed.text


async def test_a_transient_error_is_retried_and_recorded() -> None:
    event_log = MemoryEventLog()
    with serving(lambda request: "") as server:
        server.then(Status(503, {"Retry-After": "0"}))
        vectors = await with_encoder(server, event_log, lambda encoder: asyncio.to_thread(encoder.encode, ["ae"]))
    assert vectors[0].tolist() == [1, 1, 0, 0, 0]
    assert len(of_kind(event_log, CallRetried)) == 1
