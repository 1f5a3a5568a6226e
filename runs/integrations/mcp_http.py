"""What servers of streamable HTTP share: which requests they answer."""

import secrets
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lawtrace.runs.network import is_loopback

MAX_BODY_BYTES: Final = 2_000_000
MAX_SESSIONS: Final = 100
IDLE_SECONDS: Final = 1800.0
"""How long a session lasts without a request."""


def request_checks(host: str) -> TransportSecuritySettings:
    """On loopback, Host and Origin have to name it, by whichever of its addresses: a page of another site may resolve
    its own name to it. Elsewhere the token protects the server, and other sites do not know that."""
    if not is_loopback(host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = [text for name in dict.fromkeys(("127.0.0.1", "localhost", "::1", host)) for text in _in_addresses(name)]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])


def shown_address(host: str, port: int) -> str:
    """Where clients connect."""
    return f"http://{_bracketed(host)}:{port}/mcp"


def _in_addresses(host: str) -> tuple[str, str]:
    return _bracketed(host), f"{_bracketed(host)}:*"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class TokenCheck:
    """Rejects requests without the token."""

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
