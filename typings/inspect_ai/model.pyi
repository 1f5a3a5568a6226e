from collections.abc import Callable, Sequence
from typing import Any, Literal

from inspect_ai.approval import ApprovalPolicy
from inspect_ai.tool import ToolCall, ToolCallError, ToolChoice, ToolDef, ToolInfo

_StopReason = Literal["stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown"]

class _Message:
    id: str | None
    metadata: dict[str, Any] | None
    @property
    def text(self) -> str: ...
    def model_dump_json(self) -> str: ...

class ChatMessageSystem(_Message):
    role: Literal["system"]
    def __init__(self, *, content: str, id: str | None = ..., metadata: dict[str, Any] | None = ...) -> None: ...

class ChatMessageUser(_Message):
    role: Literal["user"]
    def __init__(self, *, content: str, id: str | None = ..., metadata: dict[str, Any] | None = ...) -> None: ...

class ChatMessageAssistant(_Message):
    role: Literal["assistant"]
    tool_calls: list[ToolCall] | None
    def __init__(
        self,
        *,
        content: str,
        tool_calls: list[ToolCall] | None = ...,
        model: str | None = ...,
        source: Literal["input", "generate"] | None = ...,
        id: str | None = ...,
        metadata: dict[str, Any] | None = ...,
    ) -> None: ...
    def model_copy(self, *, update: dict[str, Any]) -> ChatMessageAssistant: ...

class ChatMessageTool(_Message):
    role: Literal["tool"]
    tool_call_id: str | None
    function: str | None
    error: ToolCallError | None
    def __init__(
        self,
        *,
        content: str,
        tool_call_id: str | None = ...,
        function: str | None = ...,
        error: ToolCallError | None = ...,
        id: str | None = ...,
        metadata: dict[str, Any] | None = ...,
    ) -> None: ...

ChatMessage = ChatMessageSystem | ChatMessageUser | ChatMessageAssistant | ChatMessageTool

class ModelUsage:
    input_tokens: int
    output_tokens: int
    def __init__(self, *, input_tokens: int = ..., output_tokens: int = ..., total_tokens: int = ...) -> None: ...

class ModelOutput:
    usage: ModelUsage | None
    @property
    def message(self) -> ChatMessageAssistant: ...
    @property
    def completion(self) -> str: ...
    @staticmethod
    def from_message(message: ChatMessageAssistant, stop_reason: _StopReason = ...) -> ModelOutput: ...
    @staticmethod
    def from_content(model: str, content: str) -> ModelOutput: ...

class GenerateConfig: ...
class Model: ...

class ModelName:
    api: str
    name: str

class ModelAPI:
    model_name: str
    def __init__(
        self,
        model_name: str,
        base_url: str | None = ...,
        api_key: str | None = ...,
        api_key_vars: list[str] = ...,
        config: GenerateConfig = ...,
    ) -> None: ...
    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput: ...
    def max_connections(self) -> int: ...

class ExecuteToolsResult:
    messages: list[ChatMessage]

def modelapi(name: str) -> Callable[[type[ModelAPI]], type[ModelAPI]]: ...
def get_model(model: str, **model_args: Any) -> Model: ...
async def execute_tools(
    messages: list[ChatMessage], tools: Sequence[ToolDef], *, approval: list[ApprovalPolicy] | None = ...
) -> ExecuteToolsResult: ...
