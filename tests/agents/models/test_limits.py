"""Deadlines and cancellation, also of clients that ignore them."""

import asyncio
import time

import pytest
from autogen_core import CancellationToken
from autogen_core.models import UserMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.limits import MAX_FAILURES_IN_A_ROW, run_cancellable
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.spending import ABANDONED
from lawtrace.agents.models.stack import ModelClients
from lawtrace.schemas.call_options import BudgetOptions
from lawtrace.schemas.log_entries import Context, RoleFailed
from lawtrace.schemas.model_spec import ModelSpec
from tests.support.call_limits import call_limits
from tests.support.openai_server import Behaviour, OpenAIServer, Raw, Status, serving


async def stubborn(seconds: float) -> str:
    """Swallows cancellation, as a client with a broad except clause does."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue
    raise ValueError("too late for anybody to care")


class Stubborn(ScriptedClient):
    async def respond(self, request):  # type: ignore[no-untyped-def]
        await stubborn(0.6)
        return await super().respond(request)


async def test_work_that_ignores_cancellation_is_abandoned_after_the_deadline() -> None:
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await run_cancellable(stubborn(0.6), seconds=0.05)
    assert time.monotonic() - started < 0.4
    await asyncio.sleep(0.7)  # its own error arrives now and must not be reported as unhandled


async def test_work_that_ignores_cancellation_is_abandoned_when_the_token_is_cancelled() -> None:
    token = CancellationToken()
    asyncio.get_running_loop().call_later(0.05, token.cancel)
    started = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await run_cancellable(stubborn(0.6), token=token)
    assert time.monotonic() - started < 0.4


async def test_stack_does_not_wait_for_a_client_that_ignores_cancellation() -> None:
    event_log = MemoryEventLog()
    context = Context(stage="tasks", role="ltl_critic")
    async with ModelClients(event_log, settings=call_limits(deadline_seconds=0.05)) as clients:
        client = clients.wrap(Stubborn(lambda messages: "late"), ModelSpec.parse("offline"), context)
        started = time.monotonic()
        with pytest.raises(CallFailed, match="no answer within"):
            await client.create([UserMessage(content="hello", source="user")])
        assert time.monotonic() - started < 0.4
    assert [entry.kind for entry in event_log.entries] == ["failure"]


async def fail(clients: ModelClients, server: OpenAIServer, model: str, times: int) -> list[str]:
    errors: list[str] = []
    for number in range(times):
        client = clients.client_for(ModelSpec.parse(f"openai:{model}"), Context(stage="tasks", role="executor"))
        with pytest.raises(CallFailed) as failed:
            await client.create([UserMessage(content=f"{model} {number}", source="user")])
        errors.append(str(failed.value))
    return errors


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Status(404, text=": no model 'gone' here"), "no model 'gone' here; check the model's name"),
        (Raw("<p>Sign in</p>", "text/html"), "text/html, and begins: '<p>Sign in</p>'; check the endpoint's address"),
        (Raw("data: {}\n\n", "text/event-stream"), "an event stream, which was not asked for, and begins: 'data: {}'"),
    ],
    ids=["name", "page", "stream"],
)
async def test_an_endpoint_that_only_fails_is_not_asked_any_more(
    server: OpenAIServer, fault: Behaviour, words: str
) -> None:
    event_log = MemoryEventLog()
    settings = call_limits(budget=BudgetOptions(messages=100))
    server.always("gone", fault)
    async with ModelClients(event_log, settings=settings, environment=server.environment) as clients:
        errors = await fail(clients, server, "gone", MAX_FAILURES_IN_A_ROW + 3)
        assert ABANDONED not in errors[MAX_FAILURES_IN_A_ROW - 1]
        assert f"{ABANDONED} after 5 failures in a row; the last: openai:gone: no answer: " in errors[-1]
        assert words in errors[-1]
        assert len(server.requests) == MAX_FAILURES_IN_A_ROW
        other = clients.client_for(ModelSpec.parse("openai:good"), Context(stage="tasks", role="executor"))
        await other.create([UserMessage(content="hello", source="user")])
    assert len([entry for entry in event_log.entries if isinstance(entry, RoleFailed)]) == MAX_FAILURES_IN_A_ROW + 3


async def test_an_answer_and_a_refused_request_do_not_count(server: OpenAIServer) -> None:
    async with ModelClients(MemoryEventLog(), environment=server.environment) as clients:
        for fault in (Status(404), Status(400)):
            server.always("gone", fault)
            errors = await fail(clients, server, "gone", MAX_FAILURES_IN_A_ROW - 1)
            assert not any(ABANDONED in error for error in errors)
        server.always("gone", None)
        client = clients.client_for(ModelSpec.parse("openai:gone"), Context(stage="tasks", role="executor"))
        await client.create([UserMessage(content="hello", source="user")])
        server.always("gone", Status(404))
        errors = await fail(clients, server, "gone", MAX_FAILURES_IN_A_ROW)
        assert not any(ABANDONED in error for error in errors)


async def test_requests_to_an_endpoint_keep_their_distance_also_if_they_are_retries(context: Context) -> None:
    seconds: dict[str, float] = {}

    with serving(lambda _: "done") as server:
        settings = call_limits(requests_per_minute=600)
        server.then(Status(500), Status(500))
        async with ModelClients(MemoryEventLog(), settings=settings, environment=server.environment) as clients:
            for model in ("openai:one", "openai:two"):
                client = clients.client_for(ModelSpec.parse(model), context)
                begun = time.monotonic()
                await asyncio.gather(*(client.create([UserMessage(content=str(n), source="user")]) for n in range(4)))
                seconds[model] = time.monotonic() - begun
    assert len(server.requests) == 10
    assert seconds["openai:one"] > 0.5  # six requests, two of them again
    assert seconds["openai:two"] > 0.3  # another endpoint has turns of its own
