"""The SQLite database of an event log: tables, connections, the lock of the writer, error messages."""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from lawtrace.schemas.errors import InputError, OperationalError

EVENT_LOG_FILE = "events.sqlite"
SCHEMA_VERSION = 9
_READABLE = (7, 8, SCHEMA_VERSION)
"""Logs of schema 7 have no text in pieces; those of 7 and 8 have the whole payload in a table ``entries``."""
_APPLICATION_ID = 0x4C617754
"""Marks an SQLite file as an event log."""

_LOCK_FILE = "events.lock"

SCHEMA = f"""
BEGIN;
PRAGMA application_id = {_APPLICATION_ID};
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
-- All texts, each stored once, found by 8 bytes of their SHA-256. A blob is compressed with zlib, or, after a
-- zero byte, lists the ids of the pieces of a long text, 4 bytes each.
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest INTEGER NOT NULL, text ANY NOT NULL) STRICT;
CREATE INDEX texts_by_digest ON texts (digest);
-- Requests as a tree: a request is its last message and the preceding request (0: none).
CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    before INTEGER NOT NULL,
    role TEXT NOT NULL,
    text INTEGER NOT NULL REFERENCES texts,
    UNIQUE (before, role, text)
) STRICT;
-- A message is found by its id CONVERSATION-TURN: the conversation's name and the turn of the entry.
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    stage TEXT NOT NULL,
    task TEXT,
    unit TEXT,
    style TEXT,
    conversation_kind TEXT,
    tested_model TEXT,
    trial INTEGER NOT NULL,
    variant TEXT
) STRICT;
-- Fields that many entries have alike, as JSON: the model, its parameters, the prompt.
CREATE TABLE payloads (id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE) STRICT;
-- ``shared`` and ``own``: the fields that no column has. ``hash``: the bytes of a SHA-256, or a text.
CREATE TABLE logged (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    conversation INTEGER REFERENCES conversations,
    role TEXT,
    turn INTEGER,
    text INTEGER REFERENCES texts,
    request INTEGER REFERENCES requests,
    hash ANY,
    occurrence INTEGER,
    shared INTEGER NOT NULL REFERENCES payloads,
    own TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_conversation ON logged (conversation);
CREATE INDEX entries_by_kind ON logged (kind);
CREATE INDEX entries_by_request ON logged (hash) WHERE kind IN ('model_call', 'failure');
CREATE VIEW entries AS SELECT seq, at, kind, conversation, role, turn, text, request, hash, occurrence,
    iif(json_valid(own), json_patch((SELECT json FROM payloads WHERE id = shared), own), own) AS payload FROM logged;
-- Full-text index of messages, by entry number.
CREATE VIRTUAL TABLE words USING fts5 (said, content = '', columnsize = 0, detail = none, tokenize = 'unicode61');
"""  # noqa: S608
"""Leaves the transaction open, so that tables and metadata are committed together."""


def event_log_path(directory: Path) -> Path:
    return directory / EVENT_LOG_FILE


def connect_reader(path: Path, readable: Sequence[int] = _READABLE) -> sqlite3.Connection:
    """Open for reading, also while another process writes. Raises InputError if it is no event log of these
    schemas."""
    if not path.is_file():
        what = f"{path.name} is missing" if path.parent.is_dir() else "there is no such folder"
        raise InputError(f"{path.parent} has no event log ({what}); give the folder of a run")
    connection = _open_reader(path)
    try:
        with translate_errors(path):
            _check_schema(path, connection, readable)
    except BaseException:
        connection.close()
        raise
    return connection


STAGE_LOG_SUFFIX = ".events"
"""Ending of the folder of an event log that a stage command writes beside its output file."""


def way_on(folder: Path) -> str:
    """How an interrupted run, or an interrupted stage command, is continued."""
    return "give the same command again" if folder.suffix == STAGE_LOG_SUFFIX else f"`lawtrace resume {folder}`"


def check_can_create(path: Path) -> None:
    """Check that a new event log can be created: no file, or an empty one left by a killed process.

    Raises InputError for any other file, which is left unchanged.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    with translate_errors(path), closing(_open_reader(path)) as connection:
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
            return
    connect_reader(path).close()
    raise InputError(f"{path.parent} has the event log of a run; `lawtrace resume {path.parent}` continues it")


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open for writing, with autocommit outside transactions.

    WAL allows readers during writes. ``synchronous=NORMAL`` commits to the operating system without waiting for the
    disk: a killed process loses nothing. Against power loss the log is flushed once per turn, before the next paid call
    (`EventLogFile.flush`); FULL would flush for each entry.
    A checkpoint costs two flushes and most of the writing, so it waits for 32 MB.
    """
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=8000")
    return connection


def write_ahead_path(path: Path) -> Path:
    """The write-ahead log, which holds commits until SQLite checkpoints them into the database."""
    return path.with_name(path.name + "-wal")


def take_lock(directory: Path) -> sqlite3.Connection:
    """Take the lock of the writer. It is held until the returned connection is closed or the process ends.

    The lock is an exclusive transaction on an empty database beside the event log: SQLite can lock files on every
    system, and a transaction held on the event log itself would prevent commits.
    """
    lock = sqlite3.connect(directory / _LOCK_FILE, isolation_level=None, timeout=0.2, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        raise OperationalError(
            f"the event log in {directory} is being written by another process; wait for it, or read with "
            f"`lawtrace messages {directory}`"
        ) from error
    return lock


def is_being_written(directory: Path) -> bool:
    """Whether a process holds the lock of the writer."""
    path = directory / _LOCK_FILE
    if not path.exists():
        return False
    with closing(_open_reader(path, timeout=0)) as reader:
        try:
            reader.execute("SELECT count(*) FROM sqlite_schema")
        except sqlite3.OperationalError as error:
            return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    return False


def _open_reader(path: Path, *, timeout: float = 5) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=timeout, check_same_thread=False)


@contextmanager
def translate_errors(path: Path) -> Generator[None]:
    """Turn SQLite errors into InputError (wrong or damaged file) or OperationalError (full disk, no access)."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith("SQLITE_NOTADB"):
            raise InputError(f"{path} is not an event log of lawtrace ({error}); give the folder of a run") from error
        if name.startswith("SQLITE_CORRUPT"):
            raise InputError(
                f"{path} is damaged, perhaps cut short in copying ({error}); it was not changed: copy it again, "
                "together with events.sqlite-wal if there is one"
            ) from error
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise OperationalError(
                f"cannot write {path} ({error}); free some space, then {way_on(path.parent)}"
            ) from error
        raise OperationalError(f"cannot use the event log {path}: {error}") from error


def _check_schema(path: Path, connection: sqlite3.Connection, readable: Sequence[int]) -> None:
    """Raises InputError for an event log that cannot be read."""
    if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION_ID,):
        raise InputError(f"{path} is not an event log of lawtrace; give the folder of a run")
    about: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    if not about.get("schema_version", "").isdecimal() or "lawtrace_version" not in about:
        raise InputError(f"{path} has no lawtrace version; it is not an event log of lawtrace")
    if int(about["schema_version"]) not in readable:
        newer = int(about["schema_version"]) > SCHEMA_VERSION
        verb = "reads" if len(readable) > 1 else "continues"
        remedy = "upgrade lawtrace" if newer else "use that version, or start a new run"
        raise InputError(
            f"{path} was written by lawtrace {about['lawtrace_version']} (schema {about['schema_version']}); "
            f"this one {verb} schema {SCHEMA_VERSION}: {remedy}"
        )
