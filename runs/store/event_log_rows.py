"""Entries as database rows, and back. Each text is stored once, and a request as a path in a tree.

A conversation of n turns has n requests, each of which extends the previous one. Stored in full they would take
O(n^2) space; here a turn adds only its new messages. What the columns of an entry say is not in its fields, and what
many entries have in common is stored once (its frame). The entry is restored byte for byte.
"""

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

from lawtrace.runs.store.packed_texts import TextReader, TextWriter
from lawtrace.schemas.log_entries import (
    Context,
    Entry,
    EntryKind,
    MessageSent,
    ModelCalled,
    RequestMessage,
    RequestSent,
    RoleFailed,
    RunResumed,
    StageFinished,
    parse_entry,
)

_FIGURES = ("prompt_tokens", "completion_tokens", "latency_ms", "queued_ms")
"""Columns of a model call."""

COLUMNS = (
    f"seq, kind, text, request, conversation, role, turn, request_hash, occurrence, frame, own, {', '.join(_FIGURES)}"
)
"""The columns of ``entries`` that `RowReader.entry` expects, in order."""

_TEXT_FIELDS: dict[EntryKind, str] = {
    "message": "content",
    "model_call": "answer",
    "failure": "text",
    "retry": "error",
}
_OWN_FIELDS: dict[EntryKind, frozenset[str]] = {
    "message": frozenset({"function_calls"}),
    "model_call": frozenset({"function_calls", "thought"}),
    "retry": frozenset({"try_number", "waited_seconds"}),
}
"""Fields that differ between the entries of a conversation, unless they are empty; the others are the frame."""

_KEY = ("stage", "task", "unit", "style", "conversation_kind", "tested_model", "trial", "variant")
_MAX_CACHED = 20_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RowWriter:
    """Writes entries in the caller's transaction. Make a new writer after a rollback.

    Args:
        resumed: the log has an earlier part of the run, so a message may be in it already.
    """

    def __init__(self, connection: sqlite3.Connection, *, resumed: bool) -> None:
        self._connection = connection
        self._resumed = resumed
        # Bounded caches of row ids, to save queries.
        self._requests: dict[tuple[int, str, str], int] = {}
        self._conversations: dict[tuple[object, ...], int] = {}
        self._frames: dict[str, int] = {}
        self._texts = TextWriter(connection)

    def write(self, entry: Entry, at: str) -> None:
        """Write an entry, except a message that the log already has at the same turn of the same conversation.

        A resumed run repeats its messages up to the point where it was interrupted.
        """
        context = None if isinstance(entry, StageFinished | RunResumed) else entry.context
        asked = entry if isinstance(entry, MessageSent | RequestSent | ModelCalled | RoleFailed) else None
        field = _TEXT_FIELDS.get(entry.kind)
        fields = _fields(entry)
        own = {name: value for name, value in fields.items() if value and name in _OWN_FIELDS.get(entry.kind, ())}
        row = (
            pack_time(at),
            entry.kind,
            context and self._conversation(context),
            context and context.role,
            context and context.turn,
            field and self._texts.write(getattr(entry, field), f"{entry.kind} {context.role}" if context else ""),
            self._request(entry.request) if isinstance(entry, ModelCalled) else None,
            asked and pack_hash(asked.request_hash),
            asked and asked.occurrence,
            *(fields.pop(name, None) for name in _FIGURES),
            self._frame(_dump({name: value for name, value in fields.items() if name not in own})),
            _dump(own) if own else None,
        )
        said = isinstance(entry, MessageSent) or (isinstance(entry, RoleFailed) and entry.request_hash is None)
        if self._resumed and said and self._is_known(row):
            return
        number = self._insert(
            "INSERT INTO stored_entries (at, kind, conversation, role, turn, text, request, hash, occurrence,"
            " prompt_tokens, completion_tokens, latency_ms, queued_ms, frame, own)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        if isinstance(entry, MessageSent | RoleFailed):
            self._insert("INSERT INTO words (rowid, said) VALUES (?, ?)", (number, _searchable_text(entry)))

    def _is_known(self, row: tuple[object, ...]) -> bool:
        found = self._connection.execute(
            "SELECT 1 FROM stored_entries WHERE conversation = ? AND kind = ? AND role = ? AND turn = ? AND text = ?"
            " AND hash IS ? AND occurrence IS ? AND frame = ? AND own IS ?",
            (row[2], row[1], row[3], row[4], row[5], row[7], row[8], *row[-2:]),
        )
        return found.fetchone() is not None

    def _frame(self, frame: str) -> int:
        known = self._frames.get(frame)
        if known is None:
            if len(self._frames) >= _MAX_CACHED:
                self._frames.clear()
            found = self._connection.execute("SELECT id FROM frames WHERE frame = ?", (frame,)).fetchone()
            known = found[0] if found else self._insert("INSERT INTO frames (frame) VALUES (?)", (frame,))
            self._frames[frame] = known
        return known

    def _request(self, messages: tuple[RequestMessage, ...]) -> int:
        before = 0
        for message in messages:
            key = (before, message.role, message.content)
            known = self._requests.get(key)
            if known is None:
                if len(self._requests) >= _MAX_CACHED:
                    self._requests.clear()
                known = self._requests[key] = self._step(before, message)
            before = known
        return before

    def _step(self, before: int, message: RequestMessage) -> int:
        values = (before, message.role, self._texts.write(message.content, message.role))
        query = "SELECT id FROM requests WHERE before = ? AND role = ? AND text = ?"
        found = self._connection.execute(query, values).fetchone()
        return found[0] if found else self._insert("INSERT INTO requests (before, role, text) VALUES (?, ?, ?)", values)

    def _conversation(self, context: Context) -> int:
        place = (
            context.stage,
            context.task,
            context.unit,
            context.style,
            context.conversation_kind,
            context.tested_model,
            context.trial,
            context.variant,
        )
        known = self._conversations.get(place)
        if known is None:
            name = context.conversation_id
            found = self._connection.execute("SELECT id FROM conversations WHERE name = ?", (name,)).fetchone()
            insert = (
                "INSERT INTO conversations"
                " (name, stage, task, unit, style, conversation_kind, tested_model, trial, variant)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            )
            known = self._conversations[place] = found[0] if found else self._insert(insert, (name, *place))
        return known

    def _insert(self, statement: str, values: tuple[object, ...]) -> int:
        number = self._connection.execute(statement, values).lastrowid
        assert number is not None
        return number


class RowReader:
    """Restores entries from rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._texts = TextReader(connection)
        self._conversations: dict[int, dict[str, Any]] = {}

    def entry(self, row: tuple[Any, ...]) -> Entry:
        """The entry of a row with `COLUMNS`. Raises pydantic's ``ValidationError`` if the row is invalid."""
        _, kind, text, request, conversation, role, turn, request_hash, occurrence, frame, own, *figures = row
        fields: dict[str, Any] = {"kind": kind, **json.loads(frame), **(json.loads(own) if own else {})}
        if conversation is not None:
            here = {**self._conversation(conversation), "role": role, "turn": turn}
            fields["context"] = {**here, **fields.get("context", {})}
        if request_hash is not None:
            fields["request_hash"], fields["occurrence"] = request_hash, occurrence
        if figures[0] is not None:
            fields.update(zip(_FIGURES, figures, strict=True))
        if text is not None:
            fields[_TEXT_FIELDS[kind]] = self._texts.read(text)
        if request is not None:
            fields["request"] = self._request(request)
        return parse_entry(fields)

    def _conversation(self, number: int) -> dict[str, Any]:
        known = self._conversations.get(number)
        if known is None:
            if len(self._conversations) >= _MAX_CACHED:
                self._conversations.clear()
            query = f"SELECT {', '.join(_KEY)} FROM conversations WHERE id = ?"  # noqa: S608
            values = self._connection.execute(query, (number,)).fetchone()
            known = self._conversations[number] = dict(zip(_KEY, values, strict=True))
        return known

    def _request(self, last: int) -> list[dict[str, str]]:
        steps = self._connection.execute(
            "WITH RECURSIVE path (depth, before, role, text) AS ("
            " SELECT 0, before, role, text FROM requests WHERE id = ?"
            " UNION ALL SELECT depth + 1, r.before, r.role, r.text FROM path JOIN requests AS r ON r.id = path.before)"
            " SELECT path.role, texts.text FROM path JOIN texts ON texts.id = path.text ORDER BY depth DESC",
            (last,),
        ).fetchall()
        return [{"role": role, "content": self._texts.unpack(text)} for role, text in steps]


def pack_hash(request_hash: str | None) -> bytes | str | None:
    """A hash as it is stored: the bytes of hexadecimal digits; a hash of another form as it is."""
    try:
        packed = bytes.fromhex(request_hash or "")
    except ValueError:
        return request_hash
    return packed if request_hash and packed.hex() == request_hash else request_hash


def pack_time(at: str) -> int | str:
    """A time as it is stored: microseconds since 1970; one that would not be restored as it is, as text."""
    try:
        microseconds = (datetime.fromisoformat(at) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, TypeError):
        return at
    restored = (_EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds")
    return microseconds if restored == at else at


def _fields(entry: Entry) -> dict[str, Any]:
    """The fields of an entry that no column has. None is a field's default."""
    left_out: dict[str, Any] = {"kind": True, _TEXT_FIELDS.get(entry.kind, "kind"): True}
    if not isinstance(entry, StageFinished | RunResumed):
        left_out |= {"request": True, "context": {*_KEY, "role", "turn"}}
    if isinstance(entry, MessageSent | RequestSent | ModelCalled | RoleFailed):
        left_out |= {"request_hash": True, "occurrence": True}
    return entry.model_dump(mode="json", exclude=left_out, exclude_none=True)


def _dump(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _searchable_text(entry: MessageSent | RoleFailed) -> str:
    """The text for the search: the message and its calls."""
    if isinstance(entry, RoleFailed):
        return entry.text
    return "\n".join([entry.content, *(f"{call.name} {call.arguments}" for call in entry.function_calls)])
