from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, Protocol

from inspect_ai.solver import TaskState

_P = ParamSpec("_P")
_Value = str | float | bool | Mapping[str, float]

class Score:
    value: Any
    answer: str | None
    explanation: str | None
    metadata: dict[str, Any] | None
    def __init__(
        self,
        *,
        value: _Value,
        answer: str | None = ...,
        explanation: str | None = ...,
        metadata: dict[str, Any] | None = ...,
    ) -> None: ...
    @classmethod
    def unscored(
        cls,
        *,
        reason: str | None = ...,
        answer: str | None = ...,
        explanation: str | None = ...,
        metadata: dict[str, Any] | None = ...,
    ) -> Score: ...

class SampleScore:
    score: Score
    sample_metadata: dict[str, Any] | None

class Target: ...

class Metric(Protocol):
    def __call__(self, scores: list[SampleScore]) -> float | Mapping[str, float]: ...

class Scorer(Protocol):
    async def __call__(self, state: TaskState, target: Target) -> Score: ...

def accuracy() -> Metric: ...
def mean() -> Metric: ...
def stderr() -> Metric: ...
def metric(
    *, scores: Literal["auto", "reduced", "unreduced"]
) -> Callable[[Callable[_P, Metric]], Callable[_P, Metric]]: ...
def scorer(metrics: Sequence[Any]) -> Callable[[Callable[_P, Scorer]], Callable[_P, Scorer]]: ...
