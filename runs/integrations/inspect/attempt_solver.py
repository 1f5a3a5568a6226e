"""The solver: a model calls the tools of an environment, in a simulated session of its own.

`AttemptSession` decides about turns, limits, user and end, as in `lawtrace run`. Calls reach it as the model wrote
them: Inspect would check them against the schema and convert their arguments first; here the session says what is wrong
with them, and that is an event.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef, ToolError, ToolParams
from inspect_ai.util import LimitExceededError

from lawtrace.agents.scripted.user_automaton import ScriptedUser
from lawtrace.environments.runtime.attempt_session import Action, AskUser, AttemptSession, Ended
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.choices import Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.tool_conversation import ToolConversationEnd

ANSWER: Final = "lawtrace_answer"
"""The key of the answer in the sample's store, from which the scorer judges it, now or again later."""

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
class _Sample:
    """One attempt in progress: carries messages between Inspect's model, the user and `AttemptSession`."""

    task_set: TaskSet
    task: Task
    style: Style
    attempt: AttemptSession
    user: ScriptedUser | None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    async def run(self, state: TaskState, generate: Generate) -> TaskState:
        request = self.task_set.request(self.task, self.style)
        state.messages = [ChatMessageSystem(content=self.task_set.system_text(self.task))]
        action = self.attempt.start()
        while not isinstance(action, Ended):
            if isinstance(action, AskUser):
                action = self._ask_user(action)
                continue
            if told := action.text or (request if not self.attempt.turns else ""):
                state.messages.append(ChatMessageUser(content=told))
            state = await generate(state, tool_calls="none")
            await self._receive(state)
            action = self.attempt.proceed()
        return state

    def _ask_user(self, action: AskUser) -> Action:
        assert self.user is not None
        line = self.user.open() if action.heard is None else self.user.reply(action.heard)
        message = f"user-{len(self.attempt.said) + 1}"
        return self.attempt.hear(line.text, message, line.moves, last=line.ends)

    async def _receive(self, state: TaskState) -> None:
        """Record the model's turn. Execute its calls one after the other, through the approvers of the eval."""
        message, usage = state.output.message, state.output.usage
        if usage is not None:
            self.prompt_tokens += usage.input_tokens
            self.completion_tokens += usage.output_tokens
        self.attempt.receive(message.text, message.id or "", final=not message.tool_calls)
        history: list[ChatMessage] = state.messages[:-1]
        for call in message.tool_calls or ():
            alone = message.model_copy(update={"tool_calls": [_readable(call)]})
            results = (await execute_tools([*history, alone], [self._tool(call)])).messages
            if self.attempt.ended is not None:
                return
            history += [alone, *results]
            state.messages.extend(results)

    def _tool(self, call: ToolCall) -> ToolDef:
        """The tool of one call, whatever its name and arguments. Results are never cut."""

        async def execute(**kwargs: Any) -> str:  # noqa: ANN401
            result = self.attempt.call(call.function, call.parse_error or kwargs, call.id)
            if result.event.error is not None:
                raise ToolError(result.text)
            return result.text

        parameters = ToolParams.model_validate({"additionalProperties": True})
        return ToolDef(execute, name=call.function, description=call.function, parameters=parameters, max_output=0)

    def answer(self, state: TaskState) -> Answer:
        conversation = self.attempt.conversation(self.user.behaviour if self.user is not None else None)
        last = conversation.turns[-1] if conversation.turns else None
        options = self.task_set.options
        return Answer(
            task=self.task.id,
            style=self.style,
            model=str(state.model),
            trial=state.epoch - 1,
            mode=options.mode,
            shield=options.shield,
            program=None,
            text=None if last is None or last.calls else last.text,
            conversation=conversation,
            message=last.message if last else None,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            id=state.uuid,
        )


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
    tools = environment_tools(task_set.domain.environment, hints=task_set.options.hints)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = _begin(task_set, state)
        state.tools = tools
        try:
            return await sample.run(state, generate)
        except LimitExceededError as error:
            sample.attempt.stop(_ENDS.get(error.type, "time_limit"), error.message)
            raise
        finally:
            state.store.set(ANSWER, sample.answer(state).model_dump_json())

    return solve


def environment_tools(environment: Environment, *, hints: bool = False) -> list[ToolDef]:
    """The tools as a model is shown them. Their calls are executed by `attempt`."""
    return [
        ToolDef(_not_executed, name=name, description=description, parameters=ToolParams.model_validate(parameters))
        for name, description, parameters in call_schemas(environment, hints=hints)
    ]


async def _not_executed(**kwargs: Any) -> str:  # noqa: ANN401, ARG001
    raise InputError("the tools of lawtrace/tasks are executed by its own solver, lawtrace/attempt")


def _begin(task_set: TaskSet, state: TaskState) -> _Sample:
    task = task_set.by_id.get(str(state.metadata.get("task")))
    if task is None:
        raise InputError(f"sample {state.sample_id}: not of the task file; use the task lawtrace/tasks")
    style: Style = state.metadata["style"]
    session, options = task_set.open_session(task), task_set.options
    user = task_set.user(task, style, session)
    attempt = AttemptSession(session, options.tools, dialogue=user is not None, warns=options.shield == "warn")
    return _Sample(task_set, task, style, attempt, user)


def _readable(call: ToolCall) -> ToolCall:
    """A call that reaches its tool, also if Inspect could not read its arguments: the session says what is wrong."""
    return call if call.parse_error is None else ToolCall(id=call.id, function=call.function, arguments={})
