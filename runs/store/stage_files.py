"""Stage files: JSON lines, one row with its schema version on each line, in order.

Files passed between stages are read strictly: an invalid line is an error. Files from users, and files read for a
report, are read leniently: invalid lines are reported with file and line, and the other rows are used.
"""

import hashlib
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from lawtrace.schemas.errors import InputError, OperationalError, Problem, describe_validation_error, input_errors

Row = TypeVar("Row", bound=BaseModel)


@dataclass(slots=True)
class UsableRows(Generic[Row]):
    """The valid rows of a file, the place of each (``file, line N``), and the problems of the others."""

    rows: list[Row] = field(default_factory=list[Row])
    places: list[str] = field(default_factory=list[str])
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, place: str, row: Row) -> None:
        self.rows.append(row)
        self.places.append(place)

    def valid(self) -> list[Row]:
        """All rows. Raises InputError with the first problem."""
        if self.problems:
            raise InputError(str(self.problems[0]))
        return self.rows


def read_rows(path: Path, model: type[Row], *, empty: bool = False) -> list[Row]:
    """The rows of a stage file. Raises InputError with line and field, or if there are no rows and not ``empty``."""
    return read_usable_lines(path, model.model_validate_json, empty=empty).valid()


def read_usable_rows(path: Path, model: type[Row]) -> UsableRows[Row]:
    """The valid rows of a stage file. Raises InputError if it cannot be read or has no lines."""
    return read_usable_lines(path, model.model_validate_json)


def read_usable_lines(path: Path, parse: Callable[[str], Row], *, empty: bool = False) -> UsableRows[Row]:
    """Like `read_usable_rows`, with a function that parses a line or raises ValidationError."""
    usable = UsableRows[Row]()
    for number, line in numbered_lines(path):
        place = f"{path}, line {number}"
        try:
            usable.add(place, parse(line))
        except ValidationError as error:
            usable.problems.append(Problem(place, describe_row_error(error)))
    if not empty and not usable.rows and not usable.problems:
        raise InputError(f"{path}: no rows; run the stage that writes it first")
    return usable


def read_text(path: Path) -> str:
    """The text of a UTF-8 file. Raises InputError."""
    with input_errors(path):
        return path.read_text(encoding="utf-8-sig")


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file atomically. Raises OperationalError."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The non-blank lines with their numbers, from 1."""
    with input_errors(path), path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line


def describe_row_error(error: ValueError) -> str:
    """Why a row is invalid; for a ValidationError, field and message of the first error."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if place.endswith("schema_version"):
        return describe_validation_error(error)
    return (f"field {place!r}: " if place else "") + first["msg"]


def write_rows(path: Path, rows: Iterable[BaseModel]) -> int:
    """Write the rows atomically and return their number. Raises OperationalError."""
    return write_lines(path, (row.model_dump_json() for row in rows))


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write the lines atomically and return their number. Raises OperationalError."""
    count = 0
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


@contextmanager
def replacing(path: Path, what: str = "") -> Generator[Path]:
    """An empty file beside ``path`` that takes its place if the block ends without an error, and is removed otherwise.

    Its name is random, so two writers do not share it. It is created anew, so a link with that name is not followed. A
    link at ``path`` itself is replaced.

    ``what``: for the message, such as "the report ". Raises OperationalError.
    """
    reject_device(path)
    partial = path.with_name(f".{path.stem[:80]}.{secrets.token_hex(8)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.touch(exist_ok=False)
        yield partial
        partial.replace(path)
    except OSError as error:
        raise OperationalError(f"{path}: {what}cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def reject_device(path: Path) -> None:
    """Refuse a device or pipe: the atomic write would replace ``/dev/null`` with a file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OperationalError(f"{path}: cannot be written: it is a device or pipe; give a file")


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
