"""A guard between an MCP client and an MCP server.

Messages pass as they are, in both directions, whatever their methods: resources, prompts, sampling, progress,
cancellation and what later versions of the protocol add. Only calls of tools are looked at, and lists of tools. A call
is decided about after the tools were listed, and listed again if they may have changed.
"""

import math
import os
import secrets
import signal
from collections.abc import AsyncIterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

import anyio
from anyio.to_thread import run_sync
from mcp import types
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage

from lawtrace.environments.literals import fields_of
from lawtrace.runs.audit.transcripts import is_list
from lawtrace.runs.integrations.guarded_session import GuardedSession
from lawtrace.runs.integrations.inner_server import CONNECTION_FAILED, Oversized, child_server, remote_server
from lawtrace.solver.guard.decisions import Call, Refuse
from lawtrace.solver.guard.log import is_recordable

_Answer = types.JSONRPCResponse | types.JSONRPCError

REQUEST_TIMEOUT: Final = -32001
MAX_PAGES: Final = 100
MAX_TOOLS: Final = 10_000
MAX_NOTES: Final = 100
"""How many faults of the server or the client are logged."""

_LONG_LIVED: Final = frozenset({"subscriptions/listen"})
_CANCELLED_SECONDS: Final = 5.0
"""How long the answer of a cancelled call is waited for: it tells whether the call happened."""
_RESERVED: Final = "io.modelcontextprotocol/"


class Writing(Protocol):
    """A stream of messages that go out."""

    async def send(self, item: SessionMessage, /) -> None: ...


Streams = tuple[AsyncIterable[SessionMessage | Exception], Writing]
"""What comes in, and what goes out."""


@dataclass(slots=True)
class _Request:
    """A request of the client that the server has not answered.

    Attributes:
        deadline: when it is given up, by the clock of the event loop.
        call: of a tool, if it is one.
        warning: what the guard adds to the answer.
    """

    method: str
    params: Mapping[str, Any]
    deadline: float
    call: Call | None = None
    warning: str | None = None


@dataclass(slots=True)
class _Question:
    """A request of our own."""

    done: anyio.Event = field(default_factory=anyio.Event)
    answer: _Answer | None = None


class McpGuard:
    """One client and one server, with a guarded session between them."""

    def __init__(self, session: GuardedSession, client: Streams, server: Streams, timeout: float) -> None:
        """`timeout`: seconds in which the server has to answer, or to report progress."""
        self._session = session
        self._client_in, self._client_out = client
        self._server_in, self._server_out = server
        self._timeout = timeout
        self._requests: dict[types.RequestId, _Request] = {}
        self._waiting: dict[types.RequestId, types.JSONRPCRequest] = {}
        self._questions: dict[types.RequestId, _Question] = {}
        self._asked: set[types.RequestId | None] = set()
        self._calls_in, self._calls_out = anyio.create_memory_object_stream[types.JSONRPCRequest | None](math.inf)
        self._is_stale = True
        self._dead: str | None = None
        self._version: str | None = None
        self._envelope: dict[str, Any] = {}
        self._notes = 0
        self._names = (f"lawtrace-{secrets.token_hex(8)}-{number}" for number in count(1))
        self._call_numbers = map(str, count(1))

    async def run(self) -> None:
        """Pass messages until the client leaves. If the server leaves first, every request is answered by an error."""
        async with anyio.create_task_group() as group, self._calls_in, self._calls_out:
            group.start_soon(self._read_server)
            group.start_soon(self._decide_calls)
            group.start_soon(self._watch)
            await self._read_client()
            group.cancel_scope.cancel()

    # From the client

    async def _read_client(self) -> None:
        async for item in self._client_in:
            if isinstance(item, Exception):
                self._note(f"the client sent no message: {str(item)[:200]}")
            else:
                await self._from_client(item.message)

    async def _from_client(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            if message.id in self._requests or message.id in self._waiting:
                await self._refuse(message.id, types.INVALID_REQUEST, "a request with this id waits for its answer")
            elif self._dead is not None:
                await self._refuse(message.id, CONNECTION_FAILED, self._dead)
            elif message.method == "tools/call":
                self._waiting[message.id] = message
                await self._calls_in.send(message)
            else:
                await self._pass(
                    message, _Request(message.method, message.params or {}, self._deadline(message.method))
                )
        elif isinstance(message, types.JSONRPCNotification):
            await self._notified(message)
        else:
            self._asked.discard(message.id)
            await self._to_server(message)

    async def _notified(self, message: types.JSONRPCNotification) -> None:
        if message.method == "tools/call":  # some servers would carry it out
            self._note("the client sent a call without an id; it was not passed on")
            return
        if message.method == "notifications/cancelled":
            cancelled = (message.params or {}).get("requestId")
            if isinstance(cancelled, str | int):
                if self._waiting.pop(cancelled, None) is not None:
                    return
                if (request := self._requests.get(cancelled)) is not None:
                    request.deadline = anyio.current_time() + min(self._timeout, _CANCELLED_SECONDS)
        await self._to_server(message)

    async def _pass(self, message: types.JSONRPCRequest, request: _Request) -> None:
        self._keep_envelope(request.params)
        self._requests[message.id] = request
        await self._to_server(message)

    def _keep_envelope(self, params: Mapping[str, Any]) -> None:
        """What later versions of the protocol send with each request, for our own."""
        meta = fields_of(params.get("_meta"))
        self._envelope = {key: value for key, value in meta.items() if key.startswith(_RESERVED)}

    # Calls, in the order in which they came

    async def _decide_calls(self) -> None:
        async for message in self._calls_out:
            if message is None:
                await self._list_tools()
            elif message.id in self._waiting:
                await self._call(message)
                self._waiting.pop(message.id, None)

    async def _call(self, message: types.JSONRPCRequest) -> None:
        params = message.params or {}
        name, given = params.get("name"), params.get("arguments")
        arguments, is_object = fields_of(given), given is None or isinstance(given, dict)
        if not isinstance(name, str) or not is_object or not is_recordable([name, arguments]):
            problem = "a call needs the name of a tool, and its arguments as an object of strict JSON"
            await self._refuse(message.id, types.INVALID_PARAMS, problem)
            return
        self._keep_envelope(params)
        await self._list_tools()
        if message.id not in self._waiting:  # cancelled meanwhile
            return
        call = Call(name, arguments, next(self._call_numbers))
        decision = await run_sync(self._session.before, call)
        if isinstance(decision, Refuse):
            result: dict[str, Any] = {"content": [{"type": "text", "text": decision.reason}], "isError": True}
            if types.PROTOCOL_VERSION_META_KEY in self._envelope:
                result["resultType"] = "complete"
            await self._to_client(types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result))
        elif message.id not in self._waiting:
            await run_sync(self._session.failed, call, "cancelled before it was sent", "rejected")
        elif self._dead is not None:
            await run_sync(self._session.failed, call, self._dead, "rejected")
            await self._refuse(message.id, CONNECTION_FAILED, self._dead)
        else:
            deadline = self._deadline(message.method)
            await self._pass(message, _Request(message.method, params, deadline, call, decision.warning))

    async def _list_tools(self) -> None:
        """Import the tools, if they may have changed since they were imported."""
        if not self._is_stale or self._dead is not None:
            return
        self._is_stale = False
        listed: list[Any] = []
        problem, cursor = None, None
        for _ in range(MAX_PAGES):
            answer = await self._ask("tools/list", {} if cursor is None else {"cursor": cursor})
            if not isinstance(answer, types.JSONRPCResponse):
                problem = "no answer" if answer is None else answer.error.message[:500]
                break
            page, cursor = answer.result.get("tools"), answer.result.get("nextCursor")
            listed += page if is_list(page) else []
            if not is_list(page) or len(listed) > MAX_TOOLS:
                problem = f"the answer is no list of at most {MAX_TOOLS} tools"
                break
            if not isinstance(cursor, str) or not cursor:
                break
        else:
            problem = f"the list has more than {MAX_PAGES} pages"
        if problem is not None:
            self._is_stale = True
            await run_sync(self._session.not_listed, problem)
            return
        await run_sync(self._session.import_listed, listed)

    async def _ask(self, method: str, params: dict[str, Any]) -> _Answer | None:
        name = next(self._names)
        if self._envelope:
            params = {**params, "_meta": self._envelope}
        question = self._questions[name] = _Question()
        with anyio.move_on_after(self._timeout):
            await self._to_server(types.JSONRPCRequest(jsonrpc="2.0", id=name, method=method, params=params))
            await question.done.wait()
        del self._questions[name]
        return question.answer

    # From the server

    async def _read_server(self) -> None:
        async for item in self._server_in:
            if isinstance(item, SessionMessage):
                await self._from_server(item.message)
            else:
                self._note(f"the server sent no message: {str(item)[:300]}")
                if isinstance(item, Oversized):  # it may be the answer to any of them
                    await self._give_up(list(self._requests), types.INVALID_REQUEST, str(item))
        self._dead = "the server behind the guard has ended"
        self._session.note(self._dead)
        for question in self._questions.values():
            question.done.set()
        await self._give_up(list(self._requests), CONNECTION_FAILED, self._dead)

    async def _from_server(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, _Answer):
            await self._answered(message)
            return
        if isinstance(message, types.JSONRPCRequest):
            self._asked.add(message.id)
        elif message.method == "notifications/tools/list_changed":
            self._is_stale = True
        elif message.method == "notifications/progress":
            token = (message.params or {}).get("progressToken")
            for request in self._requests.values():
                if token is not None and fields_of(request.params.get("_meta")).get("progressToken") == token:
                    request.deadline = self._deadline(request.method)
        await self._to_client(message)

    async def _answered(self, message: _Answer) -> None:
        if message.id in self._questions:
            self._questions[message.id].answer = message
            self._questions[message.id].done.set()
            return
        request = self._requests.pop(message.id, None) if message.id is not None else None
        if request is None:
            self._note(f"the server answered what was not asked, or was given up: id {str(message.id)[:100]!r}")
            return
        if request.call is not None:
            await self._call_answered(request, request.call, message)
        elif request.method == "initialize" and isinstance(message, types.JSONRPCResponse):
            version = message.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif request.method == "tools/list":
            self._is_stale = True
            await self._calls_in.send(None)
        await self._to_client(message)

    async def _call_answered(self, request: _Request, call: Call, message: _Answer) -> None:
        """Record the outcome of a call in the session, and add the warning to its result."""
        if isinstance(message, types.JSONRPCError):
            is_rejected = message.error.code in (types.INVALID_PARAMS, types.METHOD_NOT_FOUND)
            outcome = "rejected" if is_rejected else "raised"
            await run_sync(self._session.failed, call, message.error.message, outcome)
            return
        if message.result.get("resultType") == "input_required":  # it is sent again with the input
            await run_sync(self._session.failed, call, "the tool asks for input", "rejected")
            return
        if "task" in message.result and "content" not in message.result:
            await run_sync(self._session.left, call, "it goes on as a task")
            return
        await run_sync(self._session.answered, call, message.result)
        if request.warning is not None:
            content = message.result.get("content")
            warning = {"type": "text", "text": f"Warning: {request.warning}"}
            message.result["content"] = [*content, warning] if is_list(content) else [warning]

    # What does not come

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(min(1.0, self._timeout / 4))
            now = anyio.current_time()
            if self._asked:  # the server waits for the client, perhaps for a person
                continue
            late = [name for name, request in self._requests.items() if request.deadline < now]
            for name in late:
                if self._requests[name].method != "initialize":
                    params: dict[str, Any] = {"requestId": name, "reason": "no answer in time"}
                    notice = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params)
                    with anyio.move_on_after(1):
                        await self._to_server(notice)
            await self._give_up(late, REQUEST_TIMEOUT, f"the server did not answer within {self._timeout:g} seconds")

    async def _give_up(self, names: list[types.RequestId], code: int, why: str) -> None:
        """Answer requests by an error, because their answers will not come."""
        for name in names:
            request = self._requests.pop(name, None)
            if request is not None:
                if request.call is not None:
                    await run_sync(self._session.left, request.call, why)
                await self._refuse(name, code, why)

    def _deadline(self, method: str) -> float:
        return math.inf if method in _LONG_LIVED else anyio.current_time() + self._timeout

    # Sending

    async def _refuse(self, name: types.RequestId, code: int, why: str) -> None:
        await self._to_client(types.JSONRPCError(jsonrpc="2.0", id=name, error=types.ErrorData(code=code, message=why)))

    async def _to_client(self, message: types.JSONRPCMessage) -> None:
        await self._client_out.send(SessionMessage(message))

    async def _to_server(self, message: types.JSONRPCMessage) -> None:
        metadata = ClientMessageMetadata(headers=self._http_headers(message))
        try:
            await self._server_out.send(SessionMessage(message, metadata))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the end of the other stream says so

    def _http_headers(self, message: types.JSONRPCMessage) -> dict[str, str]:
        """What streamable HTTP repeats of a message in its headers."""
        if not isinstance(message, types.JSONRPCRequest):
            return {}
        params = message.params or {}
        version = fields_of(params.get("_meta")).get(types.PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str):
            is_first = self._version is None or message.method == "initialize"
            return {} if is_first else {MCP_PROTOCOL_VERSION_HEADER: self._version or ""}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: message.method}
        key = NAME_BEARING_METHODS.get(message.method)
        if key is not None and isinstance(name := params.get(key), str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
        return headers

    def _note(self, text: str) -> None:
        self._notes += 1
        if self._notes <= MAX_NOTES:
            self._session.note(text if self._notes < MAX_NOTES else f"{text} (further faults are not logged)")


def serve_guard(
    session: GuardedSession, *, command: Sequence[str], url: str | None, token: str | None, timeout: float
) -> None:
    """Guard one client of standard input and output until it leaves, then finish the session.

    Args:
        command: serves MCP on its standard input and output.
        url: of a server, instead of a command.
        token: sent to the server at the address as ``Authorization: Bearer TOKEN``.
        timeout: seconds in which the server has to answer, or to report progress.

    Raises OperationalError if the command cannot be started.
    """

    def connect() -> AbstractAsyncContextManager[tuple[Any, Any]]:
        return child_server(command) if url is None else remote_server(url, token=token, patience=timeout + 5)

    async def run() -> None:
        caught: list[int] = []

        async def stop_on_signal(scope: anyio.CancelScope) -> None:
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                async for number in signals:
                    caught.append(number)
                    scope.cancel()

        async with stdio_server() as client, client[0], client[1]:
            async with connect() as server, anyio.create_task_group() as group:
                group.start_soon(stop_on_signal, group.cancel_scope)
                await McpGuard(session, client, server, timeout).run()
                session.finish()  # before the server is stopped: a client does not wait for that
                group.cancel_scope.cancel()
            session.finish()
            if caught:
                # The thread that reads standard input cannot be cancelled, and the client keeps it open.
                os._exit(128 + caught[0])

    try:
        anyio.run(run)
    finally:
        session.finish()
