"""Texts of an event log as stored values, without what they repeat.

A short text is stored as it is. A long one is a list with the text, as JSON compressed with zlib. The first of a kind
of text is the preset dictionary of the later ones, since prompts of a role repeat instructions and passages; its id
comes first, as a number of four bytes (0: none). In older logs the list has ids of other texts too: its paragraphs.
"""

import json
import sqlite3
import zlib
from hashlib import sha256

_SHORT = 100
"""Characters of a text that is stored as it is."""

_DICTIONARY = 8192
"""Bytes of a preset dictionary."""

_MAX_CACHED = 10_000


class TextWriter:
    """Stores texts in the caller's transaction. Make a new writer after a rollback."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._reader = TextReader(connection)
        self._models: dict[str, tuple[int, bytes]] = {}

    def write(self, text: str, kind: str) -> int:
        """The id of a text, which is stored unless it is already there. ``kind``: of texts with the same syntax."""
        digest = int.from_bytes(sha256(text.encode()).digest()[:8], signed=True)
        for number, stored in self._connection.execute("SELECT id, text FROM texts WHERE digest = ?", (digest,)):
            if self._reader.unpack(stored) == text:
                return number
        raw = b"" if len(text) <= _SHORT else json.dumps([text], ensure_ascii=False).encode()
        like = self._models.get(kind)
        value = _pack(raw, like) if raw else text
        statement = "INSERT INTO texts (digest, text) VALUES (?, ?)"
        number = self._connection.execute(statement, (digest, value)).lastrowid
        assert number is not None
        if raw and like is None:
            self._models[kind] = number, raw[:_DICTIONARY]
        return number


class TextReader:
    """Restores texts."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._parts: dict[int, str] = {}
        self._models: dict[int, bytes] = {}

    def read(self, number: int) -> str:
        """The text with an id."""
        return self.unpack(self._value(number))

    def unpack(self, stored: str | bytes) -> str:
        """The text of a stored value. Raises ValueError or TypeError if it was not written by `TextWriter`."""
        if isinstance(stored, str):
            return stored
        items = json.loads(self._raw(stored))
        return "".join(item if isinstance(item, str) else self._part(item) for item in items)

    def _raw(self, stored: bytes) -> bytes:
        like = int.from_bytes(stored[:4])
        if like and like not in self._models:
            if len(self._models) >= _MAX_CACHED:
                self._models.clear()
            model = self._value(like)
            if isinstance(model, str) or any(model[:4]):
                raise ValueError(f"text {like} is no dictionary")
            self._models[like] = self._raw(model)[:_DICTIONARY]
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS, self._models[like] if like else b"")
        try:
            return unpacker.decompress(stored[4:]) + unpacker.flush()
        except zlib.error as error:
            raise ValueError(f"a text is damaged: {error}") from error

    def _part(self, number: int) -> str:
        known = self._parts.get(number)
        if known is None:
            if len(self._parts) >= _MAX_CACHED:
                self._parts.clear()
            known = self._parts[number] = self.read(number)
        return known

    def _value(self, number: int) -> str | bytes:
        found = self._connection.execute("SELECT text FROM texts WHERE id = ?", (number,)).fetchone()
        if found is None:
            raise ValueError(f"text {number} is missing")
        return found[0]


def _pack(raw: bytes, like: tuple[int, bytes] | None) -> bytes:
    number, model = like or (0, b"")
    packer = zlib.compressobj(6, zlib.DEFLATED, -_window(len(raw) + len(model)), 5, zlib.Z_DEFAULT_STRATEGY, model)
    return number.to_bytes(4) + packer.compress(raw) + packer.flush()


def _window(size: int) -> int:
    """The window of zlib for so many bytes, as a power of two: a small one is quicker to set up."""
    return min(zlib.MAX_WBITS, max(9, size.bit_length()))
