"""The figures of the report: outcomes like the paper's Figure 2, and which adjacent pairs of tools the traces cover."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from runs.grading.verdict import OUTCOMES, Outcome
from runs.metrics import Tally
from runs.report.content import CoverageLine
from runs.report.looks import OUTCOME_LOOKS
from runs.report.svg import INK, figure_of, render_svg, svg_settings
from runs.report.texts import percent, visible

__all__ = ["draw_outcomes", "draw_pairs"]

PANEL_WIDTH = 6.0
LABELLED_FROM = 0.05
"""Shares below this have no room for their percentage; the verdict table has them all."""

NAME_CHARACTERS = 28
PAIR_COLOUR = "#0072B2"

_RATED: tuple[Outcome, ...] = tuple(outcome for outcome in OUTCOMES if outcome != "invalid")


def draw_outcomes(lines: Sequence[tuple[str, Tally]], name: str, title: str) -> Markup:
    """One panel: a stacked bar for each model, its attempts beside it, those without verdict counted apart."""
    with svg_settings():
        figure = figure_of(PANEL_WIDTH, 0.75 + 0.34 * len(lines))
        axes = figure.subplots()
        for place, (_, tally) in enumerate(lines):
            _draw_bar(axes, place, tally)
        _set_names(axes, "y", [model for model, _ in lines])
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
            label = axes.text(left + share / 2, place, f"{100 * share:.0f}", ha="center", va="center", color="black")
            if look.hatch:
                label.set_bbox({"facecolor": look.colour, "edgecolor": "none", "pad": 1.2})
        left += share
    beside = f"n = {tally.judged}" + (f", {tally.invalid} invalid" if tally.invalid else "")
    axes.text(1.015, place, beside, va="center")


def _in_words(lines: Sequence[tuple[str, Tally]]) -> str:
    return " ".join(
        f"{visible(model)}: "
        + ", ".join(f"{OUTCOME_LOOKS[outcome].label} {percent(tally.share(outcome), digits=0)}" for outcome in _RATED)
        + "."
        for model, tally in lines
    )


def draw_pairs(line: CoverageLine, name: str, title: str) -> Markup:
    """Which ordered pairs of adjacent tools occur: filled if so, crossed out if no trace of the profile can have it."""
    tools = line.tools or tuple(sorted({tool for pair in line.search.pairs for tool in pair}))
    with svg_settings():
        figure = figure_of(2.2 + 0.27 * len(tools), 2.0 + 0.27 * len(tools))
        axes = figure.subplots()
        for row, first in enumerate(tools):
            for column, second in enumerate(tools):
                _draw_pair(axes, row, column, _pair_kind(line, first, second))
        axes.set_xlim(0, len(tools))
        axes.set_ylim(len(tools), 0)
        axes.set_aspect("equal")
        _set_names(axes, "x", tools, offset=0.5)
        _set_names(axes, "y", tools, offset=0.5)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        for label in axes.get_xticklabels():
            label.set(rotation=55, ha="left", va="baseline", rotation_mode="anchor")
        axes.spines[:].set_visible(False)
        axes.set_ylabel("a call of ...")
        axes.set_xlabel("... is followed by a call of")
        axes.xaxis.set_label_position("top")
        found = f"{len(line.search.pairs)} of {line.search.all_pairs} ordered pairs of adjacent tools occur."
        return render_svg(figure, name, f"{title}. {found}")


PairKind = Literal["covered", "possible", "impossible"]


def _pair_kind(line: CoverageLine, first: str, second: str) -> PairKind:
    if (first, second) in line.search.pairs:
        return "covered"
    if line.possible_pairs is not None and (first, second) not in line.possible_pairs:
        return "impossible"
    return "possible"


def _draw_pair(axes: Axes, row: int, column: int, kind: PairKind) -> None:
    colour = PAIR_COLOUR if kind == "covered" else "none"
    axes.add_patch(Rectangle((column + 0.06, row + 0.06), 0.88, 0.88, fc=colour, ec=INK, lw=0.3))
    if kind == "impossible":
        axes.plot([column + 0.3, column + 0.7], [row + 0.3, row + 0.7], color=INK, lw=0.6)
        axes.plot([column + 0.3, column + 0.7], [row + 0.7, row + 0.3], color=INK, lw=0.6)


def _set_names(axes: Axes, axis: Literal["x", "y"], names: Sequence[str], offset: float = 0.0) -> None:
    places = [place + offset for place in range(len(names))]
    shown = [visible(_fit(name)) for name in names]
    (axes.set_xticks if axis == "x" else axes.set_yticks)(places, labels=shown)


def _fit(name: str) -> str:
    """A long name with its middle left out: provider and version stand at its ends."""
    half = NAME_CHARACTERS // 2
    return name if len(name) <= NAME_CHARACTERS else f"{name[:half]}…{name[1 - half :]}"
