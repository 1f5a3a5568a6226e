"""Evals of Inspect with a scripted model, for tests that have skipped without it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

from lawtrace.schemas.verdict_rows import Verdict

Answers = Sequence[str | list[ToolCall]]
RunSample = Callable[..., EvalSample]


def scripted(answers: Answers) -> Any:
    """A model that gives these answers in turn: texts, or calls."""
    left: Iterator[str | list[ToolCall]] = iter(answers)

    def answer(*_: object) -> ModelOutput:
        content = next(left)
        text, calls = (content, None) if isinstance(content, str) else ("", content)
        message = ChatMessageAssistant(content=text, tool_calls=calls, source="generate")
        output = ModelOutput.from_message(message, stop_reason="tool_calls" if calls else "stop")
        output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)  # else they are counted online
        return output

    return get_model("mockllm/model", custom_outputs=answer)


def run_eval(task: Task, answers: Answers | str, folder: Path, **options: Any) -> EvalLog:
    """The log of an eval with a scripted model, or the one of a name."""
    model = answers if isinstance(answers, str) else scripted(answers)
    (log,) = eval(task, model, log_dir=str(folder / "logs"), display="none", log_realtime=False, **options)
    assert log.status == "success", log.error
    return log


def verdict_of(sample: EvalSample) -> Verdict:
    assert sample.scores is not None
    return Verdict.model_validate((sample.scores["dual_oracle"].metadata or {})["verdict"])


def texts(messages: Sequence[ChatMessage], role: str) -> list[str]:
    return [message.text for message in messages if message.role == role]


def tool_results(sample: EvalSample) -> list[str]:
    """What the tools said, each result or error."""
    tools = [message for message in sample.messages if isinstance(message, ChatMessageTool)]
    return [message.error.message if message.error else message.text for message in tools]
