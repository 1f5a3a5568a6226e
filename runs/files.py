"""Stage files: JSON lines, one object a line, each with its schema version. Rows come out in the order they went in."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from environments.errors import CannotCarryOut, InputError

__all__ = ["digest", "read_rows", "write_rows"]

Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, model: type[Row], *, empty: bool = False) -> list[Row]:
    """The rows of a stage file. Raises InputError naming the line and the field, or, unless it may be ``empty``, that
    the file holds none."""
    rows = list(_rows(path, model))
    if not rows and not empty:
        raise InputError(f"{path}: holds no row; run the stage that writes it first")
    return rows


def _rows(path: Path, model: type[Row]) -> Iterator[Row]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _row(path, number, line, model)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _row(path: Path, number: int, line: str, model: type[Row]) -> Row:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        named = f"field {place!r}: " if place else ""
        raise InputError(f"{path}, line {number}: {named}{first['msg']}") from error


def write_rows(path: Path, rows: Iterable[BaseModel]) -> int:
    """Write the rows and return how many there were. The file appears whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(row.model_dump_json() + "\n")
                count += 1
        partial.replace(path)
    except OSError as error:
        raise CannotCarryOut(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial.unlink()
    return count


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
