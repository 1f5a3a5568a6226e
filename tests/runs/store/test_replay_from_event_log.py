"""A recorded run can be replayed without a model, and an interrupted run continues."""

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import UserMessage

from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.runs.store.event_log_database import event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.log_entries import Context, ModelCalled
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from tests.support.call_limits import call_limits
from tests.support.openai_server import OpenAIServer, Status, serving

SPEC = ModelSpec.parse("openai:some-model")
WARM = ModelParameters(temperature=0.5)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving(lambda request: f"echo: {request['messages'][-1]['content']}") as running:
        yield running


def said(text: str) -> list[UserMessage]:
    return [UserMessage(content=text, source="user")]


async def converse(client: RecordedClient) -> list[str]:
    """Three turns, two of them identical, and one failed call."""
    answers: list[str] = []
    for text in ("first", "again", "again"):
        try:
            answers.append(str((await client.create(said(text))).content))
        except CallFailed as failed:
            answers.append(f"{failed.reason}: {failed}")
    return answers


def contexts() -> list[Context]:
    base = Context(stage="tasks", role="instruction_generator", style="goal")
    return [base.at(task=task, trial=trial) for task in ("task-1", "task-2") for trial in (0, 1)]


async def replayed(run: Path, into: Path, spec: str | None = None) -> list[list[str]]:
    with EventLogFile.create(into, recipe=None) as event_log:
        async with ModelClients(event_log, open_replay=EventLogFile.open) as clients:
            parsed = ModelSpec.parse(spec or f"replay:{run}")
            return [await converse(clients.client_for(parsed, context)) for context in reversed(contexts())][::-1]


async def test_a_replay_of_a_replay_equals_the_run(tmp_path: Path) -> None:
    numbers = count()
    with (
        serving(lambda request: f"answer {next(numbers)}") as server,
        EventLogFile.create(tmp_path / "run", recipe=None) as event_log,
    ):
        server.then(Status(401))
        async with ModelClients(event_log, environment=server.environment) as clients:
            live = [await converse(clients.client_for(SPEC, context, WARM)) for context in contexts()]
    assert "endpoint" in live[0][0]
    assert len({answer for answers in live for answer in answers}) == 12
    assert await replayed(tmp_path / "run", tmp_path / "second") == live  # also in another order
    assert await replayed(tmp_path / "second", tmp_path / "third") == live

    def calls(run: str) -> dict[tuple[str | None, int, int], ModelCalled]:
        with EventLogFile.open(tmp_path / run) as event_log:
            found = [entry for entry in event_log.answered() if entry.context.role == "instruction_generator"]
            return {(call.context.task, call.context.trial, call.context.turn): call for call in found}

    live_calls, third_calls = calls("run"), calls("third")
    assert {key: call.model_copy(update={"replayed": True}) for key, call in live_calls.items()} == third_calls


async def test_replay_fails_on_an_unknown_request(tmp_path: Path, server: OpenAIServer) -> None:
    with EventLogFile.create(tmp_path / "run", recipe=None) as event_log:
        async with ModelClients(event_log, environment=server.environment) as clients:
            await converse(clients.client_for(SPEC, contexts()[0]))
    with EventLogFile.create(tmp_path / "replay", recipe=None) as event_log:
        async with ModelClients(event_log, open_replay=EventLogFile.open) as clients:
            client = clients.client_for(ModelSpec.parse(f"replay:{tmp_path / 'run'}"), contexts()[0])
            assert client.context.model == "openai:some-model"
            with pytest.raises(OperationalError, match="never sent this request"):
                await client.create(said("something else"))
            with pytest.raises(OperationalError, match="holds no answer of role 'executor'"):
                clients.client_for(ModelSpec.parse(f"replay:{tmp_path / 'run'}"), contexts()[0].at(role="executor"))
            with pytest.raises(InputError, match="has no event log"):
                clients.client_for(ModelSpec.parse(f"replay:{tmp_path / 'nowhere'}"), contexts()[0])


@pytest.mark.parametrize(("writer", "answers"), [(None, ["one"]), ("0.0.1", ["two"])])
async def test_answers_of_scripted_roles_are_not_reused_in_another_version(
    tmp_path: Path, writer: str | None, answers: list[str]
) -> None:
    context, offline = contexts()[0], ModelSpec.parse("offline")
    with EventLogFile.create(tmp_path, recipe=None) as event_log:
        async with ModelClients(event_log) as clients:
            await clients.wrap(ScriptedClient(lambda messages: "one"), offline, context).create(said("first"))
    if writer:
        with sqlite3.connect(event_log_path(tmp_path)) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'lawtrace_version'", (writer,))
    with EventLogFile.resume(tmp_path) as event_log:
        async with ModelClients(event_log, earlier=event_log) as clients:
            client = clients.wrap(ScriptedClient(lambda messages: "two"), offline, context)
            assert [(await client.create(said("first"))).content] == answers


@pytest.mark.slow
async def test_replay_of_several_models_needs_a_choice(tmp_path: Path, server: OpenAIServer) -> None:
    with EventLogFile.create(tmp_path / "run", recipe=None) as event_log:
        async with ModelClients(event_log, environment=server.environment) as clients:
            for name in ("openai:a", "openai:b"):
                for context in contexts():
                    await converse(clients.client_for(ModelSpec.parse(name), context))
    run = tmp_path / "run"
    with pytest.raises(InputError, match=r"played by openai:a, openai:b; say which one, as in 'replay:.*#openai:a'"):
        await replayed(run, tmp_path / "x")
    with pytest.raises(InputError, match="name one of them"):
        await replayed(run, tmp_path / "y", f"replay:{run}#openai:c")
    assert len(await replayed(run, tmp_path / "z", f"replay:{run}#openai:b")) == 4


async def test_an_interrupted_run_repeats_no_call(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: Mapping[str, Any]) -> str:
        asked.append(request["messages"][-1]["content"])
        return f"answer {len(asked)}"

    context = contexts()[0]
    with serving(answer) as server:
        with EventLogFile.create(tmp_path, recipe=None) as event_log:
            async with ModelClients(event_log, environment=server.environment) as clients:
                client = clients.client_for(SPEC, context)
                before = [(await client.create(said(text))).content for text in ("one", "two")]
                server.then(Status(400))
                with pytest.raises(CallFailed):
                    await client.create(said("three"))
        with EventLogFile.resume(tmp_path) as event_log:
            settings = call_limits(concurrency=1)
            async with ModelClients(
                event_log, settings=settings, environment=server.environment, earlier=event_log
            ) as clients:
                client = clients.client_for(SPEC, context)
                after = [(await client.create(said(text))).content for text in ("one", "two", "three")]
            kinds = [entry.kind for entry in event_log.entries()]
    assert before == ["answer 1", "answer 2"]
    assert after == ["answer 1", "answer 2", "answer 3"]
    assert asked == ["one", "two", "three"]
    answered = ["asked", "model_call"]
    assert kinds == [*answered, *answered, "asked", "failure", "resumed", *answered]


async def test_a_resumed_variant_takes_its_own_answers(tmp_path: Path) -> None:
    numbers = count(1)
    contexts = [Context(stage="attempts", role="executor", variant=name) for name in ("shield=off", "shield=refuse")]

    async def ask(event_log: EventLogFile, server: OpenAIServer, context: Context) -> object:
        async with ModelClients(event_log, environment=server.environment, earlier=event_log) as clients:
            return (await clients.client_for(SPEC, context).create(said("the same"))).content

    with serving(lambda _: f"answer {next(numbers)}") as server:
        with EventLogFile.create(tmp_path, recipe=None) as event_log:
            assert [await ask(event_log, server, context) for context in contexts] == ["answer 1", "answer 2"]
        with EventLogFile.resume(tmp_path) as event_log:
            assert [await ask(event_log, server, context) for context in contexts[::-1]] == ["answer 2", "answer 1"]
        assert len(server.requests) == 2
