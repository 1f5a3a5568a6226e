"""What lawtrace uses of verifiers, an extra."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from datasets import Dataset
from openai import AsyncOpenAI

_Handler = TypeVar("_Handler", bound=Callable[..., Awaitable[None]])

class Error(Exception): ...
class State(dict[str, Any]): ...

Messages = str | list[dict[str, Any]]

class Rubric:
    def __init__(self, funcs: list[Callable[..., Any]] | None = ..., weights: list[float] | None = ...) -> None: ...
    def add_metric(self, func: Callable[..., Any], weight: float = ...) -> None: ...

class Environment:
    env_id: str
    env_args: dict[str, Any]
    oai_tools: list[dict[str, Any]] | None
    def get_dataset(self, n: int = ..., seed: int | None = ...) -> Dataset: ...
    async def run_rollout(
        self,
        input: Mapping[str, Any],
        client: AsyncOpenAI,
        model: str,
        sampling_args: Mapping[str, Any],
        max_retries: int = ...,
        state_columns: list[str] | None = ...,
    ) -> dict[str, Any]: ...
    async def run_group(
        self,
        group_inputs: Sequence[Mapping[str, Any]],
        client: AsyncOpenAI,
        model: str,
        sampling_args: Mapping[str, Any],
        max_retries: int = ...,
        state_columns: list[str] | None = ...,
    ) -> list[dict[str, Any]]: ...
    async def evaluate(
        self,
        client: AsyncOpenAI,
        model: str,
        sampling_args: Mapping[str, Any] | None = ...,
        num_examples: int = ...,
        rollouts_per_example: int = ...,
        max_concurrent: int = ...,
        state_columns: list[str] | None = ...,
    ) -> dict[str, Any]: ...

class MultiTurnEnv(Environment):
    def __init__(
        self, max_turns: int = ..., *, dataset: Dataset, rubric: Rubric, oai_tools: list[dict[str, Any]], env_id: str
    ) -> None: ...
    async def setup_state(self, state: State) -> State: ...
    async def env_response(self, messages: Messages, state: State, **kwargs: Any) -> Messages: ...

def cleanup(func: _Handler) -> _Handler: ...
def load_environment(env_id: str, **env_args: Any) -> Environment: ...
