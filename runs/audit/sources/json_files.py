"""The records of a JSON file: its lines, the elements of its main list, or all of it.

Large files are read piece by piece: memory holds one record at a time.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import ijson

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.chat_messages import is_message
from lawtrace.runs.audit.sources.source import Record
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

MAX_RECORD_BYTES = 256 * 2**20
"""How large one record may be; a larger one is reported and not read."""
MAX_VALUES = 5_000_000
"""How many values one record may have: an empty list of two bytes takes 64 in memory."""
MAX_DEPTH = 200
"""How deeply lists and objects may be nested: memory grows with the square of it."""
TOO_DEEP = f"nested more than {MAX_DEPTH} lists and objects deep; that is no recorded conversation"
_LOOK_AHEAD = 2**22
"""How many bytes of a first line are looked at."""


def unreadable(place: str, name: str, reason: str) -> Transcript:
    """What stands for a part of a file that is no record."""
    return Transcript(place, name, (), reason)


def read_json_records(path: Path, lists: Collection[str]) -> Iterator[Record | Transcript]:
    """The records of a file, in order. ``lists``: the fields of a JSON object whose lists hold the records.

    Raises InputError if the file is empty or holds no JSON. Raises OSError.
    """
    with path.open("rb") as file:
        start = _skip_mark(file)
        first, second = _first_lines(file)
        if not first.strip():
            raise InputError(f"{path}: is empty")
        file.seek(start)
        if _is_lines(first, second):
            yield from _read_lines(path, file)
        else:
            yield from _read_document(path, file, lists)


def _first_lines(file: BinaryIO) -> tuple[bytes, bytes]:
    """The first two lines that are not blank; of a very long line the beginning."""
    lines = (line for line in iter(lambda: file.readline(_LOOK_AHEAD), b"") if line.strip())
    return next(lines, b""), next(lines, b"")


def _is_lines(first: bytes, second: bytes) -> bool:
    """Whether each line is a JSON value of its own. One of the first two lines may be damaged."""
    if not second or not first.endswith(b"\n"):
        return False
    return _parses(first) or (first.strip() not in {b"[", b"{"} and _parses(second))


def _parses(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_lines(path: Path, file: BinaryIO) -> Iterator[Record | Transcript]:
    for number, line in enumerate(iter(lambda: file.readline(MAX_RECORD_BYTES), b""), 1):
        place, name = f"{path}, line {number}", f"{path.stem}, line {number}"
        if not line.endswith(b"\n") and len(line) == MAX_RECORD_BYTES:
            yield unreadable(place, name, f"longer than {MAX_RECORD_BYTES // 2**20} MB")
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_RECORD_BYTES)
        elif line.strip():
            try:
                yield Record(place, name, parse_record(line))
            except ValueError as error:
                yield unreadable(place, name, str(error))


def parse_record(text: bytes) -> Json:
    """The value of one record. Raises ValueError if it is not JSON, too deep, or has too many values."""
    opened = text.count(b"[") + text.count(b"{")
    if opened + text.count(b",") > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES} values in one record; split it")
    if opened > MAX_DEPTH and _is_too_deep(BytesIO(text)):
        raise ValueError(TOO_DEEP)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {_one_line(error)}") from error


def _read_document(path: Path, file: BinaryIO, lists: Collection[str]) -> Iterator[Record | Transcript]:
    """The records of a file that is one JSON value."""
    start = file.tell()
    if _is_too_deep(file):
        raise InputError(f"{path}: {TOO_DEEP}")
    file.seek(start)
    field, elements = _main_list(file, lists)
    if not elements:
        file.seek(start)
        yield Record(str(path), path.stem, _whole(path, file))
        return
    what = f"{field}, " if field else ""
    number = 0
    file.seek(start)
    try:
        for number, value in enumerate(ijson.items(file, f"{field}.item" if field else "item", use_float=True), 1):
            yield Record(f"{path}, {what}entry {number}", f"{path.stem}, entry {number}", value)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        file.seek(start)
        rest = _rest(path, file, field, number)
        if rest is None:
            reason = f"the JSON breaks off or is malformed after {number} entries: {_one_line(error)}"
            if number == 0:
                raise InputError(f"{path}: {reason}") from error
            yield unreadable(f"{path}, {what}entry {number + 1}", f"{path.stem}, entry {number + 1}", reason)
        for value in rest or ():
            number += 1
            yield Record(f"{path}, {what}entry {number}", f"{path.stem}, entry {number}", value)
    if number == 0:
        raise InputError(f"{path}: holds no conversation")


def _is_too_deep(file: BinaryIO) -> bool:
    """Whether the JSON, up to its end or to what is malformed, is nested too deeply."""
    depth = 0
    with suppress(ijson.JSONError, UnicodeDecodeError):
        for event, _ in ijson.basic_parse(file, use_float=True):
            if event in {"start_map", "start_array"}:
                depth += 1
                if depth > MAX_DEPTH:
                    return True
            elif event in {"end_map", "end_array"}:
                depth -= 1
    return False


def _main_list(file: BinaryIO, lists: Collection[str]) -> tuple[str, bool]:
    """The field whose list holds the records, and whether the file consists of records in a list."""
    with suppress(ijson.JSONError, UnicodeDecodeError):
        for prefix, event, _ in ijson.parse(file, use_float=True):
            if event == "start_array" and prefix in {"", *lists}:
                return (prefix, True) if prefix else ("", _holds_records(file))
    return "", False


def _holds_records(file: BinaryIO) -> bool:
    """Whether a list holds records. A list of messages is a conversation, and so a record itself."""
    _skip_mark(file)
    try:
        return not is_message(next(ijson.items(file, "item", use_float=True), None))
    except (ijson.JSONError, UnicodeDecodeError):
        return True


def _skip_mark(file: BinaryIO) -> int:
    """Go to the beginning of the text, after its byte order mark, and return the place."""
    file.seek(0)
    file.seek(3 if file.read(3) == b"\xef\xbb\xbf" else 0)
    return file.tell()


def _whole(path: Path, file: BinaryIO) -> Json:
    text = file.read(MAX_RECORD_BYTES + 1)
    if len(text) > MAX_RECORD_BYTES:
        raise InputError(f"{path}: one JSON value of more than {MAX_RECORD_BYTES // 2**20} MB; split it")
    try:
        return parse_record(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def _rest(path: Path, file: BinaryIO, field: str, read: int) -> list[Any] | None:
    """The other elements of a list that holds NaN or Infinity, which Python writes and standard JSON has not."""
    try:
        value = _whole(path, file)
    except InputError:
        return None
    return items_of(fields_of(value)[field] if field else value)[read:]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
