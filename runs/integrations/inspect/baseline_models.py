"""The baseline policies as models of Inspect: ``lawtrace/reference``, ``lawtrace/literal`` and the others."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from lawtrace.agents.scripted.baseline_policies import next_move
from lawtrace.runs.integrations.inspect.attempt_solver import POLICIES, PROVIDER
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import BASELINE_POLICIES


@modelapi(name=PROVIDER)
class BaselineModel(ModelAPI):
    """A baseline policy of lawtrace. It plays only tasks of lawtrace, of which it knows the reference trace."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as ModelAPI declares it
        **_: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in BASELINE_POLICIES:
            names = ", ".join(f"{PROVIDER}/{name}" for name in BASELINE_POLICIES)
            raise InputError(f"model {PROVIDER}/{model_name}: not a baseline policy; choose one of {names}")

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """The next call of the policy, or its last text."""
        policies = POLICIES.get()
        if policies is None:
            raise InputError(f"{PROVIDER}/{self.model_name} attempts only the task lawtrace/tasks")
        policy = policies(self.model_name)
        told = [message for message in input if isinstance(message, ChatMessageTool)]
        results = [message.text if message.error is None else message.error.message for message in told]
        move = policy if isinstance(policy, str) else next_move(policy, results)
        if isinstance(move, str):
            return self._output(move, ())
        call = ToolCall(id=f"call_{len(results) + 1}", function=move.tool, arguments=dict(move.arguments))
        return self._output("", [call])

    def _output(self, text: str, calls: Sequence[ToolCall]) -> ModelOutput:
        message = ChatMessageAssistant(
            content=text, tool_calls=list(calls) or None, model=self.model_name, source="generate"
        )
        return ModelOutput.from_message(message, stop_reason="tool_calls" if calls else "stop")

    def max_connections(self) -> int:
        """Policies do not wait for anything."""
        return 100
