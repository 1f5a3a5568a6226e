"""How clients connect: over standard input and output, or over HTTP on loopback, or elsewhere with a token."""

import secrets
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lawtrace.runs.listening import is_loopback, listen

BODY_BYTES = 2_000_000
SESSIONS = 100


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on standard input and output, until it hangs up."""

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def serve_http(
    server: Server[Any], *, host: str, port: int, token: str | None, on_ready: Callable[[str], None]
) -> None:
    """Serve clients at ``http://HOST:PORT/mcp`` until the process is told to stop.

    Args:
        port: 0 takes a free one.
        token: what clients must send as ``Authorization: Bearer TOKEN``; None asks for nothing.
        on_ready: gets the address, once it is listened at.

    Raises CannotCarryOut if the address cannot be listened at.
    """
    listening = listen(host, port)
    address = listening.getsockname()
    # Off loopback the token stands between a stranger and the tools, whatever the request calls this host.
    security = None if is_loopback(host) else TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app: ASGIApp = server.streamable_http_app(
        host=host, max_request_body_size=BODY_BYTES, max_sessions=SESSIONS, transport_security=security
    )
    if token is not None:
        app = _Guarded(app, token)
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=2)
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    on_ready(f"http://{shown}:{address[1]}/mcp")
    uvicorn.Server(config).run(sockets=[listening])


class _Guarded:
    """Lets nobody through who does not send the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, self._expected):
                refusal = PlainTextResponse("send the token: Authorization: Bearer TOKEN\n", status_code=401)
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
