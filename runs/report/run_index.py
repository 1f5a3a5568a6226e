"""The runs below a folder, and what is kept of them between two pages: where the rows of their files are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

from pydantic_core import from_json

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.runs.report.verdict_index import RowFile, VerdictIndex, stage_folders
from lawtrace.runs.schemas.task_rows import Task
from lawtrace.runs.store.event_log_database import event_log_path, is_being_written
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder

RunState = Literal["running", "finished", "stopped"]

Kept = TypeVar("Kept")
EXCERPT_CHARACTERS = 110

_Stamp = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class RunListing:
    """A run in the list of runs; ``trouble`` says why nothing can be told of it."""

    name: str
    state: RunState
    created: str
    about: str
    models: tuple[str, ...]
    messages: int
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class TaskListing:
    """A task in the list of tasks."""

    id: str
    variant: str | None
    asks: str


class TaskIndex:
    """The tasks of a run: a line of each in order, and each one when it is asked for."""

    def __init__(self, folder: RunFolder) -> None:
        self.lines: list[TaskListing] = []
        self._rows: list[tuple[RowFile[Task], int]] = []
        for one, variant, _ in stage_folders(folder):
            rows = RowFile(one.tasks, Task)
            for number, line in enumerate(rows.scan()):
                self.lines.append(_task_line(one.tasks, number, line, variant))
                self._rows.append((rows, number))
        self.numbers = {(line.variant, line.id): number for number, line in enumerate(self.lines)}

    def row(self, number: int) -> Task:
        if not 0 <= number < len(self._rows):
            raise InputError(f"there is no task number {number + 1}; the run has {len(self._rows)}")
        rows, place = self._rows[number]
        return rows.row(place)


class RunIndex:
    """The runs in a folder, or the one run that the folder is.

    Raises InputError if the folder is none.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(f"{root}: there is no such folder; give that of a run, or one that holds runs")
        self.root = root.resolve()
        self.alone = event_log_path(self.root).is_file()
        self._judged: dict[str, tuple[_Stamp, VerdictIndex]] = {}
        self._tasks: dict[str, tuple[_Stamp, TaskIndex]] = {}
        self._one_at_a_time = Lock()

    def names(self) -> list[str]:
        """The runs, the one written last first."""
        if self.alone:
            return [self.root.name]
        records = sorted(self.root.glob("*/events.sqlite"))
        return [path.parent.name for path in sorted(records, key=_written, reverse=True)]

    def folder(self, name: str) -> RunFolder:
        """Raises InputError for a run that is not in the list, whatever else may be at such a path."""
        if name not in self.names():
            raise InputError(f"there is no run {name!r} in {self.root}")
        return RunFolder(self.root if self.alone else self.root / name)

    def line(self, name: str) -> RunListing:
        folder = self.folder(name)
        try:
            with EventLogFile.open(folder.path) as event_log:
                messages = event_log.rows("SELECT count(*) FROM entries WHERE kind = 'message'")[0][0]
                return RunListing(
                    name,
                    state_of(folder),
                    event_log.created,
                    _about(event_log.recipe),
                    _models(event_log.recipe),
                    messages,
                )
        except InputError as error:
            return RunListing(name, "stopped", "", "", (), 0, str(error))

    def judged(self, name: str) -> VerdictIndex:
        """The verdicts as the files have them now."""
        folder = self.folder(name)
        return _cached(
            self._judged, self._one_at_a_time, name, (folder.verdicts, folder.attempts), lambda: VerdictIndex(folder)
        )

    def tasks(self, name: str) -> TaskIndex:
        folder = self.folder(name)
        return _cached(self._tasks, self._one_at_a_time, name, _files(folder, "tasks"), lambda: TaskIndex(folder))


def state_of(folder: RunFolder) -> RunState:
    """Running while a process may write its record; finished once its report is there."""
    if is_being_written(folder.path):
        return "running"
    return "finished" if folder.report.exists() else "stopped"


def _cached(
    kept: dict[str, tuple[_Stamp, Kept]], lock: Lock, name: str, files: tuple[Path, ...], read: Callable[[], Kept]
) -> Kept:
    """What was read of the files, read again if they have changed since."""
    stamp = tuple(_stamp(path) for path in files)
    with lock:
        if name not in kept or kept[name][0] != stamp:
            kept[name] = (stamp, read())
        return kept[name][1]


def _files(folder: RunFolder, *stages: str) -> tuple[Path, ...]:
    """The files of those stages, and the one that says which variants there are."""
    return folder.variants, *(getattr(one, stage) for one, _, _ in stage_folders(folder) for stage in stages)


def _written(path: Path) -> int:
    """When, in nanoseconds; a run that is removed meanwhile comes last."""
    stamp = _stamp(path)
    return stamp[0] if stamp else 0


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _task_line(path: Path, number: int, line: bytes, variant: str | None) -> TaskListing:
    try:
        row: dict[str, Any] = from_json(line)
        texts = [str(instruction["text"]) for instruction in row["instructions"].values()]
        return TaskListing(row["id"], variant, texts[0][:EXCERPT_CHARACTERS] if texts else "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}, row {number + 1}: is no task ({error})") from error


def _about(recipe: Json) -> str:
    if not isinstance(recipe, dict):
        return ""
    named = [recipe.get(key) for key in ("name", "environment", "stage")]
    return ", ".join(Path(value).name for value in named if isinstance(value, str))


def _models(recipe: Json) -> tuple[str, ...]:
    """The models under test, as far as the recipe names any."""
    attempts = recipe.get("attempts") if isinstance(recipe, dict) else None
    models = attempts.get("models") if isinstance(attempts, dict) else None
    return tuple(model for model in models if isinstance(model, str)) if isinstance(models, list) else ()
