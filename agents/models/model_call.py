"""One call of a model as a value that the layers hand on, and the hash that tells requests apart."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import AssistantMessage, CreateResult, FunctionExecutionResultMessage, LLMMessage
from autogen_core.models import SystemMessage as System
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel

from lawtrace.agents.event_log import Context, FailureReason, ModelCalled, RequestMessage
from lawtrace.agents.model_spec import ModelParameters
from lawtrace.environments.errors import OperationalError

ToolChoice = Tool | Literal["auto", "required", "none"]


@dataclass(frozen=True, slots=True)
class Request:
    """What AutoGen's ``create`` is given, under one name."""

    messages: Sequence[LLMMessage]
    tools: Sequence[Tool | ToolSchema] = ()
    tool_choice: ToolChoice = "auto"
    json_output: bool | type[BaseModel] | None = None
    extra_create_args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cancellation_token: CancellationToken | None = None


@dataclass(slots=True)
class CallProgress:
    """What the layers learn on the way in; the outermost one writes it down. The one mutable part of a call."""

    queued_seconds: float = 0.0
    tries: int = 0
    last_error: str | None = None
    recorded: ModelCalled | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A request with its place in the run: who asks, and the how-manieth time the same is asked from that seat."""

    request: Request
    context: Context
    parameters: ModelParameters
    request_hash: str
    occurrence: int
    progress: CallProgress = field(default_factory=CallProgress)


class Layer(Protocol):
    """A layer of the stack: answers a call itself, or hands it to the layer beneath."""

    async def ask(self, call: ModelCall) -> CreateResult:
        """Raises `lawtrace.agents.models.model_call.CallFailed` if no answer came."""
        ...


def hash_request(request: Request, model: str, parameters: ModelParameters, trial: int) -> str:
    """SHA-256 over everything that may change the answer.

    The model and its parameters are part of it, or a second model would be given the first one's answers; the trial
    is, or k trials would collapse into one. Ids and times of AutoGen's messages are not: they change with every run.
    """
    schema = request.json_output
    identity = {
        "model": model,
        "parameters": parameters.model_dump(exclude_none=True),
        "trial": trial,
        "messages": [message.model_dump(mode="json") for message in request.messages],
        "tools": [_tool_schema(tool) for tool in request.tools],
        "tool_choice": request.tool_choice if isinstance(request.tool_choice, str) else tool_name(request.tool_choice),
        "schema": schema.model_json_schema() if isinstance(schema, type) else schema,
        "extra": dict(request.extra_create_args),
    }
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def tool_name(tool: Tool | ToolSchema) -> str:
    return _tool_schema(tool)["name"]


def _tool_schema(tool: Tool | ToolSchema) -> ToolSchema:
    return tool.schema if isinstance(tool, Tool) else tool


def plain_messages(messages: Sequence[LLMMessage]) -> tuple[RequestMessage, ...]:
    """The messages in the endpoint's own roles, one for each tool result."""
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
    """A model call brought no answer. The caller decides what that means; the ledger already knows."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason: FailureReason = reason
