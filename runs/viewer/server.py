"""The viewer behind a web server: on loopback alone, for whoever names it by a name of loopback."""

from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runs.listening import listen
from runs.viewer.library import Library
from runs.viewer.pages import Pages

__all__ = ["make_app", "serve_viewer"]

HOST = "127.0.0.1"
_NAMES = ["127.0.0.1", "localhost"]

_HEADERS = {
    # Nothing but what this server sends, no script in a page, nobody's frame around it.
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def serve_viewer(directory: Path, *, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve the pages until the process is told to stop. ``on_ready`` gets the address once it is listened at.

    Raises:
        InputError: the folder is none.
        CannotCarryOut: the port cannot be listened at.
    """
    app = make_app(directory)
    listening = listen(HOST, port)
    on_ready(f"http://{HOST}:{listening.getsockname()[1]}/")
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


def make_app(directory: Path) -> ASGIApp:
    """The pages over the runs in the folder. Raises InputError if it is none.

    There is no token, since only this machine is listened to; but a page of somebody else's may have its name lead
    here (DNS rebinding), so a request must call the host by a name of loopback.
    """
    pages = Pages(Library(directory))
    guard = [Middleware(TrustedHostMiddleware, allowed_hosts=_NAMES), Middleware(_Headers)]
    return Starlette(routes=pages.routes(), middleware=guard, exception_handlers=pages.troubles())


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
