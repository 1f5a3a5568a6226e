"""Running a recipe and reading runs: the part of the public API that writes files and may ask models."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from lawtrace.runs.bench_extra import require_bench
from lawtrace.runs.full_run import start_run
from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.recipe_file import load_recipe, validate_options
from lawtrace.runs.report.verdict_index import stage_folders
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import ModelUsage, conversation_usage
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.log_entries import MessageSent
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.verdict_rows import Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

Source = str | PathLike[str]

_VERDICT_COLUMNS = ("task", "style", "model", "trial", "mode", "shield", "outcome", "goal_reached", "reason")
_USAGE_COLUMNS = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "seconds": "seconds",
    "cost": "money",
}
"""Column -> attribute of `ModelUsage`."""


class Verdicts(Sequence[Verdict]):
    """The verdicts of a run, or of all variants of an ablation.

    ``rows``: each with its variant, empty without an ablation, and the environment of its task. ``usage``: that of the
    model, by the id of the answer.
    """

    def __init__(
        self, rows: Iterable[tuple[Verdict, str, str]], usage: Mapping[str, ModelUsage] = MappingProxyType({})
    ) -> None:
        self._rows = tuple(rows)
        self._usage = usage

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> "Verdicts": ...
    def __getitem__(self, index: int | slice) -> "Verdict | Verdicts":
        return self._rows[index][0] if isinstance(index, int) else Verdicts(self._rows[index], self._usage)

    def __len__(self) -> int:
        return len(self._rows)

    def to_pandas(self) -> "DataFrame":
        """One row an attempt: variant of an ablation, environment, task, style, model, trial, outcome, goal reached,
        ids of broken and undetermined rules; tokens, seconds and cost of the model's answers, missing for baselines and
        programs, and the cost without a price.

        Needs pandas: ``pip install lawtrace[bench]``. Raises InputError without it.
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError("to_pandas() needs pandas: pip install 'lawtrace[bench]'") from error
        columns: dict[str, list[object]] = {
            "variant": [variant for _, variant, _ in self._rows],
            "environment": [environment for _, _, environment in self._rows],
        }
        columns |= {name: [getattr(row, name) for row in self] for name in _VERDICT_COLUMNS}
        columns["broken_rules"] = [tuple(rule.rule for rule in row.rules if rule.broken) for row in self]
        columns["undetermined_rules"] = [tuple(rule.rule for rule in row.rules if rule.undetermined) for row in self]
        used = [self._usage.get(row.answer) for row in self]
        for column, field in _USAGE_COLUMNS.items():
            columns[column] = [None if one is None else getattr(one, field) for one in used]
        return pandas.DataFrame(columns)


@dataclass(frozen=True, slots=True)
class Run:
    """A run on disk. Its files are read when they are asked for.

    Attributes:
        path: the run's folder.
    """

    path: Path

    @property
    def recipe(self) -> Recipe:
        """The recipe that the run was started with. Raises InputError if the event log cannot be read."""
        with EventLogFile.open(self.path) as event_log:
            return Recipe.model_validate(event_log.recipe)

    @property
    def verdicts(self) -> Verdicts:
        """The verdicts on all attempts; of an ablation those of all variants, in order, without the variants that ended
        before they had any. Raises InputError if the run has none (yet)."""
        folders = stage_folders(RunFolder(self.path))
        rows = [row for folder, variant in folders for row in _read_verdicts(folder, variant or "")]
        with EventLogFile.open(self.path) as event_log:
            return Verdicts(rows, conversation_usage(event_log))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, those of all variants of an ablation. Raises InputError if the run has none (yet)."""
        return tuple(
            task for folder, _ in stage_folders(RunFolder(self.path)) for task in read_task_rows(folder.tasks).valid()
        )

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """What each model did: its answer, the calls with their results, how it ended. Raises InputError as `tasks`."""
        folders = stage_folders(RunFolder(self.path))
        return tuple(row for folder, _ in folders for row in read_rows(folder.attempts, Attempt))

    @property
    def messages(self) -> tuple[MessageSent, ...]:
        """All messages of all conversations, in order. Raises InputError if the event log cannot be read."""
        with EventLogFile.open(self.path) as event_log:
            return tuple(entry for entry in event_log.entries(kind="message") if isinstance(entry, MessageSent))

    @property
    def habits(self) -> tuple[HabitRow, ...]:
        """The best habit for the tasks in each style. Raises InputError as `verdicts` does."""
        if self.variants:
            raise InputError(f"{self.path} is an ablation; take the habits of each of its `variants`")
        return tuple(read_rows(RunFolder(self.path).habits, HabitRow))

    @property
    def variants(self) -> "tuple[Run, ...]":
        """The variants of an ablation, in order; none for any other run."""
        return tuple(Run(folder) for folder in sorted((self.path / "variants").glob("*")) if folder.is_dir())


def run(recipe: Source | Recipe | Mapping[str, Any] | None = None, *, out: Source | None = None) -> Run:
    """Run a recipe, as ``lawtrace run`` does: all stages, an event log, a report. Works inside a running event loop.

    ``recipe`` is a file, a `Recipe`, its keys as a mapping, or None for the offline quickstart. ``out`` is the run's
    folder, by default a new one below ``logs/``. Raises InputError before anything is asked, OperationalError if a
    stage cannot be carried out or the extra `bench` is not installed.
    """
    require_bench("lawtrace.run()")
    prepared = prepare_recipe(_recipe(recipe))
    folder = RunFolder(Path(out)) if out is not None else new_run_folder(prepared.recipe.name)
    with ThreadPoolExecutor(1) as thread:  # a notebook has an event loop of its own in this one
        thread.submit(start_run, prepared, folder).result()
    return Run(folder.path)


def load_run(path: Source) -> Run:
    """Open a run that is already on disk. Raises InputError if the folder holds none."""
    return Run(RunFolder(Path(path)).existing().path)


def _read_verdicts(folder: RunFolder, variant: str) -> Iterable[tuple[Verdict, str, str]]:
    verdicts = read_rows(folder.verdicts, Verdict)
    environments = {task.id: task.environment for task in read_task_rows(folder.tasks).rows}
    return [(verdict, variant, environments.get(verdict.task, "")) for verdict in verdicts]


def _recipe(recipe: Source | Recipe | Mapping[str, Any] | None) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if recipe is None:
        return Recipe()
    if isinstance(recipe, Mapping):
        return validate_options(Recipe, recipe, "recipe")
    return load_recipe(Path(recipe))
