"""A participant that acts: a model that calls tools turn by turn until it has nothing more to call.

AutoGen's own assistant runs the calls of one message side by side and counts its turns from one. Which call comes
first decides a verdict here, so this agent hands them in one after the other, in the order in which they were written.
It knows nothing of what a call does: the desk it hands them to is the judge's.
"""

from collections.abc import AsyncGenerator, Callable, Sequence

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    StopMessage,
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


class ToolUser(BaseChatAgent):
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
