"""The innermost layer: endpoints, and workarounds for AutoGen's clients."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from autogen_core.models import AssistantMessage, ChatCompletionClient, CreateResult, LLMMessage
from pydantic import BaseModel

from lawtrace.agents.models.endpoints import KEYS, OPENAI_ADDRESS, Access, access_to
from lawtrace.agents.models.model_call import CallFailed, ModelCall
from lawtrace.agents.models.request_client import EXTRA_HEADERS, MODEL_INFO
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ENDPOINTS, ModelParameters, ModelSpec

EMPTY_MESSAGE_PLACEHOLDER = "(nothing)"
ANTHROPIC_SETTINGS = frozenset(
    ("max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "thinking", "seed")
)


class _Closable(Protocol):
    async def close(self) -> None: ...


class RemoteEndpoint(Protocol):
    """The protocol of an innermost layer whose calls cost money.

    Attributes:
        client: the connection, to be closed with the run.
        key, address: see `Endpoint`.
    """

    @property
    def client(self) -> _Closable: ...

    @property
    def key(self) -> str: ...

    @property
    def address(self) -> str: ...

    async def ask(self, call: ModelCall) -> CreateResult: ...


Connect = Callable[[ModelSpec, Mapping[str, str]], RemoteEndpoint]
"""Opens the endpoint of a spec; address and key come from the given environment variables."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint.

    A schema for the answer is sent as ``response_format`` rather than through AutoGen's structured mode, which parses
    the answer itself: an answer that violates the schema would be paid for and lost.

    Attributes:
        is_openai: whether it is OpenAI's own, which has another name for a parameter.
        json_mode: whether it supports ``response_format``.
        settings: the parameters that the client takes; others are sent in the body as they are. None: it sends no
            others, nor headers.
        environment: the variables that headers may name; None: none, since the recipe itself names the address.
        key: the API key, so that it can be removed from error messages.
        address: where it is, without credentials; another one gives other answers.
    """

    client: ChatCompletionClient
    is_openai: bool = False
    json_mode: bool = True
    key: str = field(default="", repr=False)
    address: str = ""
    settings: frozenset[str] | None = None
    environment: Mapping[str, str] | None = field(default=None, repr=False)

    async def ask(self, call: ModelCall) -> CreateResult:
        request = call.request
        extra = self._settings(call.parameters) | dict(request.extra_create_args)
        json_output: bool | None = None
        if request.json_output and self.json_mode:
            wanted = call.parameters.answers or "json"
            if wanted == "schema" and isinstance(request.json_output, type):
                extra["response_format"] = _response_format(request.json_output)
            elif wanted != "text":
                json_output = True
        EXTRA_HEADERS.set(self._headers(call.parameters))
        try:
            return await self.client.create(
                _with_words(request.messages),
                tools=request.tools,
                tool_choice=request.tool_choice,
                json_output=json_output,
                extra_create_args=extra,
                cancellation_token=request.cancellation_token,
            )
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # AutoGen does not check the reply: a web page or an empty object surfaces as one of these.
            raise CallFailed(
                "endpoint",
                f"{call.context.model}: the response is not a chat completion ({type(error).__name__}: {error}); "
                "check the endpoint's address",
            ) from error

    def _settings(self, parameters: ModelParameters) -> dict[str, Any]:
        settings = parameters.model_dump(exclude_none=True, exclude={"answers", "headers"})
        if self.is_openai and "max_tokens" in settings:
            # Newer OpenAI models refuse the old name; many compatible servers only know the old name.
            settings["max_completion_tokens"] = settings.pop("max_tokens")
        if self.settings is not None and (others := settings.keys() - self.settings):
            body = {key: settings.pop(key) for key in sorted(others)}
            settings["extra_body"] = body | settings.get("extra_body", {})
        elif self.settings is None and (others := settings.keys() - ANTHROPIC_SETTINGS):
            raise InputError(f"[parameters]: {min(others)}: AutoGen's client for anthropic does not send it")
        return settings

    def _headers(self, parameters: ModelParameters) -> dict[str, str]:
        headers = {**(parameters.headers or {})}
        if headers and self.settings is None:
            raise InputError("[parameters]: headers: AutoGen's client for anthropic does not send them")
        for name, value in headers.items():
            if value.startswith("$"):
                if self.environment is None:
                    raise InputError(
                        f"[parameters]: headers: {name}: variables are not sent to {self.address}, which the recipe "
                        f"names; if you trust it, set {KEYS}='{self.address}=KEY'"
                    )
                if value[1:] not in self.environment:
                    raise InputError(f"[parameters]: headers: {name}: the variable {value[1:]} is not set")
                headers[name] = self.environment[value[1:]]
        return headers


def connect(spec: ModelSpec, environment: Mapping[str, str]) -> Endpoint:
    """A client for an endpoint, with address and key from the environment.

    The client of the openai package is created here: AutoGen would send the key to another vendor's address if the
    model name looks like that vendor's. Its retries are off, since they would not be recorded. Its connection timeout
    of five seconds is off too, since a busy event loop could exceed it: the deadline is the limit.

    Raises:
        InputError: a variable or package is missing, or the spec names no endpoint.
    """
    if spec.provider not in ENDPOINTS:
        raise InputError(f"model '{spec}' is no endpoint; name one, such as openai:MODEL")
    access = access_to(spec.provider, environment, spec)
    # Endpoints often report a longer model name than the requested one, which AutoGen takes for a fault.
    warnings.filterwarnings("ignore", "Resolved model mismatch", UserWarning)
    warnings.filterwarnings("ignore", "Finish reason mismatch", UserWarning)
    warnings.filterwarnings("ignore", "Tool call function arguments field is not a string", UserWarning)
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    if spec.provider == "anthropic":
        return Endpoint(_anthropic(spec, access), json_mode=False, key=access.key, address=access.shown)
    return Endpoint(
        _compatible(spec, access),
        is_openai=access.address == OPENAI_ADDRESS,
        key=access.key,
        address=access.shown,
        settings=_chat_settings(),
        environment=environment if access.trusted else None,
    )


def _chat_settings() -> frozenset[str]:
    """The parameters that AutoGen's client for OpenAI's protocol takes."""
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase

    return frozenset((*CompletionCreateParamsBase.__annotations__, "extra_body"))


def _compatible(spec: ModelSpec, access: Access) -> ChatCompletionClient:
    """A client for OpenAI's protocol. For Azure the spec names the deployment."""
    from autogen_ext.models.openai import BaseOpenAIChatCompletionClient
    from openai import AsyncAzureOpenAI, AsyncOpenAI

    from lawtrace.agents.models.response_normalizer import NormalizingHttpClient

    settings: dict[str, Any] = {
        "api_key": access.key,
        "max_retries": 0,
        "timeout": None,
        "http_client": NormalizingHttpClient(),
    }
    if spec.provider == "azure":
        opened: AsyncOpenAI = AsyncAzureOpenAI(
            azure_deployment=spec.name, azure_endpoint=access.address, api_version=access.api_version, **settings
        )
    else:
        opened = AsyncOpenAI(base_url=access.address, **settings)
    return BaseOpenAIChatCompletionClient(
        opened, create_args={"model": spec.name}, model_info=MODEL_INFO, include_name_in_message=False
    )


def _anthropic(spec: ModelSpec, access: Access) -> ChatCompletionClient:
    from autogen_ext.models.anthropic import AnthropicChatCompletionClient  # an extra

    return AnthropicChatCompletionClient(
        model=spec.name, base_url=access.address, api_key=access.key, max_retries=0, timeout=None, model_info=MODEL_INFO
    )


def _with_words(messages: Sequence[LLMMessage]) -> list[LLMMessage]:
    """Replaces empty assistant messages, which some endpoints refuse."""
    return [
        message.model_copy(update={"content": EMPTY_MESSAGE_PLACEHOLDER})
        if isinstance(message, AssistantMessage) and not message.content
        else message
        for message in messages
    ]


def _response_format(schema: type[BaseModel]) -> dict[str, Any]:
    """Strict where possible: strict mode does not support free keys, such as the arguments of a call."""
    from openai import pydantic_function_tool

    parameters = pydantic_function_tool(schema)["function"].get("parameters", {})
    closed = not any(part.get("additionalProperties", False) for part in _objects(parameters))
    wanted = {"schema": parameters, "strict": True} if closed else {"schema": schema.model_json_schema()}
    return {"type": "json_schema", "json_schema": {"name": schema.__name__, **wanted}}


def _objects(schema: object) -> Iterator[dict[str, Any]]:
    """Every object in a JSON schema, the schema itself first."""
    if isinstance(schema, dict):
        found = cast("dict[str, Any]", schema)
        yield found
        for part in found.values():
            yield from _objects(part)
    elif isinstance(schema, list):
        for part in cast("list[object]", schema):
            yield from _objects(part)
