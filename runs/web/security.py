"""What stands before every page that this machine serves: names, headers, and where needed a token."""

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
    # Nothing but what this server sends, no script in a page, nobody's frame around it.
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
    """The guards of a server, outermost first.

    A page of somebody else's may have its name lead here (DNS rebinding), so a request must call the host by one of
    the ``names``. With a ``token``, whoever does not bring it (``?token=`` once, a cookie from then on) is refused.
    """
    guard = [
        Middleware(TrustedHostMiddleware, allowed_hosts=list(names)),
        Middleware(_Headers),
        Middleware(_SameOrigin),
    ]
    return guard if token is None else [*guard, Middleware(_Token, token=token)]


class _Headers:
    """Puts the headers that every answer has on those that have none of their own."""

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
    """Refuses what another site's page sends: a form of theirs may point here, but its origin tells."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in {"GET", "HEAD"}:
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            origin, host = headers.get(b"origin"), headers.get(b"host", "")
            if origin is not None and origin.partition("://")[2] != host:
                await PlainTextResponse("sent from a page of somebody else's", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Token:
    """Lets in who brings the token in the address, and remembers it in a cookie."""

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
            await PlainTextResponse("open the address that the command printed, with its token", 401)(
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
