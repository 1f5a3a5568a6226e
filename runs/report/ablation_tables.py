"""Tables of an ablation: variants, effects of the axes, settings, building; the outcomes of all variants together."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.outcome_lines import OutcomeLine, outcome_lines
from lawtrace.runs.report.outcome_tables import paired_cells
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Line,
    Table,
    Target,
    decimal,
    filled,
    make_table,
    number,
    p_value,
    share,
)
from lawtrace.runs.scoring.ablation import Ablation
from lawtrace.runs.variants import VariantRow, format_axis_value, format_setting, short_axis_names


def ablation_tables(ablation: Ablation) -> tuple[Table, ...]:
    """The tables of the results; the effects of the axes only where there are some."""
    return (variant_table(ablation), *axis_tables(ablation))


def variant_table(ablation: Ablation) -> Table:
    """A row for each variant and model under test, and for each variant that ended early."""

    def rates(title: str, goal: float | None, workflow: float | None) -> dict[str, Cell]:
        return {f"#{title} > goal": share(goal), f"#{title} > workflow": share(workflow)}

    def lines() -> Iterator[Line]:
        for line in ablation.lines:
            goal, workflow, compared = line.goal, line.workflow, line.against_first
            invalid = goal.invalid + workflow.invalid
            yield {
                "Variant": _variant(line.variant),
                **_axis_cells(line.variant),
                "Model": line.model,
                **rates("Pass@1", goal.pass_at_1, workflow.pass_at_1),
                **rates("Gap", goal.inference_gap, workflow.inference_gap),
                "#n": number(goal.judged + workflow.judged, aside=f"+ {invalid} invalid" if invalid else ""),
                "#Pairs": compared.pairs if compared else None,
                "#Difference": share(compared.difference, interval=compared.interval) if compared else None,
                "#p": p_value(compared.p_value if compared else None, line.adjusted_p),
            }
        for variant in ablation.variants:
            if variant.ended is not None:
                yield {
                    "Variant": variant.number,
                    **_axis_cells(variant),
                    "Model": f"ended before it had verdicts: {variant.ended}",
                }

    return make_table(
        "variants",
        "Variants",
        lines(),
        "each model under test in each variant. The difference of Pass@1 to variant 1 is over the attempts (task, "
        "style, trial) that both were judged on, with a 95 % interval (bootstrap over tasks) and McNemar's exact "
        "p-value, in brackets adjusted for all lines of this table (Holm). Gap: share of unsafe successes.",
        grouped=True,
    )


def _variant(variant: VariantRow) -> Cell:
    return number(variant.number, link=Target("variant_report", {"number": variant.number}))


def _axis_cells(variant: VariantRow) -> dict[Column, str]:
    """The value of each axis in a variant."""
    names = short_axis_names(variant.changes)
    return {Column(names[axis]): format_axis_value(axis, value) for axis, value in variant.changes.items()}


def axis_tables(ablation: Ablation) -> tuple[Table, ...]:
    """For each model under test a row for each step from the first value of an axis to another, and for each value."""
    names = short_axis_names(ablation.variants[0].changes)
    effects = make_table(
        "axes",
        "Axes",
        (
            {
                "Axis": names[line.axis],
                "First": format_axis_value(line.axis, line.first),
                "Other": format_axis_value(line.axis, line.second),
                "Model": line.model,
                "Figure": line.figure,
                **paired_cells("#with first", "#with other", line.compared, line.adjusted_p),
            }
            for line in ablation.axes
        ),
        "the effect of each axis, all else equal: Pass@1 and the gap (share of unsafe successes) with the first value "
        "and with another, pooled over all pairs of variants that differ in this axis only. Pairs that share the "
        "attempts of both sides count once. Interval and p as above, adjusted for the lines of this table. The test "
        "treats attempts as independent, the interval does not.",
        grouped=True,
    )
    settings = make_table(
        "settings",
        "Settings",
        (
            {
                "Axis": names[line.axis],
                "Value": format_axis_value(line.axis, line.value),
                "Model": line.model,
                "#Pass@1": share(line.outcomes.pass_at_1, interval=line.outcomes.pass_at_1_interval),
                "#Gap": share(line.outcomes.inference_gap),
                "#n": line.outcomes.judged,
                "#Pair score": share(line.pairs.score, interval=line.pairs.interval),
                "#Pairs": line.pairs.pairs or None,
            }
            for line in ablation.settings
        ),
        "each value of an axis over all variants that have it; with another value the tasks may be others, so nothing "
        "is paired. Pair score: the share of contrast pairs that are right on both sides. Intervals: 95 % (Wilson), "
        "over decision points, with other attempts treated as independent.",
        grouped=True,
    )
    return filled(effects, settings)


def variant_building_table(ablation: Ablation) -> Table:
    """How the rules and tasks of each variant were built."""

    def lines() -> Iterator[Line]:
        for variant, findings in ablation.building:
            funnel = findings.funnel if findings else None
            extraction = findings.extraction if findings else None
            made = ((stage.replace("_", " "), by) for stage, by in variant.made_by.items() if by != variant.number)
            yield {
                "Variant": Cell(variant.number, str(variant.number)),
                **_axis_cells(variant),
                "#Traces tried": funnel.traces if funnel else None,
                "#Pairs accepted": funnel.accepted if funnel else None,
                "#Rounds, mean": decimal(funnel.mean_rounds if funnel else None),
                "Dropped": ", ".join(f"{reason} ({count})" for reason, count in funnel.dropped.items())
                if funnel
                else "",
                "#Lawful sessions allowed": share(extraction.rate(extraction.kept) if extraction else None),
                "#Unlawful ones forbidden": share(extraction.rate(extraction.caught) if extraction else None),
                "Shared": ", ".join(f"{stage} with {by}" for stage, by in made) or "–",
            }

    return make_table(
        "variant-building",
        "Building",
        lines(),
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
