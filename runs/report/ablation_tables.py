"""Tables of an ablation: variants, effects of the axes, settings, building; the outcomes of all variants together."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.run_tables import difference, paired_cells
from lawtrace.runs.report.summary import OutcomeLine, outcome_lines
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Line,
    Table,
    Target,
    decimal,
    make_table,
    number,
    p_value,
    share,
    words,
)
from lawtrace.runs.scoring.ablation import Ablation, VariantModelLine
from lawtrace.runs.scoring.metrics import count_outcomes
from lawtrace.runs.variants import VariantRow, format_axis_value, format_setting, short_axis_names
from lawtrace.schemas.choices import TaskVariant
from lawtrace.schemas.findings import TaskFunnel


def ablation_tables(ablation: Ablation) -> tuple[Table, ...]:
    """The tables of the results; the effects of the axes only where there are some."""
    effects = (axis_table(ablation),) if ablation.axes else ()
    return (variant_table(ablation), *effects, setting_table(ablation))


def variant_table(ablation: Ablation) -> Table:
    """A row for each variant and model under test, and for each variant that ended early."""
    ended = [
        VariantModelLine(variant, "", "authorized", count_outcomes(()), count_outcomes(()), None)
        for variant in ablation.variants
        if variant.ended is not None
    ]

    def rate(figure: Callable[[VariantModelLine], float | None]) -> Callable[[VariantModelLine], Cell]:
        return lambda line: share(figure(line))

    return make_table(
        "variants",
        "Variants",
        [*ablation.lines, *ended],
        {
            "Variant": lambda line: _variant_name(line.variant),
            **_axis_cells(ablation, lambda line: line.variant),
            "Model": lambda line: _model_or_end(line),
            "#Pass@1 > goal": rate(lambda line: line.goal.pass_at_1),
            "#Pass@1 > workflow": rate(lambda line: line.workflow.pass_at_1),
            "#Gap > goal": rate(lambda line: line.goal.inference_gap),
            "#Gap > workflow": rate(lambda line: line.workflow.inference_gap),
            "#n": _judged,
            "#Pairs": lambda line: number(line.against_first.pairs if line.against_first else None),
            "#Difference": lambda line: difference(line.against_first) if line.against_first else Cell(None, "–"),
            "#p": lambda line: p_value(line.against_first.p_value if line.against_first else None, line.adjusted_p),
        },
        "each model under test in each variant. The difference of Pass@1 to variant 1 is over the attempts (task, "
        "style, trial) that both were judged on, with a 95 % interval (bootstrap over tasks) and McNemar's exact "
        "p-value, in brackets adjusted for all lines of this table (Holm). Gap: share of unsafe successes.",
        grouped=True,
    )


def _judged(line: VariantModelLine) -> Cell:
    invalid = line.goal.invalid + line.workflow.invalid
    aside = f"+ {invalid} invalid" if invalid else ""
    return number(None if line.variant.ended else line.goal.judged + line.workflow.judged, aside=aside)


def _variant_name(variant: VariantRow) -> Cell:
    link = None if variant.ended is not None else Target("variant_report", {"number": variant.number})
    return Cell(variant.number, str(variant.number), link=link)


def _axis_cells(
    ablation: Ablation, variant: Callable[[Line], VariantRow]
) -> dict[str | Column, Callable[[Line], Cell]]:
    """A column for each axis with its value in a variant."""
    names = short_axis_names(list(ablation.variants[0].changes))
    return {
        Column(name): lambda line, axis=axis: words(format_axis_value(axis, variant(line).changes[axis]))
        for axis, name in names.items()
    }


def _model_or_end(line: VariantModelLine) -> Cell:
    if line.variant.ended is not None:
        return words(f"ended before it had verdicts: {line.variant.ended}")
    return _model(line.model, line.task_variant)


def _model(model: str, variant: TaskVariant) -> Cell:
    return words(model if variant == "authorized" else f"{model}, denied sessions")


def axis_table(ablation: Ablation) -> Table:
    """A row for each model under test and each step from the first value of an axis to another."""
    names = short_axis_names(ablation.variants[0].changes)
    return make_table(
        "axes",
        "Axes",
        ablation.axes,
        {
            "Axis": lambda line: words(names[line.axis]),
            "First": lambda line: words(format_axis_value(line.axis, line.first)),
            "Other": lambda line: words(format_axis_value(line.axis, line.second)),
            "Model": lambda line: _model(line.model, line.task_variant),
            "Figure": lambda line: words(line.figure),
            **paired_cells("#with first", "#with other", lambda line: (line.compared, line.adjusted_p)),
        },
        "the effect of each axis, all else equal: Pass@1 and the gap (share of unsafe successes) with the first value "
        "and with another, pooled over all pairs of variants that differ in this axis only. Pairs that share the "
        "attempts of both sides count once. Interval and p as above, adjusted for the lines of this table. The test "
        "treats attempts as independent, the interval does not.",
        grouped=True,
    )


def setting_table(ablation: Ablation) -> Table:
    """A row for each model under test and each value of an axis."""
    names = short_axis_names(ablation.variants[0].changes)
    return make_table(
        "settings",
        "Settings",
        ablation.settings,
        {
            "Axis": lambda line: words(names[line.axis]),
            "Value": lambda line: words(format_axis_value(line.axis, line.value)),
            "Model": lambda line: _model(line.model, line.task_variant),
            "#Pass@1": lambda line: share(line.outcomes.pass_at_1, interval=line.outcomes.pass_at_1_interval),
            "#Gap": lambda line: share(line.outcomes.inference_gap),
            "#n": lambda line: number(line.outcomes.judged),
            "#Pair score": lambda line: share(line.pairs.score, interval=line.pairs.interval),
            "#Pairs": lambda line: number(line.pairs.pairs or None),
        },
        "each value of an axis over all variants that have it; with another value the tasks may be others, so nothing "
        "is paired. Pair score: the share of contrast pairs that are right on both sides. Intervals: 95 % (Wilson), "
        "with attempts treated as independent.",
        grouped=True,
    )


def variant_building_table(ablation: Ablation) -> Table:
    """How the rules and tasks of each variant were built."""

    def dropped(funnel: TaskFunnel) -> str:
        return ", ".join(f"{reason} ({count})" for reason, count in funnel.dropped.items())

    return make_table(
        "variant-building",
        "Building",
        ablation.building,
        {
            "Variant": lambda line: Cell(line.variant.number, str(line.variant.number)),
            **_axis_cells(ablation, lambda line: line.variant),
            "#Traces tried": lambda line: number(line.funnel.traces if line.funnel else None),
            "#Pairs accepted": lambda line: number(line.funnel.accepted if line.funnel else None),
            "#Rounds, mean": lambda line: decimal(line.mean_rounds),
            "Dropped": lambda line: words(dropped(line.funnel) if line.funnel else ""),
            "#Extraction > precision": lambda line: share(line.extraction.precision if line.extraction else None),
            "#Extraction > recall": lambda line: share(line.extraction.recall if line.extraction else None),
            "Shared": lambda line: words(line.shared or "–"),
        },
        "how the rules and tasks of each variant were built. Extraction: extracted rules against the curated ones. A "
        "stage with the same inputs as in an earlier variant is computed once and shared.",
    )


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
