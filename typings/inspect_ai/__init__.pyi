"""What lawtrace uses of Inspect, an extra."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

from inspect_ai.approval import ApprovalPolicy
from inspect_ai.dataset import Dataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver

_P = ParamSpec("_P")

class Task:
    dataset: Dataset
    def __init__(
        self,
        dataset: Dataset | Sequence[Sample] | None = ...,
        *,
        solver: Solver | Sequence[Solver] = ...,
        scorer: Scorer | Sequence[Scorer] | None = ...,
        approval: str | Sequence[ApprovalPolicy] | None = ...,
        token_limit: int | None = ...,
        working_limit: int | None = ...,
        metadata: Mapping[str, Any] | None = ...,
    ) -> None: ...

def task(func: Callable[_P, Task]) -> Callable[_P, Task]: ...
def task_with(task: Task, *, setup: Solver | Sequence[Solver] | None = ...) -> Task: ...
def eval(
    tasks: Task | Sequence[Task] | str,
    model: str | Model | Sequence[str | Model] | None = ...,
    *,
    task_args: Mapping[str, Any] = ...,
    log_dir: str | None = ...,
    log_format: str | None = ...,
    log_realtime: bool | None = ...,
    display: str | None = ...,
    limit: int | None = ...,
    epochs: int | None = ...,
    approval: str | Sequence[ApprovalPolicy] | None = ...,
    message_limit: int | None = ...,
    fail_on_error: bool | float | None = ...,
) -> list[EvalLog]: ...
def score(log: EvalLog, scorers: Scorer | Sequence[Scorer], *, display: str | None = ...) -> EvalLog: ...
