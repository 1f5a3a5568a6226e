"""The conversations of attempts: a model under test writes a program, or calls tools turn by turn, with or without a
user who answers."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from autogen_agentchat.messages import (
    BaseChatMessage,
    StopMessage,
    TextMessage,
    ThoughtEvent,
    ToolCallExecutionEvent,
    ToolCallRequestEvent,
)
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import ChatCompletionClient, FunctionExecutionResult
from autogen_core.tools import Workbench

from lawtrace.agents.briefing import Briefing
from lawtrace.agents.conversation import sent_message
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.model_call import ModelCall
from lawtrace.agents.models.recording import RecordedClient, recorded_call
from lawtrace.agents.participants import ToolAgent
from lawtrace.agents.roles.executor import make_executor, request_text, tools_system
from lawtrace.agents.roles.user import DialogueUser
from lawtrace.agents.session_tools import SessionTools
from lawtrace.environments.runtime.session import Session, parse_arguments
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.log_entries import Context, FunctionCalled, MessageSent
from lawtrace.schemas.tool_conversation import (
    ToolConversation,
    ToolConversationEnd,
    ToolConversationLimits,
    Turn,
    UserTurn,
)

SHIELD = "shield"


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The text that a model answered, and the id of the message."""

    text: str
    message: str


async def ask_for_program(
    environment: Environment,
    instruction: Instruction,
    *,
    client: ChatCompletionClient,
    context: Context,
    event_log: EventLog,
    briefing: Briefing,
    target_state: Mapping[str, Json] | None = None,
) -> WrittenAnswer:
    """The model's answer. Raises CallFailed if no answer came."""
    agent = make_executor(client, environment, briefing)
    prompts = {"user": briefing.prompts["executor_user"], agent.name: briefing.prompts["executor_system"]}
    recorder = _Recorder(context, event_log)
    answer = WrittenAnswer("", "")
    async with aclosing(agent.run_stream(task=request_text(instruction, target_state, briefing.prompts))) as stream:
        async for message in stream:
            if isinstance(message, BaseChatMessage):
                text, call = message.to_text(), recorded_call(client) if message.source == agent.name else None
                answer = WrittenAnswer(text, recorder.record(message.source, text, prompts.get(message.source), call))
    return answer


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
        prompt: Prompt | None,
        call: ModelCall | None = None,
        function_calls: tuple[FunctionCalled, ...] = (),
    ) -> str:
        """The id of the message. ``call``: the model call that gave it."""
        context = self.context.at(role=source, model=call and call.context.model, turn=self.turn)
        return self._record(sent_message(context, content, prompt, call, function_calls))

    def record_code(self, role: str, source: str, content: str) -> str:
        """The id of a message from code."""
        context = self.context.at(role=role, model=None, turn=self.turn)
        return self._record(MessageSent(context=context, source=source, content=content))

    def record_user(self, user: DialogueUser, content: str) -> str:
        """The id of a message of the user in a dialogue, in its own words or those of a model."""
        return self.record(user.name, content, *((user.prompt, user.call) if user.voiced else (None, None)))

    def _record(self, message: MessageSent) -> str:
        self.event_log.record(message)
        self.turn += 1
        return message.id


@dataclass(slots=True)
class _ToolConversationState:
    """A tool conversation in progress: executes calls, checks the limits and records messages."""

    session: Session
    tools: SessionTools
    client: RecordedClient
    limits: ToolConversationLimits
    recorder: _Recorder
    user: DialogueUser | None = None
    said: list[UserTurn] = field(default_factory=list[UserTurn])
    turns: list[Turn] = field(default_factory=list[Turn])
    end: ToolConversationEnd = "finished"
    guarded: Workbench = field(init=False)
    _thought: str = ""
    _told: str = ""

    def __post_init__(self) -> None:
        self.guarded = self.tools.guarded()

    async def execute(self, call: FunctionCall) -> FunctionExecutionResult | None:
        if self.session.calls == self.limits.calls:
            self.end = "call_limit"
            return None
        self.tools.message = self.turns[-1].message
        try:
            arguments = parse_arguments(call.arguments)
        except ValueError as error:
            result = self.tools.reject(call.name, str(error))
        else:
            result = await self.guarded.call_tool(call.name, arguments, call_id=call.id)
        return FunctionExecutionResult(
            content=result.to_text(), name=call.name, call_id=call.id, is_error=result.is_error
        )

    def reached_limit(self) -> tuple[ToolConversationEnd, str] | None:
        """The limit that forbids another turn, and its description."""
        usage = self.client.total_usage()
        if self.end == "call_limit":
            return "call_limit", f"made more than {self.limits.calls} calls"
        if len(self.turns) >= self.limits.turns:
            return "turn_limit", f"did not end within {self.limits.turns} turns"
        if usage.prompt_tokens + usage.completion_tokens >= self.limits.tokens:
            return "token_limit", f"used up its {self.limits.tokens} tokens"
        if self.client.seconds >= self.limits.seconds:
            return "time_limit", f"took longer than {self.limits.seconds:g} seconds"
        return None

    def stop_reason(self) -> str | None:
        reached = self.reached_limit()
        if reached is None:
            return None
        self.end, reason = reached
        return reason

    def receive(self, item: object, prompts: Mapping[str, Prompt]) -> None:
        """Record one item of the agent's stream."""
        match item:
            case ThoughtEvent(content=thought):
                self._thought = thought
            case ToolCallRequestEvent(source=source, content=requested):
                calls = tuple(
                    FunctionCalled(id=call.id, name=call.name, arguments=call.arguments) for call in requested
                )
                self._add_turn(source, self._thought, prompts.get(source), calls)
                self._thought = ""
            case ToolCallExecutionEvent(content=results):
                texts = tuple(result.content for result in results)
                self.turns[-1] = self.turns[-1].model_copy(update={"results": texts})
                for result in results:
                    self.recorder.record_code("tools", result.name, result.content)
            case StopMessage(content=reason):
                self.recorder.record_code("limits", "limits", reason)
            case TextMessage(source="user", content=text):
                if self.user is None:
                    self.recorder.record("user", text, prompts["user"])
            case TextMessage(source=source, content=text) if source == SHIELD:
                self._told = text
                self.recorder.record_code(SHIELD, SHIELD, text)
            case TextMessage(source=source, content=text):
                self._add_turn(source, text, prompts.get(source))
                if self.user is not None:
                    self.session.say("agent", text, self.turns[-1].message)
            case BaseChatMessage():
                raise AssertionError(f"unexpected message type {type(item).__name__}")
            case _:
                pass

    async def ask_user(self, heard: Sequence[TextMessage]) -> TextMessage | None:
        """The next message of the user; None if it was the last."""
        assert self.user is not None
        answer = (await self.user.on_messages(heard, CancellationToken())).chat_message
        text = answer.to_text()
        message = self.recorder.record_user(self.user, text)
        self.session.say("user", text, message)
        self.said.append(UserTurn(message=message, after=len(self.turns), moves=self.user.line.moves, text=text))
        return answer if isinstance(answer, TextMessage) else None

    def _add_turn(self, source: str, text: str, prompt: Prompt | None, calls: tuple[FunctionCalled, ...] = ()) -> None:
        message = self.recorder.record(source, text, prompt, self.client.last_call, calls)
        self.turns.append(Turn(message=message, told=self._told, text=text, calls=calls))
        self._told = ""


async def run_tool_conversation(
    session: Session,
    instruction: Instruction,
    *,
    client: RecordedClient,
    context: Context,
    event_log: EventLog,
    limits: ToolConversationLimits,
    briefing: Briefing,
    target_state: Mapping[str, Json] | None = None,
    user: DialogueUser | None = None,
) -> ToolConversation:
    """Let the model act; afterwards the session holds the events and the state.

    With a user, the model is given the user's messages in place of the instruction, until the user has sent the last.
    With a shield that warns, a model that finishes with open duties is told so once and may continue.

    Raises CallFailed if an answer did not come.
    """
    tools = SessionTools(session, hints=briefing.hints)
    conversation = _ToolConversationState(session, tools, client, limits, _Recorder(context, event_log), user)
    agent = ToolAgent(
        "executor",
        client=client,
        system=tools_system(session.environment, briefing),
        tools=await tools.list_tools(),
        execute=conversation.execute,
        stop_reason=conversation.stop_reason,
    )
    prompts = {"user": briefing.prompts["executor_user"], agent.name: briefing.prompts["executor_tools_system"]}
    request = request_text(instruction, target_state, briefing.prompts)
    task: str | TextMessage | None = request if user is None else await conversation.ask_user(())
    reason: str | None = None
    listening, warning = user is not None, briefing.shield == "warn"
    while task is not None:
        last: TextMessage | None = None
        async with aclosing(agent.run_stream(task=task)) as stream:
            async for item in stream:
                conversation.receive(item, prompts)
                reason = item.content if isinstance(item, StopMessage) else reason
                last = item if isinstance(item, TextMessage) else last
        task = None
        if listening and reason is None:
            assert last is not None, "the agent's turn ends with a text"
            task = await conversation.ask_user([last])
            listening = task is not None
        if task is None and warning and conversation.reached_limit() is None:
            warning, duties = False, session.open_duties()
            task = None if duties is None else TextMessage(content=duties.text, source=SHIELD)
    behaviour = user.behaviour if user is not None else None
    return ToolConversation(tuple(conversation.turns), conversation.end, reason, tuple(conversation.said), behaviour)
