"""Entries as database rows, and back. Each text is stored once, and a request as a path in a tree.

A conversation of n turns has n requests, each of which extends the previous one. Stored in full they would take
O(n^2) space; here a turn adds only its new messages, and the entry is restored byte for byte.
"""

import hashlib
import json
import sqlite3
from typing import Any

from lawtrace.agents.event_log import (
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

COLUMNS = "seq, kind, text, request, payload"
"""The columns of ``entries`` that `RowReader.entry` expects, in order."""

_TEXT_FIELDS: dict[EntryKind, str] = {
    "message": "content",
    "model_call": "answer",
    "failure": "text",
    "retry": "error",
}
_MAX_CACHED = 20_000


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

    def write(self, entry: Entry, at: str) -> None:
        """Write an entry, except a message that the log already has at the same turn of the same conversation.

        A resumed run repeats its messages up to the point where it was interrupted.
        """
        context = None if isinstance(entry, StageFinished | RunResumed) else entry.context
        asked = entry if isinstance(entry, MessageSent | RequestSent | ModelCalled | RoleFailed) else None
        field = _TEXT_FIELDS.get(entry.kind)
        row = (
            at,
            entry.kind,
            context and self._conversation(context),
            context and context.role,
            context and context.turn,
            field and self._text(getattr(entry, field)),
            self._request(entry.request) if isinstance(entry, ModelCalled) else None,
            asked and asked.request_hash,
            asked and asked.occurrence,
            entry.model_dump_json(exclude={field, "request"} if field else None),
        )
        said = isinstance(entry, MessageSent) or (isinstance(entry, RoleFailed) and entry.request_hash is None)
        if self._resumed and said and self._is_known(row):
            return
        number = self._insert(
            "INSERT INTO entries (at, kind, conversation, role, turn, text, request, request_hash, occurrence, payload)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        if isinstance(entry, MessageSent | RoleFailed):
            self._insert("INSERT INTO words (rowid, said) VALUES (?, ?)", (number, _searchable_text(entry)))

    def _is_known(self, row: tuple[object, ...]) -> bool:
        found = self._connection.execute(
            "SELECT 1 FROM entries WHERE conversation = ? AND kind = ? AND turn = ? AND text = ? AND payload = ?",
            (row[2], row[1], row[4], row[5], row[9]),
        )
        return found.fetchone() is not None

    def _text(self, text: str) -> int:
        digest = hashlib.sha256(text.encode()).digest()
        found = self._connection.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
        if found is not None:
            return found[0]
        return self._insert("INSERT INTO texts (digest, text) VALUES (?, ?)", (digest, text))

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
        values = (before, message.role, self._text(message.content))
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

    def entry(self, row: tuple[int, EntryKind, int | None, int | None, str]) -> Entry:
        """The entry of a row with `COLUMNS`. Raises pydantic's ``ValidationError`` if the row is invalid."""
        _, kind, text, request, payload = row
        fields: dict[str, Any] = json.loads(payload)
        if text is not None:
            fields[_TEXT_FIELDS[kind]] = self._text(text)
        if request is not None:
            fields["request"] = self._request(request)
        return parse_entry(fields)

    def _text(self, number: int) -> str:
        return self._connection.execute("SELECT text FROM texts WHERE id = ?", (number,)).fetchone()[0]

    def _request(self, last: int) -> list[dict[str, str]]:
        steps = self._connection.execute(
            "WITH RECURSIVE path (depth, before, role, text) AS ("
            " SELECT 0, before, role, text FROM requests WHERE id = ?"
            " UNION ALL SELECT depth + 1, r.before, r.role, r.text FROM path JOIN requests AS r ON r.id = path.before)"
            " SELECT path.role, texts.text FROM path JOIN texts ON texts.id = path.text ORDER BY depth DESC",
            (last,),
        )
        return [{"role": role, "content": text} for role, text in steps]


def _searchable_text(entry: MessageSent | RoleFailed) -> str:
    """The text for the search: the message and its calls."""
    if isinstance(entry, RoleFailed):
        return entry.text
    return "\n".join([entry.content, *(f"{call.name} {call.arguments}" for call in entry.function_calls)])
