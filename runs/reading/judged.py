"""The verdicts of a run, found by place, outcome and rule. A row is read from its file when it is asked for, since the
files of a large run hold more than one wants in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from environments.errors import InputError
from runs.grading.verdict import VerdictRow
from runs.layout import RunFolder
from runs.record.finding import Place
from runs.stages.rows import AttemptRow

__all__ = ["Judged", "Mark", "RowFile", "place_of"]

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Mark:
    """A verdict in short. ``number`` is its row in the file, ``broken`` the ids of the rules that broke."""

    number: int
    task: str
    style: str
    model: str
    trial: int
    outcome: str
    broken: tuple[str, ...]
    reason: str


def place_of(mark: Mark) -> Place:
    """The conversation of the attempt that the verdict is on."""
    return Place("attempts", mark.task, mark.style, mark.model, mark.trial)


class RowFile(Generic[Row]):
    """A stage file of which one row is read at a time. ``parsed``: also what `raw` gives is looked at on the way."""

    def __init__(self, path: Path, model: type[Row]) -> None:
        self.path = path
        self._model = model
        self._starts: list[int] = []

    def scan(self) -> Iterator[bytes]:
        """Every row as it stands in the file; once through, rows can be had by number."""
        self._starts.clear()
        try:
            with self.path.open("rb") as file:
                start = 0
                for line in file:
                    if line.strip():
                        self._starts.append(start)
                        yield line
                    start += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error

    def __len__(self) -> int:
        return len(self._starts)

    def row(self, number: int) -> Row:
        """Raises InputError naming the row if it is not what it should be."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._starts[number])
                return self._model.model_validate_json(file.readline())
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        except ValidationError as error:
            raise InputError(f"{self.path}, row {number + 1}: {error.errors()[0]['msg']}") from error


class Judged:
    """The verdicts of one run, as its files are now; none before they are written."""

    def __init__(self, folder: RunFolder) -> None:
        self._verdicts = RowFile(folder.verdicts, VerdictRow)
        self._attempts = RowFile(folder.attempts, AttemptRow)
        self.marks: Sequence[Mark] = [_mark(folder.verdicts, n, line) for n, line in enumerate(self._verdicts.scan())]
        for _ in self._attempts.scan():
            pass
        self._by_place = {place_of(mark): mark for mark in self.marks}

    def at(self, place: Place) -> Mark | None:
        """The verdict on the attempt that was made in that conversation."""
        return self._by_place.get(place)

    def select(
        self,
        *,
        outcome: str | None = None,
        rule: str | None = None,
        task: str | None = None,
        style: str | None = None,
        model: str | None = None,
    ) -> list[Mark]:
        """Those with that outcome, on which that rule broke, and so on. None: any."""
        wanted = {"outcome": outcome, "task": task, "style": style, "model": model}
        asked = {name: value for name, value in wanted.items() if value is not None}
        return [
            mark
            for mark in self.marks
            if (rule is None or rule in mark.broken)
            and all(getattr(mark, name) == value for name, value in asked.items())
        ]

    def verdict(self, mark: Mark) -> VerdictRow:
        return self._verdicts.row(mark.number)

    def attempt(self, mark: Mark) -> AttemptRow | None:
        """The attempt that the verdict is on: the row of the same number. None where that is another one."""
        if mark.number >= len(self._attempts):
            return None
        row = self._attempts.row(mark.number)
        same = (row.task, row.style, row.model, row.trial) == (mark.task, mark.style, mark.model, mark.trial)
        return row if same else None


def _mark(path: Path, number: int, line: bytes) -> Mark:
    try:
        row: dict[str, Any] = from_json(line)
        return Mark(
            number,
            row["task"],
            row["style"],
            row["model"],
            row.get("trial", 0),
            row["outcome"],
            tuple(rule["rule"] for rule in row["rules"] if not rule["kept"]),
            row["reason"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}, row {number + 1}: is no verdict ({error}); grade the run again") from error
