"""An agent of the user under test: a Python function that is given a request, tools and instructions.

    def clerk(request: str, tools: Sequence[AgentTool], instructions: str) -> str:
        found = tools[0](name="Ida Holm")
        ...
        return "Done."

    lawtrace run --tasks FILE --mode tools --model python:my_module:clerk

Each of its calls is a turn of the conversation, and so is the text that it returns, as if a model had made them:
limits, shield, event log and verdict are the same.
"""

import asyncio
import importlib
import inspect
import json
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, cast

from autogen_core import FunctionCall
from autogen_core.models import AssistantMessage, CreateResult, FunctionExecutionResultMessage, RequestUsage

from lawtrace.agents.models.model_call import CallFailed, ModelCall, Request, plain_messages
from lawtrace.agents.models.request_client import RequestClient
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

PARAMETERS = ("request", "tools", "instructions")


@dataclass(frozen=True)
class AgentTool:
    """A tool. ``tool(account_id="A-1")`` calls it and returns what it answers, as JSON text, or the words of an error.

    Attributes:
        name: of the tool.
        description: the documentation, with results and errors.
        parameters: the JSON schema of the arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    call: Callable[[str, Mapping[str, Json]], str] = field(repr=False)

    def __call__(self, **arguments: Json) -> str:
        return self.call(self.name, arguments)


@dataclass(frozen=True)
class _Made:
    """What the agent does next: a call, whose result it waits for, or its last text."""

    tool: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    result: Future[str] | None = None
    text: str = ""


def load_agent(name: str) -> Callable[..., Any]:
    """The function ``module:function``; modules of the current folder are found, too. Raises InputError."""
    module, _, function = name.partition(":")
    what = f"model 'python:{name}'"
    if not function:
        raise InputError(f"{what}: write python:MODULE:FUNCTION")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:
        raise InputError(f"{what}: it cannot be imported: {type(error).__name__}: {error}") from error
    try:
        inspect.signature(found).bind(**dict.fromkeys(PARAMETERS))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: it must be a function of {', '.join(PARAMETERS)}: {error}") from error
    return found


class OwnAgentClient(RequestClient):
    """Takes the place of a model: its answers are the calls and the last text of an agent in a thread of its own.

    Of a conversation that is continued, the agent makes the calls again, and gets the recorded results.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._function = load_agent(name)
        self._made: asyncio.Queue[_Made] | None = None
        self._waiting: list[Future[str]] = []
        self._last: _Made | None = None
        self._answered = 0
        weakref.finalize(self, _stop, self._waiting)

    async def ask(self, call: ModelCall) -> CreateResult:
        """As the innermost layer of a stack."""
        return await self.respond(call.request)

    async def respond(self, request: Request) -> CreateResult:
        made = self._made or self._start(request)
        calls = [message.content for message in request.messages if isinstance(message, AssistantMessage)]
        results = [one for one in request.messages if isinstance(one, FunctionExecutionResultMessage)]
        for call, result in list(zip(calls, results, strict=False))[self._answered :]:
            last = self._last or await made.get()
            if last.result is None or isinstance(call, str) or last.tool != call[0].name:
                raise CallFailed(
                    "endpoint", f"python:{self._name}: it acts otherwise than in the record of this attempt"
                )
            last.result.set_result(result.content[0].content)
            self._last, self._answered = None, self._answered + 1
        last = self._last = self._last or await made.get()
        usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
        if last.result is None:
            self._last = _Made()  # it has ended: told of open duties, it has nothing to add
            return CreateResult(finish_reason="stop", content=last.text, usage=usage, cached=False)
        call = FunctionCall(str(self._answered), json.dumps(last.arguments, ensure_ascii=False), last.tool)
        return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)

    def _start(self, request: Request) -> asyncio.Queue[_Made]:
        loop, made = asyncio.get_running_loop(), asyncio.Queue[_Made]()
        waiting, function = self._waiting, self._function

        def tell(what: _Made) -> None:
            loop.call_soon_threadsafe(made.put_nowait, what)

        def call(tool: str, arguments: Mapping[str, Json]) -> str:
            result = Future[str]()
            waiting.append(result)
            tell(_Made(tool, arguments, result))
            return result.result()

        schemas = [tool if isinstance(tool, Mapping) else tool.schema for tool in request.tools]
        arguments = [cast("Mapping[str, Json]", one.get("parameters", {})) for one in schemas]
        described = [(one["name"], one.get("description", "")) for one in schemas]
        tools = [AgentTool(*one, schema, call) for one, schema in zip(described, arguments, strict=True)]
        system, *said = plain_messages(request.messages)

        def run() -> None:
            try:
                text = function(request=said[0].content, tools=tools, instructions=system.content)
                text = asyncio.run(text) if inspect.iscoroutine(text) else text
            except CancelledError:
                return
            except Exception as error:  # noqa: BLE001 (the agent's own failure, which is judged by what it did)
                text = f"The agent failed: {type(error).__name__}: {error}"
            tell(_Made(text=str(text or "")))

        self._made = made
        Thread(target=run, name=f"python:{self._name}", daemon=True).start()
        return made


def _stop(waiting: Sequence[Future[str]]) -> None:
    """End an agent whose attempt has ended while it waits for results."""
    for result in waiting:
        result.cancel()
