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
        with path.open(encoding="utf-8") as file:
            start = file.read(512).lstrip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}") from error
    if not start.startswith("["):
        return read_rows(path, ProgramRow)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: broken JSON: {error}") from error
    return read_recorded_programs(path, rows)
