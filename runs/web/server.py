"""The web server of all sites: the viewer on loopback, reviews also on other hosts, where they need a token."""

import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from lawtrace.runs.network import bind_socket, is_loopback
from lawtrace.runs.report.run_index import RunIndex
from lawtrace.runs.web.attempt_pages import AttemptPages
from lawtrace.runs.web.conversation_pages import ConversationPages
from lawtrace.runs.web.index_pages import IndexPages
from lawtrace.runs.web.page_frame import PageFrame
from lawtrace.runs.web.run_pages import RunPages
from lawtrace.runs.web.security import LOOPBACK_NAMES, security_middleware
from lawtrace.runs.web.site import Site

LOOPBACK = "127.0.0.1"
_ALL_INTERFACES = {"0.0.0.0", "::"}  # noqa: S104 (only compared)


def make_viewer(directory: Path) -> Site:
    """The viewer of the runs in the folder. Raises InputError if it does not exist."""
    return PageFrame(RunIndex(directory), [IndexPages, RunPages, AttemptPages, ConversationPages])


def make_app(site: Site, *, host: str = LOOPBACK, token: str | None = None) -> ASGIApp:
    """The application of a site.

    On loopback there is no token. A page of another site may resolve its own name to loopback (DNS rebinding), so
    requests whose Host is not a loopback name are rejected. With a token any Host is accepted: another site does not
    know the token.
    """
    names = ["*"] if host in _ALL_INTERFACES and token else [*LOOPBACK_NAMES, host]
    middleware = security_middleware(names, token)
    return Starlette(routes=site.routes(), middleware=middleware, exception_handlers=site.error_handlers())


def serve(site: Site, *, host: str = LOOPBACK, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve a site until the process is stopped. ``on_ready`` gets the address once the socket is bound, with the token
    if one is needed.

    Raises OperationalError if the port cannot be bound.
    """
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    app, socket = make_app(site, host=host, token=token), bind_socket(host, port)
    shown = f"[{host}]" if ":" in host else host
    query = f"?{urlencode({'token': token})}" if token else ""
    on_ready(f"http://{shown}:{socket.getsockname()[1]}/{query}")
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[socket])
