"""A model call as the layers pass it on, and the hash that identifies its request."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol

from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import AssistantMessage, CreateResult, FunctionExecutionResultMessage, LLMMessage
from autogen_core.models import SystemMessage as System
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel

from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.log_entries import Context, FailureReason, ModelCalled, RequestMessage
from lawtrace.schemas.model_spec import ModelParameters

ToolChoice = Tool | Literal["auto", "required", "none"]


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of AutoGen's ``create``."""

    messages: Sequence[LLMMessage]
    tools: Sequence[Tool | ToolSchema] = ()
    tool_choice: ToolChoice = "auto"
    json_output: bool | type[BaseModel] | None = None
    extra_create_args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cancellation_token: CancellationToken | None = None


@dataclass(slots=True)
class CallProgress:
    """What the layers add to a call; `RecordedClient` records it. The only mutable part of a call."""

    queued_seconds: float = 0.0
    tries: int = 0
    last_error: str | None = None
    recorded: ModelCalled | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A request with its context. ``occurrence``: 0-based index of identical requests by the same role."""

    request: Request
    context: Context
    parameters: ModelParameters
    request_hash: str
    occurrence: int
    progress: CallProgress = field(default_factory=CallProgress)


class Layer(Protocol):
    """A layer of the stack: answers a call or passes it to the layer below."""

    async def ask(self, call: ModelCall) -> CreateResult:
        """Raises `CallFailed` if no answer came."""
        ...


def hash_request(request: Request, model: str, parameters: ModelParameters, trial: int) -> str:
    """SHA-256 of everything that may change the answer.

    It includes the model and its parameters, or a second model would be given the first one's answers, and the trial,
    or k trials would collapse into one. It excludes ids and times of AutoGen's messages, which change with every run.
    """
    schema = request.json_output
    identity = {
        "model": model,
        "parameters": parameters.model_dump(exclude_none=True),
        "trial": trial,
        "messages": [message.model_dump(mode="json") for message in request.messages],
        "tools": [_tool_schema(tool) for tool in request.tools],
        "tool_choice": request.tool_choice if isinstance(request.tool_choice, str) else tool_name(request.tool_choice),
        "schema": _json_schema(schema) if isinstance(schema, type) else schema,
        "extra": dict(request.extra_create_args),
    }
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@cache
def _json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Pydantic makes it anew at every call, which takes milliseconds."""
    return schema.model_json_schema()


def tool_name(tool: Tool | ToolSchema) -> str:
    return _tool_schema(tool)["name"]


def _tool_schema(tool: Tool | ToolSchema) -> ToolSchema:
    return tool.schema if isinstance(tool, Tool) else tool


def plain_messages(messages: Sequence[LLMMessage]) -> tuple[RequestMessage, ...]:
    """The messages with the endpoint's roles, one for each tool result."""
    lines: list[RequestMessage] = []
    for message in messages:
        match message:
            case System(content=content):
                lines.append(RequestMessage(role="system", content=content))
            case AssistantMessage(content=content):
                lines.append(RequestMessage(role="assistant", content=_plain_content(content)))
            case FunctionExecutionResultMessage(content=results):
                lines.extend(RequestMessage(role="tool", content=result.content) for result in results)
            case _:
                lines.append(RequestMessage(role="user", content=_plain_content(message.content)))
    return tuple(lines)


def _plain_content(content: str | Sequence[object]) -> str:
    if isinstance(content, str):
        return content
    calls = [{"name": part.name, "arguments": part.arguments} for part in content if isinstance(part, FunctionCall)]
    return json.dumps(calls, ensure_ascii=False) if calls else "\n".join(str(part) for part in content)


class CallFailed(OperationalError):
    """A model call was not answered. The event log already has the failure; the caller decides what follows.

    Attributes:
        request_refused: whether the endpoint refused this request; another one may be answered.
    """

    def __init__(self, reason: FailureReason, message: str, *, request_refused: bool = False) -> None:
        super().__init__(message)
        self.reason: FailureReason = reason
        self.request_refused = request_refused


class EndpointAbandoned(CallFailed):
    """A model call was not sent, because the endpoint failed too often in a row."""
