"""Guards in front of the tools of AutoGen agents.

    guard = lawtrace.Guard(rules, tools)
    async with GuardedWorkbench(tools, guard) as guarded:
        clerk = AssistantAgent("clerk", model_client=client, workbench=guarded, max_tool_iterations=20)
        await GuardedAgent(clerk, guarded).run(task="Cancel G2LTC4.")
        guard.finish()

The workbench decides about calls. The agent adds what a workbench does not see: messages, and the state that AutoGen
saves.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, cast

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage
from autogen_core import CancellationToken
from autogen_core.tools import (
    BaseTool,
    FunctionTool,
    StaticWorkbench,
    TextResultContent,
    ToolResult,
    ToolSchema,
    Workbench,
)
from pydantic_core import to_jsonable_python

from lawtrace.environments.literals import parse_result
from lawtrace.environments.logs import get_logger
from lawtrace.schemas.errors import InputError, LawtraceError
from lawtrace.schemas.events import Json
from lawtrace.solver.guard.decisions import Allow, Call, Refuse
from lawtrace.solver.guard.guard import Guard

_STATE: Final = "lawtrace.guarded_tools/2"

_logger = get_logger(__name__)


@dataclass(slots=True)
class _Session:
    """What the workbenches and agents behind one guard share.

    Attributes:
        turn: held while a call that a rule is about is decided and carried out.
    """

    guard: Guard
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a tool answered: the agent's form, and the value or the error for the guard.

    Attributes:
        unknown: whether the call may have been carried out although there is an error.
    """

    result: ToolResult
    value: Json = None
    error: str | None = None
    unknown: bool = False


class GuardedWorkbench(Workbench):
    """A workbench that asks a guard before each call of its tools.

    A refused call is a result with ``is_error`` and the advice; the tool is not called. Calls that a rule is about run
    one after the other, also if a model makes several in one turn, so that each is decided with the results before it;
    other calls run at the same time.

    Attributes:
        guard: the guard. What else happens in the session can be told to it directly.
    """

    def __init__(
        self, tools: Workbench | Sequence[BaseTool[Any, Any] | Callable[..., Any]], guard: "Guard | GuardedWorkbench"
    ) -> None:
        """Put a guard in front of tools.

        Args:
            tools: a workbench, or tools and functions. Of these, the guard gets the values that they return; of a
                workbench, results as text, which is read as JSON or as Python prints it.
            guard: of one session, with the same tools; or another guarded workbench, to share its guard.

        Raises InputError if two tools have one name.
        """
        self._session: Final = guard._session if isinstance(guard, GuardedWorkbench) else _Session(guard)
        own = [] if isinstance(tools, Workbench) else _made(tools)
        self._tools: Final[Workbench] = tools if isinstance(tools, Workbench) else StaticWorkbench(own)
        self._own: Final = {tool.name: tool for tool in own}

    @property
    def guard(self) -> Guard:
        return self._session.guard

    # Calls

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        # An AssistantAgent waits for ever for a call that raises: whatever fails is an error for the model.
        token = cancellation_token or CancellationToken()
        if not isinstance(arguments, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance] (a model wrote them)
            return _error(name, "Not carried out. The arguments are not a JSON object.")
        async with self._session.turn if self.guard.concerns(name) else nullcontext():
            if token.is_cancelled():
                return _error(name, "Not carried out. The run was cancelled.")
            return await self._decide_and_call(name, dict(arguments or {}), token, call_id)

    async def _decide_and_call(
        self, name: str, given: dict[str, Any], token: CancellationToken, call_id: str | None
    ) -> ToolResult:
        call = Call(name, given, call_id)
        try:
            decision = await self.guard.before_async(call)
        except Exception as error:
            _logger.exception("guard.failed", tool=name)
            return _error(name, f"Not carried out. It could not be checked: {_described(error)}")
        if isinstance(decision, Refuse):
            return _error(name, decision.reason)
        call = decision.call or call
        answer = _Answer(_error(name, "The call was cancelled."), error="it was cancelled", unknown=True)
        try:
            answer = await self._call(self._own.get(name), name, call.arguments, token, call_id)
        except asyncio.CancelledError:
            if not token.is_cancelled():
                raise
        finally:
            told = self._record(call, answer)
        return _error(name, told) if told is not None else _with_warning(answer.result, decision)

    def _record(self, call: Call, answer: _Answer) -> str | None:
        """Record the outcome of a call; what the model is told if that fails."""
        try:
            if answer.unknown:
                self.guard.unanswered(call, answer.error or "")
            else:
                self.guard.after(call, answer.value, error=answer.error)
        except LawtraceError as error:
            _logger.exception("guard.failed", tool=call.tool)
            return f"The call was made, but its result was not recorded: {error}"
        return None

    async def _call(
        self,
        tool: BaseTool[Any, Any] | None,
        name: str,
        given: Mapping[str, Any],
        token: CancellationToken,
        call_id: str | None,
    ) -> _Answer:
        """Call a tool of the workbench; one of our own as AutoGen does, to keep the value that it returned."""
        try:
            if tool is None:
                result = await self._tools.call_tool(name, given, token, call_id)
                text = result.to_text(replace_image="[image]")
                return (
                    _Answer(result, error=text or "error") if result.is_error else _Answer(result, parse_result(text))
                )
            running = asyncio.ensure_future(tool.run_json(given, token, call_id=call_id))
            token.link_future(running)
            value = await running
            text = tool.return_value_as_string(value)
        except Exception as error:  # noqa: BLE001 (the guard and the model are told)
            # A lost connection does not say what happened at its other end.
            lost = isinstance(error, TimeoutError | ConnectionError)
            shown = _described(error) if tool is None else str(error)
            return _Answer(_error(name, shown), error=_described(error), unknown=lost)
        known: Json = to_jsonable_python(value, fallback=str)
        return _Answer(ToolResult(name=name, result=[TextResultContent(content=text)]), parse_result(known))

    # Messages

    def hear(self, message: BaseChatMessage, *, role: str) -> None:
        """Tell the guard what was said, once however many agents hear it. `role`: ``user`` or ``agent``."""
        self.guard.message(role, message.to_text(), message_id=message.id)

    # Everything else is as the tools have it.

    async def list_tools(self) -> list[ToolSchema]:
        return await self._tools.list_tools()

    async def start(self) -> None:
        await self._tools.start()

    async def stop(self) -> None:
        """Stop the tools. Each open duty is logged as ``guard.open_duty``."""
        for duty in self.guard.finish():
            _logger.warning("guard.open_duty", rule=duty.rule, duty=str(duty))
        await self._tools.stop()

    async def reset(self) -> None:
        """Reset the tools. The guard remembers: what has happened in the session has happened."""
        await self._tools.reset()

    async def save_state(self) -> Mapping[str, Any]:
        return {"version": _STATE, "guard": self.guard.snapshot().decode(), "tools": await self._tools.save_state()}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state. Raises InputError if it is of other rules or tools, or no such state."""
        if state.get("version") != _STATE:
            raise InputError(f"not a state of guarded tools of version {_STATE}")
        self.guard.load(state["guard"])
        await self._tools.load_state(state["tools"])


class GuardedAgent(BaseChatAgent):
    """An agent whose messages a guard sees, before the calls that follow them.

    It takes the agent's place, alone or in a team. Its state, and so that of its team, has that of the guarded tools.
    """

    def __init__(self, agent: ChatAgent, tools: GuardedWorkbench, *, users: Collection[str] = ("user",)) -> None:
        """Watch an agent.

        Args:
            agent: it has to use `tools`.
            tools: the guarded tools; all agents of a session share one guard.
            users: the sources whose messages are the user's. All others are agents.
        """
        super().__init__(agent.name, agent.description)
        self._agent: Final = agent
        self._tools: Final = tools
        self._users: Final = frozenset(users)

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return self._agent.produced_message_types

    def _hear(self, message: BaseChatMessage) -> None:
        self._tools.hear(message, role="user" if message.source in self._users else "agent")

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        async for item in self.on_messages_stream(messages, cancellation_token):
            if isinstance(item, Response):
                return item
        raise AssertionError("the stream ends with a response")

    async def on_messages_stream(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> AsyncGenerator[BaseAgentEvent | BaseChatMessage | Response, None]:
        for message in messages:
            self._hear(message)
        async for item in self._agent.on_messages_stream(messages, cancellation_token):
            if isinstance(item, Response):
                self._hear(item.chat_message)
            yield item

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        await self._agent.on_reset(cancellation_token)

    async def on_pause(self, cancellation_token: CancellationToken) -> None:
        await self._agent.on_pause(cancellation_token)

    async def on_resume(self, cancellation_token: CancellationToken) -> None:
        await self._agent.on_resume(cancellation_token)

    async def close(self) -> None:
        await self._agent.close()

    async def save_state(self) -> Mapping[str, Any]:
        return {"agent": await self._agent.save_state(), "tools": await self._tools.save_state()}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        await self._tools.load_state(state["tools"])
        await self._agent.load_state(state["agent"])


def _made(tools: Sequence[BaseTool[Any, Any] | Callable[..., Any]]) -> list[BaseTool[Any, Any]]:
    made: list[BaseTool[Any, Any]] = [
        cast("BaseTool[Any, Any]", tool)
        if isinstance(tool, BaseTool)
        else FunctionTool(tool, description=tool.__doc__ or "")
        for tool in tools
    ]
    names = [tool.name for tool in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"tool {twice!r} occurs twice; give each tool its own name")
    return made


def _error(name: str, text: str) -> ToolResult:
    return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=True)


def _with_warning(result: ToolResult, decision: Allow) -> ToolResult:
    if decision.warning is None:
        return result
    warning = TextResultContent(content=f"Warning: {decision.warning}")
    return result.model_copy(update={"result": [*result.result, warning]})


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
