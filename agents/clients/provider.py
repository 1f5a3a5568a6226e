"""The innermost layer: the client that really asks, and the corners of AutoGen's that we go around."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autogen_core.models import ChatCompletionClient, CreateResult
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openai import pydantic_function_tool
from pydantic import BaseModel

from agents.clients.base import MODEL_INFO
from agents.clients.calls import ModelCall
from agents.clients.errors import CallFailed
from agents.clients.spec import ModelParameters, ModelSpec
from environments.errors import InputError

__all__ = ["Direct", "Endpoint", "address_and_key", "connect"]

_OPENAI_ADDRESS = "https://api.openai.com/v1"
_OLLAMA_ADDRESS = "http://localhost:11434/v1"


@dataclass(frozen=True, slots=True)
class Direct:
    """Hands a call to any AutoGen client just as it is."""

    client: ChatCompletionClient

    async def ask(self, call: ModelCall) -> CreateResult:
        request = call.request
        return await self.client.create(
            request.messages,
            tools=request.tools,
            tool_choice=request.tool_choice,
            json_output=request.json_output,
            extra_create_args=request.extra_create_args,
            cancellation_token=request.cancellation_token,
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint: the vendor's own, or any other that speaks its protocol.

    A schema for the answer is sent as ``response_format`` rather than through AutoGen's structured mode: that one
    parses the answer before we see it, so an answer that does not fit would be paid for and lost.
    """

    client: ChatCompletionClient
    own_vendor: bool = False

    async def ask(self, call: ModelCall) -> CreateResult:
        request = call.request
        extra = self._settings(call.parameters) | dict(request.extra_create_args)
        json_output = request.json_output
        if isinstance(json_output, type):
            extra["response_format"] = _response_format(json_output)
            json_output = None
        try:
            return await self.client.create(
                request.messages,
                tools=request.tools,
                tool_choice=request.tool_choice,
                json_output=json_output,
                extra_create_args=extra,
                cancellation_token=request.cancellation_token,
            )
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # AutoGen reads the reply without looking: a web page or an empty object surfaces as one of these.
            raise CallFailed(
                "endpoint",
                f"{call.context.model}: what came back is no chat completion ({type(error).__name__}: {error}); "
                "check the endpoint's address",
            ) from error

    def _settings(self, parameters: ModelParameters) -> dict[str, Any]:
        settings = parameters.model_dump(exclude_none=True)
        if self.own_vendor and "max_tokens" in settings:
            # The vendor's newer models refuse the old name; many compatible servers know nothing else.
            settings["max_completion_tokens"] = settings.pop("max_tokens")
        return settings


def connect(spec: ModelSpec, environment: Mapping[str, str]) -> Endpoint:
    """A client for an endpoint, with its address and key from the environment.

    The address is always given explicitly: without one, AutoGen sends the key of one vendor to the address of another
    when the model's name looks like theirs. The client's own retries are off, since they would not be recorded.

    Raises:
        InputError: the variable that is needed is not set.
    """
    address, key = address_and_key(spec, environment)
    # Endpoints often call a model by a longer name than they were asked for; AutoGen takes that for a fault of its own.
    warnings.filterwarnings("ignore", "Resolved model mismatch", UserWarning)
    warnings.filterwarnings("ignore", "Finish reason mismatch", UserWarning)
    warnings.filterwarnings("ignore", "Tool call function arguments field is not a string", UserWarning)
    client = OpenAIChatCompletionClient(
        model=spec.name,
        base_url=address,
        api_key=key,
        max_retries=0,
        model_info=MODEL_INFO,
        include_name_in_message=False,
    )
    return Endpoint(client, own_vendor=address == _OPENAI_ADDRESS)


def address_and_key(spec: ModelSpec, environment: Mapping[str, str]) -> tuple[str, str]:
    """Where an endpoint is and what opens it. Raises InputError if the variable that is needed is not set."""
    if spec.provider == "ollama":
        return environment.get("OLLAMA_BASE_URL") or _OLLAMA_ADDRESS, "ollama"
    address = environment.get("OPENAI_BASE_URL") or _OPENAI_ADDRESS
    key = environment.get("OPENAI_API_KEY") or ("" if address == _OPENAI_ADDRESS else "none")
    if not key:
        raise InputError(
            f"model '{spec}' needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL if a compatible server is meant"
        )
    return address, key


def _response_format(schema: type[BaseModel]) -> dict[str, Any]:
    function = pydantic_function_tool(schema)["function"]
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.__name__, "schema": function.get("parameters", {}), "strict": True},
    }
