"""The verdicts of a run, found by place, outcome and rule. A row is read from its file when it is asked for, since the
files of a large run hold more than one wants in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from lawtrace.environments.errors import InputError
from lawtrace.runs.schemas.task_rows import Attempt
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.store.event_log_queries import ConversationKey
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.variants import VariantRow

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """A verdict in short.

    Attributes:
        number: its place among all verdicts of the run.
        broken: the ids of the rules that broke.
        variant: in an ablation, the variant that it is of.
        held_for: the variant that the attempt's conversation was held for: its own, or one that it shares with.
    """

    number: int
    task: str
    style: str
    model: str
    trial: int
    outcome: str
    broken: tuple[str, ...]
    reason: str
    variant: str | None
    held_for: str | None


def conversation_of(mark: VerdictSummary) -> ConversationKey:
    """The conversation of the attempt that the verdict is on."""
    return ConversationKey(
        "attempts",
        mark.task,
        style=mark.style,
        tested_model=mark.model,
        trial=mark.trial,
        variant=mark.held_for,
    )


class RowFile(Generic[Row]):
    """A stage file of which one row is read at a time."""

    def __init__(self, path: Path, model: type[Row]) -> None:
        self.path = path
        self._model = model
        self._starts: list[int] | None = None

    def scan(self) -> Iterator[bytes]:
        """Every row as it stands in the file; once through, it is known where each begins."""
        starts: list[int] = []
        try:
            with self.path.open("rb") as file:
                start = 0
                for line in file:
                    if line.strip():
                        starts.append(start)
                        yield line
                    start += len(line)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        self._starts = starts

    def __len__(self) -> int:
        return len(self._known())

    def row(self, number: int) -> Row:
        """Raises InputError naming the row if it is not what it should be."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._known()[number])
                return self._model.model_validate_json(file.readline())
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        except ValidationError as error:
            raise InputError(f"{self.path}, row {number + 1}: {error.errors()[0]['msg']}") from error

    def _known(self) -> list[int]:
        """Where the rows begin; looked for when one is first wanted."""
        if self._starts is None:
            for _ in self.scan():
                pass
        return self._starts or []


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of one way: a run's, or one variant's. ``first``: how many verdicts come before them."""

    verdicts: RowFile[Verdict]
    attempts: RowFile[Attempt]
    first: int


class VerdictIndex:
    """The verdicts of one run, as its files are now; none before they are written."""

    def __init__(self, folder: RunFolder) -> None:
        marks: list[VerdictSummary] = []
        self._files: list[_Files] = []
        for one, variant, held_for in stage_folders(folder):
            files = _Files(RowFile(one.verdicts, Verdict), RowFile(one.attempts, Attempt), len(marks))
            self._files.append(files)
            for line in files.verdicts.scan():
                marks.append(_summary(one.verdicts, len(marks), len(marks) - files.first, line, variant, held_for))
        self.marks: Sequence[VerdictSummary] = marks
        self._by_place: dict[ConversationKey, VerdictSummary] = {}
        for mark in marks:
            self._by_place.setdefault(conversation_of(mark), mark)

    def at(self, place: ConversationKey) -> VerdictSummary | None:
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
        variant: str | None = None,
    ) -> list[VerdictSummary]:
        """Those with that outcome, on which that rule broke, and so on. None: any."""
        wanted = {"outcome": outcome, "task": task, "style": style, "model": model, "variant": variant}
        asked = {name: value for name, value in wanted.items() if value is not None}
        return [
            mark
            for mark in self.marks
            if (rule is None or rule in mark.broken)
            and all(getattr(mark, name) == value for name, value in asked.items())
        ]

    def verdict(self, mark: VerdictSummary) -> Verdict:
        files = self._of(mark)
        return files.verdicts.row(mark.number - files.first)

    def attempt(self, mark: VerdictSummary) -> Attempt | None:
        """The attempt that the verdict is on: the row of the same number. None where that is another one."""
        files = self._of(mark)
        number = mark.number - files.first
        if number >= len(files.attempts):
            return None
        row = files.attempts.row(number)
        same = (row.task, row.style, row.model, row.trial) == (mark.task, mark.style, mark.model, mark.trial)
        return row if same else None

    def _of(self, mark: VerdictSummary) -> _Files:
        return next(files for files in reversed(self._files) if files.first <= mark.number)


def stage_folders(folder: RunFolder) -> list[tuple[RunFolder, str | None, str | None]]:
    """The folders with the files of a run: its own; in an ablation each variant's, with the variant's name and that of
    the variant whose attempts it has."""
    if not folder.variants.exists():
        return [(folder, None, None)]
    rows = read_rows(folder.variants, VariantRow, empty=True)
    names = {row.number: row.name or None for row in rows}
    return [
        (folder.variant(row.number), names[row.number], names.get(row.made_by.get("attempts", row.number)))
        for row in rows
        if row.ended is None
    ]


def _summary(
    path: Path, number: int, row_number: int, line: bytes, variant: str | None, held_for: str | None
) -> VerdictSummary:
    try:
        row: dict[str, Any] = from_json(line)
        return VerdictSummary(
            number,
            row["task"],
            row["style"],
            row["model"],
            row.get("trial", 0),
            row["outcome"],
            tuple(rule["rule"] for rule in row["rules"] if not rule["kept"]),
            row["reason"],
            variant,
            held_for,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}, row {row_number + 1}: is no verdict ({error}); grade the run again") from error
