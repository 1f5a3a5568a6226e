"""The figures of the report: outcomes like the paper's Figure 2, and which adjacent pairs of tools the traces cover."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as MplPath
from matplotlib.transforms import Affine2D

from runs.grading.verdict import OUTCOMES, Outcome
from runs.metrics import Tally
from runs.report.content import CoverageLine
from runs.report.looks import OUTCOME_LOOKS
from runs.report.svg import INK, figure_of, render_svg, svg_settings
from runs.report.texts import percent, visible

__all__ = ["draw_outcomes", "draw_pairs"]

PANEL_WIDTH = 4.8
LABELLED_FROM = 0.05
"""Shares below this have no room for their percentage; the verdict table has them all."""

NAME_CHARACTERS = 28
PAIR_COLOUR = "#0072B2"

_CROSS = MplPath(
    [(0.3, 0.3), (0.7, 0.7), (0.3, 0.7), (0.7, 0.3)], [MplPath.MOVETO, MplPath.LINETO, MplPath.MOVETO, MplPath.LINETO]
)

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
        figure = figure_of(2.6 + 0.25 * len(tools), 1.6 + 0.25 * len(tools))
        axes = figure.subplots()
        _draw_cells(axes, line, tools)
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


def _draw_cells(axes: Axes, line: CoverageLine, tools: Sequence[str]) -> None:
    """A square for each pair. One path for all of a kind, since a page may hold many such maps."""
    impossible = set[tuple[str, str]]()
    if line.possible_pairs is not None:
        impossible = {(first, second) for first in tools for second in tools} - line.possible_pairs - line.search.pairs
    covered, others, crosses = list[MplPath](), list[MplPath](), list[MplPath]()
    for row, first in enumerate(tools):
        for column, second in enumerate(tools):
            square = MplPath.unit_rectangle().transformed(Affine2D().scale(0.88).translate(column + 0.06, row + 0.06))
            (covered if (first, second) in line.search.pairs else others).append(square)
            if (first, second) in impossible:
                crosses.append(_CROSS.transformed(Affine2D().translate(column, row)))
    for paths, colour in ((covered, PAIR_COLOUR), (others, "none"), (crosses, "none")):
        if paths:
            axes.add_patch(
                PathPatch(MplPath.make_compound_path(*paths), facecolor=colour, edgecolor=INK, linewidth=0.4)
            )


def _set_names(axes: Axes, axis: Literal["x", "y"], names: Sequence[str], offset: float = 0.0) -> None:
    places = [place + offset for place in range(len(names))]
    shown = [visible(_fit(name)) for name in names]
    (axes.set_xticks if axis == "x" else axes.set_yticks)(places, labels=shown)


def _fit(name: str) -> str:
    """A long name with its middle left out: provider and version stand at its ends."""
    half = NAME_CHARACTERS // 2
    return name if len(name) <= NAME_CHARACTERS else f"{name[:half]}…{name[1 - half :]}"
