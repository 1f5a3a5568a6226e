"""Budgets end a run cleanly, and a resumed run continues with a higher one."""

import asyncio
from collections.abc import Sequence

import pytest
from autogen_core.models import LLMMessage, UserMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.schemas.call_options import BudgetOptions, CallOptions, Price
from lawtrace.schemas.log_entries import BudgetReached, Context, ModelCalled
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from tests.support.call_limits import call_limits
from tests.support.openai_server import Hang, OpenAIServer

SPEC = ModelSpec.parse("openai:m")
PRICES = {"openai:m": Price(input=1_000_000, output=2_000_000)}


def said(words: str) -> Sequence[LLMMessage]:
    return [UserMessage(content=words, source="user")]


def settings(budget: BudgetOptions, concurrency: int = 20) -> CallOptions:
    return call_limits(deadline_seconds=5, concurrency=concurrency, budget=budget, prices=PRICES)


async def ask_all(clients: ModelClients, context: Context, count: int) -> list[object]:
    holders: list[RecordedClient] = [clients.client_for(SPEC, context.at(task=f"t{n}")) for n in range(count)]
    asked = (client.create(said(f"question {n}")) for n, client in enumerate(holders))
    return list(await asyncio.gather(*asked, return_exceptions=True))


@pytest.mark.parametrize("concurrency", [1, 20])
async def test_message_budget_is_exact(server: OpenAIServer, context: Context, concurrency: int) -> None:
    event_log = MemoryEventLog()
    limits = settings(BudgetOptions(messages=3), concurrency)
    async with ModelClients(event_log, settings=limits, environment=server.environment) as clients:
        results = await ask_all(clients, context, 10)
    assert sum(isinstance(result, BudgetExhausted) for result in results) == 7
    assert len(server.requests) == 3
    assert sum(isinstance(entry, ModelCalled) for entry in event_log.entries) == 3
    reached = [entry for entry in event_log.entries if isinstance(entry, BudgetReached)]
    assert [(entry.budget, entry.limit, entry.spent) for entry in reached] == [("messages", 3, 3)]


async def test_calls_in_flight_finish_and_are_recorded(server: OpenAIServer, context: Context) -> None:
    event_log = MemoryEventLog()
    server.then(Hang(0.2), Hang(0.2))
    limits = settings(BudgetOptions(messages=2))

    async def one(clients: ModelClients, number: int) -> None:
        await clients.client_for(SPEC, context.at(task=f"t{number}")).create(said(f"question {number}"))

    async def all_of_them(clients: ModelClients) -> None:
        async with asyncio.TaskGroup() as group:  # as the stages do: the first error cancels the others
            for number in range(5):
                group.create_task(one(clients, number))

    async with ModelClients(event_log, settings=limits, environment=server.environment) as clients:
        with pytest.raises(ExceptionGroup) as caught:
            await all_of_them(clients)
    assert caught.value.subgroup(BudgetExhausted) is not None
    assert sum(isinstance(entry, ModelCalled) for entry in event_log.entries) == len(server.requests) == 2


@pytest.mark.parametrize(
    ("budget", "name"),
    [
        (BudgetOptions(tokens=8), "tokens"),
        (BudgetOptions(money=20.0), "money"),
        (BudgetOptions(seconds=0.000_001), "seconds"),
    ],
)
async def test_tokens_money_and_seconds_end_a_run(
    server: OpenAIServer, context: Context, budget: BudgetOptions, name: str
) -> None:
    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=settings(budget), environment=server.environment) as clients:
        results = await ask_all(clients, context, 6)
    (reached,) = (entry for entry in event_log.entries if isinstance(entry, BudgetReached))
    assert reached.budget == name
    assert reached.spent >= reached.limit
    assert len(server.requests) < 6  # back-pressure near the limit: the requests are not all sent at once
    assert sum(isinstance(result, BudgetExhausted) for result in results) == 6 - len(server.requests)


class Earlier:
    """An event log with calls that match no request."""

    def __init__(self, calls: Sequence[ModelCalled], left: int) -> None:
        self._calls = calls
        self._left = left

    def answer(self, context: Context, request_hash: str, occurrence: int) -> None:
        return None

    def models(self, role: str) -> list[object]:
        return []

    def answered(self) -> Sequence[ModelCalled]:
        return self._calls

    def requests_sent(self) -> int:
        return self._left

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("without_answer", "refused"), [(0, 2), (1, 3)])
async def test_resumed_run_continues_the_counts(
    server: OpenAIServer, context: Context, without_answer: int, refused: int
) -> None:
    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=settings(BudgetOptions()), environment=server.environment) as clients:
        await ask_all(clients, context, 2)
    calls = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    free = [call.model_copy(update={"replayed": True}) for call in calls]
    earlier = Earlier([*calls, *free], len(calls) + without_answer)
    limits = settings(BudgetOptions(messages=3))
    async with ModelClients(
        MemoryEventLog(),
        settings=limits,
        environment=server.environment,
        earlier=earlier,  # pyright: ignore[reportArgumentType]
    ) as clients:
        results = await ask_all(clients, context, 3)
    assert sum(isinstance(result, BudgetExhausted) for result in results) == refused


async def test_expected_use_is_reserved(server: OpenAIServer, context: Context) -> None:
    limits = settings(BudgetOptions(tokens=100))
    async with ModelClients(MemoryEventLog(), settings=limits, environment=server.environment) as clients:
        longest = ModelParameters(max_tokens=90)
        holders = [clients.client_for(SPEC, context.at(task=f"t{n}"), longest) for n in range(4)]
        server.then(Hang(0.5))
        first = asyncio.create_task(holders[0].create(said("a")))
        while not server.requests:  # noqa: ASYNC110 (the server runs in threads)
            await asyncio.sleep(0.01)
        second = asyncio.create_task(holders[1].create(said("b")))
        await asyncio.sleep(0.03)
        assert len(server.requests) == 1  # the second waits until the usage of the first is known
        await asyncio.gather(first, second)
    assert len(server.requests) == 2
