"""Providers: addresses, missing configuration, and answers over their protocols."""

import json
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage
from pydantic import BaseModel

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models import endpoints as addresses
from lawtrace.agents.models.endpoints import access_to, check_endpoints, unlisted_model
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.provider import EMPTY_MESSAGE_PLACEHOLDER, connect
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.roles.instruction_roles import Draft, RequestReading
from lawtrace.agents.roles.rule_answers import Proposal
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import CallRetried, Context, ModelCalled
from lawtrace.schemas.model_spec import ENDPOINTS, ModelParameters, ModelSpec
from tests.support.call_limits import call_limits
from tests.support.openai_server import OpenAIServer, Raw, Status, serving

MESSAGES = [SystemMessage(content="Be brief."), UserMessage(content="Hello", source="user")]
QUICK = call_limits(deadline_seconds=5)


class Answer(BaseModel):
    text: str


@pytest.mark.parametrize(
    ("spec", "environment", "missing"),
    [
        ("openai:m", {}, "OPENAI_API_KEY"),
        ("azure:m", {}, "AZURE_OPENAI_ENDPOINT"),
        ("azure:m", {"AZURE_OPENAI_ENDPOINT": "http://localhost:1"}, "AZURE_OPENAI_API_KEY"),
        ("anthropic:m", {}, "ANTHROPIC_API_KEY"),
    ],
)
def test_error_names_the_missing_variable(spec: str, environment: Mapping[str, str], missing: str) -> None:
    parsed = ModelSpec.parse(spec)
    assert parsed.provider in ENDPOINTS
    clients = ModelClients(MemoryEventLog(), environment=environment)
    with pytest.raises(InputError, match=f"{spec}.*{missing}"):
        clients.client_for(parsed, Context(stage="tasks", role="executor"))
    state = check_endpoints(environment)[parsed.provider]
    assert state.startswith("not set up")
    assert missing in state


@pytest.mark.parametrize(("installed", "says"), [(None, "not installed"), ("1.2.0", "too new")])
def test_error_names_a_missing_or_incompatible_package(
    monkeypatch: pytest.MonkeyPatch, installed: str | None, says: str
) -> None:
    def version(name: str) -> str:
        if installed is None:
            raise addresses.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(addresses, "installed_version", version)
    with pytest.raises(InputError, match=rf"{says}.*pip install 'lawtrace\[anthropic\]'"):
        access_to("anthropic", {"ANTHROPIC_API_KEY": "k"})
    assert says in check_endpoints({})["anthropic"]


@pytest.mark.parametrize("provider", ["openai", "ollama", "llamacpp"])
async def test_compatible_servers_answer(server: OpenAIServer, context: Context, provider: str) -> None:
    variables = {f"{provider.upper()}_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
    async with ModelClients(MemoryEventLog(), settings=QUICK, environment=variables) as clients:
        result = await clients.client_for(ModelSpec.parse(f"{provider}:m"), context).create(MESSAGES)
    assert result.content == "echo: Hello"
    assert "answers, with 1 models" in check_endpoints(variables)[provider]


def test_unreachable_endpoint_differs_from_missing_configuration() -> None:
    nowhere = "http://127.0.0.1:1/v1"
    states = check_endpoints({"OPENAI_BASE_URL": nowhere, "OLLAMA_BASE_URL": nowhere})
    assert states["openai"].startswith(f"does not answer at {nowhere}: no connection to http://127.0.0.1:1 (")
    assert states["ollama"].startswith(f"does not answer at {nowhere}: no connection")
    assert states["azure"].startswith("not set up")


async def test_azure_answers_under_its_own_address(server: OpenAIServer, context: Context) -> None:
    address = server.base_url.removesuffix("/v1")
    variables = {"AZURE_OPENAI_ENDPOINT": address, "AZURE_OPENAI_API_KEY": "k"}
    async with ModelClients(MemoryEventLog(), settings=QUICK, environment=variables) as clients:
        result = await clients.client_for(ModelSpec.parse("azure:my-deployment"), context).create(MESSAGES)
    assert result.content == "echo: Hello"
    assert "answers" in check_endpoints(variables)["azure"]


@pytest.mark.parametrize(
    ("answers", "sent"), [(None, "json_object"), ("schema", "json_schema"), ("json", "json_object"), ("text", None)]
)
async def test_structured_answer_mode_of_the_recipe(
    server: OpenAIServer, context: Context, answers: str | None, sent: str | None
) -> None:
    parameters = ModelParameters.model_validate({"answers": answers})
    async with ModelClients(MemoryEventLog(), settings=QUICK, environment=server.environment) as clients:
        client = clients.client_for(ModelSpec.parse("openai:m"), context, parameters)
        await client.create(MESSAGES, json_output=Answer)
    (request,) = server.requests
    assert request.get("response_format", {}).get("type") == sent
    assert "answers" not in request


@pytest.mark.parametrize(("answer", "strict"), [(Draft, True), (Proposal, True), (RequestReading, None)])
async def test_schema_is_strict_where_possible(
    server: OpenAIServer, context: Context, answer: type[BaseModel], strict: bool | None
) -> None:
    parameters = ModelParameters(answers="schema")
    async with ModelClients(MemoryEventLog(), settings=QUICK, environment=server.environment) as clients:
        client = clients.client_for(ModelSpec.parse("openai:m"), context, parameters)
        await client.create(MESSAGES, json_output=answer)
    assert server.requests[0]["response_format"]["json_schema"].get("strict") == strict


@pytest.mark.parametrize("status", [401, 500])
async def test_key_in_an_error_message_is_not_recorded(
    server: OpenAIServer, context: Context, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    event_log = MemoryEventLog()
    server.then(*[Status(status, text=": the key sk-secret-0123 is unknown")] * 3)
    environment = {**server.environment, "OPENAI_API_KEY": "sk-secret-0123"}
    async with ModelClients(event_log, settings=QUICK, environment=environment) as clients:
        with pytest.raises(CallFailed, match=r"the key \[the key\] is unknown") as failed:
            await clients.client_for(ModelSpec.parse("openai:m"), context).create(MESSAGES)
    written = [*(entry.model_dump_json() for entry in event_log.entries), *capsys.readouterr(), str(failed.value)]
    assert len(event_log.entries) >= 2
    assert not any("secret" in text for text in written)


async def test_any_parameter_is_sent_and_headers_come_from_the_environment(
    server: OpenAIServer, context: Context
) -> None:
    parameters = ModelParameters.model_validate({"top_p": 0.5, "top_k": 40, "headers": {"X-Team": "$TEAM", "X-A": "b"}})
    event_log, variables = MemoryEventLog(), {**server.environment, "TEAM": "secret-team"}
    async with ModelClients(event_log, settings=QUICK, environment=variables) as clients:
        await clients.client_for(ModelSpec.parse("openai:m"), context, parameters).create(MESSAGES)
        await clients.client_for(ModelSpec.parse("openai:m"), context).create(MESSAGES)
    first, second = server.requests
    assert (first["top_p"], first["top_k"]) == (0.5, 40)
    assert not {"top_p", "top_k", "headers"} & second.keys()
    assert [(sent.get("x-team"), sent.get("x-a")) for sent in server.headers] == [("secret-team", "b"), (None, None)]
    assert "secret-team" not in "".join(entry.model_dump_json() for entry in event_log.entries)
    async with ModelClients(event_log, settings=QUICK, environment=server.environment) as clients:
        with pytest.raises(InputError, match="headers: X-Team: the variable TEAM is not set"):
            await clients.client_for(ModelSpec.parse("openai:m"), context, parameters).create(MESSAGES)


async def test_models_at_two_addresses(server: OpenAIServer, context: Context) -> None:
    event_log = MemoryEventLog()
    with serving(lambda _: "from the other one") as other:
        async with ModelClients(event_log, settings=QUICK, environment=server.environment) as clients:
            specs = (ModelSpec.parse("openai:m"), ModelSpec.parse(f"openai:m@{other.base_url}"))
            answers = [(await clients.client_for(spec, context).create(MESSAGES)).content for spec in specs]
    assert answers == ["echo: Hello", "from the other one"]
    called = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    assert [entry.address for entry in called] == [server.base_url, other.base_url]
    assert called[1].context.model == f"openai:m@{other.base_url}"


@pytest.mark.parametrize(
    ("keys", "bearer"),
    [("", "none"), ("http://127.0.0.1:1/v1=other-key", "none"), ("{origin}=own-key", "own-key"), ("{origin}=", "none")],
)
async def test_an_address_of_its_own_gets_a_key_of_its_own_or_none(
    server: OpenAIServer, context: Context, keys: str, bearer: str
) -> None:
    variables = {"OPENAI_API_KEY": "general-key", "LAWTRACE_API_KEYS": keys.format(origin=server.base_url)}
    spec = ModelSpec.parse(f"openai:m@{server.base_url}")
    async with ModelClients(MemoryEventLog(), settings=QUICK, environment=variables) as clients:
        await clients.client_for(spec, context).create(MESSAGES)
        headers = ModelParameters(headers={"X-Key": "$OPENAI_API_KEY"})
        asking = clients.client_for(spec, context, headers).create(MESSAGES)
        if "{origin}" in keys:
            await asking
        else:
            with pytest.raises(InputError, match=r"X-Key: variables are not sent to .*which the recipe names"):
                await asking
    assert "lists no such model" in str(unlisted_model(spec, variables))
    assert {sent["authorization"] for sent in server.headers if "authorization" in sent} == {f"Bearer {bearer}"}


def test_the_address_of_the_environment_gets_the_general_key() -> None:
    variables = {"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_API_KEY": "general-key"}
    spec = ModelSpec.parse("openai:m@http://localhost:1/v1/")
    assert access_to("openai", variables, spec).key == "general-key"
    with pytest.raises(InputError, match="LAWTRACE_API_KEYS: entry 2: write ADDRESS=KEY") as caught:
        access_to("openai", {"LAWTRACE_API_KEYS": "http://a=k secret"}, spec)
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="leave user and password out of the address") as caught:
        ModelSpec.parse("openai:m@http://user:secret@host/v1")
    assert "secret" not in str(caught.value)


def test_states_of_endpoints_show_no_password(server: OpenAIServer) -> None:
    nowhere = {"OPENAI_BASE_URL": "http://user:secret@127.0.0.1:1/v1", "OLLAMA_BASE_URL": "user:secret@host"}
    assert "secret" not in str(check_endpoints(nowhere))
    server.then(Raw("<html>"))
    garbled = server.base_url.replace("//", "//user:secret@")
    state = check_endpoints({"OPENAI_BASE_URL": garbled})["openai"]
    assert state.startswith(f"does not answer at {server.base_url}")


def test_a_model_that_the_endpoint_does_not_list(server: OpenAIServer) -> None:
    server.then(Raw('{"object": "list", "data": [{"id": "qwen3:latest"}, {"id": "gemma"}]}'))
    assert unlisted_model(ModelSpec.parse("ollama:qwen3"), {"OLLAMA_BASE_URL": server.base_url}) is None
    server.then(Raw('{"object": "list", "data": [{"id": "qwen3:latest"}, {"id": "gemma"}]}'))
    said = unlisted_model(ModelSpec.parse("openai:qwen4"), server.environment)
    assert said == "openai:qwen4: the endpoint lists no such model; it has qwen3:latest"
    server.then(Raw("<html>"))
    assert unlisted_model(ModelSpec.parse("openai:m"), server.environment) is None


async def test_empty_assistant_messages_get_a_placeholder(server: OpenAIServer, context: Context) -> None:
    """Anthropic's endpoint and some compatible ones reject a request that contains an empty message."""
    event_log = MemoryEventLog()
    asked = [*MESSAGES, AssistantMessage(content="", source="m"), UserMessage(content="Again", source="user")]
    async with ModelClients(event_log, settings=QUICK, environment=server.environment) as clients:
        await clients.client_for(ModelSpec.parse("openai:m"), context).create(asked)
    assert [sent["content"] for sent in server.requests[0]["messages"]] == [
        "Be brief.",
        "Hello",
        EMPTY_MESSAGE_PLACEHOLDER,
        "Again",
    ]
    (called,) = (entry for entry in event_log.entries if isinstance(entry, ModelCalled))
    assert [message.content for message in called.request] == ["Be brief.", "Hello", "", "Again"]


@pytest.mark.parametrize(
    ("spec", "environment"),
    [
        ("openai:m", {"OPENAI_API_KEY": "k"}),
        ("azure:m", {"AZURE_OPENAI_ENDPOINT": "http://localhost:1", "AZURE_OPENAI_API_KEY": "k"}),
        pytest.param("anthropic:m", {"ANTHROPIC_API_KEY": "k"}, marks=pytest.mark.slow),
    ],
)
def test_clients_have_no_timeouts_or_retries_of_their_own(spec: str, environment: Mapping[str, str]) -> None:
    """A thousand conversations keep the loop busy for longer than the default connection timeout of a client."""
    parsed = ModelSpec.parse(spec)
    if parsed.provider == "anthropic":
        pytest.importorskip("anthropic")
    inner: Any = vars(connect(parsed, environment).client)["_client"]
    assert (inner.timeout, inner.max_retries) == (None, 0)


class _Messages:
    """A loopback server that speaks Anthropic's protocol; the first answers are the statuses given."""

    def __init__(self, *statuses: int) -> None:
        self.requests: list[dict[str, Any]] = []
        statuses_left = list(statuses)
        kept = self.requests

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                model = {"id": "m", "type": "model", "display_name": "m", "created_at": "2026-01-01T00:00:00Z"}
                self._send(200, {"data": [model], "has_more": False, "first_id": "m", "last_id": "m"})

            def do_POST(self) -> None:
                kept.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if statuses_left:
                    error = {"type": "rate_limit_error", "message": "busy"}
                    self._send(statuses_left.pop(0), {"type": "error", "error": error})
                    return
                content = [{"type": "text", "text": "Hello yourself"}]
                usage = {"input_tokens": 7, "output_tokens": 3}
                self._send(
                    200,
                    {
                        "id": "msg",
                        "type": "message",
                        "role": "assistant",
                        "model": "m",
                        "content": content,
                        "stop_reason": "end_turn",
                        "stop_sequence": None,
                        "usage": usage,
                    },
                )

            def _send(self, status: int, body: dict[str, Any]) -> None:
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.send_header("retry-after", "0")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.variables = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.server.server_address[1]}",
            "ANTHROPIC_API_KEY": "k",
        }


@pytest.fixture
def anthropic(request: pytest.FixtureRequest) -> Iterator[_Messages]:
    pytest.importorskip("anthropic")
    messages = _Messages(*getattr(request, "param", ()))
    thread = Thread(target=messages.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield messages
    messages.server.shutdown()
    messages.server.server_close()
    thread.join()


@pytest.mark.slow  # importing the package takes a second
@pytest.mark.parametrize("anthropic", [(), (429, 529)], indirect=True)
async def test_anthropic_answers_and_transport_errors(
    anthropic: _Messages, context: Context, request: pytest.FixtureRequest
) -> None:
    event_log = MemoryEventLog()
    async with ModelClients(event_log, settings=QUICK, environment=anthropic.variables) as clients:
        result = await clients.client_for(ModelSpec.parse("anthropic:m"), context).create(MESSAGES, json_output=Answer)
    assert result.content == "Hello yourself"
    retried = [entry for entry in event_log.entries if isinstance(entry, CallRetried)]
    assert len(retried) == len(anthropic.requests) - 1
    (called,) = (entry for entry in event_log.entries if isinstance(entry, ModelCalled))
    assert (called.prompt_tokens, called.completion_tokens) == (7, 3)
    assert "answers, with 1 models: m" in check_endpoints(anthropic.variables)["anthropic"]
