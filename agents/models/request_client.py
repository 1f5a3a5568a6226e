"""The base of our model clients: AutoGen's client interface except for the request itself."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from autogen_core import CancellationToken
from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage, ModelInfo, RequestUsage
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel

from lawtrace.agents.models.model_call import Request, ToolChoice, plain_messages

EXTRA_HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("EXTRA_HEADERS", default=None)
"""The headers that a request of the current task has besides those of its client, which AutoGen gives no way to set."""

MODEL_INFO = ModelInfo(
    vision=False,
    function_calling=True,
    json_output=True,
    structured_output=True,
    family="unknown",
    multiple_system_messages=None,
)
"""The capabilities assumed of every model. Given explicitly, because AutoGen knows only some model names; an endpoint
that lacks one reports it."""

_CHARACTERS_A_TOKEN = 4
_CONTEXT_TOKENS = 128_000


class RequestClient(ChatCompletionClient):
    """A chat completion client whose subclasses implement one method, `respond`."""

    def __init__(self) -> None:
        self._usage = RequestUsage(prompt_tokens=0, completion_tokens=0)

    async def respond(self, request: Request) -> CreateResult:
        raise NotImplementedError

    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: ToolChoice = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] = {},
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        request = Request(messages, tools, tool_choice, json_output, extra_create_args, cancellation_token)
        result = await self.respond(request)
        self._usage = RequestUsage(
            prompt_tokens=self._usage.prompt_tokens + result.usage.prompt_tokens,
            completion_tokens=self._usage.completion_tokens + result.usage.completion_tokens,
        )
        return result

    async def create_stream(
        self,
        messages: Sequence[LLMMessage],
        **settings: Any,  # noqa: ANN401 (those of `create`)
    ) -> AsyncGenerator[str | CreateResult, None]:
        """The whole answer as the only item: answers are recorded whole."""
        yield await self.create(messages, **settings)

    async def close(self) -> None:
        """Does nothing: connections are shared and closed by their owner."""

    def actual_usage(self) -> RequestUsage:
        return self._usage

    def total_usage(self) -> RequestUsage:
        return self._usage

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        """An estimate: the tokenizer is unknown, and fetching one needs a network."""
        return sum(len(line.content) for line in plain_messages(messages)) // _CHARACTERS_A_TOKEN

    def remaining_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        return max(0, _CONTEXT_TOKENS - self.count_tokens(messages, tools=tools))

    @property
    def capabilities(self) -> ModelInfo:  # pyright: ignore[reportIncompatibleVariableOverride] (deprecated type)
        return MODEL_INFO

    @property
    def model_info(self) -> ModelInfo:
        return MODEL_INFO
