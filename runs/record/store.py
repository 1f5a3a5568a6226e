"""A record: the entries of one run in the order in which they happened, never changed and never taken out.

A record that is written keeps the run's entries (`agents.ledger.Ledger`); any record can stand in for the models that
were asked (`agents.clients.replay.ReplaySource`).
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import ValidationError

from agents.clients.replay import RecordedModel
from agents.clients.spec import ModelParameters
from agents.ledger import Context, Entry, ModelCalled, RoleFailed, StageFinished, parse_entry
from environments.errors import CannotCarryOut, InputError
from environments.events import Json
from runs.record.storage import (
    SCHEMA,
    SCHEMA_VERSION,
    connect_reader,
    connect_writer,
    record_path,
    require_file,
    take_lock,
    translated,
)

__all__ = ["Clock", "EntryKind", "Record", "utc_now"]

Clock = Callable[[], datetime]
EntryKind = Literal["message", "model_call", "retry", "failure", "stage"]

_PAGE = 256


def utc_now() -> datetime:
    return datetime.now(UTC)


class Record:
    """Made by `create`, `resume` or `open`, never directly. Closes itself at the end of a ``with`` block."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, lock: sqlite3.Connection | None, clock: Clock
    ) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._clock = clock
        self._one_at_a_time = Lock()

    @classmethod
    def create(cls, directory: Path, *, recipe: Json, clock: Clock = utc_now) -> Self:
        """Begins the record of a new run in `directory`, which is made if it is missing.

        Raises:
            InputError: there is a record already.
            CannotCarryOut: another process is just writing it, or the directory cannot be written.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotCarryOut(f"cannot make {directory}: {error.strerror}; choose another place") from error
        record = cls._for_writing(directory, clock)
        if record._has_schema():
            record.close()
            raise InputError(f"{directory} holds the record of a run; `lawtrace resume {directory}` goes on with it")
        with translated(record.path):
            record._connection.executescript(SCHEMA)
            meta = {
                "schema_version": str(SCHEMA_VERSION),
                "lawtrace_version": version("lawtrace"),
                "created": clock().isoformat(),
                "recipe": json.dumps(recipe, ensure_ascii=False),
            }
            record._connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            record._connection.execute("COMMIT")
        return record

    @classmethod
    def resume(cls, directory: Path, *, clock: Clock = utc_now) -> Self:
        """Opens the record of an interrupted run to go on writing it."""
        require_file(record_path(directory))
        record = cls._for_writing(directory, clock)
        record._require_schema()
        return record

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Opens a record to read it, finished or not.

        Raises:
            InputError: there is none, the file is something else, or a newer lawtrace wrote it.
        """
        path = record_path(directory)
        record = cls(path, connect_reader(path), lock=None, clock=utc_now)
        record._require_schema()
        return record

    def record(self, entry: Entry) -> None:
        """Appends an entry and returns when it is committed. May be called from any thread."""
        if self._lock is None:
            raise CannotCarryOut(f"the record {self.path} is open for reading only; resume the run to write")
        context = None if isinstance(entry, StageFinished) else entry.context
        asked = entry if isinstance(entry, ModelCalled | RoleFailed) else None
        row = (
            self._clock().isoformat(),
            entry.kind,
            entry.stage if isinstance(entry, StageFinished) else entry.context.stage,
            context and context.task,
            context and context.style,
            context and context.role,
            context and context.turn,
            asked and asked.request_hash,
            asked and asked.occurrence,
            entry.model_dump_json(),
        )
        with self._one_at_a_time, translated(self.path):
            self._connection.execute(
                "INSERT INTO entries (at, kind, stage, task, style, role, turn, request_hash, occurrence, payload)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def entries(
        self, *, kind: EntryKind | Sequence[EntryKind] = (), task: str | None = None, role: str | None = None
    ) -> Iterator[Entry]:
        """The entries in order: all of them, or those of some kinds, of a task, of a role.

        Reads page by page, so that a record of any size fits and one that grows meanwhile is read to its end.
        """
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        wanted: list[tuple[str, str | None]] = [("task = ?", task), ("role = ?", role)]
        chosen = [(clause, value) for clause, value in wanted if value is not None]
        clauses = ["seq > ?", *(clause for clause, _ in chosen)]
        if kinds:
            clauses.append(f"kind IN ({', '.join('?' * len(kinds))})")
        query = f"SELECT seq, payload FROM entries WHERE {' AND '.join(clauses)} ORDER BY seq LIMIT {_PAGE}"  # noqa: S608
        values = [value for _, value in chosen]
        after = 0
        while rows := self._rows(query, (after, *values, *kinds)):
            for seq, payload in rows:
                yield self._parse(seq, payload)
            after = rows[-1][0]

    def answer(self, context: Context, request_hash: str, occurrence: int) -> ModelCalled | RoleFailed | None:
        """What came of a request: its answer, else its failure, else None."""
        rows = self._rows(
            "SELECT seq, payload FROM entries WHERE request_hash = ? AND occurrence = ? AND stage = ? AND role = ?"
            " AND task IS ? AND style IS ? ORDER BY kind = 'model_call' DESC, seq LIMIT 1",
            (request_hash, occurrence, context.stage, context.role, context.task, context.style),
        )
        found = self._parse(*rows[0]) if rows else None
        return found if isinstance(found, ModelCalled | RoleFailed) else None

    def models(self, role: str) -> Sequence[RecordedModel]:
        rows = self._rows(
            "SELECT payload ->> '$.context.model' AS model, payload -> '$.parameters' AS settings"
            " FROM entries WHERE kind = 'model_call' AND role = ? GROUP BY model, settings ORDER BY min(seq)",
            (role,),
        )
        return [RecordedModel(model or "", ModelParameters.model_validate_json(settings)) for model, settings in rows]

    def calls(self, role: str) -> Iterator[ModelCalled]:
        return (entry for entry in self.entries(kind="model_call", role=role) if isinstance(entry, ModelCalled))

    @property
    def recipe(self) -> Json:
        """The resolved recipe that the run was started with."""
        return json.loads(self._meta("recipe"))

    @property
    def lawtrace_version(self) -> str:
        """The version that began the record."""
        return self._meta("lawtrace_version")

    def close(self) -> None:
        """Ends writing. A finished record becomes a single file, which can be read where nothing can be written."""
        if self._lock is not None:
            self._connection.execute("PRAGMA busy_timeout=0")
            with suppress(sqlite3.OperationalError):  # Somebody is reading: complete as it is, but in two files.
                self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    def _for_writing(cls, directory: Path, clock: Clock) -> Self:
        path = record_path(directory)
        with translated(path):
            lock = take_lock(directory)
            try:
                connection = connect_writer(path)
            except sqlite3.Error:
                lock.close()
                raise
        return cls(path, connection, lock=lock, clock=clock)

    def _has_schema(self) -> bool:
        return bool(self._rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'", ()))

    def _require_schema(self) -> None:
        try:
            if not self._has_schema():
                raise InputError(f"{self.path} is not a record of lawtrace; give the directory of a run")
            written = int(self._meta("schema_version"))
            if written > SCHEMA_VERSION:
                raise InputError(
                    f"{self.path} was written by lawtrace {self.lawtrace_version} (schema {written}); "
                    f"this one reads up to schema {SCHEMA_VERSION}: upgrade lawtrace"
                )
        except InputError:
            self.close()
            raise

    def _meta(self, key: str) -> str:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        if not rows:
            raise InputError(f"{self.path} does not say its {key}; it is not a record of lawtrace")
        return rows[0][0]

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._one_at_a_time, translated(self.path):
            return self._connection.execute(query, values).fetchall()

    def _parse(self, seq: int, payload: str) -> Entry:
        try:
            return parse_entry(payload)
        except ValidationError as error:
            raise InputError(f"{self.path}, entry {seq}: cannot be read ({error.errors()[0]['msg']})") from error
