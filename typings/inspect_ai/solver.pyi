from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, Protocol

from inspect_ai.model import ChatMessage, ModelName, ModelOutput
from inspect_ai.tool import ToolDef
from inspect_ai.util import Store

_P = ParamSpec("_P")

class TaskState:
    model: ModelName
    sample_id: int | str
    epoch: int
    uuid: str
    metadata: dict[str, Any]
    store: Store
    output: ModelOutput
    @property
    def messages(self) -> list[ChatMessage]: ...
    @messages.setter
    def messages(self, messages: Sequence[ChatMessage]) -> None: ...
    @property
    def tools(self) -> list[Any]: ...
    @tools.setter
    def tools(self, tools: Sequence[ToolDef]) -> None: ...

class Generate(Protocol):
    async def __call__(self, state: TaskState, tool_calls: Literal["loop", "single", "none"] = ...) -> TaskState: ...

class Solver(Protocol):
    async def __call__(self, state: TaskState, generate: Generate) -> TaskState: ...

def solver(func: Callable[_P, Solver]) -> Callable[_P, Solver]: ...
def generate(tool_calls: Literal["loop", "single", "none"] = ...) -> Solver: ...
def use_tools(*tools: Any) -> Solver: ...
