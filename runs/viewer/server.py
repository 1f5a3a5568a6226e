"""The viewer behind a web server: on loopback alone, for whoever names it by a name of loopback."""

from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from lawtrace.runs.guarding import guards
from lawtrace.runs.listening import listen
from lawtrace.runs.viewer.library import Library
from lawtrace.runs.viewer.pages import Pages

HOST = "127.0.0.1"


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
    return Starlette(routes=pages.routes(), middleware=guards(), exception_handlers=pages.troubles())
