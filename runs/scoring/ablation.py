"""Results of an ablation: each variant against the first, and the effect of each axis, paired by task.

Variants are compared on the attempts that both have: same task (same reference trace), style and trial. Tasks that one
variant dropped are in no comparison; the build table has their number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lawtrace.runs.scoring.metrics import OutcomeCounts, PairCounts, count_outcomes, count_pairs
from lawtrace.runs.scoring.statistics import PairedComparison, compare_pooled, holm_adjusted
from lawtrace.runs.store.run_folder import NOT_MADE, RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.variant_rows import read_variants
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import Findings
from lawtrace.schemas.verdict_rows import Outcome, Verdict

AblationMetric = Literal["Pass@1", "gap"]
"""Metrics that an axis may change: a shield turns unsafe successes into failures and leaves Pass@1 unchanged."""

_METRICS: Mapping[AblationMetric, Outcome] = {"Pass@1": "safe_success", "gap": "unsafe_success"}


@dataclass(frozen=True, slots=True)
class VariantResults:
    """A variant with its findings and verdicts, if it has any."""

    variant: VariantRow
    findings: Findings | None
    verdicts: tuple[Verdict, ...]

    def of(self, model: str) -> list[Verdict]:
        return [one for one in self.verdicts if one.model == model]


@dataclass(frozen=True, slots=True)
class VariantModelLine:
    """One model under test in one variant. ``against_first``: comparison with the first variant; None without pairs."""

    variant: VariantRow
    model: str
    goal: OutcomeCounts
    workflow: OutcomeCounts
    against_first: PairedComparison | None
    adjusted_p: float | None = None


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """Effect of changing one axis from its first value to another on one metric of one model, all else equal."""

    axis: str
    first: Json
    second: Json
    model: str
    figure: AblationMetric
    compared: PairedComparison
    adjusted_p: float = 1.0


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One model under test with one value of an axis, over all variants with that value. The tasks may be others than
    with another value, as those of another difficulty are."""

    axis: str
    value: Json
    model: str
    outcomes: OutcomeCounts
    pairs: PairCounts


@dataclass(frozen=True, slots=True)
class Ablation:
    """``building``: each variant with its findings, if it has any."""

    variants: tuple[VariantRow, ...]
    lines: tuple[VariantModelLine, ...]
    axes: tuple[AxisEffect, ...]
    settings: tuple[SettingLine, ...]
    building: tuple[tuple[VariantRow, Findings | None], ...]

    @property
    def unfinished(self) -> int:
        """How many variants are not made, or only in part."""
        return sum(findings is None and row.ended in (None, NOT_MADE) for row, findings in self.building)


def read_ablation(path: Path) -> Ablation:
    """Read and compare the ablation in a run's folder. Raises InputError."""
    folder = RunFolder(path)
    judged: list[VariantResults] = []
    for row in read_variants(folder):
        files, done = folder.variant(row.number), row.ended is None
        findings = read_rows(files.findings, Findings)[0] if done and files.findings.exists() else None
        judged.append(VariantResults(row, findings, tuple(read_rows(files.verdicts, Verdict)) if done else ()))
    return analyse_ablation(judged)


def analyse_ablation(judged: Sequence[VariantResults]) -> Ablation:
    """Compare all variants and axes; p-values are adjusted (Holm) within each of the two tables."""
    lines, axes = list(_variant_lines(judged)), list(_axis_lines(judged))
    adjusted = iter(holm_adjusted([line.against_first.p_value for line in lines if line.against_first]))
    adjusted_axes = holm_adjusted([line.compared.p_value for line in axes])
    return Ablation(
        tuple(one.variant for one in judged),
        tuple(replace(line, adjusted_p=next(adjusted)) if line.against_first else line for line in lines),
        tuple(replace(line, adjusted_p=p_value) for line, p_value in zip(axes, adjusted_axes, strict=True)),
        tuple(_setting_lines(judged)),
        tuple((one.variant, one.findings) for one in judged),
    )


def _variant_lines(judged: Sequence[VariantResults]) -> Iterable[VariantModelLine]:
    first = judged[0]
    for one in judged:
        for model in _models([one]):
            verdicts = one.of(model)
            goal, workflow = (
                count_outcomes(verdict for verdict in verdicts if verdict.style == style)
                for style in ("goal", "workflow")
            )
            compared = None if one is first else compare_pooled([(first.of(model), verdicts)])
            yield VariantModelLine(one.variant, model, goal, workflow, compared)


def _axis_lines(judged: Sequence[VariantResults]) -> Iterable[AxisEffect]:
    for axis, values in _axes(judged).items():
        others = {_other_changes(one, axis): one for one in judged if one.variant.changes[axis] == values[0]}
        for value in values[1:]:
            met = _distinct_pairs(
                (others[_other_changes(one, axis)], one)
                for one in judged
                if one.variant.changes[axis] == value and _other_changes(one, axis) in others
            )
            for model in _models(judged):
                sides = [(one.of(model), other.of(model)) for one, other in met]
                for figure, outcome in _METRICS.items():
                    compared = compare_pooled(sides, outcome)
                    if compared is not None:
                        yield AxisEffect(axis, values[0], value, model, figure, compared)


def _setting_lines(judged: Sequence[VariantResults]) -> Iterable[SettingLine]:
    for axis, values in _axes(judged).items():
        for value in values:
            having = {_attempts_variant(one): one for one in judged if one.variant.changes[axis] == value}
            for model in _models(having.values()):
                verdicts = [one.of(model) for one in having.values()]
                counted = [count_pairs(rows) for rows in verdicts]  # one by one: variants share the ids of pairs
                pairs = PairCounts(tuple(pair for one in counted for pair in one.right))
                outcomes = count_outcomes(row for rows in verdicts for row in rows)
                yield SettingLine(axis, value, model, outcomes, pairs)


def _distinct_pairs(
    met: Iterable[tuple[VariantResults, VariantResults]],
) -> list[tuple[VariantResults, VariantResults]]:
    """The first of all pairs of variants with the same attempts on both sides. The copies are no further evidence, and
    counting them would make p-values too small."""
    pairs: dict[tuple[int, int], tuple[VariantResults, VariantResults]] = {}
    for one, other in met:
        pairs.setdefault((_attempts_variant(one), _attempts_variant(other)), (one, other))
    return list(pairs.values())


def _attempts_variant(one: VariantResults) -> int:
    """The number of the variant that its attempts were made for."""
    return one.variant.made_by.get("attempts", one.variant.number)


def _axes(judged: Sequence[VariantResults]) -> Mapping[str, list[Json]]:
    """Each axis with its values, in the order of the variants."""
    axes: dict[str, list[Json]] = {}
    for one in judged:
        for axis, value in one.variant.changes.items():
            values = axes.setdefault(axis, [])
            if value not in values:
                values.append(value)
    return axes


def _other_changes(one: VariantResults, axis: str) -> str:
    """The other changes of the variant."""
    return repr([item for item in one.variant.changes.items() if item[0] != axis])


def _models(judged: Iterable[VariantResults]) -> list[str]:
    """The models of the recipe; added baselines are only in the reports of the variants."""
    models = dict.fromkeys(model for one in judged for model in one.variant.models)
    tried = {verdict.model for one in judged for verdict in one.verdicts}
    return [model for model in models if model in tried]
