"""A guard between an MCP client and an MCP server.

Requests and notifications pass as they are, in both directions, whatever their methods: resources, prompts, sampling,
progress, cancellation and what later versions of the protocol add. Only calls of tools are looked at, and lists of
tools. A call is decided about after the tools were listed, and listed again if they may have changed.

Two dispatchers of the SDK match answers with requests, which keep their ids.
"""

import json
import math
import os
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import anyio
from anyio.abc import TaskStatus
from anyio.to_thread import run_sync
from mcp import types
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import CallOptions, DispatchContext, coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.transcripts import is_list
from lawtrace.runs.integrations.guarded_session import GuardedSession
from lawtrace.runs.integrations.inner_server import CONNECTION_FAILED, Oversized, child_server, remote_server
from lawtrace.solver.guard.decisions import Call, Refuse
from lawtrace.solver.guard.log import is_recordable

REQUEST_TIMEOUT: Final = -32001
MAX_PAGES: Final = 100
MAX_TOOLS: Final = 10_000
MAX_LISTED_CHARACTERS: Final = 16_000_000
"""Of all pages of a list of tools."""
MAX_QUESTION_SECONDS: Final = 3600.0
"""How long a request may wait for what the server asks the client meanwhile."""
MAX_NOTES: Final = 100
"""How many faults of the server or the client are logged."""

_LONG_LIVED: Final = frozenset({"subscriptions/listen"})
_CANCELLED_SECONDS: Final = 5.0
"""How long the answer of a cancelled call is waited for: it tells whether the call happened."""
_RESERVED: Final = "io.modelcontextprotocol/"
_ENDED: Final = "the server behind the guard has ended"

Streams = tuple[Any, Any]
"""What comes in, and what goes out."""
Params = Mapping[str, Any]
_Context = DispatchContext[TransportContext]


class _NoAnswer(MCPError):
    """The answer to a request will not come."""


@dataclass(slots=True)
class _Request:
    """A request of the client that is not answered yet.

    Attributes:
        wait: for the server's answer.
        is_sent: whether the server has it.
        latest: when its wait ends also while the server asks the client something.
        why: what the client is told if the wait ends without an answer.
    """

    id: types.RequestId
    method: str
    params: Params
    why: _NoAnswer
    wait: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    is_sent: bool = False
    latest: float = math.inf


class McpGuard:
    """One client and one server, with a guarded session between them."""

    def __init__(self, session: GuardedSession, client: Streams, server: Streams, timeout: float) -> None:
        """`timeout`: seconds in which the server has to answer, or to report progress."""
        self._session = session
        self._timeout = timeout
        # Whether a cancelled call happened is still of interest; what the server does not want to know any more is not.
        self._to_client = client[1]
        self._client = JSONRPCDispatcher(*client, peer_cancel_mode="signal", on_stream_exception=self._client_fault)
        self._server = JSONRPCDispatcher(*server, on_stream_exception=self._server_fault)
        self._requests: dict[types.RequestId, _Request] = {}
        self._questions = 0
        self._turn = anyio.Lock()
        self._is_stale = True
        self._is_dead = False
        self._version: str | None = None
        self._envelope: dict[str, Any] = {}
        self._notes = 0
        self._names = (f"lawtrace-{secrets.token_hex(8)}-{number}" for number in count(1))
        self._call_numbers = map(str, count(1))

    async def run(self) -> None:
        """Pass messages until the client leaves. If the server leaves first, every request is answered by an error."""
        async with anyio.create_task_group() as group:
            await group.start(self._run_server)
            await self._client.run(self._from_client, self._client_notifies)
            group.cancel_scope.cancel()

    async def _run_server(self, *, task_status: TaskStatus[None]) -> None:
        await self._server.run(self._from_server, self._server_notifies, self._see_notice, task_status=task_status)
        self._is_dead = True
        self._session.note(_ENDED)

    # From the client

    async def _from_client(self, context: _Context, method: str, params: Params | None) -> dict[str, Any]:
        assert context.request_id is not None
        name = coerce_request_id(context.request_id)
        if name in self._requests:
            raise MCPError(types.INVALID_REQUEST, "a request with this id waits for its answer")
        late = _NoAnswer(REQUEST_TIMEOUT, f"the server did not answer within {self._timeout:g} seconds")
        request = self._requests[name] = _Request(context.request_id, method, params or {}, late)
        try:
            if method == "tools/call":
                return await self._call(context, request)
            result = await self._pass(request)
        finally:
            del self._requests[name]
        if method == "initialize":
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif method == "tools/list":
            self._is_stale = True
        return result

    async def _client_notifies(self, _: _Context, method: str, params: Params | None) -> None:
        if method == "tools/call":  # some servers would carry it out
            self._note("the client sent a call without an id; it was not passed on")
            return
        cancelled = (params or {}).get("requestId") if method == "notifications/cancelled" else None
        if isinstance(cancelled, str | int) and (request := self._requests.get(coerce_request_id(cancelled))):
            if not request.is_sent:
                return
            request.wait.deadline = anyio.current_time() + min(self._timeout, _CANCELLED_SECONDS)
        await self._server.notify(method, params)

    async def _pass(self, request: _Request) -> dict[str, Any]:
        """The answer of the server. Raises MCPError for an error, `_NoAnswer` if none comes."""
        self._keep_envelope(request.params)
        request.is_sent = True
        request.latest = anyio.current_time() + self._timeout + MAX_QUESTION_SECONDS
        request.wait.deadline = self._deadline(request)
        options: CallOptions = {
            "request_id": request.id,
            "cancel_on_abandon": request.method != "initialize",
            "headers": self._http_headers(request.method, request.params),
        }
        try:
            with request.wait:
                return await self._server.send_raw_request(request.method, request.params, options)
        except MCPError as error:
            if (error.code, error.message) == (types.CONNECTION_CLOSED, "Connection closed"):
                raise _NoAnswer(CONNECTION_FAILED, _ENDED) from error
            raise
        raise request.why

    def _keep_envelope(self, params: Params) -> None:
        """What later versions of the protocol send with each request, for our own."""
        meta = fields_of(params.get("_meta"))
        self._envelope = {key: value for key, value in meta.items() if key.startswith(_RESERVED)}

    # Calls, in the order in which they came

    async def _call(self, context: _Context, request: _Request) -> dict[str, Any]:
        name, given = request.params.get("name"), request.params.get("arguments")
        arguments, is_object = fields_of(given), given is None or isinstance(given, dict)
        if not isinstance(name, str) or not is_object or not is_recordable([name, arguments]):
            problem = "a call needs the name of a tool, and its arguments as an object of strict JSON"
            raise MCPError(types.INVALID_PARAMS, problem)
        async with self._turn:
            self._keep_envelope(request.params)
            await self._list_tools()
            if context.cancel_requested.is_set():
                return {}  # the client is not told
            call = Call(name, arguments, next(self._call_numbers))
            decision = await run_sync(self._session.before, call)
        if isinstance(decision, Refuse):
            result: dict[str, Any] = {"content": [{"type": "text", "text": decision.reason}], "isError": True}
            return result | ({"resultType": "complete"} if types.PROTOCOL_VERSION_META_KEY in self._envelope else {})
        if decision.call is not None and decision.call.arguments != arguments:
            request.params = {**request.params, "arguments": dict(decision.call.arguments)}
        call = decision.call or call
        if context.cancel_requested.is_set():
            await run_sync(self._session.failed, call, "cancelled before it was sent", "rejected")
            return {}
        if self._is_dead:
            await run_sync(self._session.failed, call, _ENDED, "rejected")
            raise MCPError(CONNECTION_FAILED, _ENDED)
        try:
            result = await self._pass(request)
        except _NoAnswer as error:
            await run_sync(self._session.left, call, error.message)
            raise
        except MCPError as error:
            is_rejected = error.code in (types.INVALID_PARAMS, types.METHOD_NOT_FOUND)
            await run_sync(self._session.failed, call, error.message, "rejected" if is_rejected else "raised")
            raise
        return await self._answered(call, result, decision.warning)

    async def _answered(self, call: Call, result: dict[str, Any], warning: str | None) -> dict[str, Any]:
        """Record the result of a call in the session, and add the warning to it."""
        if result.get("resultType") == "input_required":  # it is sent again with the input
            await run_sync(self._session.failed, call, "the tool asks for input", "rejected")
            return result
        if "task" in result and "content" not in result:
            await run_sync(self._session.left, call, "it goes on as a task")
            return result
        await run_sync(self._session.answered, call, result)
        if warning is None:
            return result
        return {
            **result,
            "content": [*items_of(result.get("content")), {"type": "text", "text": f"Warning: {warning}"}],
        }

    async def _list_tools(self) -> None:
        """Import the tools, if they may have changed since they were imported."""
        if not self._is_stale or self._is_dead:
            return
        self._is_stale = False
        try:
            listed = await self._listed()
        except MCPError as error:
            self._is_stale = True
            await run_sync(self._session.not_listed, error.message[:500])
            return
        await run_sync(self._session.import_listed, listed)

    async def _listed(self) -> list[Any]:
        """All pages of the list. Raises MCPError if there is none, or if it is too long or comes too slowly."""
        listed: list[Any] = []
        characters, latest = 0, anyio.current_time() + self._timeout
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            if self._envelope:
                params["_meta"] = self._envelope
            headers = self._http_headers("tools/list", params)
            patience = max(0.0, latest - anyio.current_time())
            options: CallOptions = {"request_id": next(self._names), "timeout": patience, "headers": headers}
            answer = await self._server.send_raw_request("tools/list", params, options)
            page, cursor = answer.get("tools"), answer.get("nextCursor")
            listed += page if is_list(page) else []
            characters += len(json.dumps(answer))
            if not is_list(page) or len(listed) > MAX_TOOLS or characters > MAX_LISTED_CHARACTERS:
                bounds = f"{MAX_TOOLS} tools and {MAX_LISTED_CHARACTERS} characters"
                raise MCPError(types.INVALID_REQUEST, f"the answer is no list of at most {bounds}")
            if not isinstance(cursor, str) or not cursor:
                return listed
        raise MCPError(types.INVALID_REQUEST, f"the list has more than {MAX_PAGES} pages")

    # From the server

    async def _from_server(self, context: _Context, method: str, params: Params | None) -> dict[str, Any]:
        """Pass a question of the server to the client, perhaps to a person, who has an hour."""
        assert context.request_id is not None
        options: CallOptions = {"request_id": context.request_id, "cancel_on_abandon": False}
        self._questions += 1
        self._renew_deadlines()
        try:
            return await self._client.send_raw_request(method, params, options)
        finally:
            self._questions -= 1
            self._renew_deadlines()

    def _see_notice(self, method: str, params: Params | None) -> bool:
        """Take notice of what the server tells, before any later answer; False, because it is passed on."""
        if method == "notifications/tools/list_changed":
            self._is_stale = True
        elif method == "notifications/progress" and (token := (params or {}).get("progressToken")) is not None:
            self._renew_deadlines(token)
        return False

    async def _server_notifies(self, _: _Context, method: str, params: Params | None) -> None:
        await self._client.notify(method, params)

    # What does not come

    def _renew_deadlines(self, token: object = None) -> None:
        """Give the server time anew for all requests, or for those with a progress token."""
        for request in self._requests.values():
            if token is None or fields_of(request.params.get("_meta")).get("progressToken") == token:
                request.wait.deadline = self._deadline(request)

    def _deadline(self, request: _Request) -> float:
        if request.method in _LONG_LIVED:
            return math.inf
        return request.latest if self._questions > 0 else anyio.current_time() + self._timeout

    async def _client_fault(self, error: Exception) -> None:
        self._note(f"the client sent no message: {str(error)[:200]}")
        faults = error.errors(include_url=False, include_context=False) if isinstance(error, ValidationError) else []
        given = [fields_of(fault["input"]).get("id") for fault in faults]
        if (name := next((one for one in given if isinstance(one, str | int)), None)) is not None:
            wrong = types.ErrorData(code=types.INVALID_REQUEST, message="this is no request of JSON-RPC 2.0")
            await self._to_client.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=name, error=wrong)))

    async def _server_fault(self, error: Exception) -> None:
        self._note(f"the server sent no message: {str(error)[:300]}")
        if isinstance(error, Oversized):  # it may be the answer to any of them
            for request in self._requests.values():
                if request.is_sent:
                    request.why = _NoAnswer(types.INVALID_REQUEST, str(error))
                    request.wait.cancel()

    def _http_headers(self, method: str, params: Params) -> dict[str, str]:
        """What streamable HTTP repeats of a request in its headers."""
        version = fields_of(params.get("_meta")).get(types.PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str):
            is_first = self._version is None or method == "initialize"
            return {} if is_first else {MCP_PROTOCOL_VERSION_HEADER: self._version or ""}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        key = NAME_BEARING_METHODS.get(method)
        if key is not None and isinstance(name := params.get(key), str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
        return headers

    def _note(self, text: str) -> None:
        self._notes += 1
        if self._notes <= MAX_NOTES:
            self._session.note(text if self._notes < MAX_NOTES else f"{text} (further faults are not logged)")


Connect = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]
"""Connects to the server behind the guard."""


def connector(*, command: Sequence[str], url: str | None, token: str | None, timeout: float) -> Connect:
    """How to connect to a server.

    Args:
        command: serves MCP on its standard input and output.
        url: of a server, instead of a command.
        token: sent to the server at the address as ``Authorization: Bearer TOKEN``.
        timeout: seconds in which the server has to answer, or to report progress.
    """
    return lambda: child_server(command) if url is None else remote_server(url, token=token, patience=timeout + 5)


def serve_guard(session: GuardedSession, connect: Connect, timeout: float) -> None:
    """Guard one client of standard input and output until it leaves, then finish the session.

    Raises OperationalError if the command of the server cannot be started.
    """

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
