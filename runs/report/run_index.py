"""The runs in a folder, with a cache of what their pages need, and the progress of a run."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, TypeVar, cast

from pydantic import ValidationError

from lawtrace.runs.report.run_kinds import run_kind_of
from lawtrace.runs.report.verdict_index import VerdictIndex, stage_folders
from lawtrace.runs.scoring.metrics import count_outcomes, group_by
from lawtrace.runs.store.event_log_database import event_log_path, is_being_written
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.runs.tasks import Task
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import RunResumed, StageFinished
from lawtrace.schemas.recipe import Recipe

RunState = Literal["running", "finished", "stopped"]

Kept = TypeVar("Kept")

RunTasks = Mapping[tuple[str | None, str], Task]
"""The tasks of a run by the name of their variant, in an ablation, and their id."""


@dataclass(frozen=True, slots=True)
class RunListing:
    """A run in the list of runs.

    Attributes:
        recipe: the name of the recipe, and the stage of a stage that ran alone.
        rates: model under test -> Pass@1 over all variants; None without judged attempts. Of a run of another kind, the
            share of its best outcome.
        error: why its event log cannot be read.
    """

    name: str
    state: RunState
    created: str
    recipe: str
    environments: tuple[str, ...]
    rates: Mapping[str, float | None]
    messages: int
    error: str = ""

    @property
    def best_rate(self) -> float | None:
        return max((rate for rate in self.rates.values() if rate is not None), default=None)


class RunIndex:
    """The runs in a folder, or the run of a run folder. Raises InputError if the folder does not exist."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(f"{root}: no such folder; give the folder of a run, or a folder of runs")
        self.root = root.resolve()
        self.alone = event_log_path(self.root).is_file()
        self._kept: dict[tuple[str, str], tuple[object, object]] = {}
        self._starts: dict[tuple[Path, int], str] = {}
        self._lock = Lock()

    def names(self) -> list[str]:
        """Names of the runs, last started first."""
        if self.alone:
            return [self.root.name]
        records = sorted(self.root.glob("*/events.sqlite"))
        return [path.parent.name for path in sorted(records, key=self._started, reverse=True)]

    def _started(self, record: Path) -> str:
        """When a run began, asked of each file once; empty if its event log cannot be read."""
        try:
            key = record, record.stat().st_ino
            if key not in self._starts:
                with EventLogFile.open(record.parent) as event_log:
                    self._starts[key] = event_log.created
            return self._starts[key]
        except (OSError, InputError):
            return ""

    def folder(self, name: str) -> RunFolder:
        """Raises InputError for a name that is not in the list, even if the path exists."""
        if name not in self.names():
            raise InputError(f"there is no run {name!r} in {self.root}")
        return RunFolder(self.root if self.alone else self.root / name)

    def line(self, name: str) -> RunListing:
        folder = self.folder(name)
        try:
            with EventLogFile.open(folder.path) as event_log:
                recipe = event_log.recipe if isinstance(event_log.recipe, dict) else {}
                messages = event_log.rows("SELECT count(*) FROM entries WHERE kind = 'message'")[0][0]
                created = event_log.created
            return RunListing(
                name,
                state_of(folder),
                created,
                ", ".join(value for key in ("name", "stage") if isinstance(value := recipe.get(key), str)),
                _environments(recipe),
                self._rates(name, recipe),
                messages,
            )
        except InputError as error:
            return RunListing(name, "stopped", "", "", (), {}, 0, str(error))

    def models(self, name: str) -> list[str]:
        """The models with verdicts."""
        return list(self.verdicts(name).counts())

    def _rates(self, name: str, recipe: Mapping[str, Json]) -> dict[str, float | None]:
        index = self.verdicts(name)
        if index.kind is not None:
            best = next(iter(index.outcomes))
            return {model: counts[best] / counts.total() for model, counts in index.counts().items()}
        named, rows = _models(recipe), [one.verdict for one in index.verdicts if one.verdict]
        under_test = (row for row in rows if row.model in named)
        by_model = group_by(under_test, lambda row: row.contender)
        return {model: count_outcomes(of).pass_at_1 for model, of in by_model.items()} or dict.fromkeys(named)

    def verdicts(self, name: str) -> VerdictIndex:
        """The verdict index of the current files."""
        folder = self.folder(name)
        files = [path for one, _ in stage_folders(folder) for path in (one.verdicts, one.attempts)]
        if kind := run_kind_of(folder.path):
            files = [folder.path / kind.graded_file]
        return self._cached("verdicts", name, files, lambda: VerdictIndex(folder))

    def tasks(self, name: str) -> RunTasks:
        folder = self.folder(name)
        files = [one.tasks for one, _ in stage_folders(folder)]
        return self._cached("tasks", name, files, lambda: _read_tasks(folder))

    def _cached(self, what: str, name: str, files: list[Path], read: Callable[[], Kept]) -> Kept:
        """What was read from the files, read again if they have changed."""
        stamp = [_stamp(path) for path in files]
        with self._lock:
            known, value = self._kept.get((what, name), (None, None))
            if known != stamp:
                value = read()
                self._kept[what, name] = (stamp, value)
            return cast("Kept", value)


def _read_tasks(folder: RunFolder) -> RunTasks:
    read = ((variant, read_task_rows(one.tasks)) for one, variant in stage_folders(folder) if one.tasks.exists())
    return {(variant, task.id): task for variant, found in read for task in found.rows}


def state_of(folder: RunFolder) -> RunState:
    """Running while a process holds the lock of its event log; finished once it has a report of all attempts."""
    if is_being_written(folder.path):
        return "running"
    return "finished" if folder.report.exists() and not folder.stopped_early else "stopped"


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Progress of a run.

    Attributes:
        roles: role -> its log entries by kind. ``asked`` counts requests to endpoints; scripted roles make none.
        attempts: attempts answered and planned; planned is None before there are tasks.
        in_flight: requests without a response yet.
        resumed: number of times the run was resumed.
        repeated: requests in flight at an interruption that were sent again.
    """

    state: RunState
    stages: Sequence[StageFinished]
    roles: Mapping[str, Counter[str]]
    attempts: tuple[int, int | None]
    in_flight: int
    resumed: int
    repeated: int


_ANSWERED = """
    SELECT count(*) FROM entries JOIN (
        SELECT max(seq) AS last FROM entries JOIN conversations ON conversations.id = conversation
        WHERE stage = 'attempts' AND kind IN ('message', 'failure') GROUP BY conversation
    ) ON seq = last WHERE role = 'executor' AND (kind = 'failure' OR payload ->> '$.function_calls' = '[]')
"""
"""The attempts whose last message is an answer, not a call of a tool or a message to the model."""


def measure_progress(folder: RunFolder, event_log: EventLogFile) -> RunProgress:
    """Progress of a run from its event log."""
    counts: dict[str, Counter[str]] = {}
    for role, kind, count in event_log.rows(
        "SELECT role, kind, count(*) FROM entries WHERE role > '' GROUP BY kind, role"
    ):
        counts.setdefault(role, Counter())[kind] = count
    answered = event_log.rows(_ANSWERED)[0][0]
    resumed = [entry for entry in event_log.entries(kind="resumed") if isinstance(entry, RunResumed)]
    stages = {entry.file: entry for entry in event_log.entries(kind="stage") if isinstance(entry, StageFinished)}
    state = state_of(folder)
    return RunProgress(
        state,
        list(stages.values()),
        dict(sorted(counts.items())),
        (answered, _expected(event_log.recipe, stages)),
        len(event_log.in_flight()) if state == "running" else 0,
        len(resumed),
        sum(len(entry.in_flight) for entry in resumed),
    )


def _expected(recipe: Json, stages: Mapping[str, StageFinished]) -> int | None:
    """Number of planned attempts; None before there are tasks, and for recipes of other kinds."""
    if "tasks.jsonl" not in stages:
        return None
    try:
        options = Recipe.model_validate(recipe).attempts
    except ValidationError:
        return None
    return stages["tasks.jsonl"].rows * len(options.all_models) * len(options.styles) * options.trials


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _environments(recipe: Mapping[str, Json]) -> tuple[str, ...]:
    """The environments of a run; several, if an ablation has them as an axis."""
    ablation = recipe.get("ablation")
    axis = ablation.get("environment") if isinstance(ablation, dict) else None
    named = axis if isinstance(axis, list) else [recipe.get("environment")]
    return tuple(Path(one).name for one in named if isinstance(one, str))


def _models(recipe: Mapping[str, Json]) -> tuple[str, ...]:
    """The models under test named in the recipe."""
    attempts = recipe.get("attempts")
    models = attempts.get("models") if isinstance(attempts, dict) else None
    return tuple(model for model in models if isinstance(model, str)) if isinstance(models, list) else ()
