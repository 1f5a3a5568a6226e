"""Texts of an event log as stored values, without what they repeat.

A short text is stored as it is. A long one is a list of strings and of ids of other texts, as JSON compressed with
zlib: its paragraphs and long lines are texts of their own, since prompts repeat them (instructions, passages). The
first list of a kind of text is the preset dictionary of the later ones, which share its syntax; its id comes first, as
a number of four bytes (0: none).
"""

import json
import re
import sqlite3
import zlib
from hashlib import sha256
from itertools import groupby

_SHORT = 100
"""Characters of a text that is stored as it is."""

_PART = 160
"""Characters of the shortest part that is a text of its own."""

_DICTIONARY = 8192
"""Bytes of a preset dictionary."""

_MAX_CACHED = 10_000

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class TextWriter:
    """Stores texts in the caller's transaction. Make a new writer after a rollback."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._reader = TextReader(connection)
        self._parts: dict[str, int] = {}
        self._models: dict[str, tuple[int, bytes]] = {}

    def write(self, text: str, kind: str) -> int:
        """The id of a text, which is stored unless it is already there. ``kind``: of texts with the same syntax."""
        return self._stored(text, kind)

    def _stored(self, text: str, kind: str | None) -> int:
        digest = int.from_bytes(sha256(text.encode()).digest()[:8], signed=True)
        for number, stored in self._connection.execute("SELECT id, text FROM texts WHERE digest = ?", (digest,)):
            if self._reader.unpack(stored) == text:
                return number
        raw = b"" if len(text) <= _SHORT else _dump([text] if kind is None else self._items(text))
        like = self._models.get(kind or "") if raw else None
        value = _pack(raw, like) if raw else text
        statement = "INSERT INTO texts (digest, text) VALUES (?, ?)"
        number = self._connection.execute(statement, (digest, value)).lastrowid
        assert number is not None
        if raw and kind is not None and like is None:
            self._models[kind] = number, raw[:_DICTIONARY]
        return number

    def _items(self, text: str) -> list[str | int]:
        """The text as strings and ids of texts. A text of one part is a string."""
        parts = _parts(text)
        if len(parts) == 1:
            return [text]
        long = groupby(parts, key=lambda part: len(part) >= _PART)
        return [item for is_long, group in long for item in (map(self._part, group) if is_long else ["".join(group)])]

    def _part(self, text: str) -> int:
        known = self._parts.get(text)
        if known is None:
            if len(self._parts) >= _MAX_CACHED:
                self._parts.clear()
            known = self._parts[text] = self._stored(text, None)
        return known


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


def _dump(items: list[str] | list[str | int]) -> bytes:
    return json.dumps(items, ensure_ascii=False, separators=(",", ":")).encode()


def _pack(raw: bytes, like: tuple[int, bytes] | None) -> bytes:
    number, model = like or (0, b"")
    packer = zlib.compressobj(6, zlib.DEFLATED, -_window(len(raw) + len(model)), 5, zlib.Z_DEFAULT_STRATEGY, model)
    return number.to_bytes(4) + packer.compress(raw) + packer.flush()


def _window(size: int) -> int:
    """The window of zlib for so many bytes, as a power of two: a small one is quicker to set up."""
    return min(zlib.MAX_WBITS, max(9, size.bit_length()))


def _parts(text: str) -> list[str]:
    """Paragraphs; within them long lines are parts of their own. Joined they are the text."""
    parts: list[str] = []
    open_part: list[str] = []
    for line in _LINE.findall(text):
        if len(line) >= _PART:
            parts += ["".join(open_part), line]
            open_part = []
        else:
            open_part.append(line)
            if not line.strip():
                parts.append("".join(open_part))
                open_part = []
    return [part for part in (*parts, "".join(open_part)) if part]
