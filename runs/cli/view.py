"""``lawtrace view``: browse runs, conversations and verdicts."""

import importlib.util
from contextlib import suppress
from pathlib import Path

from lawtrace.runs.cli.output import print_json, print_note
from lawtrace.schemas.errors import OperationalError


def view(*, directory: Path, port: int, as_json: bool) -> None:
    """Serve the pages of the runs on this machine, until Ctrl-C."""
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise OperationalError("the viewer needs the extra 'view': pip install 'lawtrace[view]'")
    from lawtrace.runs.web.server import serve_viewer

    def tell(address: str) -> None:
        print_note(f"Serving the runs in {directory} at {address} (stop with Ctrl-C)")
        if as_json:
            print_json({"address": address})

    with suppress(KeyboardInterrupt):
        serve_viewer(directory, port=port, on_ready=tell)
