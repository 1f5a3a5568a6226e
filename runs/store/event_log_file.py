"""The event log of a run in a file: all entries in order, append-only.

It implements `lawtrace.agents.event_log.EventLog` for the run that writes it, and
`lawtrace.agents.models.replay.ReplaySource` for a run that replays or continues it.
"""

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from lawtrace.runs.store.event_log_database import (
    SCHEMA,
    SCHEMA_VERSION,
    check_can_create,
    connect_reader,
    connect_writer,
    event_log_path,
    take_lock,
    translate_errors,
    way_on,
    write_ahead_path,
)
from lawtrace.runs.store.event_log_rows import COLUMNS, RowReader, RowWriter, packed_hash
from lawtrace.runs.store.recording import find_recording, read_recording
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import (
    Context,
    Entry,
    EntryKind,
    MessageSent,
    ModelCalled,
    RequestSent,
    RoleFailed,
    RunResumed,
)
from lawtrace.schemas.model_spec import ModelParameters, RecordedModel

Clock = Callable[[], datetime]

_PAGE = 256


def utc_now() -> datetime:
    return datetime.now(UTC)


class EventLogFile:
    """Open with `create`, `resume`, `append_to` or `open`, best in a ``with`` block."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, writer: "_Writer | None" = None, is_recording: bool = False
    ) -> None:
        self.path = path
        self._is_recording = is_recording
        self._connection = connection
        self._writer = writer
        self._reader = RowReader(connection)
        self._one_at_a_time = Lock()

    @classmethod
    def create(cls, directory: Path, *, recipe: Json, clock: Clock = utc_now) -> Self:
        """Start the event log of a new run in `directory`, which is made if missing.

        Raises:
            InputError: the directory has an event log already, or another file in its place.
            OperationalError: another process is writing it, or the directory cannot be written.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OperationalError(f"cannot make {directory}: {error.strerror}; choose another folder") from error
        event_log = cls._for_writing(directory, clock, resumed=False)
        with translate_errors(event_log.path):
            event_log._connection.executescript(SCHEMA)
            meta = {
                "schema_version": str(SCHEMA_VERSION),
                "lawtrace_version": version("lawtrace"),
                "created": clock().isoformat(),
                "recipe": json.dumps(recipe, ensure_ascii=False),
            }
            event_log._connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            event_log._connection.execute("COMMIT")
        return event_log

    @classmethod
    def resume(cls, directory: Path, *, models: Sequence[str] = ()) -> Self:
        """Open the event log of a run to append to it, and record which calls were in flight, and the added models.

        Raises:
            InputError: the directory has no event log.
            OperationalError: another process is writing it.
        """
        event_log = cls._for_writing(directory, utc_now, resumed=True)
        event_log.record(RunResumed(in_flight=tuple(event_log.in_flight()), models=tuple(models)))
        return event_log

    @classmethod
    def append_to(cls, directory: Path) -> Self:
        """Open the event log of a run that was not interrupted, such as a merged one, to append to it.

        Raises as `resume`.
        """
        return cls._for_writing(directory, utc_now, resumed=True)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open an event log for reading, finished or not, or a recording (`find_recording`).

        Raises:
            InputError: no event log, not an event log, or written by a newer lawtrace.
        """
        recording = find_recording(directory)
        if recording is not None:
            return cls(recording, read_recording(recording), is_recording=True)
        path = event_log_path(directory)
        return cls(path, connect_reader(path))

    def record(self, entry: Entry) -> None:
        """Append an entry and return when it is committed. Thread-safe."""
        self.append([(None, entry)])

    def append(self, entries: Iterable[tuple[str | None, Entry]]) -> int:
        """Append entries that were recorded elsewhere, with their times, in one transaction; return their number.

        A time of None is now.
        """
        writer = self._writer
        if writer is None:
            raise OperationalError(f"{self.path} is open for reading only; resume the run to write")
        with self._one_at_a_time, translate_errors(self.path):
            return writer.write(entries)

    async def flush(self) -> None:
        """Return once all entries so far are on disk. Concurrent callers share one flush."""
        if self._writer is not None:
            await self._writer.flush()

    def timed_entries(
        self, *, kind: EntryKind | Sequence[EntryKind] = (), role: str | None = None, conversation: str | None = None
    ) -> Iterator[tuple[str, Entry]]:
        """The entries in order, each with the time at which it was recorded (ISO 8601).

        They are filtered by kind, role and the id of their conversation. They are read in pages, so memory stays
        bounded and entries appended meanwhile are included.
        """
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        wanted = {
            "conversation = (SELECT id FROM conversations WHERE name = ?)": conversation,
            "role = ?": role,
            "kind IN (SELECT value FROM json_each(?))": json.dumps(kinds) if kinds else None,
        }
        chosen = {clause: value for clause, value in wanted.items() if value is not None}
        where = " AND ".join(["seq > ?", *chosen])
        query, after = f"SELECT {COLUMNS} FROM entries WHERE {where} ORDER BY seq LIMIT {_PAGE}", 0  # noqa: S608
        while rows := self.rows(query, (after, *chosen.values())):
            yield from ((row[1], self.entry(row)) for row in rows)
            after = rows[-1][0]

    def entries(self, *, kind: EntryKind | Sequence[EntryKind] = (), role: str | None = None) -> Iterator[Entry]:
        """The entries in order, filtered by kind and role."""
        return (entry for _, entry in self.timed_entries(kind=kind, role=role))

    def conversation(self, name: str) -> list[Entry]:
        """The entries of a conversation, by its id."""
        return [entry for _, entry in self.timed_entries(conversation=name)]

    def answer(self, context: Context, request_hash: str, occurrence: int) -> ModelCalled | RoleFailed | None:
        """The answer to a request, else its failure, else None; in the same variant if there is one.

        In a recording, else what came at the same turn of the same conversation with the role and its model.
        """
        found = self._answer(
            context, "hash IN (?, ?) AND occurrence = ?", request_hash, packed_hash(request_hash), occurrence
        )
        if found is not None or not self._is_recording:
            return found
        of_turn = (
            "turn = ? AND trial = ? AND conversation_kind IS ? AND payload ->> '$.context.model' IS ?"
            " AND hash IS NOT NULL"
        )
        return self._answer(context, of_turn, context.turn, context.trial, context.conversation_kind, context.model)

    def _answer(
        self, context: Context, condition: str, *values: str | bytes | int | None
    ) -> ModelCalled | RoleFailed | None:
        place = (context.stage, context.role, context.task, context.unit, context.style, context.tested_model)
        rows = self.rows(
            f"SELECT {COLUMNS} FROM entries JOIN conversations ON conversations.id = conversation"  # noqa: S608
            f" WHERE {condition} AND kind IN ('model_call', 'failure')"
            " AND stage = ? AND role = ? AND task IS ? AND unit IS ? AND style IS ?"
            " ORDER BY kind = 'model_call' DESC, tested_model IS ? DESC, variant IS ? DESC, seq LIMIT 1",
            (*values, *place, context.variant),
        )
        found = self.entry(rows[0]) if rows else None
        return found if isinstance(found, ModelCalled | RoleFailed) else None

    def message(self, place: Context) -> str | None:
        said = (one for one in self.conversation(place.conversation_id) if isinstance(one, MessageSent))
        return next((one.content for one in said if one.context.turn == place.turn), None)

    def models(self, role: str) -> Sequence[RecordedModel]:
        rows = self.rows(
            "SELECT payload ->> '$.context.model' AS model, payload -> '$.parameters' AS settings"
            " FROM entries WHERE kind = 'model_call' AND role = ? GROUP BY model, settings ORDER BY min(seq)",
            (role,),
        )
        return [RecordedModel(model or "", ModelParameters.model_validate_json(settings)) for model, settings in rows]

    def answered(self) -> Iterator[ModelCalled]:
        return (entry for entry in self.entries(kind="model_call") if isinstance(entry, ModelCalled))

    def requests_sent(self) -> int:
        return self.rows("SELECT count(*) FROM entries WHERE kind = 'asked'")[0][0]

    def in_flight(self) -> Sequence[Context]:
        """The contexts of calls sent and not answered since the run began or was last resumed."""
        rows = self.rows(
            f"SELECT {COLUMNS} FROM entries WHERE seq IN (SELECT min(seq) FROM entries AS asked"  # noqa: S608
            " WHERE kind = 'asked' AND NOT EXISTS (SELECT 1 FROM entries AS came WHERE came.hash = asked.hash"
            " AND came.occurrence = asked.occurrence AND came.conversation = asked.conversation"
            " AND came.seq > asked.seq AND came.kind IN ('model_call', 'failure')"
            " AND (came.kind = 'model_call' OR came.payload ->> '$.reason' <> 'cancelled'))"
            " AND seq > (SELECT coalesce(max(seq), 0) FROM entries WHERE kind = 'resumed')"
            " GROUP BY conversation, hash, occurrence) ORDER BY seq"
        )
        return [entry.context for row in rows if isinstance(entry := self.entry(row), RequestSent)]

    @property
    def recipe(self) -> Json:
        """The resolved recipe of the run, with the models that were added later."""
        try:
            recipe: Any = json.loads(self._meta("recipe"))
        except ValueError as error:
            raise InputError(f"{self.path}: its recipe cannot be read ({error})") from error
        for entry in self.entries(kind="resumed"):
            if isinstance(entry, RunResumed) and entry.models:
                recipe["attempts"]["models"] += entry.models
        return recipe

    @property
    def created(self) -> str:
        """When the run began (ISO 8601)."""
        return self._meta("created")

    @property
    def written_by(self) -> str:
        """The version of lawtrace that began the run."""
        return self._meta("lawtrace_version")

    def rows(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """The result of a query. For the modules of this package. Raises InputError for an integer beyond 64 bits."""
        try:
            with self._one_at_a_time, translate_errors(self.path):
                return self._connection.execute(query, values).fetchall()
        except OverflowError as error:
            raise InputError(f"{self.path}: no entry has a number that large") from error

    def entry(self, row: tuple[Any, ...]) -> Entry:
        """The entry of a row with the columns `lawtrace.runs.store.event_log_rows.COLUMNS`."""
        try:
            with self._one_at_a_time, translate_errors(self.path):
                return self._reader.entry(row)
        except ValidationError as error:
            raise InputError(f"{self.path}, entry {row[0]}: cannot be read ({error.errors()[0]['msg']})") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:  # not written by lawtrace
            raise InputError(f"{self.path}, entry {row[0]}: cannot be read ({error})") from error

    def close(self) -> None:
        """Close the file. A finished log becomes a single file, readable on a read-only file system."""
        if self._writer is not None:
            self._connection.execute("PRAGMA busy_timeout=0")
            with suppress(sqlite3.OperationalError):  # Another process reads: the log stays complete in two files.
                self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()
        if self._writer is not None:
            self._writer.lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    def _for_writing(cls, directory: Path, clock: Clock, *, resumed: bool) -> Self:
        path = event_log_path(directory)
        with translate_errors(path):
            # Checked before opening for writing, which would already change a foreign file.
            if resumed:
                connect_reader(path, (SCHEMA_VERSION,)).close()
            lock = take_lock(directory)
            try:
                if not resumed:
                    check_can_create(path)
                connection = connect_writer(path)
            except BaseException:
                lock.close()
                raise
        return cls(path, connection, writer=_Writer(path, RowWriter(connection), lock, clock))

    def _meta(self, key: str) -> str:
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        if not rows:
            raise InputError(f"{self.path} has no {key}; it is not an event log of lawtrace")
        return rows[0][0]


class _Writer:
    """The writing side: rows, the lock, the clock, and one flush for all concurrent callers."""

    def __init__(self, path: Path, rows: RowWriter, lock: sqlite3.Connection, clock: Clock) -> None:
        self.lock = lock
        self._path, self._rows, self._clock = path, rows, clock
        self._written = self._flushed = 0
        self._flushing: asyncio.Task[None] | None = None

    def write(self, entries: Iterable[tuple[str | None, Entry]]) -> int:
        written = self._rows.write_all((at or self._clock().isoformat(), entry) for at, entry in entries)
        self._written += written
        return written

    async def flush(self) -> None:
        wanted = self._written
        while self._flushed < wanted:
            if self._flushing is None or self._flushing.done():
                self._flushing = asyncio.create_task(self._flush())
            await asyncio.shield(self._flushing)

    async def _flush(self) -> None:
        written = self._written
        await asyncio.to_thread(_fsync, write_ahead_path(self._path))
        self._flushed = written


def _fsync(path: Path) -> None:
    """Wait until the file is on disk."""
    try:
        file = os.open(path, os.O_RDWR)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise OperationalError(
            f"cannot write {path} ({error.strerror}); free some space, then {way_on(path.parent)}"
        ) from error
