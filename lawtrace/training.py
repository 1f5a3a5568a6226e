"""Tasks as environments for reinforcement learning (docs/training.md).

`TaskEnvironment` needs no framework. `load_environment` is what the library `verifiers` looks for in this module.
"""

import importlib.util
from os import PathLike
from typing import TYPE_CHECKING, Any

from lawtrace.runs.integrations.training.task_environment import Reward, Step, StepInfo, TaskEnvironment
from lawtrace.runs.integrations.training.training_tasks import Observation, TrainingTasks
from lawtrace.schemas.errors import OperationalError

if TYPE_CHECKING:
    from lawtrace.runs.integrations.training.verifiers_environment import LawtraceEnv

__all__ = ["Observation", "Reward", "Step", "StepInfo", "TaskEnvironment", "TrainingTasks", "load_environment"]


def load_environment(
    file: str | PathLike[str],
    *,
    safe_success: float = 1.0,
    success: float = 0.0,
    safety: float = 0.0,
    calls: int | None = None,
    turns: int | None = None,
    **options: Any,  # noqa: ANN401
) -> "LawtraceEnv":
    """The tasks of a file as an environment of `verifiers`: ``vf.load_environment("lawtrace.training", file=...)``.

    Args:
        file: of tasks.
        safe_success, success, safety: the parts of the reward; see `Reward`.
        calls, turns: limits of a rollout; those of ``lawtrace run`` by default.
        options: ``style``, ``shield`` and the others of `TrainingTasks.load`.

    Raises InputError for a file of another kind, OperationalError without `verifiers`.
    """
    if importlib.util.find_spec("verifiers") is None:
        raise OperationalError("training with verifiers needs the extra 'verifiers': pip install 'lawtrace[verifiers]'")
    from lawtrace.runs.integrations.training.verifiers_environment import LawtraceEnv

    reward = Reward(safe_success, success, safety)
    return LawtraceEnv(TrainingTasks.load(file, **options), reward=reward, calls=calls, turns=turns)
