"""Web middleware: Host check, security headers, same-origin check and access token."""

import hmac
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = ("127.0.0.1", "localhost")

_HEADERS = {
    # Content of this server only, no inline script, no embedding in frames.
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_COOKIE = "lawtrace_token"


def security_middleware(names: Sequence[str] = LOOPBACK_NAMES, token: str | None = None) -> list[Middleware]:
    """The middleware of a server, outermost first.

    The Host header must be one of the ``names``, because another site may resolve its name to this server (DNS
    rebinding). With a ``token``, requests without it are refused (``?token=`` first, then a cookie).
    """
    guard = [
        Middleware(TrustedHostMiddleware, allowed_hosts=list(names)),
        Middleware(_Headers),
        Middleware(_SameOrigin),
    ]
    return guard if token is None else [*guard, Middleware(_Token, token=token)]


class _Headers:
    """Adds the default headers to each response, unless it sets them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in given)]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class _SameOrigin:
    """Rejects cross-origin requests, such as a form on another site, by their Origin header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in {"GET", "HEAD"}:
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            origin, host = headers.get(b"origin"), headers.get(b"host", "")
            if origin is not None and origin.partition("://")[2] != host:
                await PlainTextResponse("Cross-origin request rejected", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Token:
    """Accepts a token in the query once and stores it in a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
        if self._is_token(asked):
            response: Response = RedirectResponse(scope["path"], 303)
            response.set_cookie(_COOKIE, self._token, httponly=True, samesite="strict")
            await response(scope, receive, send)
        elif self._is_token(_cookie(scope)):
            await self._app(scope, receive, send)
        else:
            await PlainTextResponse("Token missing or wrong: open the address that the command printed", 401)(
                scope, receive, send
            )

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def _cookie(scope: Scope) -> str:
    sent = b"; ".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
    try:
        cookies = SimpleCookie(sent)
    except CookieError:
        return ""
    return cookies[_COOKIE].value if _COOKIE in cookies else ""
