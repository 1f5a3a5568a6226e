"""The viewer behind a web server: on loopback alone, for whoever names it by a name of loopback."""

import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from lawtrace.runs.network import bind_socket, is_loopback
from lawtrace.runs.report.run_index import RunIndex
from lawtrace.runs.web.review.site import ReviewSite
from lawtrace.runs.web.run_pages import RunPages
from lawtrace.runs.web.security import LOOPBACK_NAMES, security_middleware

HOST = "127.0.0.1"


def serve_viewer(directory: Path, *, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve the pages until the process is told to stop. ``on_ready`` gets the address once it is listened at.

    Raises:
        InputError: the folder is none.
        CannotCarryOut: the port cannot be listened at.
    """
    app = make_viewer_app(directory)
    listening = bind_socket(HOST, port)
    on_ready(f"http://{HOST}:{listening.getsockname()[1]}/")
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


def make_viewer_app(directory: Path) -> ASGIApp:
    """The pages over the runs in the folder. Raises InputError if it is none.

    There is no token, since only this machine is listened to; but a page of somebody else's may have its name lead
    here (DNS rebinding), so a request must call the host by a name of loopback.
    """
    pages = RunPages(RunIndex(directory))
    return Starlette(routes=pages.routes(), middleware=security_middleware(), exception_handlers=pages.troubles())


_ALL_INTERFACES = {"0.0.0.0", "::"}  # noqa: S104 (compared with, not listened at)


def make_review_app(desk: ReviewSite, *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """The pages with what guards them. Behind a token any name of this machine will do: another site has no token."""
    names = ["*"] if host in _ALL_INTERFACES and token else [*LOOPBACK_NAMES, host]
    return Starlette(
        routes=desk.routes(), middleware=security_middleware(names, token), exception_handlers=desk.troubles()
    )


def serve_review(desk: ReviewSite, *, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve until the process is told to stop. ``on_ready`` gets the address, with the token if one is needed.

    Raises CannotCarryOut if the port cannot be listened at.
    """
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    listening = bind_socket(host, port)
    shown = f"[{host}]" if ":" in host else host
    asked = f"?{urlencode({'token': token})}" if token else ""
    on_ready(f"http://{shown}:{listening.getsockname()[1]}/{asked}")
    config = uvicorn.Config(
        make_review_app(desk, host=host, token=token),
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])
