"""The conversations of attempts: a model under test writes a program, or calls tools turn by turn, with or without a
user who answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import ParametersSchema, ToolSchema

from lawtrace.agents.conversation import sent_message
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.model_call import ModelCall
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.prompt_context import PromptContext, program_system, request_text, tools_system
from lawtrace.agents.roles.user import DialogueUser
from lawtrace.environments.runtime.attempt_session import Action, AskUser, AttemptSession, Ended
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.log_entries import Context, FunctionCalled
from lawtrace.schemas.tool_conversation import AttemptLimits, ToolConversation

EXECUTOR: Final = "executor"
SHIELD: Final = "shield"


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The text that a model answered, and the id of the message."""

    text: str
    message: str


async def ask_for_program(
    environment: Environment,
    instruction: Instruction,
    *,
    client: RecordedClient,
    context: Context,
    event_log: EventLog,
    prompt_context: PromptContext,
    target_state: Mapping[str, Json] | None = None,
) -> WrittenAnswer:
    """The model's answer. Raises CallFailed if no answer came."""
    recorder, prompts = _Recorder(context, event_log), prompt_context.prompts
    request = request_text(instruction, target_state, prompts)
    recorder.record("user", request, prompts["executor_user"])
    agent = AssistantAgent(EXECUTOR, client, system_message=program_system(environment, prompt_context))
    answer = (await agent.run(task=request)).messages[-1]
    text = answer.to_text()
    return WrittenAnswer(text, recorder.record(EXECUTOR, text, prompts["executor_system"], client.last_call))


@dataclass(slots=True)
class _Recorder:
    """Records the messages of one attempt with consecutive turns."""

    context: Context
    event_log: EventLog
    turn: int = 0

    def record(
        self,
        source: str,
        content: str,
        prompt: Prompt | None = None,
        call: ModelCall | None = None,
        function_calls: tuple[FunctionCalled, ...] = (),
        role: str | None = None,
    ) -> str:
        """The id of the message. ``call``: the model call that gave it. ``role``: of code with a name of its own."""
        context = self.context.at(role=role or source, model=call and call.context.model, turn=self.turn)
        message = sent_message(context, content, prompt, call, function_calls).model_copy(update={"source": source})
        self.event_log.record(message)
        self.turn += 1
        return message.id


@dataclass(slots=True)
class _Conversation:
    """Carries messages between a model, its user and `AttemptSession`, and records them.

    AutoGen's `AssistantAgent` runs the calls of one message concurrently. Their order decides verdicts here, so they
    are executed one after the other.
    """

    attempt: AttemptSession
    client: RecordedClient
    tools: Sequence[ToolSchema]
    recorder: _Recorder
    prompt: Prompt
    user: DialogueUser | None
    history: list[LLMMessage]

    async def ask_user(self, heard: str | None) -> Action:
        assert self.user is not None
        said = await self.user.say(heard)
        message = self.recorder.record("user", said.text, said.prompt, said.call)
        return self.attempt.hear(said.text, message, said.line.moves, last=said.line.ends)

    async def ask_model(self, told: str) -> Action:
        """One turn of the model, after it is told something."""
        if told:
            self.history.append(UserMessage(content=told, source="user"))
        answer = await self.client.create(self.history, tools=self.tools)
        usage = self.client.total_usage()
        self.attempt.used(usage.prompt_tokens + usage.completion_tokens, self.client.seconds)
        text, calls = (
            (answer.content, ()) if isinstance(answer.content, str) else (answer.thought or "", answer.content)
        )
        self.history.append(
            AssistantMessage(content=answer.content, thought=answer.thought if calls else None, source=EXECUTOR)
        )
        made = tuple(FunctionCalled(id=call.id, name=call.name, arguments=call.arguments) for call in calls)
        message = self.recorder.record(EXECUTOR, text, self.prompt, self.client.last_call, made)
        self.attempt.receive(text, message, final=not calls)
        if calls:
            results = [result for call in calls if (result := self._execute(call)) is not None]
            self.history.append(FunctionExecutionResultMessage(content=results))
            for result in results:
                self.recorder.record(result.name, result.content, role="tools")
        return self.attempt.proceed()

    def _execute(self, call: FunctionCall) -> FunctionExecutionResult | None:
        result = self.attempt.call(call.name, call.arguments, call.id)
        if self.attempt.ended is not None:
            return None
        is_error = result.event.error is not None
        return FunctionExecutionResult(content=result.text, name=call.name, call_id=call.id, is_error=is_error)


async def run_tool_conversation(
    session: Session,
    instruction: Instruction,
    *,
    client: RecordedClient,
    context: Context,
    event_log: EventLog,
    limits: AttemptLimits,
    prompt_context: PromptContext,
    target_state: Mapping[str, Json] | None = None,
    user: DialogueUser | None = None,
) -> ToolConversation:
    """Let the model act; afterwards the session holds the events and the state.

    With a user, the model is given the user's messages in place of the instruction, until the user has sent the last.
    With a shield that warns, a model that finishes with open duties is told so once and may continue.

    Raises CallFailed if an answer did not come.
    """
    attempt = AttemptSession(session, limits, dialogue=user is not None, warns=prompt_context.shield == "warn")
    recorder = _Recorder(context, event_log)
    conversation = _Conversation(
        attempt,
        client,
        tool_schemas(session.environment, hints=prompt_context.hints),
        recorder,
        prompt_context.prompts["executor_tools_system"],
        user,
        [SystemMessage(content=tools_system(session.environment, prompt_context))],
    )
    if user is None:
        request = request_text(instruction, target_state, prompt_context.prompts)
        recorder.record("user", request, prompt_context.prompts["executor_user"])
        conversation.history.append(UserMessage(content=request, source="user"))
    action = attempt.start()
    while not isinstance(action, Ended):
        if isinstance(action, AskUser):
            action = await conversation.ask_user(action.heard)
            continue
        if action.speaker == SHIELD:
            recorder.record(SHIELD, action.text)
        action = await conversation.ask_model(action.text)
    if action.reason is not None:
        recorder.record("limits", action.reason)
    return attempt.conversation(user.behaviour if user is not None else None)


def tool_schemas(environment: Environment, *, hints: bool) -> list[ToolSchema]:
    """The tool declarations for function calling."""
    return [
        ToolSchema(name=name, description=description, parameters=cast("ParametersSchema", parameters))
        for name, description, parameters in call_schemas(environment, hints=hints)
    ]
