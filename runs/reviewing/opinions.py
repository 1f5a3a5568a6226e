"""What reviewers said, in a file that only grows: JSON lines, each signed with the name that the reviewer chose."""

import hashlib
import os
from pathlib import Path
from threading import Lock
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from environments.errors import CannotCarryOut
from runs.files import read_rows

__all__ = ["Decision", "OpinionBook", "OpinionRow", "digest_of"]

Decision = Literal["accept", "reject", "edit"]


class OpinionRow(BaseModel):
    """One opinion of one reviewer on one item in one round. Of several the last counts.

    Attributes:
        digest: of the words that were judged; an opinion on other words counts for nothing.
        text: of an edit, the words that should stand there instead; they become an item of their own.
        at: when it was given, as ISO 8601 in UTC.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.opinion/1"] = "lawtrace.opinion/1"
    reviewer: str = Field(min_length=1, max_length=80)
    item: str = Field(min_length=1)
    digest: str
    round: int = Field(ge=1)
    decision: Decision
    text: str = Field(default="", max_length=20_000)
    comment: str = Field(default="", max_length=20_000)
    at: str = ""


def digest_of(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


class OpinionBook:
    """The file. Rows are appended, each on disk before the next page is shown; none is ever changed."""

    def __init__(self, path: Path) -> None:
        """Raises InputError if the file holds something else."""
        self.path = path
        self._lock = Lock()
        self._rows: list[OpinionRow] = read_rows(path, OpinionRow, empty=True) if path.exists() else []

    @property
    def rows(self) -> tuple[OpinionRow, ...]:
        return tuple(self._rows)

    def append(self, row: OpinionRow) -> None:
        """Raises CannotCarryOut if it cannot be written; then it was not said."""
        with self._lock:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(row.model_dump_json() + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise CannotCarryOut(f"{self.path}: cannot be written: {error.strerror}") from error
            self._rows.append(row)
