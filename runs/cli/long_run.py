"""What surrounds a run that can be gone on with: spans, if they are sent anywhere, and the way on for who stops it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lawtrace.runs.cli.output import complain
from lawtrace.runs.cli.tracing import tracing


@contextmanager
def long_run(folder: Path) -> Generator[None]:
    """Around the run whose record is in the folder. Ctrl-C ends it, and says how to go on."""
    with tracing():
        try:
            yield
        except KeyboardInterrupt:
            complain(f"stopped; what was answered is on record, and `lawtrace resume {folder}` goes on with it")
            raise
