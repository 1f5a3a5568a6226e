"""Reading programs to be judged: our own JSON lines, or the published record files of real models."""

import json
from pathlib import Path

from environments.errors import InputError
from runs.files import read_rows
from runs.published.logisafetybench import read_recorded_programs
from runs.stages.rows import ProgramRow

__all__ = ["read_programs"]


def read_programs(path: Path) -> list[ProgramRow]:
    """The programs of a file, in its order. Raises InputError naming the line or row."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}") from error
    if not text.lstrip().startswith("["):
        return read_rows(path, ProgramRow)
    try:
        rows = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path}: broken JSON: {error}") from error
    return read_recorded_programs(path, rows)
