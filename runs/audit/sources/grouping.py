"""Groups of records that stand apart in a file. They are kept on disk, so that memory does not grow with the file."""

import json
import sqlite3
from typing import Any

from lawtrace.schemas.events import Json


class Groups:
    """Records by the name of their group, in the order in which they came."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")  # a temporary file, which SQLite removes
        self._database.execute("CREATE TABLE record (number INTEGER PRIMARY KEY, name TEXT, place TEXT, value TEXT)")
        self._waiting: list[tuple[str, str, str]] = []

    def add(self, name: str, place: str, value: Json) -> None:
        self._waiting.append((name, place, json.dumps(value)))
        if len(self._waiting) >= 10_000:
            self._store()

    def names(self) -> list[str]:
        """The groups, in the order of their first records."""
        self._store()
        self._database.execute("CREATE INDEX IF NOT EXISTS by_name ON record (name, number)")
        rows = self._database.execute("SELECT name FROM record GROUP BY name ORDER BY min(number)")
        return [name for (name,) in rows]

    def get(self, name: str) -> list[tuple[str, Any]]:
        """The places and records of a group, in order."""
        rows = self._database.execute("SELECT place, value FROM record WHERE name = ? ORDER BY number", (name,))
        return [(place, json.loads(value)) for place, value in rows]

    def _store(self) -> None:
        self._database.executemany("INSERT INTO record (name, place, value) VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()
