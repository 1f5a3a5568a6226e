"""One attempt's conversation: the model under test gets the request and answers, once."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal

from autogen_agentchat.messages import (
    BaseChatMessage,
    StopMessage,
    TextMessage,
    ThoughtEvent,
    ToolCallExecutionEvent,
    ToolCallRequestEvent,
)
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, FunctionExecutionResult
from autogen_core.tools import ParametersSchema, ToolSchema
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.event_log import Context, EventLog, FunctionCalled, MessageSent
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.participants import ToolAgent
from lawtrace.agents.roles.executor import DEFAULT_BRIEFING, Briefing, make_executor, request_text, tools_system
from lawtrace.environments.events import Json
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.masking.instructions import Instruction


async def ask_for_program(
    environment: Environment,
    regulation: Regulation,
    instruction: Instruction,
    *,
    client: ChatCompletionClient,
    context: Context,
    event_log: EventLog,
    briefing: Briefing = DEFAULT_BRIEFING,
    target_state: Mapping[str, Json] | None = None,
) -> str:
    """The model's whole answer. Raises CallFailed if no answer came, which is no fault of the model."""
    agent = make_executor(client, environment, regulation, briefing)
    prompts = {"user": briefing.prompts["executor_user"], agent.name: briefing.prompts["executor_system"]}
    answer = ""
    async with aclosing(agent.run_stream(task=request_text(instruction, target_state, briefing.prompts))) as stream:
        async for message in stream:
            if not isinstance(message, BaseChatMessage):
                continue
            answer = message.to_text()
            prompt = prompts.get(message.source)
            event_log.record(
                MessageSent(
                    context=context.at(role=message.source, turn=0 if message.source == "user" else 1),
                    source=message.source,
                    content=answer,
                    prompt_id=prompt.id if prompt else None,
                    prompt_hash=prompt.hash if prompt else None,
                )
            )
    return answer


SHIELD = "shield"

ToolConversationEnd = Literal["finished", "turn_limit", "call_limit", "token_limit", "time_limit"]


@dataclass(frozen=True, slots=True)
class ToolConversationLimits:
    """What one attempt with tools may use.

    Attributes:
        turns: answers of the model. All that a turn asks for is still done, then there is no other turn.
        calls: tool calls; the next one is not answered.
        tokens: prompts and answers together, as the endpoint counts them.
        seconds: spent waiting for answers, as recorded, so that a replay ends where the attempt did.
    """

    turns: int = 60
    calls: int = 500
    tokens: int = 1_000_000
    seconds: float = 900.0


class Turn(BaseModel):
    """What the model did in one turn, and what came of it.

    Attributes:
        told: what the shield said before it, about what is still owed.
        text: what it said, beside its calls or instead of any.
        calls: what it called, word for word.
        results: what it was told of each call, in order; fewer than the calls where a limit ended the attempt.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    told: str = ""
    text: str = ""
    calls: tuple[FunctionCalled, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolConversation:
    """How the conversation went. ``reason`` says which limit ended it; None if the model did."""

    turns: tuple[Turn, ...]
    end: ToolConversationEnd
    reason: str | None


@dataclass(slots=True)
class _ToolConversationState:
    """One conversation on its way: counts against the limits, and writes down what is said."""

    session: Session
    client: RecordedClient
    limits: ToolConversationLimits
    context: Context
    event_log: EventLog
    turns: list[Turn] = field(default_factory=list[Turn])
    end: ToolConversationEnd = "finished"
    _messages: int = 0
    _thought: str = ""
    _told: str = ""

    def desk(self, call: FunctionCall) -> FunctionExecutionResult | None:
        if len(self.session.events) == self.limits.calls:
            self.end = "call_limit"
            return None
        answer = self.session.call_written(call.name, call.arguments)
        return FunctionExecutionResult(
            content=answer.text, name=call.name, call_id=call.id, is_error=answer.event.error is not None
        )

    def limit_met(self) -> tuple[ToolConversationEnd, str] | None:
        """The limit that stands against another turn, and in words."""
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

    def ends_because(self) -> str | None:
        met = self.limit_met()
        if met is None:
            return None
        self.end, reason = met
        return reason

    def hear(self, message: object, prompts: Mapping[str, Prompt]) -> None:
        """Write down one item of the agent's stream."""
        match message:
            case ThoughtEvent(content=thought):
                self._thought = thought
            case ToolCallRequestEvent(source=source, content=asked):
                calls = tuple(FunctionCalled(id=call.id, name=call.name, arguments=call.arguments) for call in asked)
                self._add(Turn(text=self._thought, calls=calls))
                self._record(source, self._thought, prompts.get(source), calls)
                self._thought = ""
            case ToolCallExecutionEvent(content=results):
                told = tuple(result.content for result in results)
                self.turns[-1] = self.turns[-1].model_copy(update={"results": told})
                for result in results:
                    self._record_code("tools", result.name, result.content)
            case StopMessage(content=reason):
                self._record_code("limits", "limits", reason)
            case TextMessage(source="user", content=text):
                self._record("user", text, prompts["user"])
            case TextMessage(source=source, content=text) if source == SHIELD:
                self._told = text
                self._record_code(SHIELD, SHIELD, text)
            case TextMessage(source=source, content=text):
                self._add(Turn(text=text))
                self._record(source, text, prompts.get(source))
            case BaseChatMessage():
                raise AssertionError(f"no agent here says a {type(message).__name__}")
            case _:
                pass

    def _add(self, turn: Turn) -> None:
        self.turns.append(turn.model_copy(update={"told": self._told}))
        self._told = ""

    def _record(self, source: str, content: str, prompt: Prompt | None, calls: tuple[FunctionCalled, ...] = ()) -> None:
        self.event_log.record(
            MessageSent(
                context=self.context.at(role=source, turn=self._messages),
                source=source,
                content=content,
                function_calls=calls,
                prompt_id=prompt and prompt.id,
                prompt_hash=prompt and prompt.hash,
            )
        )
        self._messages += 1

    def _record_code(self, role: str, source: str, content: str) -> None:
        """What code says: no model is in that seat."""
        place = self.context.at(role=role, model=None, turn=self._messages)
        self.event_log.record(MessageSent(context=place, source=source, content=content))
        self._messages += 1


async def run_tool_conversation(
    session: Session,
    regulation: Regulation,
    instruction: Instruction,
    *,
    client: RecordedClient,
    context: Context,
    event_log: EventLog,
    limits: ToolConversationLimits,
    briefing: Briefing = DEFAULT_BRIEFING,
    target_state: Mapping[str, Json] | None = None,
) -> ToolConversation:
    """Let the model act; the session holds the events and the state afterwards.

    With a shield that warns, a model that ends while something is still owed is told so, once, and may go on.

    Raises CallFailed if an answer did not come, which is no fault of the model.
    """
    talk = _ToolConversationState(session, client, limits, context, event_log)
    agent = ToolAgent(
        "executor",
        client=client,
        system=tools_system(session.environment, regulation, briefing),
        tools=tool_schemas(session.environment, hints=briefing.hints),
        desk=talk.desk,
        ends_because=talk.ends_because,
    )
    words = briefing.prompts
    prompts = {"user": words["executor_user"], agent.name: words["executor_tools_system"]}
    task: str | TextMessage = request_text(instruction, target_state, words)
    reason: str | None = None
    for last in (briefing.shield != "warn", True):
        async with aclosing(agent.run_stream(task=task)) as stream:
            async for message in stream:
                talk.hear(message, prompts)
                reason = message.content if isinstance(message, StopMessage) else reason
        if last or talk.limit_met() is not None:
            break
        owed = session.open_duties()
        if owed is None:
            break
        task = TextMessage(content=owed.text, source=SHIELD)
    return ToolConversation(tuple(talk.turns), talk.end, reason)


def tool_schemas(environment: Environment, *, hints: bool) -> list[ToolSchema]:
    """The tools as function calling offers them."""
    schemas: list[ToolSchema] = []
    for name, schema in call_schemas(environment, hints=hints).items():
        properties, required = schema["properties"], schema["required"]
        assert isinstance(properties, dict)
        assert isinstance(required, list)
        parameters = ParametersSchema(
            type="object",
            properties=properties,
            required=[str(parameter) for parameter in required],
            additionalProperties=False,
        )
        schemas.append(ToolSchema(name=name, description=str(schema["description"]), parameters=parameters))
    return schemas
