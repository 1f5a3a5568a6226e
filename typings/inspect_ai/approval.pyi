from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol

from inspect_ai.model import ChatMessage
from inspect_ai.tool import ToolCall, ToolCallView

_P = ParamSpec("_P")

class Approval:
    decision: str
    explanation: str | None
    metadata: dict[str, Any] | None
    def __init__(
        self,
        *,
        decision: Literal["approve", "modify", "reject", "terminate", "escalate"],
        modified: ToolCall | None = ...,
        explanation: str | None = ...,
        metadata: dict[str, Any] | None = ...,
    ) -> None: ...

class Approver(Protocol):
    async def __call__(
        self, message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]
    ) -> Approval: ...

class ApprovalPolicy:
    def __init__(self, approver: Approver, tools: str | list[str]) -> None: ...

def approver(func: Callable[_P, Approver]) -> Callable[_P, Approver]: ...
def human_approver(choices: list[Literal["approve", "reject", "terminate"]] = ...) -> Approver: ...
