"""Contract tests for AutoGen 0.7.5: the behaviour that the client stack relies on or works around."""

import asyncio
import time
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken
from autogen_core.models import ChatCompletionClient, CreateResult, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel, ValidationError

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.model_call import CallFailed, Request, hash_request
from lawtrace.agents.models.request_client import MODEL_INFO
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.schemas.log_entries import Context, ModelCalled
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from tests.support.openai_server import OpenAIServer, Status

OFFLINE = ModelSpec.parse("offline")


def plain_client(server: OpenAIServer, **settings: Any) -> ChatCompletionClient:
    return OpenAIChatCompletionClient(
        model="some-model", base_url=server.base_url, api_key="x", model_info=MODEL_INFO, **settings
    )


async def test_the_sdk_retries_on_its_own_unless_told_not_to(server: OpenAIServer) -> None:
    """Why `connect` sets ``max_retries=0``: retries inside the SDK would not be logged."""
    server.then(Status(429, {"Retry-After": "0.01"}))
    client = plain_client(server)
    await client.create([UserMessage(content="hello", source="user")])
    assert len(server.requests) == 2
    await client.close()


@pytest.mark.slow
async def test_structured_mode_loses_an_answer_that_does_not_fit(server: OpenAIServer) -> None:
    """Why `Endpoint` sends the schema as ``response_format`` itself."""

    class Verdict(BaseModel):
        kept: bool

    client = plain_client(server)
    with pytest.raises(ValidationError):
        await client.create([UserMessage(content="hello", source="user")], json_output=Verdict)
    await client.close()


async def test_cancelling_a_team_waits_for_a_client_that_ignores_the_token() -> None:
    """Fact 7: a team waits for such a client. Through our stack it does not."""

    class Deaf(ScriptedClient):
        async def respond(self, request: Request) -> CreateResult:
            await asyncio.sleep(0.6)
            return await super().respond(request)

    async def seconds(client: ChatCompletionClient) -> float:
        team = RoundRobinGroupChat([AssistantAgent("speaker", client)], termination_condition=MaxMessageTermination(2))
        token = CancellationToken()
        asyncio.get_running_loop().call_later(0.1, token.cancel)
        started = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await team.run(task="speak", cancellation_token=token)
        return time.monotonic() - started

    deaf = Deaf(lambda messages: "x")
    assert await seconds(deaf) >= 0.5
    async with ModelClients(MemoryEventLog()) as clients:
        assert await seconds(clients.wrap(deaf, OFFLINE, Context(stage="s", role="r"))) < 0.5


async def test_an_agent_works_on_our_client_and_keeps_the_type_of_our_errors(server: OpenAIServer) -> None:
    """An agent run by itself lets `CallFailed` through; only a team turns errors into ``RuntimeError`` (fact 8)."""
    event_log = MemoryEventLog()
    context = Context(stage="attempts", role="executor")
    async with ModelClients(event_log, environment=server.environment) as clients:
        agent = AssistantAgent("executor", clients.client_for(ModelSpec.parse("openai:m"), context))
        result = await agent.run(task="hello")
        assert isinstance(result, TaskResult)
        assert result.messages[-1].to_text() == "echo: hello"
        server.then(Status(401))
        with pytest.raises(CallFailed, match="check the key"):
            await agent.run(task="again")
        server.then(Status(401))
        team = RoundRobinGroupChat([agent], termination_condition=MaxMessageTermination(2))
        with pytest.raises(RuntimeError, match="check the key") as lost:
            await team.run(task="again")
        assert not isinstance(lost.value, CallFailed)
    (called,) = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    assert called.request[0].role == "system"


async def test_request_hash_is_the_same_in_every_run() -> None:
    """Fact 12: ids and times of AutoGen's messages do not reach a client."""
    hashes: list[str] = []
    for _ in range(2):
        event_log = MemoryEventLog()
        async with ModelClients(event_log) as clients:
            client = clients.wrap(ScriptedClient(lambda messages: "x"), OFFLINE, Context(stage="s", role="r"))
            await AssistantAgent("executor", client).run(task="hello")
        (call,) = event_log.entries
        assert isinstance(call, ModelCalled)
        hashes.append(call.request_hash)
    assert hashes[0] == hashes[1]


def test_everything_that_may_change_an_answer_changes_the_hash() -> None:
    """Fact 4: AutoGen's own cache key leaves out the model, its settings, the tool choice and the trial."""

    class Verdict(BaseModel):
        kept: bool

    request = Request([UserMessage(content="hello", source="user")])
    same = request.messages
    hashes = [
        hash_request(request, "a", ModelParameters(), 0),
        hash_request(request, "b", ModelParameters(), 0),
        hash_request(request, "a", ModelParameters(seed=1), 0),
        hash_request(request, "a", ModelParameters(), 1),
        hash_request(Request([UserMessage(content="hello ", source="user")]), "a", ModelParameters(), 0),
        hash_request(Request(same, tools=[{"name": "PayBill"}]), "a", ModelParameters(), 0),
        hash_request(Request(same, tool_choice="none"), "a", ModelParameters(), 0),
        hash_request(Request(same, json_output=True), "a", ModelParameters(), 0),
        hash_request(Request(same, json_output=Verdict), "a", ModelParameters(), 0),
        hash_request(Request(same, extra_create_args={"top_p": 1}), "a", ModelParameters(), 0),
    ]
    assert len(set(hashes)) == len(hashes)
