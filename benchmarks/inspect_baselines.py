"""The baseline policies as models of Inspect, ``lawtrace/literal`` and the others, to compare verdicts both ways.

They play only the tasks that `with_baselines` has prepared: each knows the reference trace of the sample's task.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any

from inspect_ai import Task as Eval
from inspect_ai import task_with
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from lawtrace.agents.scripted.baseline_policies import next_move
from lawtrace.runs.integrations.inspect.tasks import tasks
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.stages.baseline_answers import REFUSAL, baseline_calls
from lawtrace.runs.stages.habits import Habits, find_task_habits
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.solver.traces import PlannedCall


class _Policies(TaskSet):
    """The calls of the policies on the tasks of a file."""

    @cached_property
    def habits(self) -> Habits:
        """The best habits for all tasks of the file."""
        return {row.style: row.habit for row in find_task_habits(self.domain.environment, self.tasks)}

    def calls(self, policy: str, task: Task, style: Style) -> Sequence[PlannedCall]:
        habits: Habits = self.habits if policy == "habit" else {}
        calls = baseline_calls(ModelSpec.parse(f"baseline:{policy}"), self.domain.environment, task, style, habits)
        assert calls is not None
        return calls


_ATTEMPTED: ContextVar[tuple[_Policies, Task, Style]] = ContextVar("attempted")
"""The task that the running code attempts."""


def with_baselines(file: str, **options: Any) -> Eval:  # noqa: ANN401
    """The task ``lawtrace/tasks`` over a file, for the models of this module."""
    return task_with(tasks(file, **options), setup=_remember_task(file))


@solver
def _remember_task(file: str) -> Solver:
    policies = _Policies.read(file, None, {"attempts": {"mode": "tools"}})

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        _ATTEMPTED.set((policies, policies.by_id[state.metadata["task"]], state.metadata["style"]))
        return state

    return solve


@modelapi(name="lawtrace")
class BaselineModel(ModelAPI):
    """A baseline policy."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """The next call of the policy, or its last text."""
        told = [message for message in input if isinstance(message, ChatMessageTool)]
        results = [message.text if message.error is None else message.error.message for message in told]
        policies, task, style = _ATTEMPTED.get()
        refuses = self.model_name == "refuse"
        move = REFUSAL if refuses else next_move(policies.calls(self.model_name, task, style), results)
        if isinstance(move, str):
            return self._output(move, ())
        return self._output("", [ToolCall(f"call_{len(results) + 1}", move.tool, dict(move.arguments))])

    def _output(self, text: str, calls: Sequence[ToolCall]) -> ModelOutput:
        message = ChatMessageAssistant(
            content=text, tool_calls=list(calls) or None, model=self.model_name, source="generate"
        )
        return ModelOutput.from_message(message, stop_reason="tool_calls" if calls else "stop")

    def max_connections(self) -> int:
        """Policies do not wait for anything."""
        return 100
