"""The guard of MCP servers at an address: each client session has a guarded session and a connection of its own.

Sessions share the file of the log, and what rules across sessions know; one client's look-up never serves another. Who
acts is said by headers of each request, if they are named: a proxy sets them for the user who has logged in.
"""

import signal
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import uuid4

import anyio
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import RequestBodyLimitMiddleware
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lawtrace.runs.integrations.guarded_session import GuardedSession
from lawtrace.runs.integrations.mcp_guard import Connect, McpGuard
from lawtrace.runs.integrations.mcp_http import (
    IDLE_SECONDS,
    MAX_BODY_BYTES,
    MAX_SESSIONS,
    TokenCheck,
    request_checks,
    shown_address,
)
from lawtrace.runs.network import bind_socket
from lawtrace.schemas.errors import InputError, LawtraceError
from lawtrace.schemas.events import Actor

Begin = Callable[[Actor], AbstractContextManager[GuardedSession]]
"""Begins the guarded session of one who acts, and ends its log."""


@dataclass(frozen=True, slots=True)
class ActorHeaders:
    """Who acts in a session: the value of a header, where one is named, else always the same.

    Whoever can write these headers can act as anyone, so only the proxy that sets them may reach the guard.
    """

    principal: str | None
    role: str | None
    otherwise: Actor

    def read(self, headers: Headers) -> Actor:
        """Raises InputError unless each header is there once, with a value: a proxy may have added one to that of a
        client."""
        named = {"principal": self.principal, "role": self.role}
        found = {part: [text.strip() for text in headers.getlist(name)] for part, name in named.items() if name}
        if wrong := next((part for part, values in found.items() if len(values) != 1 or not values[0]), None):
            raise InputError(f"the header {named[wrong]} has to say once who acts")
        return replace(self.otherwise, **{part: values[0] for part, values in found.items()})


class GuardedSessions:
    """An ASGI application: the guarded sessions of all clients. `group` runs them."""

    def __init__(
        self,
        begin: Begin,
        connect: Connect,
        timeout: float,
        checks: TransportSecuritySettings,
        actors: ActorHeaders,
        tell: Callable[[str], None],
    ) -> None:
        self.group: TaskGroup | None = None
        self._begin: Final = begin
        self._connect: Final = connect
        self._timeout: Final = timeout
        self._checks: Final = checks
        self._actors: Final = actors
        self._tell: Final = tell
        self._open: dict[str, tuple[Actor, StreamableHTTPServerTransport]] = {}
        self._bounded: Final = RequestBodyLimitMiddleware(self._answer, MAX_BODY_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"].rstrip("/") != "/mcp":
            await PlainTextResponse("The MCP server is at /mcp\n", 404)(scope, receive, send)
        else:
            await self._bounded(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Request(scope).headers
        name = headers.get(MCP_SESSION_ID_HEADER)
        try:
            actor = self._actors.read(headers)
        except InputError as error:
            await PlainTextResponse(f"{error}\n", 403)(scope, receive, send)
            return
        whose, transport = self._open.get(name or "", (None, None))
        if name is None:
            await self._open_session(actor, scope, receive, send)
        elif transport is not None and whose == actor:  # to others there is no such session
            await transport.handle_request(scope, receive, send)
            if transport.is_terminated:
                self._open.pop(name, None)
        else:
            await PlainTextResponse("Session not found\n", 404)(scope, receive, send)

    async def _open_session(self, actor: Actor, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request without a session: only one that begins a session succeeds."""
        if len(self._open) >= MAX_SESSIONS:
            await PlainTextResponse("Too many open sessions\n", 503)(scope, receive, send)
            return
        name = uuid4().hex
        transport = StreamableHTTPServerTransport(name, security_settings=self._checks, idle_timeout=IDLE_SECONDS)
        self._open[name] = actor, transport
        began = anyio.Event()
        assert self.group is not None
        await self.group.start(self._run, name, actor, transport, began)
        try:
            await transport.handle_request(scope, receive, send)
        finally:
            if not began.is_set():
                await self._close(name, transport)

    async def _run(
        self,
        name: str,
        actor: Actor,
        transport: StreamableHTTPServerTransport,
        began: anyio.Event,
        *,
        task_status: TaskStatus[None],
    ) -> None:
        """Guard one session. Nothing is connected before a client has begun it."""
        try:
            async with transport.connect() as (reading, writing):
                task_status.started()
                passed, held = anyio.create_memory_object_stream[Any](0)

                async def read() -> None:
                    async with passed:
                        async for item in reading:
                            began.set()
                            await passed.send(item)

                with transport.idle_scope or anyio.CancelScope():
                    async with held, anyio.create_task_group() as group:
                        group.start_soon(read)
                        await began.wait()
                        await self._guard(actor, (held, writing))
                        group.cancel_scope.cancel()
        except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the client left
        except* Exception as errors:  # noqa: BLE001 (told; one session never ends the others)
            error: BaseException = errors
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            self._tell(f"a session ended: {error if isinstance(error, LawtraceError) else repr(error)}")
        finally:
            await self._close(name, transport)

    async def _guard(self, actor: Actor, client: tuple[Any, Any]) -> None:
        with self._begin(actor) as session:
            try:
                async with self._connect() as server:
                    await McpGuard(session, client, server, self._timeout).run()
            finally:
                session.finish()

    async def _close(self, name: str, transport: StreamableHTTPServerTransport) -> None:
        self._open.pop(name, None)
        if not transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await transport.terminate()


class _Server(uvicorn.Server):
    """A server that leaves signals to us."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def serve_sessions(
    begin: Begin,
    connect: Connect,
    *,
    timeout: float,
    host: str,
    port: int,
    token: str | None,
    actors: ActorHeaders,
    tell: Callable[[str], None],
) -> None:
    """Guard clients of ``http://HOST:PORT/mcp`` until the process is interrupted, then finish their sessions.

    Args:
        begin: begins the guarded session of a client.
        connect: connects it to the server.
        timeout: seconds in which the server has to answer, or to report progress.
        port: 0 picks a free port.
        actors: who acts in a session; a request of another does not find it.
        token: sent by clients as ``Authorization: Bearer TOKEN``; None for no authentication.
        tell: takes what people should know, one sentence.

    Raises OperationalError if the address cannot be bound.
    """
    listening = bind_socket(host, port)
    sessions = GuardedSessions(begin, connect, timeout, request_checks(host), actors, tell)
    app: ASGIApp = sessions if token is None else TokenCheck(sessions, token)
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=2)
    server = _Server(config)

    async def stop_on_signal(*, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            task_status.started()
            async for _ in signals:
                server.should_exit = True

    async def run() -> None:
        async with anyio.create_task_group() as group:
            sessions.group = group
            await group.start(stop_on_signal)
            tell(f"listening at {shown_address(*listening.getsockname()[:2])}. Stop with Ctrl-C.")
            await server.serve(sockets=[listening])
            group.cancel_scope.cancel()

    anyio.run(run)
