"""Entries as database rows, and back. Each text is stored once, and a request as a path in a tree.

A conversation of n turns has n requests, each of which extends the previous one. Stored in full they would take
O(n^2) space; here a turn adds only its new messages. The entry is restored byte for byte.
"""

import json
import re
import sqlite3
import zlib
from array import array
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from typing import Any

from lawtrace.schemas.log_entries import (
    Entry,
    EntryKind,
    MessageSent,
    ModelCalled,
    RequestMessage,
    RequestSent,
    RoleFailed,
    RunResumed,
    StageFinished,
    conversation_id,
    parse_entry,
)

COLUMNS = "seq, at, kind, conversation, role, turn, text, request, hash, occurrence, payload"
"""The columns of ``entries`` that `RowReader.entry` expects, in order."""
KEY = ("stage", "task", "unit", "style", "conversation_kind", "tested_model", "trial", "variant")
"""The fields of `Context` that identify a conversation."""

_TEXT_FIELDS: dict[EntryKind, str] = {"message": "content", "model_call": "answer", "failure": "text", "retry": "error"}
_OWN = ("prompt_tokens", "completion_tokens", "latency_ms", "queued_ms", "function_calls", "thought", "recorded_hash")
"""Fields in which each entry differs from the others, unless they are empty."""
_MAX_CACHED = 20_000
MAX_REQUEST_CHARACTERS = 100_000_000
"""A text, and a request, of a log that is not ours may stand for any length."""
_SHORT = 100
"""Characters of a text that is stored as it is."""
_LONG = 400
"""Characters of a text that is stored in pieces, which prompts share: a template, a passage, a document."""
_SHA256 = re.compile("[0-9a-f]{64}")
_IN_PIECES = b"\0"
"""Begins a blob of the ids of the pieces; one of zlib begins with another byte."""


class RowWriter:
    """Writes entries."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Caches of row ids, to save queries.
        self._step = lru_cache(_MAX_CACHED)(self._find_step)
        self._conversation = lru_cache(_MAX_CACHED)(self._find_conversation)
        self._piece = lru_cache(_MAX_CACHED)(self._find_piece)
        self._payload = lru_cache(_MAX_CACHED)(self._find_payload)

    def write_all(self, entries: Iterable[tuple[str, Entry]]) -> int:
        """Write entries with their times in one transaction; return their number."""
        written = 0
        self._connection.execute("BEGIN")
        try:
            for at, entry in entries:
                self._write(entry, at)
                written += 1
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # some errors of SQLite roll back by themselves
                self._connection.execute("ROLLBACK")
            self._step.cache_clear()
            self._conversation.cache_clear()
            self._piece.cache_clear()
            self._payload.cache_clear()
            raise
        return written

    def _write(self, entry: Entry, at: str) -> None:
        """Write an entry, except a message that the log already has at the same turn of the same conversation.

        A resumed run repeats its messages up to the point where it was interrupted.
        """
        context = None if isinstance(entry, StageFinished | RunResumed) else entry.context
        asked = entry if isinstance(entry, MessageSent | RequestSent | ModelCalled | RoleFailed) else None
        field = _TEXT_FIELDS.get(entry.kind)
        shared, own = _payload(entry)
        row = (
            entry.kind,
            context and self._conversation(*(getattr(context, name) for name in KEY)),
            context and context.role,
            context and context.turn,
            field and self._text(getattr(entry, field)),
            self._request(entry.request) if isinstance(entry, ModelCalled) else None,
            asked and asked.request_hash and packed_hash(asked.request_hash),
            asked and asked.occurrence,
            self._payload(shared),
            own,
        )
        said = isinstance(entry, MessageSent) or (isinstance(entry, RoleFailed) and entry.request_hash is None)
        if said and self._connection.execute(_SAME, row).fetchone() is not None:
            return
        number = self._insert("logged", (at, *row))
        if isinstance(entry, MessageSent | RoleFailed):
            words = (number, _searchable_text(entry))
            self._connection.execute("INSERT INTO words (rowid, said) VALUES (?, ?)", words)

    def _text(self, text: str, *, whole: bool = False) -> int:
        """The id of a text, which is stored unless it is already there; in pieces if it is long and not a piece."""
        digest = int.from_bytes(sha256(text.encode()).digest()[:8], signed=True)
        for number, stored in self._connection.execute("SELECT id, text FROM texts WHERE digest = ?", (digest,)):
            if _joined(stored, self._connection) == text:
                return number
        value: str | bytes
        if not whole and len(text) > _LONG and len(pieces := _cut(text)) > 1:
            value = _IN_PIECES + array("I", map(self._piece, pieces)).tobytes()
        else:
            value = text if len(text) <= _SHORT else zlib.compress(text.encode())
        return self._insert("texts", (digest, value))

    def _find_piece(self, piece: str) -> int:
        return self._text(piece, whole=True)

    def _find_payload(self, shared: str) -> int:
        found = self._connection.execute("SELECT id FROM payloads WHERE json = ?", (shared,)).fetchone()
        return found[0] if found else self._insert("payloads", (shared,))

    def _request(self, messages: tuple[RequestMessage, ...]) -> int:
        before = 0
        for message in messages:
            before = self._step(before, message.role, message.content)
        return before

    def _find_step(self, before: int, role: str, content: str) -> int:
        values = (before, role, self._text(content))
        query = "SELECT id FROM requests WHERE before = ? AND role = ? AND text = ?"
        found = self._connection.execute(query, values).fetchone()
        return found[0] if found else self._insert("requests", values)

    def _find_conversation(self, *key: str | int | None) -> int:
        name = conversation_id(dict(zip(KEY, key, strict=True)))
        found = self._connection.execute("SELECT id FROM conversations WHERE name = ?", (name,)).fetchone()
        return found[0] if found else self._insert("conversations", (name, *key))

    def _insert(self, table: str, values: tuple[object, ...]) -> int:
        """Insert a row with a new id, which is returned."""
        statement = f"INSERT INTO {table} VALUES (NULL{', ?' * len(values)})"  # noqa: S608
        number = self._connection.execute(statement, values).lastrowid
        assert number is not None
        return number


_SAME = (
    "SELECT 1 FROM logged WHERE kind = ? AND conversation = ? AND role = ? AND turn = ? AND text = ? AND request IS ?"
    " AND hash IS ? AND occurrence IS ? AND shared = ? AND own = ?"
)


class RowReader:
    """Restores entries from rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._conversation = lru_cache(_MAX_CACHED)(self._read_conversation)

    def entry(self, row: tuple[Any, ...]) -> Entry:
        """The entry of a row with `COLUMNS`. Raises pydantic's ``ValidationError`` if the row is invalid."""
        _, _, kind, conversation, role, turn, text, request, request_hash, occurrence, payload = row
        fields: dict[str, Any] = {"kind": kind, **json.loads(payload)}
        if conversation is not None:
            here = {**self._conversation(conversation), "role": role, "turn": turn}
            fields["context"] = {**here, **fields.get("context", {})}
        if request_hash is not None:
            fields["request_hash"] = request_hash.hex() if isinstance(request_hash, bytes) else request_hash
            fields["occurrence"] = occurrence
        if text is not None:
            (stored,) = self._connection.execute("SELECT text FROM texts WHERE id = ?", (text,)).fetchone()
            fields[_TEXT_FIELDS[kind]] = _joined(stored, self._connection)
        if request is not None:
            fields["request"] = self._request(request)
        return parse_entry(fields)

    def _read_conversation(self, number: int) -> dict[str, Any]:
        query = f"SELECT {', '.join(KEY)} FROM conversations WHERE id = ?"  # noqa: S608
        return dict(zip(KEY, self._connection.execute(query, (number,)).fetchone(), strict=True))

    def _request(self, last: int) -> list[dict[str, str]]:
        steps = self._connection.execute(
            "WITH RECURSIVE path (depth, id, before, role, text) AS ("
            " SELECT 0, id, before, role, text FROM requests WHERE id = ?"
            " UNION ALL SELECT depth + 1, r.id, r.before, r.role, r.text FROM path JOIN requests AS r"
            " ON r.id = path.before AND r.id < path.id)"  # a step is written after the one before it
            " SELECT role, (SELECT texts.text FROM texts WHERE texts.id = step.text)"
            " FROM (SELECT role, text FROM path ORDER BY depth DESC LIMIT -1) AS step",  # sorted without their texts
            (last,),
        )
        messages: list[dict[str, str]] = []
        left = MAX_REQUEST_CHARACTERS
        for role, text in steps:
            content = _joined(text, self._connection)
            left -= len(content)
            if left < 0:
                raise ValueError(f"a request is damaged: it has more than {MAX_REQUEST_CHARACTERS} characters")
            messages.append({"role": role, "content": content})
        return messages


def _cut(text: str) -> list[str]:
    """The pieces of a text: each long line, and the short lines between two of them. They depend on the lines alone."""
    groups = groupby(text.splitlines(keepends=True), lambda line: len(line) > _SHORT)
    return [piece for long, lines in groups for piece in (lines if long else ("".join(lines),))]


def _joined(stored: str | bytes, connection: sqlite3.Connection) -> str:
    """The text of a stored value, or of its pieces. Raises ValueError for a damaged one."""
    if isinstance(stored, str) or not stored.startswith(_IN_PIECES):
        return _unpacked(stored)
    ids = array("I", stored[1:]).tolist()
    query = "SELECT id, text FROM texts WHERE id IN (SELECT value FROM json_each(?))"
    pieces = {number: _unpacked(piece) for number, piece in connection.execute(query, (json.dumps(ids),))}
    if sum(len(pieces[number]) for number in ids) > MAX_REQUEST_CHARACTERS:
        raise ValueError(f"a text is damaged: it has more than {MAX_REQUEST_CHARACTERS} characters")
    return "".join(pieces[number] for number in ids)


def _unpacked(stored: str | bytes) -> str:
    """The text of a stored value. Raises ValueError for a damaged one, which may stand for any length."""
    if isinstance(stored, str):
        return stored
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(stored, MAX_REQUEST_CHARACTERS).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"a text is damaged: {error}") from error
    if not unpacking.eof:
        raise ValueError(f"a text is damaged: it is cut, or has more than {MAX_REQUEST_CHARACTERS} characters")
    return text


def packed_hash(digest: str) -> bytes | str:
    """A hash as it is stored: the bytes of a SHA-256 in hexadecimal, any other text as it is."""
    return bytes.fromhex(digest) if _SHA256.fullmatch(digest) else digest


def _payload(entry: Entry) -> tuple[str, str]:
    """The fields of an entry that no column has, as JSON: those that others share, and its own. None is a field's
    default."""
    left_out: dict[str, Any] = {"kind": True, _TEXT_FIELDS.get(entry.kind, "kind"): True}
    if isinstance(entry, StageFinished | RunResumed):
        return "{}", entry.model_dump_json(exclude=left_out, exclude_none=True)
    left_out |= {"request": True, "context": {*KEY, "role", "turn"}, "request_hash": True, "occurrence": True}
    fields = entry.model_dump(mode="json", exclude=left_out, exclude_none=True)
    own = {name: fields.pop(name) for name in _OWN if fields.get(name)}
    return _json(fields), _json(own)


def _json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _searchable_text(entry: MessageSent | RoleFailed) -> str:
    """The text for the search: the message and its calls."""
    if isinstance(entry, RoleFailed):
        return entry.text
    return "\n".join([entry.content, *(f"{call.name} {call.arguments}" for call in entry.function_calls)])
