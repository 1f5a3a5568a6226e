"""Recordings: the conversations of a run in one small file, to be read and replayed without a model.

A recording is text, JSON lines, so that it outlives changes of the database; xz stores a prompt once, however often it
was sent.
"""

import lzma
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from lawtrace.runs.store.event_log_database import SCHEMA
from lawtrace.runs.store.event_log_rows import RowWriter
from lawtrace.schemas.errors import InputError, OperationalError, near_names
from lawtrace.schemas.log_entries import Entry, EntryKind
from lawtrace.schemas.models import StrictModel

RECORDING_SUFFIX = ".jsonl.xz"
RECORDED: tuple[EntryKind, ...] = ("message", "model_call", "failure")
"""What is read and replayed. The rest of an event log is about the course of its run."""

SHIPPED = Path(__file__).parents[1] / "recordings"


class RecordingHead(StrictModel):
    """The first line: the version of lawtrace, and when the run began (ISO 8601)."""

    lawtrace_version: str
    created: str


class _Line(StrictModel):
    at: str
    entry: Entry


def find_recording(path: Path) -> Path | None:
    """The recording in a file, or, by its name, one that ships with lawtrace; None for a folder.

    Raises InputError for a name of neither, with the recordings that there are.
    """
    if path.exists() or path.name != str(path):
        return path if path.is_file() else None
    shipped = {file.name.removesuffix(RECORDING_SUFFIX): file for file in SHIPPED.glob(f"*{RECORDING_SUFFIX}")}
    if path.name not in shipped:
        logged = Path("logs", path.name)
        names = [*shipped, str(logged)] if logged.is_dir() else shipped
        raise InputError(f"{path}: no folder of a run, and no recording{near_names(path.name, names)}")
    return shipped[path.name]


def write_recording(path: Path, head: RecordingHead, entries: Iterable[tuple[str, Entry]]) -> None:
    """Write entries with their times. Raises InputError if the file exists, OperationalError if it is not writable."""
    try:
        with lzma.open(path, "xt", encoding="utf-8", newline="\n") as file:
            file.write(f"{head.model_dump_json()}\n")
            for at, entry in entries:
                file.write(f"{_Line(at=at, entry=entry).model_dump_json(exclude_none=True)}\n")
    except FileExistsError:
        raise InputError(f"{path} exists; give another name") from None
    except OSError as error:
        raise OperationalError(f"cannot write {path}: {error.strerror}") from error


def read_recording(path: Path) -> sqlite3.Connection:
    """An event log in memory with the entries of a recording. Raises InputError for another file."""
    log = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
            head = RecordingHead.model_validate_json(file.readline())
            log.executescript(SCHEMA)
            log.executemany("INSERT INTO meta VALUES (?, ?)", [("recipe", "null"), *head])
            log.execute("COMMIT")
            lines = map(_Line.model_validate_json, file)
            RowWriter(log).write_all((line.at, line.entry) for line in lines)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        log.close()
        raise InputError(
            f"{path} is not a recording that this lawtrace can read ({str(error).partition(chr(10))[0]}); give the "
            f"folder of a run, or a file of `lawtrace messages RUN --save NAME{RECORDING_SUFFIX}`"
        ) from error
    return log
