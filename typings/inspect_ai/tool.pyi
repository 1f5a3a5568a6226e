from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

class ToolCall:
    id: str
    function: str
    arguments: dict[str, Any]
    parse_error: str | None
    def __init__(self, id: str, function: str, arguments: dict[str, Any], parse_error: str | None = ...) -> None: ...

class ToolCallError:
    type: str
    message: str
    def __init__(self, type: Literal["parsing", "approval", "cancelled", "unknown"], message: str) -> None: ...

class ToolCallView: ...

class ToolInfo:
    name: str

ToolChoice = Literal["auto", "any", "none"] | object

class ToolError(Exception):
    def __init__(self, message: str) -> None: ...

class ToolParams:
    properties: dict[str, Any]
    @classmethod
    def model_validate(cls, value: Mapping[str, Any]) -> ToolParams: ...
    def model_dump(self, *, exclude_none: bool = ...) -> dict[str, Any]: ...

class ToolDef:
    name: str
    parameters: ToolParams
    def __init__(
        self,
        tool: Callable[..., Awaitable[Any]],
        *,
        name: str | None = ...,
        description: str | None = ...,
        parameters: ToolParams | None = ...,
        max_output: int | None = ...,
    ) -> None: ...
