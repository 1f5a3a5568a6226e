"""The two kinds of participant in our conversations: a role that a model plays, and a check that code makes.

Both are thin. A role fills its prompt once, attends to the messages that concern it, asks its client, and hands on a
typed answer. An unusable answer is sent back once, with what is wrong with it; one that stays unusable becomes a
:class:`RoleFailure` message, which ends the conversation. A check calls a pure function of what was said last. If logic
shows up in here, it is in the wrong place.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    StopMessage,
    StructuredMessage,
    TextMessage,
    ThoughtEvent,
    ToolCallExecutionEvent,
    ToolCallRequestEvent,
)
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import ToolSchema
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.structured_output import UnusableAnswer, parse_answer
from lawtrace.agents.worker_thread import run_in_worker_thread
from lawtrace.environments.errors import LawtraceError
from lawtrace.prompts.loader import Prompt

Answer = TypeVar("Answer", bound=BaseModel)
MessageFilter = Callable[[BaseModel | str], str | None]
"""What a role reads of a message's content; None for messages that do not concern it."""


class RoleFailure(BaseModel):
    """A role could not go on. Never a default answer: the conversation ends with this on record."""

    model_config = ConfigDict(frozen=True)

    role: str
    reason: str
    text: str = ""
    answered: bool = True
    """Whether there was an answer, and it was unusable; otherwise no answer came."""
    declined: bool = False
    """Whether it was a refusal in plain words."""


@dataclass(frozen=True, slots=True)
class RejectedAnswer:
    """An unusable answer, and the words with which it was sent back."""

    text: str
    request: str


def _repair_request(error: UnusableAnswer) -> str:
    return (
        f"That answer cannot be used: {error}. Answer again with one JSON object of the form asked for, nothing else."
    )


def content_of(message: BaseChatMessage) -> BaseModel | str:
    """What a message says: the typed content, or its text."""
    if isinstance(message, StructuredMessage):
        content: object = message.content  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(content, BaseModel):
            return content
    return message.to_text()


def read_objections(content: BaseModel | str) -> str | None:
    """What a role that proposes attends to: the opening, and what code holds against its last proposal."""
    if isinstance(content, str):
        return content
    objections: Sequence[str] = getattr(content, "objections", ())
    return "Objections:\n" + "\n".join(f"- {objection}" for objection in objections) if objections else None


class RoleAgent(BaseChatAgent, Generic[Answer]):
    """A role that a model plays, with a prompt and a typed answer.

    Args:
        name: the role.
        client: the model in that seat.
        prompt: the prompt file, for the record.
        system: the prompt with its inputs filled in.
        answer: the type of the answer.
        attend: what it reads of each message.
        remembers: whether it sees its own earlier turns; a role that must judge afresh does not.
        declines: whether an unusable answer is a refusal in plain words. That is final: asking again would press for
            another one.
    """

    def __init__(
        self,
        name: str,
        *,
        client: ChatCompletionClient,
        prompt: Prompt,
        system: str,
        answer: type[Answer],
        attend: MessageFilter,
        remembers: bool,
        declines: Callable[[str], bool] = lambda text: False,
    ) -> None:
        super().__init__(name, description=f"plays the role {name}")
        self.prompt = prompt
        self._client = client
        self._system = SystemMessage(content=system)
        self._answer = answer
        self._attend = attend
        self._remembers = remembers
        self._declines = declines
        self._history: list[LLMMessage] = []
        self.rejected_answers: list[RejectedAnswer] = []
        """The unusable answers of the turn just taken, for whoever writes the conversation down."""
        self.stopped_by: LawtraceError | None = None
        """What the whole run must stop for (a full disk, nothing left to replay). An exception that crossed the team
        would lose its type, so whoever holds the conversation raises it afterwards."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (StructuredMessage[self._answer], StructuredMessage[RoleFailure])

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        heard = [text for message in messages if (text := self._attend(content_of(message)))]
        if not self._remembers:
            self._history.clear()
            heard = heard[-1:]
        self._history.append(UserMessage(content="\n".join(heard) or "Begin.", source="user"))
        self.rejected_answers = []
        while True:
            text = ""
            try:
                text = await self._ask(cancellation_token)
                answer = parse_answer(text, self._answer)
            except UnusableAnswer as error:
                declined = self._declines(text)
                if self.rejected_answers or declined:
                    failure = RoleFailure(role=self.name, reason=str(error), text=text[:2000], declined=declined)
                    return self._failed(failure)
                self.rejected_answers.append(RejectedAnswer(text, _repair_request(error)))
            except LawtraceError as error:
                if not isinstance(error, CallFailed):
                    self.stopped_by = error
                return self._failed(RoleFailure(role=self.name, reason=str(error), answered=False))
            else:
                # What was sent back is no part of what the role remembers: it has said it as it should.
                self._history.append(AssistantMessage(content=text, source=self.name))
                return Response(chat_message=StructuredMessage[self._answer](content=answer, source=self.name))

    async def _ask(self, cancellation_token: CancellationToken) -> str:
        repair: list[LLMMessage] = []
        for unusable in self.rejected_answers:
            repair.append(AssistantMessage(content=unusable.text, source=self.name))
            repair.append(UserMessage(content=unusable.request, source="user"))
        result = await self._client.create(
            [self._system, *self._history, *repair], json_output=self._answer, cancellation_token=cancellation_token
        )
        return result.content if isinstance(result.content, str) else ""

    def _failed(self, failure: RoleFailure) -> Response:
        return Response(chat_message=StructuredMessage[RoleFailure](content=failure, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        self._history.clear()


class CodeCheck(BaseChatAgent, Generic[Answer]):
    """A participant that is a pure function of the last message's content, or of the last content of the type that it
    is ``about``. One that is ``slow`` thinks aside, so that other conversations go on meanwhile."""

    def __init__(
        self,
        name: str,
        answer: type[Answer],
        check: Callable[[BaseModel | str], Answer],
        about: type[BaseModel] | None = None,
        *,
        slow: bool = False,
    ) -> None:
        super().__init__(name, description=f"checks by code: {name}")
        self._answer = answer
        self._check = check
        self._about = about
        self._slow = slow
        self.stopped_by: LawtraceError | None = None
        """As of a `RoleAgent`: what the code was given cannot be used, and no answer of a model would mend it."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (StructuredMessage[self._answer], StructuredMessage[RoleFailure])

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        contents = [content_of(message) for message in messages]
        concerning = [content for content in contents if self._about is None or isinstance(content, self._about)]
        content = concerning[-1]
        try:
            answer = await run_in_worker_thread(lambda: self._check(content)) if self._slow else self._check(content)
        except LawtraceError as error:
            self.stopped_by = error
            failure = RoleFailure(role=self.name, reason=str(error), answered=False)
            return Response(chat_message=StructuredMessage[RoleFailure](content=failure, source=self.name))
        return Response(chat_message=StructuredMessage[self._answer](content=answer, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Nothing to forget."""


class ToolAgent(BaseChatAgent):
    """A model with tools. It remembers the whole conversation, so it must not be used for two attempts.

    Args:
        name: the role.
        client: the model in that seat.
        system: the prompt with its inputs filled in.
        tools: what it may call.
        desk: carries out one call; None if no more calls are taken, which ends the conversation.
        ends_because: asked before each turn: why there must not be another one, or None.
    """

    def __init__(
        self,
        name: str,
        *,
        client: ChatCompletionClient,
        system: str,
        tools: Sequence[ToolSchema],
        desk: Callable[[FunctionCall], FunctionExecutionResult | None],
        ends_because: Callable[[], str | None],
    ) -> None:
        super().__init__(name, description=f"plays the role {name} with tools")
        self._client = client
        self._system = SystemMessage(content=system)
        self._tools = tools
        self._desk = desk
        self._ends_because = ends_because
        self._history: list[LLMMessage] = []

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage, StopMessage)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        async for message in self.on_messages_stream(messages, cancellation_token):
            if isinstance(message, Response):
                return message
        raise AssertionError("the stream ends with a response")

    async def on_messages_stream(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> AsyncGenerator[BaseAgentEvent | BaseChatMessage | Response, None]:
        """Thoughts, calls and results as they come; the response is what the model says last, or why it was ended."""
        self._history += [UserMessage(content=message.to_text(), source="user") for message in messages]
        while (reason := self._ends_because()) is None:
            result = await self._client.create(
                [self._system, *self._history], tools=self._tools, cancellation_token=cancellation_token
            )
            if isinstance(result.content, str):
                self._history.append(AssistantMessage(content=result.content, source=self.name))
                yield Response(chat_message=TextMessage(content=result.content, source=self.name))
                return
            calls = result.content
            self._history.append(AssistantMessage(content=calls, thought=result.thought, source=self.name))
            if result.thought:
                yield ThoughtEvent(content=result.thought, source=self.name)
            yield ToolCallRequestEvent(content=calls, source=self.name)
            results: list[FunctionExecutionResult] = []
            for call in calls:
                answer = self._desk(call)
                if answer is None:
                    break
                results.append(answer)
            self._history.append(FunctionExecutionResultMessage(content=results))
            yield ToolCallExecutionEvent(content=results, source=self.name)
        yield Response(chat_message=StopMessage(content=reason, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        self._history.clear()
