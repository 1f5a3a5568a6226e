"""Web middleware: Host check, security headers, same-origin check and access token."""

import hmac
import re
from collections.abc import Sequence

from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")

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
_LONGEST_PATH = 4000
"""Python converts no number of more digits than that."""


def security_middleware(names: Sequence[str] = LOOPBACK_NAMES, token: str | None = None) -> list[Middleware]:
    """The middleware of a server, outermost first.

    The Host header must be one of the ``names``, because another site may resolve its name to this server (DNS
    rebinding). Cross-origin requests, such as a form on another site, are rejected by their Origin header. With a
    ``token``, requests without it are refused; ``?token=`` in an address stores it in a cookie.
    """

    async def answer(request: Request, answer_next: RequestResponseEndpoint) -> Response:
        response = _own_answer(request, names, token) or await answer_next(request)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return [Middleware(BaseHTTPMiddleware, dispatch=answer)]


def _own_answer(request: Request, names: Sequence[str], token: str | None) -> Response | None:
    """The answer to a request that does not reach the pages."""
    if len(request.url.path) > _LONGEST_PATH:
        return PlainTextResponse("Address too long", 414)
    host = re.sub(r":\d+$", "", request.headers.get("host", ""))
    if "*" not in names and host.removeprefix("[").removesuffix("]") not in names:
        return PlainTextResponse("Invalid host header", 400)
    origin = request.headers.get("origin")
    foreign = origin is not None and origin.partition("://")[2] != request.headers.get("host", "")
    if foreign and request.method not in {"GET", "HEAD"}:
        return PlainTextResponse("Cross-origin request rejected", 403)
    if token is None or _is_token(request.cookies.get(_COOKIE, ""), token):
        return None
    if not _is_token(request.query_params.get("token", ""), token):
        return PlainTextResponse("Token missing or wrong: open the address that the command printed", 401)
    response = RedirectResponse(request.url.path, 303)
    response.set_cookie(_COOKIE, token, httponly=True, samesite="strict")
    return response


def _is_token(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())
