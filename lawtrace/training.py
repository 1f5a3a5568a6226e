"""The tasks of a file as an environment for reinforcement learning (docs/training.md).

from lawtrace.training import TaskEnvironment, TrainingTasks

environment = TaskEnvironment(TrainingTasks.load("docs/tasks/1.1/banking.jsonl"))
observation = environment.reset(seed=1)
result, reward, done, info = environment.step("CheckAuthorization", {})
result, reward, done, info = environment.finish()
"""

from lawtrace.runs.integrations.training.shaping import Shaping
from lawtrace.runs.integrations.training.task_environment import (
    EpisodeEnd,
    Observation,
    Reward,
    Step,
    StepInfo,
    TaskEnvironment,
)
from lawtrace.runs.integrations.training.training_tasks import TrainingTasks

__all__ = ["EpisodeEnd", "Observation", "Reward", "Shaping", "Step", "StepInfo", "TaskEnvironment", "TrainingTasks"]
