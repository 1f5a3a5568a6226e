"""The solver: a model calls the tools of an environment, in a simulated session of its own.

The turns go as in `lawtrace attempt` (`lawtrace.agents.conversations.attempts`), and so do the limits. Calls reach the
session as the model wrote them. Inspect would check them against the schema and convert their arguments first; here
the session says what is wrong with them, and that is an event.
"""

import json
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    execute_tools,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef, ToolError, ToolParams
from inspect_ai.util import LimitExceededError

from lawtrace.agents.scripted.user_automaton import ScriptedUser, UserLine
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.choices import Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import FunctionCalled
from lawtrace.schemas.tool_conversation import ToolConversation, ToolConversationEnd, Turn, UserTurn
from lawtrace.solver.traces import PlannedCall

ANSWER: Final = "lawtrace_answer"
"""The key of the answer in the sample's store, from which the scorer judges it, now or again later."""
PROVIDER: Final = "lawtrace"
"""The provider of the baseline policies (``lawtrace/literal``)."""

_ENDS: Final[dict[str, ToolConversationEnd]] = {
    "message": "turn_limit",
    "turn": "turn_limit",
    "token": "token_limit",
    "cost": "token_limit",
    "time": "time_limit",
    "working": "time_limit",
}
"""The end of an attempt that a limit of Inspect's ended."""


@dataclass(slots=True)
class SampleAttempt:
    """One attempt in progress: its session and the record of its turns.

    Attributes:
        user: who answers in a dialogue; else None.
        listening: whether the user has not sent the last message.
        warns: whether the model is still to be told of open duties when it ends.
        told: the open duties that the next turn answers.
    """

    task_set: TaskSet
    task: Task
    style: Style
    session: Session
    user: ScriptedUser | None
    turns: list[Turn] = field(default_factory=list[Turn])
    said: list[UserTurn] = field(default_factory=list[UserTurn])
    end: ToolConversationEnd = "finished"
    reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    listening: bool = True
    warns: bool = False
    told: str = ""
    _policies: dict[str, Sequence[PlannedCall] | str] = field(default_factory=dict[str, Sequence[PlannedCall] | str])

    def baseline(self, policy: str) -> Sequence[PlannedCall] | str:
        """The calls of a baseline policy on the task, or what it says instead."""
        if policy not in self._policies:
            self._policies[policy] = self.task_set.baseline(policy, self.task, self.style)
        return self._policies[policy]

    def begin_turn(self, output: ModelOutput) -> None:
        """Record what the model says."""
        message, text = output.message, output.message.text
        if output.usage is not None:
            self.prompt_tokens += output.usage.input_tokens
            self.completion_tokens += output.usage.output_tokens
        self.turns.append(Turn(message=message.id or "", told=self.told, text=text))
        self.told = ""
        if self.user is not None and not message.tool_calls:
            self.session.say("agent", text, message.id)

    def call(self, call: ToolCall, arguments: dict[str, Any]) -> str:
        """Execute a call and record it. Raises ToolError with the text of an error."""
        turn = self.turns[-1]
        written = call.parse_error or json.dumps(arguments, ensure_ascii=False)
        answer = self.session.call_written(call.function, written, turn.message)
        made = FunctionCalled(id=call.id, name=call.function, arguments=written)
        self.turns[-1] = turn.model_copy(update={"calls": (*turn.calls, made), "results": (*turn.results, answer.text)})
        if answer.event.error is not None:
            raise ToolError(answer.text)
        return answer.text

    def reached_limit(self) -> bool:
        """Whether there must be no further turn."""
        limits = self.task_set.recipe.attempts.tools
        if self.end == "finished" and len(self.turns) >= limits.turns:
            self.stop("turn_limit", f"did not end within {limits.turns} turns")
        return self.end != "finished"

    def may_call(self) -> bool:
        """Whether one more call is executed."""
        limit = self.task_set.recipe.attempts.tools.calls
        if self.session.calls == limit:
            self.stop("call_limit", f"made more than {limit} calls")
        return self.end != "call_limit"

    def stop(self, end: ToolConversationEnd, reason: str) -> None:
        self.end, self.reason = end, reason

    def open_dialogue(self) -> str | None:
        """The first message of the user; None without a dialogue."""
        return None if self.user is None else self._say(self.user.open())

    def reply(self, heard: str) -> str | None:
        """What is said to the model after a text without a call: the answer of the user, or once the open duties."""
        if self.user is not None and self.listening:
            line = self.user.reply(heard)
            text = self._say(line)
            if not line.ends:
                return text
            self.listening = False
        if not self.warns or self.reached_limit():
            return None
        self.warns, duties = False, self.session.open_duties()
        self.told = "" if duties is None else duties.text
        return self.told or None

    def _say(self, line: UserLine) -> str:
        message = f"user-{len(self.said) + 1}"
        self.session.say("user", line.text, message)
        self.said.append(UserTurn(message=message, after=len(self.turns), moves=line.moves, text=line.text))
        return line.text

    def answer(self, model: str, epoch: int, sample: str) -> Answer:
        """The record, as in the attempts of a run."""
        behaviour = self.user.behaviour if self.user is not None else None
        last = self.turns[-1] if self.turns else None
        options = self.task_set.recipe.attempts
        return Answer(
            task=self.task.id,
            style=self.style,
            model=model,
            trial=epoch - 1,
            mode=options.mode,
            shield=options.shield,
            program=None,
            text=None if last is None or last.calls else last.text,
            conversation=ToolConversation(tuple(self.turns), self.end, self.reason, tuple(self.said), behaviour),
            message=last.message if last else None,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            id=sample,
        )


CURRENT: Final[ContextVar[SampleAttempt | None]] = ContextVar("lawtrace_attempt", default=None)
"""The attempt that the running code belongs to, for the baseline policies."""


@solver
def attempt(
    file: str,
    env: str | None = None,
    mode: Literal["tools", "dialogue"] = "tools",
    shield: Literal["off", "warn", "refuse"] = "off",
    options: dict[str, Any] | None = None,
) -> Solver:
    """Attempt the sample's task with the tools of its environment, until the model calls none or a limit is reached.

    Args:
        file: the task file.
        env: the folder of its environment, if it is not built in.
        mode: ``tools``, or ``dialogue`` with a scripted user who answers questions.
        shield: whether a guard in front of the tools warns of calls, or refuses them.
        options: other keys of a recipe: ``seed``, ``regulation`` and ``attempts``.
    """
    given = options or {}
    attempts = {**given.get("attempts", {}), "mode": mode, "shield": shield}
    task_set = TaskSet.read(file, env, {**given, "attempts": attempts})
    tools = environment_tools(task_set.domain.environment, hints=task_set.recipe.attempts.hints)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        current = _begin(task_set, state)
        CURRENT.set(current)
        state.tools = tools
        first = current.open_dialogue() or task_set.request(current.task, current.style)
        state.messages = [
            ChatMessageSystem(content=task_set.system_text(current.task)),
            ChatMessageUser(content=first),
        ]
        try:
            while not current.reached_limit():
                state = await generate(state, tool_calls="none")
                message = state.output.message
                current.begin_turn(state.output)
                if message.tool_calls:
                    await _execute(current, state.messages, message)
                elif (told := current.reply(message.text)) is not None:
                    state.messages.append(ChatMessageUser(content=told))
                else:
                    break
        except LimitExceededError as error:
            current.stop(_ENDS.get(error.type, "time_limit"), error.message)
            raise
        finally:
            answer = current.answer(str(state.model), state.epoch, state.uuid)
            state.store.set(ANSWER, answer.model_dump_json())
        return state

    return solve


def environment_tools(environment: Environment, *, hints: bool = False) -> list[ToolDef]:
    """The tools as a model is shown them. Their calls are executed by `attempt`."""
    return [
        ToolDef(
            _not_executed,
            name=name,
            description=str(schema["description"]),
            parameters=ToolParams.model_validate(
                {"properties": schema["properties"], "required": schema["required"], "additionalProperties": False}
            ),
        )
        for name, schema in call_schemas(environment, hints=hints).items()
    ]


async def _not_executed(**kwargs: Any) -> str:  # noqa: ANN401, ARG001
    raise InputError("the tools of lawtrace/tasks are executed by its own solver, lawtrace/attempt")


def _begin(task_set: TaskSet, state: TaskState) -> SampleAttempt:
    task = task_set.by_id.get(str(state.metadata.get("task")))
    if task is None:
        raise InputError(f"sample {state.sample_id}: not of the task file; use the task lawtrace/tasks")
    style: Style = state.metadata["style"]
    session = task_set.open_session(task)
    # A policy knows all values: nothing is left for a user to tell.
    scripted = str(state.model).startswith(f"{PROVIDER}/") or state.model.api == PROVIDER
    user = None if scripted else task_set.user(task, style, session)
    warns = task_set.recipe.attempts.shield == "warn"
    return SampleAttempt(task_set, task, style, session, user, warns=warns)


async def _execute(current: SampleAttempt, messages: list[ChatMessage], message: ChatMessageAssistant) -> None:
    """Execute the calls of a message one after the other, through the approvers of the eval, and add their results."""
    before: Sequence[ChatMessage] = messages[:-1]
    done: list[ChatMessage] = []
    for call in message.tool_calls or ():
        if not current.may_call():
            return
        alone = message.model_copy(update={"tool_calls": [_readable(call)]})
        results = (await execute_tools([*before, *done, alone], [_tool_of(current, call)])).messages
        messages.extend(results)
        done += [alone, *results]


def _readable(call: ToolCall) -> ToolCall:
    """A call that reaches its tool, also if Inspect could not read its arguments: the session says what is wrong."""
    if call.parse_error is None:
        return call
    return ToolCall(id=call.id, function=call.function, arguments={})


def _tool_of(current: SampleAttempt, call: ToolCall) -> ToolDef:
    """The tool of one call, whatever its name and arguments. Results are never cut."""

    async def execute(**kwargs: Any) -> str:  # noqa: ANN401
        return current.call(call, kwargs)

    parameters = ToolParams.model_validate({"additionalProperties": True})
    return ToolDef(execute, name=call.function, description=call.function, parameters=parameters, max_output=0)


def results_told(messages: Sequence[ChatMessage]) -> list[str]:
    """What the tools said so far, each result or error."""
    return [
        message.error.message if message.error is not None else message.text
        for message in messages
        if isinstance(message, ChatMessageTool)
    ]
