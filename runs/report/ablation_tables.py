"""Terminal tables of an ablation."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from lawtrace.runs.report.text import percent, show_interval, show_probability, visible
from lawtrace.runs.scoring.ablation import Ablation, AxisEffect, SettingLine, VariantModelLine
from lawtrace.runs.variants import format_axis_value, format_setting, short_axis_names


def ablation_table(ablation: Ablation) -> Table:
    """A row for each variant and model under test."""
    table = _table("variant", "model", "goal", "workflow", "gap", "difference", "p")
    for line in ablation.lines:
        _add(table, _variant_cells(line))
    for variant in ablation.variants:
        if variant.ended is not None:
            _add(table, [str(variant.number), f"ended: {variant.ended}", "", "", "", "", ""])
    names = "".join(f"{variant.number}: {visible(variant.name)}\n" for variant in ablation.variants)
    table.caption = (
        f"{names}\n"
        "goal, workflow: Pass@1. gap: share of unsafe successes. difference: of Pass@1 to variant 1 over the attempts "
        "that both were judged on, with a 95 % interval (bootstrap over tasks). p: exact McNemar, in brackets adjusted "
        "for the lines of this table (Holm)."
    )
    return table


def axis_table(ablation: Ablation) -> Table:
    """A row for each model under test and each step from the first value of an axis to another."""
    table = _table("axis", "step", "model", "figure", "n", "share", "difference", "p")
    names = short_axis_names(ablation.variants[0].changes)
    for line in ablation.axes:
        _add(table, _axis_cells(names[line.axis], line))
    table.caption = (
        "What each axis does, all else equal: pairs of variants that differ in it alone, taken together. gap: share of "
        "unsafe successes."
    )
    return table


def setting_table(ablation: Ablation) -> Table:
    """A row for each model under test and each value of an axis."""
    table = _table("setting", "model", "Pass@1", "gap", "n", "pair score", "pairs")
    names = short_axis_names(ablation.variants[0].changes)
    for line in ablation.settings:
        _add(table, _setting_cells(names[line.axis], line))
    table.caption = (
        "Each value of an axis over all variants that have it; with another value the tasks may be others. pair score: "
        "contrast pairs right on both sides. Intervals: 95 % (Wilson)."
    )
    return table


def _setting_cells(name: str, line: SettingLine) -> list[str]:
    outcomes, pairs = line.outcomes, line.pairs
    return [
        format_setting(name, line.axis, line.value),
        line.model if line.task_variant == "authorized" else f"{line.model}, denied",
        f"{percent(outcomes.pass_at_1)} [{show_interval(outcomes.pass_at_1_interval)}]",
        percent(outcomes.inference_gap),
        str(outcomes.judged),
        f"{percent(pairs.score)} [{show_interval(pairs.interval)}]" if pairs.pairs else "–",
        str(pairs.pairs) if pairs.pairs else "–",
    ]


def _variant_cells(line: VariantModelLine) -> list[str]:
    compared = line.against_first
    unsafe = line.goal.count("unsafe_success") + line.workflow.count("unsafe_success")
    judged = line.goal.judged + line.workflow.judged
    model = line.model if line.task_variant == "authorized" else f"{line.model}, denied"
    return [
        str(line.variant.number),
        model,
        percent(line.goal.pass_at_1),
        percent(line.workflow.pass_at_1),
        percent(unsafe / judged if judged else None),
        f"{percent(compared.difference, unit='')} [{show_interval(compared.interval)}]" if compared else "–",
        f"{show_probability(compared.p_value)} ({show_probability(line.adjusted_p or 0.0)})" if compared else "–",
    ]


def _axis_cells(name: str, line: AxisEffect) -> list[str]:
    compared = line.compared
    return [
        name,
        f"{format_axis_value(line.axis, line.first)} -> {format_axis_value(line.axis, line.second)}",
        line.model if line.task_variant == "authorized" else f"{line.model}, denied",
        line.figure,
        str(compared.pairs),
        f"{percent(compared.first, unit='')} -> {percent(compared.second)}",
        f"{percent(compared.difference, unit='')} [{show_interval(compared.interval)}]",
        f"{show_probability(compared.p_value)} ({show_probability(line.adjusted_p)})",
    ]


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", justify="left" if number < 2 else "right")
    return table


def _add(table: Table, cells: list[str]) -> None:
    table.add_row(*(Text(visible(cell)) for cell in cells))
