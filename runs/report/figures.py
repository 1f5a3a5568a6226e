"""The figures of the report: outcomes like the paper's Figure 2, and which adjacent pairs of tools the traces cover."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lawtrace.runs.grading.verdict import OUTCOMES, Outcome
from lawtrace.runs.metrics import Tally
from lawtrace.runs.report.content import CoverageLine
from lawtrace.runs.report.heatmap import draw_heat_map, fit
from lawtrace.runs.report.looks import OUTCOME_LOOKS
from lawtrace.runs.report.svg import INK, figure_of, render_svg, svg_settings
from lawtrace.runs.report.texts import percent, short_percent
from lawtrace.runs.visibility import visible

PANEL_WIDTH = 4.8
LABELLED_FROM = 0.08
"""Shares below this have no room for their percentage; the verdict table has them all."""

_RATED: tuple[Outcome, ...] = tuple(outcome for outcome in OUTCOMES if outcome != "invalid")


def draw_outcomes(lines: Sequence[tuple[str, Tally]], name: str, title: str) -> Markup:
    """One panel: a stacked bar for each model, its attempts beside it, those without verdict counted apart."""
    with svg_settings():
        figure = figure_of(PANEL_WIDTH, 0.75 + 0.34 * len(lines))
        axes = figure.subplots()
        for place, (_, tally) in enumerate(lines):
            _draw_bar(axes, place, tally)
        _set_names(axes, [model for model, _ in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100 %"])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        return render_svg(figure, name, f"{title}. {_in_words(lines)}")


def _draw_bar(axes: Axes, place: int, tally: Tally) -> None:
    left = 0.0
    for outcome in _RATED:
        look, share = OUTCOME_LOOKS[outcome], tally.share(outcome) or 0.0
        if share:
            bar = Rectangle((left, place - 0.38), share, 0.76, fc=look.colour, ec="black", lw=0.5, hatch=look.hatch)
            axes.add_patch(bar)
        if share > LABELLED_FROM:
            text = short_percent(share, unit="")
            label = axes.text(left + share / 2, place, text, ha="center", va="center", color="black")
            if look.hatch:
                label.set_bbox({"facecolor": look.colour, "edgecolor": "none", "pad": 1.2})
        left += share
    beside = f"n = {tally.judged}"
    if tally.judged < tally.planned:
        beside += f" of {tally.planned}" + (f", {tally.invalid} invalid" if tally.invalid else "")
    axes.text(1.015, place, beside, va="center")


def _in_words(lines: Sequence[tuple[str, Tally]]) -> str:
    return " ".join(
        f"{visible(model)}: "
        + ", ".join(f"{OUTCOME_LOOKS[outcome].label} {percent(tally.share(outcome), digits=0)}" for outcome in _RATED)
        + "."
        for model, tally in lines
    )


def draw_pairs(line: CoverageLine, name: str, title: str) -> Markup:
    """Which ordered pairs of adjacent tools occur and how often; crossed out what no trace of the profile can have."""
    tools = line.tools or tuple(sorted({tool for pair in line.search.pairs for tool in pair}))
    with svg_settings():
        figure = figure_of(2.6 + 0.25 * len(tools), 1.6 + 0.25 * len(tools))
        occurrences = line.occurrences or dict.fromkeys(line.search.pairs, 1)
        draw_heat_map(figure.subplots(), tools, occurrences, line.possible_pairs, INK)
        found = f"{len(line.search.pairs)} of {line.search.all_pairs} ordered pairs of adjacent tools occur."
        return render_svg(figure, name, f"{title}. {found}")


def _set_names(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), labels=[visible(fit(name)) for name in names])
