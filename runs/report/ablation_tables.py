"""Tables of an ablation: variants, effects of the axes, settings, building; the outcomes of all variants together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lawtrace.environments.choices import TaskVariant
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.run_tables import difference
from lawtrace.runs.report.summary import OutcomeLine, outcome_lines
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Table,
    Target,
    columns,
    decimal,
    number,
    p_value,
    rows,
    share,
    words,
)
from lawtrace.runs.scoring.ablation import (
    Ablation,
    AxisEffect,
    SettingLine,
    VariantBuildLine,
    VariantModelLine,
)
from lawtrace.runs.variants import VariantRow, format_axis_value, format_setting, short_axis_names


def ablation_tables(ablation: Ablation) -> tuple[Table, ...]:
    """The tables of the results; the effects of the axes only where there are some."""
    effects = (axis_table(ablation),) if ablation.axes else ()
    return (variant_table(ablation), *effects, setting_table(ablation))


def variant_table(ablation: Ablation) -> Table:
    """A row for each variant and model under test, and for each variant that ended early."""
    axes = list(ablation.variants[0].changes)
    blank = [Cell(None, "–")] * 8
    ended = [
        [_variant_name(variant), *_settings(variant, axes), words(f"ended before it had verdicts: {variant.ended}")]
        for variant in ablation.variants
        if variant.ended is not None
    ]
    return Table(
        "variants",
        "Variants",
        (
            *columns("Variant", *_axis_names(axes), "Model"),
            *(Column(style, "Pass@1", numeric=True) for style in ("goal", "workflow")),
            *(Column(style, "Gap", numeric=True) for style in ("goal", "workflow")),
            *columns("#n", "#Pairs", "#Difference", "#p"),
        ),
        rows([*([*_variant_cells(line, axes)] for line in ablation.lines), *([*one, *blank] for one in ended)]),
        "each model under test in each variant. The difference of Pass@1 to variant 1 is over the attempts (task, "
        "style, trial) that both were judged on, with a 95 % interval (bootstrap over tasks) and McNemar's exact "
        "p-value, in brackets adjusted for all lines of this table (Holm). Gap: share of unsafe successes.",
        grouped=True,
    )


def _variant_name(variant: VariantRow) -> Cell:
    link = None if variant.ended is not None else Target("variant_report", {"number": variant.number})
    return Cell(variant.number, str(variant.number), link=link)


def _axis_names(axes: Sequence[str]) -> list[str]:
    return list(short_axis_names(axes).values())


def _settings(variant: VariantRow, axes: Sequence[str]) -> list[Cell]:
    return [words(format_axis_value(axis, variant.changes[axis])) for axis in axes]


def _model(model: str, variant: TaskVariant) -> Cell:
    return words(model if variant == "authorized" else f"{model}, denied sessions")


def _variant_cells(line: VariantModelLine, axes: Sequence[str]) -> list[Cell]:
    compared = line.against_first
    invalid = line.goal.invalid + line.workflow.invalid
    return [
        _variant_name(line.variant),
        *_settings(line.variant, axes),
        _model(line.model, line.task_variant),
        share(line.goal.pass_at_1),
        share(line.workflow.pass_at_1),
        share(line.goal.inference_gap),
        share(line.workflow.inference_gap),
        number(line.goal.judged + line.workflow.judged, aside=f"+ {invalid} invalid" if invalid else ""),
        number(compared.pairs if compared else None),
        difference(compared) if compared else Cell(None, "–"),
        p_value(compared.p_value if compared else None, line.adjusted_p),
    ]


def axis_table(ablation: Ablation) -> Table:
    """A row for each model under test and each step from the first value of an axis to another."""
    names = short_axis_names(ablation.variants[0].changes)
    return Table(
        "axes",
        "Axes",
        columns("Axis", "First", "Other", "Model", "Figure", "#n", "#with first", "#with other", "#Difference", "#p"),
        rows([_axis_cells(names[line.axis], line) for line in ablation.axes]),
        "the effect of each axis, all else equal: Pass@1 and the gap (share of unsafe successes) with the first value "
        "and with another, pooled over all pairs of variants that differ in this axis only. Pairs that share the "
        "attempts of both sides count once. Interval and p as above, adjusted for the lines of this table. The test "
        "treats attempts as independent, the interval does not.",
        grouped=True,
    )


def _axis_cells(name: str, line: AxisEffect) -> list[Cell]:
    compared = line.compared
    return [
        words(name),
        words(format_axis_value(line.axis, line.first)),
        words(format_axis_value(line.axis, line.second)),
        _model(line.model, line.task_variant),
        words(line.figure),
        number(compared.pairs),
        share(compared.first),
        share(compared.second),
        difference(compared),
        p_value(compared.p_value, line.adjusted_p),
    ]


def setting_table(ablation: Ablation) -> Table:
    """A row for each model under test and each value of an axis."""
    names = short_axis_names(ablation.variants[0].changes)
    return Table(
        "settings",
        "Settings",
        columns("Axis", "Value", "Model", "#Pass@1", "#Gap", "#n", "#Pair score", "#Pairs"),
        rows([_setting_cells(names[line.axis], line) for line in ablation.settings]),
        "each value of an axis over all variants that have it; with another value the tasks may be others, so nothing "
        "is paired. Pair score: the share of contrast pairs that are right on both sides. Intervals: 95 % (Wilson), "
        "with attempts treated as independent.",
        grouped=True,
    )


def _setting_cells(name: str, line: SettingLine) -> list[Cell]:
    outcomes, pairs = line.outcomes, line.pairs
    return [
        words(name),
        words(format_axis_value(line.axis, line.value)),
        _model(line.model, line.task_variant),
        share(outcomes.pass_at_1, interval=outcomes.pass_at_1_interval),
        share(outcomes.inference_gap),
        number(outcomes.judged),
        share(pairs.score, interval=pairs.interval),
        number(pairs.pairs or None),
    ]


def variant_building_table(ablation: Ablation) -> Table:
    """How the rules and tasks of each variant were built."""
    axes = list(ablation.variants[0].changes)
    return Table(
        "variant-building",
        "Building",
        (
            *columns("Variant", *_axis_names(axes), "#Traces tried", "#Pairs accepted", "#Rounds, mean", "Dropped"),
            *(Column(head, "Extraction", numeric=True) for head in ("precision", "recall")),
            Column("Shared"),
        ),
        rows([_building_cells(line, axes) for line in ablation.building]),
        "how the rules and tasks of each variant were built. Extraction: extracted rules against the curated ones. A "
        "stage with the same inputs as in an earlier variant is computed once and shared.",
    )


def _building_cells(line: VariantBuildLine, axes: Sequence[str]) -> list[Cell]:
    funnel = line.findings.funnel if line.findings else None
    score = line.findings.extraction if line.findings else None
    dropped = ", ".join(f"{reason} ({count})" for reason, count in funnel.dropped.items()) if funnel else ""
    return [
        Cell(line.variant.number, str(line.variant.number)),
        *_settings(line.variant, axes),
        number(funnel.traces if funnel else None),
        number(funnel.accepted if funnel else None),
        decimal(line.mean_rounds),
        words(dropped),
        share(score.precision if score else None),
        share(score.recall if score else None),
        words(line.shared or "–"),
    ]


def variant_lines(ablation: Ablation, contents: Mapping[int, ReportContent]) -> list[OutcomeLine]:
    """The outcomes of all variants (number -> content), a model with its settings other than the environment.

    If there are such settings, the added baselines are left out: they are the same in most of them.
    """
    axes = [axis for axis in ablation.variants[0].changes if axis != "environment"]
    names = short_axis_names(axes)
    lines: list[OutcomeLine] = []
    for row in ablation.variants:
        if row.number not in contents:
            continue
        setting = ", ".join(format_setting(names[axis], axis, row.changes[axis]) for axis in axes)
        lines += [
            replace(line, model=f"{line.verdicts[0].model}, {setting}" if setting else line.model, variant=row.name)
            for line in outcome_lines(contents[row.number])
            if not setting or line.verdicts[0].model in row.models
        ]
    return lines
