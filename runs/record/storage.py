"""The file beneath a record: how it is opened, who may write, and what its errors mean."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from environments.errors import CannotCarryOut, InputError

__all__ = [
    "RECORD_FILE",
    "SCHEMA_VERSION",
    "connect_reader",
    "connect_writer",
    "record_path",
    "take_lock",
    "translated",
]

RECORD_FILE = "record.sqlite"
SCHEMA_VERSION = 1

_LOCK_FILE = "record.lock"

SCHEMA = """
BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    stage TEXT NOT NULL,
    task TEXT,
    style TEXT,
    role TEXT,
    turn INTEGER,
    request_hash TEXT,
    occurrence INTEGER,
    payload TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_task ON entries (task, kind) WHERE task IS NOT NULL;
CREATE INDEX entries_by_role ON entries (kind, role);
CREATE INDEX entries_by_request ON entries (request_hash) WHERE request_hash IS NOT NULL;
"""
"""Leaves its transaction open, so that the facts about the run arrive together with the tables."""


def record_path(directory: Path) -> Path:
    return directory / RECORD_FILE


def require_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{path.parent} holds no record ({path.name} is missing); give the directory of a run")


def connect_reader(path: Path) -> sqlite3.Connection:
    """Read only; works beside a writer."""
    require_file(path)
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def connect_writer(path: Path) -> sqlite3.Connection:
    """Commits each statement by itself.

    WAL lets readers in while we write. ``synchronous=NORMAL`` hands a commit to the operating system without waiting
    for the disk: a process that is killed loses nothing, and a machine that loses power loses at most the last few
    entries, never the file. Waiting (FULL) would cost every message of a thousand conversations a disk flush.
    """
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


def take_lock(directory: Path) -> sqlite3.Connection:
    """The right to write, held until the connection returned is closed, or its process ends in whatever way.

    The lock is an exclusive transaction on an empty database beside the record: SQLite knows how to lock a file on
    every system, and a transaction held on the record itself would commit nothing.
    """
    lock = sqlite3.connect(directory / _LOCK_FILE, isolation_level=None, timeout=0, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        raise CannotCarryOut(
            f"the record in {directory} is being written by another process; wait for it, or read with "
            f"`lawtrace messages {directory}`"
        ) from error
    return lock


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Turns SQLite's errors into ours: a file that is no record is the user's, a full disk the machine's."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise InputError(f"{path} is not a record of lawtrace ({error}); give the directory of a run") from error
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise CannotCarryOut(
                f"cannot write {path} ({error}); free some space, then `lawtrace resume {path.parent}`"
            ) from error
        raise CannotCarryOut(f"cannot use the record {path}: {error}") from error
