"""A review behind a web server: on loopback without further ado, elsewhere for whoever brings the token."""

import secrets
from collections.abc import Callable
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from lawtrace.runs.guarding import LOOPBACK_NAMES, guards
from lawtrace.runs.listening import is_loopback, listen
from lawtrace.runs.reviewing.desk import Desk

_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104 (compared with, not listened at)


def make_app(desk: Desk, *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """The pages with what guards them. Behind a token any name of this machine will do: another site has no token."""
    names = ["*"] if host in _EVERYWHERE and token else [*LOOPBACK_NAMES, host]
    return Starlette(routes=desk.routes(), middleware=guards(names, token), exception_handlers=desk.troubles())


def serve_review(desk: Desk, *, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve until the process is told to stop. ``on_ready`` gets the address, with the token if one is needed.

    Raises CannotCarryOut if the port cannot be listened at.
    """
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    asked = f"?{urlencode({'token': token})}" if token else ""
    on_ready(f"http://{shown}:{listening.getsockname()[1]}/{asked}")
    config = uvicorn.Config(
        make_app(desk, host=host, token=token), log_level="critical", access_log=False, timeout_graceful_shutdown=1
    )
    uvicorn.Server(config).run(sockets=[listening])
