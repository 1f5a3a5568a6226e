"""Comparison of two sets of verdicts on the same tasks: rates with paired tests, and all flips.

The sides are two runs, or two models of one run. Only attempts (task, style, trial) with a verdict on both sides are
compared; unmatched attempts are counted and never filled in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lawtrace.environments.errors import InputError, Problem
from lawtrace.runs.published.profile_comparison import is_comparison, read_comparison
from lawtrace.runs.schemas.task_rows import TASK_VARIANTS, Task, TaskVariant
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.scoring.statistics import PairedComparison, compare_paired, holm_adjusted, is_unsafe_success
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_usable_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_task_rows
from lawtrace.solver.masking.instructions import Style


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One side: name, tasks and verdicts, and the rows of its files that could not be used."""

    name: str
    tasks: Mapping[str, Task]
    verdicts: tuple[Verdict, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(verdict.model for verdict in self.verdicts))

    def of_model(self, model: str) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.model == model]


@dataclass(frozen=True, slots=True)
class Flip:
    """An attempt with different outcomes on the two sides, and the reason on each side."""

    task: str
    style: str
    trial: int
    model: str
    outcomes: tuple[str, str]
    reasons: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """One model or pair of models, in one variant of tasks, in one style or both (``style`` None).

    Attributes:
        style: of a run of another kind the configuration.
        safe_success: the paired comparison of Pass@1; of a run of another kind, of the best outcome.
        unsafe_success: the paired comparison of the inference gap; None for a run of another kind.
        adjusted_p: the p-value for safe success, adjusted (Holm) for all lines of the comparison.
        unmatched: number of attempts with a verdict on one side only.
    """

    models: tuple[str, str]
    variant: TaskVariant
    style: str | None
    safe_success: PairedComparison
    unsafe_success: PairedComparison | None
    adjusted_p: float
    unmatched: int


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Result of `compare_runs`.

    Attributes:
        problems: rows of either side that could not be used; they are invalid.
        changed_tasks: task id -> fields that differ. The verdicts of these tasks are still compared, since a changed
            rule is often the purpose of the comparison.
        success: the name of the compared rate; ``unit``: of what `ComparedModel.style` is.
        paired_by: what identifies an attempt; ``clusters``: what the bootstrap resamples.
    """

    sides: tuple[str, str]
    lines: tuple[ComparedModel, ...]
    flips: tuple[Flip, ...]
    changed_tasks: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()
    success: str = "Pass@1"
    unit: str = "style"
    paired_by: str = "task, style and trial"
    clusters: str = "tasks"


def read_side(path: Path) -> ComparisonSide:
    """The tasks and verdicts of a finished run, or the strict ones of a comparison of profiles. Raises InputError."""
    if is_comparison(path):
        comparison = read_comparison(path)
        tasks_by_id = {task.id: task for task in comparison.tasks}
        return ComparisonSide(str(path), tasks_by_id, comparison.verdicts["strict"], comparison.problems)
    folder = RunFolder(path).existing()
    if folder.variants.exists():
        raise InputError(
            f"{path}: an ablation holds a run for each variant, and its report compares them; name one of them to "
            f"compare it with another run: {folder.variant(1).path}"
        )
    tasks = read_task_rows(folder.tasks)
    verdicts = match_to_tasks(tasks.rows, read_usable_rows(folder.verdicts, Verdict))
    by_id = {task.id: task for task in tasks.rows}
    return ComparisonSide(str(path), by_id, tuple(verdicts.rows), (*tasks.problems, *verdicts.problems))


def compare_runs(first: ComparisonSide, second: ComparisonSide, models: tuple[str, str] | None = None) -> RunComparison:
    """Compare each model that both sides have, or the two named models (of the first and the second side).

    Raises InputError if the sides have no task, model or attempt in common.
    """
    shared = [task for task in first.tasks if task in second.tasks]
    if not shared:
        raise InputError(f"{first.name} and {second.name} have no task in common; compare runs over the same tasks")
    pairs = [models] if models else [(model, model) for model in first.models if model in second.models]
    for side, names in ((first, {pair[0] for pair in pairs}), (second, {pair[1] for pair in pairs})):
        if missing := names - set(side.models):
            raise InputError(
                f"{side.name}: no verdict on {', '.join(sorted(missing))}; it has {', '.join(side.models)}"
            )
    if not pairs:
        raise InputError(
            f"{first.name} has {', '.join(first.models)}, {second.name} has {', '.join(second.models)}: no model in "
            "common; name one of each with --model and --against"
        )
    found = [line for pair in pairs for line in _lines(first, second, pair)]
    if not found:
        raise InputError(f"{first.name} and {second.name}: no attempt that both have a verdict on")
    adjusted = holm_adjusted([line.safe_success.p_value for line in found])
    return RunComparison(
        (first.name, second.name),
        tuple(_with_adjusted(line, p_value) for line, p_value in zip(found, adjusted, strict=True)),
        tuple(flip for pair in pairs for flip in _flips(first, second, pair)),
        {name: parts for name in shared if (parts := _changed_parts(first.tasks[name], second.tasks[name]))},
        tuple(dict.fromkeys((*first.problems, *second.problems))),
    )


def _lines(first: ComparisonSide, second: ComparisonSide, pair: tuple[str, str]) -> Iterable[ComparedModel]:
    here = {verdict.variant for verdict in first.of_model(pair[0])}
    for variant in TASK_VARIANTS:
        if variant not in here:
            continue
        yield from _lines_of_variant(first, second, pair, variant)


def _lines_of_variant(
    first: ComparisonSide, second: ComparisonSide, pair: tuple[str, str], variant: TaskVariant
) -> Iterable[ComparedModel]:
    ours = [verdict for verdict in first.of_model(pair[0]) if verdict.variant == variant]
    theirs = [verdict for verdict in second.of_model(pair[1]) if verdict.variant == variant]
    styles: Sequence[Style | None] = (None, *dict.fromkeys(verdict.style for verdict in ours))
    for style in styles if len(styles) > 2 else styles[1:]:
        one = [verdict for verdict in ours if style in (None, verdict.style)]
        other = [verdict for verdict in theirs if style in (None, verdict.style)]
        safe = compare_paired(one, other)
        unsafe = compare_paired(one, other, is_unsafe_success)
        if safe and unsafe:
            yield ComparedModel(pair, variant, style, safe, unsafe, safe.p_value, len(_judged(one) ^ _judged(other)))


def _judged(verdicts: Iterable[Verdict]) -> set[tuple[str, Style, int]]:
    return {(verdict.task, verdict.style, verdict.trial) for verdict in verdicts if verdict.outcome != "invalid"}


def _with_adjusted(line: ComparedModel, p_value: float) -> ComparedModel:
    return replace(line, adjusted_p=p_value)


def _flips(first: ComparisonSide, second: ComparisonSide, pair: tuple[str, str]) -> Iterable[Flip]:
    theirs = {(verdict.task, verdict.style, verdict.trial): verdict for verdict in second.of_model(pair[1])}
    for verdict in first.of_model(pair[0]):
        other = theirs.get((verdict.task, verdict.style, verdict.trial))
        if other is not None and other.outcome != verdict.outcome:
            yield Flip(
                verdict.task,
                verdict.style,
                verdict.trial,
                pair[0] if pair[0] == pair[1] else f"{pair[0]} / {pair[1]}",
                (verdict.outcome, other.outcome),
                (verdict.reason, other.reason),
            )


def _changed_parts(one: Task, other: Task) -> tuple[str, ...]:
    parts = {
        "environment": one.environment == other.environment,
        "rules": one.rules == other.rules,
        "instructions": one.instructions == other.instructions,
        "initial state": one.initial_state == other.initial_state,
        "target state": one.target_state == other.target_state,
    }
    return tuple(name for name, same in parts.items() if not same)
