"""Comparison of two sets of verdicts on the same tasks: rates with paired tests, and all flips.

The sides are two runs, or two models of one run; an ablation is one side with all its variants. Only attempts (variant,
task, style, trial) with a verdict on both sides are compared; unmatched attempts are counted and never filled in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lawtrace.runs.published import is_comparison, published_evaluation
from lawtrace.runs.scoring.statistics import PairedComparison, compare_pooled, holm_adjusted, is_unsafe_success
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows, read_usable_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_task_rows
from lawtrace.runs.tasks import Task
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.choices import TASK_VARIANTS, Style, TaskVariant
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.verdict_rows import Verdict


@dataclass(frozen=True, slots=True)
class SidePart:
    """Tasks and verdicts in which every task id is one task: of a run, of a variant, or of variants without a task in
    common. ``variant``: the name of the variant; empty for the others."""

    tasks: Mapping[str, Task]
    verdicts: tuple[Verdict, ...]
    variant: str = ""

    def of_model(self, model: str) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.model == model]


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One side: name, tasks and verdicts, and the rows of its files that could not be used. An ablation over the same
    tasks has several parts."""

    name: str
    parts: tuple[SidePart, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(verdict.model for part in self.parts for verdict in part.verdicts))


_PartPairs = Sequence[tuple[SidePart, SidePart]]
"""The parts of two sides that are compared with each other."""


@dataclass(frozen=True, slots=True)
class Flip:
    """An attempt with different outcomes on the two sides, and the reason on each side. ``variant``: of an ablation."""

    task: str
    style: str
    trial: int
    model: str
    outcomes: tuple[str, str]
    reasons: tuple[str, str]
    variant: str = ""


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
        paired_by: what identifies an attempt; ``intervals`` and ``test``: how intervals and p values are made.
    """

    sides: tuple[str, str]
    lines: tuple[ComparedModel, ...]
    flips: tuple[Flip, ...]
    changed_tasks: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()
    success: str = "Pass@1"
    unit: str = "style"
    paired_by: str = "task, style and trial"
    intervals: str = "bootstrap over tasks"
    test: str = "exact McNemar, which treats attempts as independent"


def read_side(path: Path) -> ComparisonSide:
    """The tasks and verdicts of a finished run or of all variants of an ablation, or the strict ones of a comparison of
    profiles. Raises InputError."""
    if is_comparison(path):
        comparison = published_evaluation("comparison:read_comparison")(path)
        tasks_by_id = {task.id: task for task in comparison.tasks}
        return ComparisonSide(str(path), (SidePart(tasks_by_id, comparison.verdicts["strict"]),), comparison.problems)
    folder = RunFolder(path).existing()
    if not folder.variants.exists():
        part, problems = _read_part(folder)
        return ComparisonSide(str(path), (part,), problems)
    first_with: dict[int, VariantRow] = {}  # variants that share attempts are no further evidence
    for row in read_rows(folder.variants, VariantRow):
        if row.ended is None:
            first_with.setdefault(row.made_by.get("attempts", row.number), row)
    read = [_read_part(folder.variant(row.number), row.name) for row in first_with.values()]
    parts = [part for part, _ in read]
    return ComparisonSide(
        str(path), _joined(parts), tuple(dict.fromkeys(problem for _, problems in read for problem in problems))
    )


def _read_part(folder: RunFolder, variant: str = "") -> tuple[SidePart, tuple[Problem, ...]]:
    tasks = read_task_rows(folder.tasks)
    verdicts = match_to_tasks(tasks.rows, read_usable_rows(folder.verdicts, Verdict))
    by_id = {task.id: task for task in tasks.rows}
    return SidePart(by_id, tuple(verdicts.rows), variant), (*tasks.problems, *verdicts.problems)


def _joined(parts: Sequence[SidePart]) -> tuple[SidePart, ...]:
    """One part, if no two have a task in common, as those of several environments."""
    tasks = {name: task for part in parts for name, task in part.tasks.items()}
    if len(tasks) < sum(len(part.tasks) for part in parts):
        return tuple(parts)
    return (SidePart(tasks, tuple(verdict for part in parts for verdict in part.verdicts)),)


def compare_runs(first: ComparisonSide, second: ComparisonSide, models: tuple[str, str] | None = None) -> RunComparison:
    """Compare each model that both sides have, or the two named models (of the first and the second side).

    Raises InputError if the sides have no task, model or attempt in common.
    """
    parts = _matching_parts(first, second)
    if not any(task in other.tasks for one, other in parts for task in one.tasks):
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
    found = [line for pair in pairs for line in _lines(parts, pair)]
    if not found:
        raise InputError(f"{first.name} and {second.name}: no attempt that both have a verdict on")
    adjusted = holm_adjusted([line.safe_success.p_value for line in found])
    return RunComparison(
        (first.name, second.name),
        tuple(replace(line, adjusted_p=p_value) for line, p_value in zip(found, adjusted, strict=True)),
        tuple(flip for pair in pairs for one, other in parts for flip in _flips(one, other, pair)),
        {
            name: changed
            for one, other in parts
            for name, task in one.tasks.items()
            if name in other.tasks and (changed := _changed_parts(task, other.tasks[name]))
        },
        tuple(dict.fromkeys((*first.problems, *second.problems))),
    )


def _matching_parts(first: ComparisonSide, second: ComparisonSide) -> _PartPairs:
    """The parts with the same variant. Raises InputError if there are none."""
    if len(first.parts) == len(second.parts) == 1:
        return [(first.parts[0], second.parts[0])]
    theirs = {part.variant: part for part in second.parts}
    parts = [(part, theirs[part.variant]) for part in first.parts if part.variant in theirs]
    if not parts:
        several = first if len(first.parts) > 1 else second
        raise InputError(
            f"{first.name} and {second.name} have no variant in common; compare one of the variants of {several.name} "
            f"({RunFolder(Path(several.name)).variant(1).path}, ...)"
        )
    return parts


def _lines(parts: _PartPairs, pair: tuple[str, str]) -> Iterable[ComparedModel]:
    sides = [(one.of_model(pair[0]), other.of_model(pair[1])) for one, other in parts]
    here = {verdict.variant for ours, _ in sides for verdict in ours}
    for variant in TASK_VARIANTS:
        if variant in here:
            yield from _lines_of_variant([_of_variant(side, variant) for side in sides], pair, variant)


_Sides = tuple[list[Verdict], list[Verdict]]
"""The verdicts of two models in a pair of parts."""


def _of_variant(sides: _Sides, variant: TaskVariant) -> _Sides:
    ours, theirs = sides
    return [one for one in ours if one.variant == variant], [one for one in theirs if one.variant == variant]


def _lines_of_variant(sides: Sequence[_Sides], pair: tuple[str, str], variant: TaskVariant) -> Iterable[ComparedModel]:
    styles: Sequence[Style | None] = (None, *dict.fromkeys(one.style for ours, _ in sides for one in ours))
    for style in styles if len(styles) > 2 else styles[1:]:
        asked = [
            ([one for one in ours if style in (None, one.style)], [one for one in theirs if style in (None, one.style)])
            for ours, theirs in sides
        ]
        safe = compare_pooled(asked)
        unsafe = compare_pooled(asked, is_unsafe_success)
        if safe and unsafe:
            unmatched = sum(len(_judged(ours) ^ _judged(theirs)) for ours, theirs in asked)
            yield ComparedModel(pair, variant, style, safe, unsafe, safe.p_value, unmatched)


def _judged(verdicts: Iterable[Verdict]) -> set[tuple[str, Style, int]]:
    return {(verdict.task, verdict.style, verdict.trial) for verdict in verdicts if verdict.outcome != "invalid"}


def _flips(first: SidePart, second: SidePart, pair: tuple[str, str]) -> Iterable[Flip]:
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
                first.variant,
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
