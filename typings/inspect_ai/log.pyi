from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage
from inspect_ai.scorer import Score

class EvalMetric:
    name: str
    value: float

class EvalScore:
    name: str
    scorer: str
    metrics: dict[str, EvalMetric]

class EvalResults:
    scores: list[EvalScore]

class EvalSample:
    id: int | str
    epoch: int
    messages: list[ChatMessage]
    scores: dict[str, Score] | None
    store: dict[str, Any]
    metadata: dict[str, Any]
    events: list[Any]
    error: Any
    limit: Any
    @classmethod
    def model_validate(cls, value: Mapping[str, Any]) -> EvalSample: ...

class EvalSpec:
    model: str
    task: str
    task_args: dict[str, Any]

class EvalLog:
    status: str
    eval: EvalSpec
    results: EvalResults | None
    samples: list[EvalSample] | None
    error: Any
    location: str
    @classmethod
    def model_validate(cls, value: Mapping[str, Any]) -> EvalLog: ...

def read_eval_log(log_file: str | Path) -> EvalLog: ...
