"""Answers and attempts: what a model under test said, and what came of executing it.

An `Answer` becomes an `Attempt` when it is executed, and an attempt is judged by a
`lawtrace.schemas.verdict_rows.Verdict`, which names its answer by id.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from lawtrace.schemas.choices import ActingMode, ShieldMode, Style
from lawtrace.schemas.events import Event
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.task_rows import StateRow
from lawtrace.schemas.tool_conversation import ToolConversation

ExecutionStatus = Literal[
    "finished",
    "syntax_error",
    "exception",
    "time_limit",
    "memory_limit",
    "output_limit",
    "call_limit",
    "killed",
    "turn_limit",
    "token_limit",
]
"""How an attempt ended. ``killed``: by a signal, without its normal end, or because it broke the tool protocol. A
program ends in one of the first eight; an agent that calls tools turn by turn finishes or meets a limit."""


@dataclass(frozen=True, slots=True)
class Execution:
    """Record of one run of a program. It holds no times, so the same program and answers give an equal record.

    Attributes:
        status: how it ended.
        error: one line that says why, such as ``KeyError: 'accounts'``; None if it finished. Memory addresses are
            masked in it and in the output, since they differ between runs.
        error_type: the class of the uncaught exception, if one ended it.
        line: the line of the program where that happened, counted from 1.
        output: what it printed, up to the limit.
        calls: number of calls that the handler was asked to answer.
    """

    status: ExecutionStatus
    error: str | None
    error_type: str | None
    line: int | None
    output: str
    calls: int

    @property
    def died(self) -> bool:
        """Whether it ended before its normal end. Then the goal counts as not reached in any state."""
        return self.status != "finished"


@dataclass(frozen=True, slots=True)
class Objection:
    """Objection of a guard to a call, or to ending the session.

    Attributes:
        rules: the ids of the rules concerned.
        text: what the agent is told.
        refused: whether the call was not executed.
        event: index of the event concerned; None for the end of the session.
    """

    rules: tuple[str, ...]
    text: str
    refused: bool
    event: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """What identifies an attempt among others at the same tasks."""

    task: str
    style: Style
    model: str
    trial: int
    mode: ActingMode
    shield: ShieldMode


def _content_id(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()[:12]


EarlyEnd = Literal["length", "content_filter"]
"""Cut off at the limit of tokens; refused by the endpoint, or by the model in so many words."""


class Answer(StrictModel):
    """What a model answered to one task in one style: a program, or calls of tools turn by turn.

    A submitted program is an answer without messages: ``{"task": id, "style": "goal", "program": "..."}``.

    Attributes:
        mode: the acting mode.
        shield: the mode of the shield.
        program: the program found in the text, if any.
        text: the model's last text; None for a submitted program, and if the conversation ended with a call.
        conversation: in the other modes, messages, calls and results turn by turn.
        message: id of the model's last message in the event log; None without one.
        prompt_tokens: of all requests, as the endpoint counts them.
        completion_tokens: of all answers.
        invalid: why there is no answer, through no fault of the model; usually None.
        ended: why the model's last text is not all that it would have written; None if it is.
        id: the id of the conversation in the event log; for a submitted program a hash of its fields.
    """

    task: str
    style: Style
    model: str = "unnamed"
    trial: int = 0
    mode: ActingMode = "program"
    shield: ShieldMode = "off"
    program: str | None
    text: str | None = None
    conversation: ToolConversation | None = None
    message: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    invalid: str | None = None
    ended: EarlyEnd | None = Field(default=None, exclude_if=lambda value: value is None)
    id: str = Field(default_factory=_content_id)

    @property
    def key(self) -> AttemptKey:
        return AttemptKey(self.task, self.style, self.model, self.trial, self.mode, self.shield)


class Attempt(StrictModel):
    """An executed answer.

    Attributes:
        execution: how the program or the conversation ended; None if nothing was run or called.
        sandbox: the sandbox of the program: ``bwrap``; None if nothing ran.
        events: the calls that happened, and the messages of a dialogue, in order.
        end: the time at which the session ended, in seconds since 1970; None if nothing ran.
        objections: the shield's objections to calls or to ending.
        final_state: the state after the events; None if there was nothing to run.
        invalid: why no verdict is possible, through no fault of the model: there is no answer, or no sandbox could run
            it; usually None.
    """

    schema_version: Literal["lawtrace.attempt/2"] = "lawtrace.attempt/2"
    answer: Answer
    execution: Execution | None = None
    sandbox: str | None = None
    events: tuple[Event, ...] = ()
    end: int | None = None
    objections: tuple[Objection, ...] = ()
    final_state: StateRow | None = None
    invalid: str | None = None

    @property
    def key(self) -> AttemptKey:
        return self.answer.key
