"""The client stack against a misbehaving endpoint."""

import asyncio
import time

import pytest
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import UserMessage
from autogen_core.tools import ToolSchema
from pydantic import BaseModel

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.log_entries import CallRetried, Context, ModelCalled, RoleFailed
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from tests.support.call_limits import call_limits
from tests.support.openai_server import Drop, Hang, OpenAIServer, Raw, Status, serving

SPEC = ModelSpec.parse("openai:some-model")


def said(text: str) -> list[UserMessage]:
    return [UserMessage(content=text, source="user")]


async def test_an_answer_is_returned_and_recorded(server: OpenAIServer, context: Context, quick: CallOptions) -> None:
    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
        client = clients.client_for(SPEC, context, ModelParameters(temperature=0, max_tokens=9, seed=3))
        first = await client.create(said("one two"))
        await client.create(said("three"))
    assert first.content == "echo: one two"
    sent = server.requests[0]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["seed"]) == ("some-model", 0, 9, 3)
    assert sent["messages"] == [{"role": "user", "content": "one two"}]
    calls = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    assert len(calls) == len(event_log.entries) / 2 == 2  # each request was logged, then its answer
    assert calls[0].answer == "echo: one two"
    assert (calls[0].prompt_tokens, calls[0].completion_tokens) == (2, 3)
    assert calls[0].context == context.at(model="openai:some-model")
    assert [call.context.turn for call in calls] == [0, 1]
    assert calls[0].latency_ms > 0
    assert client.total_usage().prompt_tokens == 3


@pytest.mark.parametrize("fault", [Status(429), Status(500), Status(503), Status(408), Status(409), Drop()])
async def test_transport_errors_are_retried_and_recorded(
    server: OpenAIServer, context: Context, quick: CallOptions, fault: Status | Drop
) -> None:
    event_log = MemoryEventLog()
    server.then(fault, fault)
    async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
        result = await clients.client_for(SPEC, context).create(said("hello"))
    assert result.content == "echo: hello"
    assert [entry.kind for entry in event_log.entries] == ["asked", "retry", "retry", "model_call"]
    retries = [entry for entry in event_log.entries if isinstance(entry, CallRetried)]
    assert [retry.try_number for retry in retries] == [1, 2]
    assert all(retry.error and retry.context.task == "task-1" for retry in retries)


async def test_retry_after_header_is_respected(server: OpenAIServer, context: Context, quick: CallOptions) -> None:
    event_log = MemoryEventLog()
    server.then(Status(429, {"Retry-After": "0.25"}))
    async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
        started = time.monotonic()
        await clients.client_for(SPEC, context).create(said("hello"))
        assert time.monotonic() - started >= 0.25
    retry = event_log.entries[1]
    assert isinstance(retry, CallRetried)
    assert retry.waited_seconds == 0.25


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Status(401), "check the key"),
        (Status(404), "check the model's name"),
        (Status(400), "400"),
        (Status(400, text=f"<html>{'x ' * 3000}"), "<html>"),
        (Status(429, error_code="insufficient_quota"), "429"),
        (Raw("<html>a portal</html>", "text/html"), "not a chat completion"),
        (Raw("{}"), "not a chat completion"),
        (Raw('{"choices": []}'), "not a chat completion"),
        (Raw("not json"), "not a chat completion"),
    ],
)
async def test_permanent_errors_are_not_retried(
    server: OpenAIServer, context: Context, quick: CallOptions, fault: Status | Raw, says: str
) -> None:
    event_log = MemoryEventLog()
    server.then(fault)
    async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
        with pytest.raises(CallFailed, match=says) as failed:
            await clients.client_for(SPEC, context).create(said("hello"))
    assert len(str(failed.value)) < 600
    assert len(server.requests) == 1
    assert [entry.kind for entry in event_log.entries] == ["asked", "failure"]


async def test_deadline_ends_a_slow_call(server: OpenAIServer, context: Context) -> None:
    event_log = MemoryEventLog()
    server.then(Hang(5))
    settings = call_limits(deadline_seconds=0.2)
    async with ModelClients(event_log, settings=settings, environment=server.environment) as clients:
        started = time.monotonic()
        with pytest.raises(CallFailed, match=r"within 0\.2 s") as failed:
            await clients.client_for(SPEC, context).create(said("hello"))
        assert time.monotonic() - started < 2
    assert failed.value.reason == "deadline"
    failure = event_log.entries[-1]
    assert isinstance(failure, RoleFailed)
    assert (failure.reason, failure.occurrence) == ("deadline", 0)


async def test_cancelling_the_token_ends_the_call_and_is_recorded(
    server: OpenAIServer, context: Context, quick: CallOptions
) -> None:
    event_log = MemoryEventLog()
    server.then(Hang(5))
    token = CancellationToken()
    async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
        client = clients.client_for(SPEC, context)
        asyncio.get_running_loop().call_later(0.1, token.cancel)
        started = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await client.create(said("hello"), cancellation_token=token)
        assert time.monotonic() - started < 2
    failure = event_log.entries[-1]
    assert isinstance(failure, RoleFailed)
    assert failure.reason == "cancelled"


async def test_concurrency_limit_and_queueing_time(context: Context) -> None:
    running, most = 0, 0

    class Slow(ScriptedClient):
        async def respond(self, request):  # type: ignore[no-untyped-def]
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.05)
            running -= 1
            return await super().respond(request)

    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=call_limits(concurrency=2)) as clients:
        slow = Slow(lambda messages: "done")
        spec = ModelSpec.parse("offline")
        await asyncio.gather(*(clients.wrap(slow, spec, context).create(said(str(n))) for n in range(6)))
    assert most == 2
    calls = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    queued = max(call.queued_ms for call in calls)
    assert queued >= 90
    assert min(call.latency_ms for call in calls) < queued


async def test_answer_that_violates_the_schema_is_kept(
    server: OpenAIServer, context: Context, quick: CallOptions
) -> None:
    class Verdict(BaseModel):
        kept: bool

    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
        result = await clients.client_for(SPEC, context, ModelParameters(answers="schema")).create(
            said("no json"), json_output=Verdict
        )
    assert result.content == "echo: no json"
    sent = server.requests[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"]["required"] == ["kept"]
    call = event_log.entries[-1]
    assert isinstance(call, ModelCalled)
    assert call.schema_name == "Verdict"


async def test_function_calls_are_recorded_as_the_model_wrote_them(context: Context, quick: CallOptions) -> None:
    function = {"id": "c1", "type": "function", "function": {"name": "PayBill", "arguments": '{"amount":  5}'}}
    tool = ToolSchema(name="PayBill", description="pays", parameters={"type": "object", "properties": {}})
    event_log = MemoryEventLog()
    with serving(lambda request: {"tool_calls": [function]}) as server:
        async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
            result = await clients.client_for(SPEC, context).create(said("pay"), tools=[tool])
    assert result.content == [FunctionCall(id="c1", name="PayBill", arguments='{"amount":  5}')]
    call = event_log.entries[-1]
    assert isinstance(call, ModelCalled)
    assert call.tools == ("PayBill",)
    assert call.function_calls[0].arguments == '{"amount":  5}'
    assert call.finish_reason == "function_calls"


async def test_lone_surrogates_are_replaced(context: Context, quick: CallOptions) -> None:
    event_log = MemoryEventLog()
    with serving(lambda request: "cut \ud83d off") as server:
        async with ModelClients(event_log, settings=quick, environment=server.environment) as clients:
            result = await clients.client_for(SPEC, context).create(said("hello"))
    assert result.content == "cut ? off"
    assert event_log.entries[-1].model_dump_json()


async def test_trials_and_occurrences_are_distinct(context: Context) -> None:
    event_log = MemoryEventLog()
    async with ModelClients(event_log) as clients:
        spec = ModelSpec.parse("offline")
        for trial in (0, 1):
            client = clients.wrap(ScriptedClient(lambda messages: "same"), spec, context.at(trial=trial))
            await client.create(said("hello"))
            await client.create(said("hello"))
        other_task = clients.wrap(ScriptedClient(lambda messages: "same"), spec, context.at(task="task-2"))
        await other_task.create(said("hello"))
    calls = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    assert [call.occurrence for call in calls] == [0, 1, 0, 1, 0]
    assert calls[0].request_hash == calls[1].request_hash == calls[4].request_hash
    assert calls[0].request_hash != calls[2].request_hash


@pytest.mark.slow
async def test_a_thousand_concurrent_conversations_have_low_overhead(context: Context) -> None:
    async with ModelClients(MemoryEventLog()) as clients:
        spec = ModelSpec.parse("offline")

        async def converse(number: int) -> None:
            client = clients.wrap(ScriptedClient(lambda messages: "yes"), spec, context.at(task=f"task-{number}"))
            await client.create(said("hello"))

        started = time.monotonic()
        await asyncio.gather(*(converse(number) for number in range(1000)))
        assert (time.monotonic() - started) / 1000 < 0.020
