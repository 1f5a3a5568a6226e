"""Comparison of two runs over the same tasks, or of two models of one: rates with paired tests, and all flips.

An ablation is one side with all its variants. Only results (variant, task, style or configuration, trial) that both
sides have are compared; the others are counted and never filled in.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lawtrace.runs.published import is_comparison, published_evaluation
from lawtrace.runs.report.attempt_filter import ANY, AttemptFilter
from lawtrace.runs.report.evaluator_agreement import EvaluatorAgreement, compare_evaluators
from lawtrace.runs.report.outcome_tables import paired_cells
from lawtrace.runs.report.run_kinds import GradedUnit, RunKind, run_kind_of
from lawtrace.runs.report.tables import Column, Table, make_table, share
from lawtrace.runs.report.verdict_index import graded_verdict
from lawtrace.runs.scoring.readings import weigh_safe
from lawtrace.runs.scoring.statistics import PairedComparison, compare_results, holm_adjusted
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_usable_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_task_rows
from lawtrace.runs.store.variant_rows import read_variants
from lawtrace.runs.tasks import Task
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.verdict_rows import Verdict


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One side.

    Attributes:
        tasks: by variant of an ablation over the same tasks (else empty) and id; none for a run of another kind.
        problems: the rows of its files that could not be used.
        kind: of a run of another kind; ``roles``: of that, the model of each role.
    """

    name: str
    results: Sequence[GradedUnit]
    tasks: Mapping[tuple[str, str], Task] = field(default_factory=dict[tuple[str, str], Task])
    problems: tuple[Problem, ...] = ()
    kind: RunKind | None = None
    roles: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.model for one in self.results))

    @property
    def variants(self) -> set[str]:
        return {variant for variant, _ in self.tasks}

    def of_model(self, model: str, variants: set[str]) -> "_Results":
        return {
            (one.variant, one.task, one.unit, one.trial): one
            for one in self.results
            if one.model == model and (self.kind or one.variant in variants)
        }


_Results = Mapping[tuple[str, str, str, int], GradedUnit]
"""The results of a model by variant, task, style or configuration, and trial."""


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
    """One model or pair of models, in one style or both (``style`` None).

    Attributes:
        style: of a run of another kind the configuration.
        safe_success: the paired comparison of Pass@1; of a run of another kind, of the best outcome.
        unsafe_success: the paired comparison of the inference gap; None for a run of another kind.
        adjusted_p: the p-value for safe success, adjusted (Holm) for all lines of the comparison.
        unmatched: number of attempts with a verdict on one side only.
        bounds: the least and greatest difference of safe success under any one interpretation of the open questions;
            None if nothing turns on one.
    """

    models: tuple[str, str]
    style: str | None
    safe_success: PairedComparison
    unsafe_success: PairedComparison | None
    adjusted_p: float
    unmatched: int
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two sides compared.

    Attributes:
        problems: rows of either side that could not be used; they are invalid.
        changed_tasks: task id -> fields that differ. The verdicts of these tasks are still compared, since a changed
            rule is often the purpose of the comparison.
        success: the name of the compared rate; ``unit``: of what `ComparedModel.style` is.
        roles: of runs of another kind, the model of each role on each side.
        paired_by: what identifies an attempt; ``intervals`` and ``test``: how intervals and p values are made.
        evaluators: how far two evaluators of requests agree, if the role has changed.
    """

    sides: tuple[str, str]
    lines: tuple[ComparedModel, ...]
    flips: tuple[Flip, ...]
    changed_tasks: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()
    roles: tuple[str, str] = ("", "")
    success: str = "Pass@1"
    unit: str = "style"
    paired_by: str = "task, style and trial"
    intervals: str = "bootstrap over tasks"
    test: str = "exact McNemar, which treats attempts as independent"
    evaluators: EvaluatorAgreement | None = None


def read_side(path: Path) -> ComparisonSide:
    """The tasks and results of a finished run or of all variants of an ablation, or the strict ones of a comparison of
    profiles. Raises InputError."""
    name = str(path)
    if kind := run_kind_of(path):
        with EventLogFile.open(path) as event_log:
            roles = kind.identify(event_log).get("roles", "")
        return ComparisonSide(name, kind.graded_units(path), kind=kind, roles=roles)
    if is_comparison(path):
        comparison = published_evaluation("comparison:read_comparison")(path)
        results = [graded_verdict(verdict) for verdict in comparison.verdicts["strict"]]
        return ComparisonSide(name, results, {("", task.id): task for task in comparison.tasks}, comparison.problems)
    folder = RunFolder(path).existing()
    if not folder.variants.exists():
        parts = {"": folder.judged()}
    else:
        first_with: dict[int, VariantRow] = {}  # variants that share attempts are no further evidence
        for row in read_variants(folder):
            if row.ended is None:
                first_with.setdefault(row.made_by.get("attempts", row.number), row)
        parts = {row.name: folder.variant(row.number) for row in first_with.values()} or {"": folder.judged()}
    read = {variant: read_task_rows(part.tasks) for variant, part in parts.items()}
    shared = Counter(task.id for tasks in read.values() for task in tasks.rows)
    apart = (
        max(shared.values(), default=1) > 1
    )  # not if no two variants have a task in common, as those of environments
    results, by_id = list[GradedUnit](), dict[tuple[str, str], Task]()
    problems = list[Problem]()
    for name_of, tasks in read.items():
        variant = name_of if apart else ""
        verdicts = match_to_tasks(tasks.rows, read_usable_rows(parts[name_of].verdicts, Verdict))
        results += [graded_verdict(verdict, variant) for verdict in verdicts.rows]
        by_id |= {(variant, task.id): task for task in tasks.rows}
        problems += [*tasks.problems, *verdicts.problems]
    return ComparisonSide(name, results, by_id, tuple(dict.fromkeys(problems)))


def compare_folders(
    first: Path, second: Path, models: tuple[str, str] | None = None, flips: AttemptFilter = ANY
) -> RunComparison:
    """Compare two runs of one kind; ``flips``: see `compare_runs`.

    Raises InputError if they have nothing in common.
    """
    if models is None and first.resolve() == second.resolve():
        raise InputError(f"{first} is given twice; give two runs, or two of its models with --model and --against")
    if run_kind_of(first) is not run_kind_of(second):
        raise InputError(f"{first} and {second} are runs of different kinds; compare runs over the same tasks")
    found = compare_runs(read_side(first), read_side(second), models, flips)
    return found if run_kind_of(first) else replace(found, evaluators=compare_evaluators(first, second))


def compare_runs(
    first: ComparisonSide, second: ComparisonSide, models: tuple[str, str] | None = None, flips: AttemptFilter = ANY
) -> RunComparison:
    """Compare each model that both sides have, or the two named models (of the first and the second side).

    ``flips``: only those of which one side or the other matches are listed; the rates are over all attempts.

    Raises InputError if the sides have no task, model or attempt in common, or no attempt of either matches.
    """
    flips.check(" and ".join(dict.fromkeys((first.name, second.name))), (*first.results, *second.results), first.kind)
    kind, variants = first.kind, first.variants & second.variants
    both = [key for key in first.tasks if key in second.tasks]
    if kind is None and not both:
        raise InputError(_nothing_in_common(first, second, variants))
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
    sides = [(pair, first.of_model(pair[0], variants), second.of_model(pair[1], variants)) for pair in pairs]
    lines = [line for pair, ours, theirs in sides for line in _lines(pair, ours, theirs, kind)]
    if not lines:
        raise InputError(f"{first.name} and {second.name}: no attempt that both have a verdict on")
    adjusted = holm_adjusted([line.safe_success.p_value for line in lines])
    changed = {task: _changed_parts(first.tasks[variant, task], second.tasks[variant, task]) for variant, task in both}
    found = RunComparison(
        (first.name, second.name),
        tuple(replace(line, adjusted_p=p_value) for line, p_value in zip(lines, adjusted, strict=True)),
        tuple(flip for pair, ours, theirs in sides for flip in _flips(pair, ours, theirs, flips)),
        {task: parts for task, parts in changed.items() if parts},
        tuple(dict.fromkeys((*first.problems, *second.problems))),
    )
    if kind is None:
        return found
    return replace(
        found,
        success=next(iter(kind.outcomes.values())).label,
        roles=(first.roles, second.roles),
        unit=kind.unit_name,
        paired_by=f"{kind.task_name} and {kind.unit_name}",
        intervals=kind.intervals,
        test=kind.test,
    )


def _nothing_in_common(first: ComparisonSide, second: ComparisonSide, variants: set[str]) -> str:
    several = next((side for side in (first, second) if len(side.variants) > 1), None)
    if several is None or variants:
        return f"{first.name} and {second.name} have no task in common; compare runs over the same tasks"
    return (
        f"{first.name} and {second.name} have no variant in common; compare one of the variants of {several.name} "
        f"({RunFolder(Path(several.name)).variant(1).path}, ...)"
    )


def _lines(models: tuple[str, str], ours: _Results, theirs: _Results, kind: RunKind | None) -> Iterable[ComparedModel]:
    """A line for each style, and for all styles if there are several."""
    styles = dict.fromkeys(of.unit for of in (*ours.values(), *theirs.values()))
    for style in (*((None,) if len(styles) > 1 else ()), *styles):
        # Dictionaries keep the order, on which the draws of the bootstrap depend.
        judged, others = (
            {k: of for k, of in side.items() if style in (None, of.unit) and (kind or of.outcome != "invalid")}
            for side in (ours, theirs)
        )
        compared = [(of, others[key]) for key, of in judged.items() if key in others]
        safe = kind.compare(compared) if kind and compared else _compare(compared, "safe_success")
        unsafe = None if kind else _compare(compared, "unsafe_success")
        if safe is not None:
            unmatched = len(judged.keys() ^ others.keys())
            yield ComparedModel(models, style, safe, unsafe, safe.p_value, unmatched, _difference_bounds(compared))


def _compare(pairs: Sequence[tuple[GradedUnit, GradedUnit]], outcome: str) -> PairedComparison | None:
    return compare_results([(one.cluster, one.outcome == outcome, other.outcome == outcome) for one, other in pairs])


def _difference_bounds(pairs: Sequence[tuple[GradedUnit, GradedUnit]]) -> tuple[float, float] | None:
    """The least and greatest difference of safe success under any one interpretation; None if nothing turns on one."""
    bounds = weigh_safe(
        (weight, side.verdict)
        for pair in pairs
        for weight, side in zip((-1.0, 1.0), pair, strict=True)
        if side.verdict is not None
    )
    return (bounds.least / len(pairs), bounds.most / len(pairs)) if bounds.turns else None


def _flips(models: tuple[str, str], ours: _Results, theirs: _Results, only: AttemptFilter) -> Iterable[Flip]:
    for key, one in ours.items():
        other = theirs.get(key)
        if other is not None and other.outcome != one.outcome and (only.matches(one) or only.matches(other)):
            yield Flip(
                one.task,
                one.unit,
                one.trial,
                " / ".join(dict.fromkeys(models)),
                (one.outcome, other.outcome),
                (one.reason, other.reason),
                one.variant,
            )


def _changed_parts(one: Task, other: Task) -> tuple[str, ...]:
    parts = {
        "environment": one.environment == other.environment,
        "rules": one.rules == other.rules,
        "instructions": one.instructions == other.instructions,
        "initial state": one.initial_state == other.initial_state,
        "target state": one.target_state == other.target_state,
        "ends": one.ends == other.ends,
    }
    return tuple(name for name, same in parts.items() if not same)


def comparison_table(comparison: RunComparison) -> Table:
    """The rates of both sides with paired tests."""
    graded = any(line.unsafe_success is None for line in comparison.lines)
    caption = (
        f"paired by {comparison.paired_by}. In brackets the 95 % interval of the difference ({comparison.intervals}). "
        f"p: {comparison.test}; in brackets adjusted for the lines of this table (Holm)."
    )
    caption += "" if graded else " Gap: change of the share of unsafe successes."
    unmatched = Column("Unmatched", numeric=True, shown=any(line.unmatched for line in comparison.lines))
    least, most = (Column(f"{name} difference", numeric=True) for name in ("Least", "Greatest"))
    if any(line.bounds for line in comparison.lines):
        caption += " Least and greatest difference: under any one reading of the open questions."
    return make_table(
        "comparison",
        " compared with ".join(comparison.sides),
        (
            {
                "Model": " / ".join(dict.fromkeys(line.models)),
                comparison.unit.capitalize(): line.style or ("all" if graded else "both"),
                **paired_cells(
                    f"#{comparison.success} > first",
                    f"#{comparison.success} > second",
                    line.safe_success,
                    line.adjusted_p,
                ),
                **({"#Gap": share(line.unsafe_success.difference)} if line.unsafe_success else {}),
                **(dict(zip((least, most), map(share, line.bounds), strict=True)) if line.bounds else {}),
                unmatched: line.unmatched,
            }
            for line in comparison.lines
        ),
        caption + (" Unmatched: attempts with a verdict on one side only, left out." if unmatched.shown else ""),
    )
