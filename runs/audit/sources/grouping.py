"""Groups of records that stand apart in a file. They are kept on disk, so that memory does not grow with the file."""

import json
import sqlite3
from collections.abc import Callable, Iterator
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

    def joined(
        self, joint: Callable[[str], str] = lambda name: name
    ) -> Iterator[tuple[str, list[str], list[tuple[str, Any]]]]:
        """Joint name, names, and places and values of the records: one row for each set of groups with one ``joint``
        name, in the order of their first records."""
        self._store()
        self._database.execute("CREATE INDEX IF NOT EXISTS by_name ON record (name, number)")
        groups: dict[str, list[str]] = {}
        for (name,) in self._database.execute("SELECT name FROM record GROUP BY name ORDER BY min(number)"):
            groups.setdefault(joint(name), []).append(name)
        for together, names in groups.items():
            yield together, names, [record for name in names for record in self._get(name)]

    def _get(self, name: str) -> Iterator[tuple[str, Any]]:
        rows = self._database.execute("SELECT place, value FROM record WHERE name = ? ORDER BY number", (name,))
        return ((place, json.loads(value)) for place, value in rows)

    def _store(self) -> None:
        self._database.executemany("INSERT INTO record (name, place, value) VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()
