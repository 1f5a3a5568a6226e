"""Reading programs to be judged: our own JSON lines, or the published record files of real models."""

import json
from pathlib import Path
from typing import Any

from environments.errors import InputError
from runs.files import read_rows
from runs.published.records import RecordedVerdict, read_recorded_programs, read_recorded_verdicts
from runs.stages.rows import AttemptRow, ProgramRow

__all__ = ["read_given", "read_programs", "read_verdicts_beside"]


def read_programs(path: Path) -> list[ProgramRow]:
    """The programs of a file, in its order. Raises InputError naming the line or row."""
    rows = _record_rows(path)
    return read_rows(path, ProgramRow) if rows is None else read_recorded_programs(path, rows)


def read_given(path: Path) -> list[ProgramRow | AttemptRow]:
    """What a file gives to be judged, in its order: programs to run, and attempts that called tools turn by turn, whose
    calls are on record and are not made again. Raises InputError naming the line or row."""
    programs = read_programs(path)
    if all(row.mode == "program" for row in programs):
        return [*programs]
    attempts = read_rows(path, AttemptRow)
    return [attempt if attempt.mode == "tools" else row for attempt, row in zip(attempts, programs, strict=True)]


def read_verdicts_beside(path: Path) -> list[RecordedVerdict]:
    """The verdicts that a published record file holds beside its programs; a file of ours holds none."""
    rows = _record_rows(path)
    return [] if rows is None else read_recorded_verdicts(path, rows)


def _record_rows(path: Path) -> list[dict[str, Any]] | None:
    """The rows of a published record file, which is one JSON list; None for JSON lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}") from error
    if not text.lstrip().startswith("["):
        return None
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path}: broken JSON: {error}") from error
