"""The stage store: files of stages, content-addressed by their inputs.

The key of a stage is a hash over its name, the part of the recipe that it depends on, and the digests of the files it
reads. The `StageFinished` entries of an event log are the index: key, file and digest. A file that changed afterwards
is not used.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from lawtrace.runs.store.stage_files import file_digest, read_rows, replacing, write_rows
from lawtrace.schemas.errors import LawtraceError
from lawtrace.schemas.log_entries import Entry, StageFinished

Row = TypeVar("Row", bound=BaseModel)


class StageFile(Generic[Row]):
    """A file that a stage writes: its name and the type of its rows."""

    def __init__(self, name: str, row: type[Row]) -> None:
        self.name = name
        self._row = row

    def read(self, path: Path) -> list[Row]:
        """All rows. Raises InputError with the invalid line."""
        return read_rows(path, self._row, empty=True)

    def write(self, path: Path, rows: Sequence[Row]) -> int:
        """Write the file and return the number of rows. Raises OperationalError."""
        return write_rows(path, rows)


AnyFile = StageFile[Any]


class Products:
    """Rows and digest by file."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Any]] = {}
        self._digests: dict[str, str] = {}

    def __getitem__(self, file: StageFile[Row]) -> list[Row]:
        return cast("list[Row]", self._rows[file.name])

    def __contains__(self, file: AnyFile) -> bool:
        return file.name in self._rows

    def put(self, file: StageFile[Row], rows: Sequence[Row], digest: str) -> None:
        self._rows[file.name] = list(rows)
        self._digests[file.name] = digest

    def digest(self, file: AnyFile) -> str:
        return self._digests[file.name]


class StageStore:
    """The files of one run by stage key.

    Args:
        folder: the folder of the run; files are named relative to it.
        finished: entries of its event log.

    Attributes:
        incomplete: keys of this session with incomplete files. These are shared within the session, and made again
            when the run is resumed.
        errors: key -> why no other stage can use its files.
    """

    def __init__(self, folder: Path, finished: Iterable[Entry] = ()) -> None:
        self.folder = folder
        self.incomplete: set[str] = set()
        self.errors: dict[str, LawtraceError] = {}
        self._found: dict[str, dict[str, tuple[Path, str]]] = {}
        for entry in finished:
            if isinstance(entry, StageFinished) and entry.key:
                self.add(entry.key, folder / entry.file, entry.sha256)

    def add(self, key: str, path: Path, sha256: str) -> None:
        """Add a file under its key. The first one is kept: later ones are copies of it."""
        self._found.setdefault(key, {}).setdefault(path.name, (path, sha256))

    def find(self, key: str, names: Iterable[str]) -> Mapping[str, Path] | None:
        """The files under the key; None unless all exist unchanged."""
        found = self._found.get(key, {})
        paths: dict[str, Path] = {}
        for name in names:
            path, sha256 = found.get(name, (None, ""))
            if path is None or not path.is_file() or file_digest(path) != sha256:
                return None
            paths[name] = path
        return paths


def copy_file(source: Path, target: Path) -> None:
    if source != target:
        with replacing(target) as partial:
            shutil.copyfile(source, partial)


def stage_key(*parts: object) -> str:
    """A hash over JSON values, pydantic models and their collections."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=_as_json).encode()).hexdigest()


def _as_json(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, set | frozenset):
        return sorted(map(str, cast("frozenset[object]", value)))
    return str(value)
