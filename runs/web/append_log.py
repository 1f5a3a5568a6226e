"""Append-only log of opinions: one JSON line each, with the reviewer's name (not authenticated)."""

import datetime as dt
import os
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from pydantic import BaseModel

from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.errors import OperationalError

Row = TypeVar("Row", bound=BaseModel)


def utc_timestamp() -> str:
    """The current time as ISO 8601 in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


class AppendLog(Generic[Row]):
    """An append-only file. Each row is on disk before the next page is shown; rows are never changed."""

    def __init__(self, path: Path, kind: type[Row]) -> None:
        """Raises InputError if the file has a row of another format."""
        self.path = path
        self._lock = Lock()
        self._rows: list[Row] = read_rows(path, kind, empty=True) if path.exists() else []

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self._rows)

    def append(self, row: Row) -> None:
        """Append a row. Raises OperationalError if it cannot be written; then the row does not count."""
        with self._lock:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(row.model_dump_json() + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise OperationalError(f"{self.path}: cannot be written: {error.strerror}") from error
            self._rows.append(row)
