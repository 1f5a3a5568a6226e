"""``lawtrace view``: browse runs, conversations and verdicts. Serves reviews, too."""

import importlib.util
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawtrace.runs.cli.output import print_json, print_note
from lawtrace.runs.store.event_log_database import EVENT_LOG_FILE
from lawtrace.schemas.errors import OperationalError

if TYPE_CHECKING:
    from lawtrace.runs.web.site import Site  # needs the extra `view`


def view(
    directory: Annotated[Path, typer.Argument(help="Run folder, or a folder of runs.")] = Path("logs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 picks a free port.")] = 8718,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as one JSON object.")] = False,
) -> None:
    """Browse runs in the browser.

    Serves pages on this machine only, until Ctrl-C.
    """

    if directory.is_dir() and not [*directory.glob(EVENT_LOG_FILE), *directory.glob(f"*/{EVENT_LOG_FILE}")]:
        print_note(f"{directory} has no run yet; pages list those that begin there")

    def make() -> "Site":
        from lawtrace.runs.web.server import make_viewer

        return make_viewer(directory)

    serve_site(make, f"Serving the runs in {directory}", port=port, as_json=as_json)


def serve_site(make: "Callable[[], Site]", what: str, *, host: str = "127.0.0.1", port: int, as_json: bool) -> None:
    """Serve pages until Ctrl-C. ``make`` is called if the extra ``view`` is installed; raises OperationalError
    otherwise. ``what``: what is served, for the note with the address."""
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise OperationalError("pages need the extra 'view': pip install 'lawtrace[view]'")
    from lawtrace.runs.web.server import serve

    def tell(address: str) -> None:
        print_note(f"{what} at {address} (stop with Ctrl-C)")
        if as_json:
            print_json({"address": address})

    with suppress(KeyboardInterrupt):
        serve(make(), host=host, port=port, on_ready=tell)
