"""A map of the ordered pairs of adjacent tools: the darker, the more traces have the pair; crossed out, none can."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as MplPath
from matplotlib.transforms import Affine2D

from lawtrace.runs.report.text import visible
from lawtrace.solver.planner.tool_sequences import ToolPair

NAME_CHARACTERS: Final = 28
SHADES: Final = (("1", "#9ecae1"), ("2 or 3", "#6baed6"), ("4 to 7", "#2f7fbc"), ("8 or more", "#08468b"))
"""How often, in words, with its colour; each from twice as many traces as the one before."""

_CROSS = MplPath(
    [(0.3, 0.3), (0.7, 0.7), (0.3, 0.7), (0.7, 0.3)], [MplPath.MOVETO, MplPath.LINETO, MplPath.MOVETO, MplPath.LINETO]
)


def draw_heat_map(
    axes: Axes,
    tools: Sequence[str],
    occurrences: Mapping[ToolPair, int],
    possible: AbstractSet[ToolPair] | None,
    ink: str,
) -> None:
    """A square for each pair. One path for all of a kind, since a page may hold many such maps.

    Args:
        occurrences: in how many traces each pair occurs.
        possible: the pairs that some trace can have; None if that is not known.
    """
    shaded: list[list[MplPath]] = [[] for _ in SHADES]
    empty, crosses = list[MplPath](), list[MplPath]()
    for row, first in enumerate(tools):
        for column, second in enumerate(tools):
            square = MplPath.unit_rectangle().transformed(Affine2D().scale(0.88).translate(column + 0.06, row + 0.06))
            count = occurrences.get((first, second), 0)
            (shaded[_shade(count)] if count else empty).append(square)
            if not count and possible is not None and (first, second) not in possible:
                crosses.append(_CROSS.transformed(Affine2D().translate(column, row)))
    colours = [colour for _, colour in SHADES]
    for paths, colour in (*zip(shaded, colours, strict=True), (empty, "none"), (crosses, "none")):
        if paths:
            axes.add_patch(
                PathPatch(MplPath.make_compound_path(*paths), facecolor=colour, edgecolor=ink, linewidth=0.4)
            )
    _label(axes, tools)


def _shade(count: int) -> int:
    return min(count.bit_length() - 1, len(SHADES) - 1)


def _label(axes: Axes, tools: Sequence[str]) -> None:
    axes.set_xlim(0, len(tools))
    axes.set_ylim(len(tools), 0)
    axes.set_aspect("equal")
    places = [place + 0.5 for place in range(len(tools))]
    names = [visible(fit(name)) for name in tools]
    axes.set_xticks(places, labels=names)
    axes.set_yticks(places, labels=names)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for label in axes.get_xticklabels():
        label.set(rotation=55, ha="left", va="baseline", rotation_mode="anchor")
    axes.spines[:].set_visible(False)
    axes.set_ylabel("a call of ...")
    axes.set_xlabel("... is followed by a call of")
    axes.xaxis.set_label_position("top")


def fit(name: str) -> str:
    """A long name with its middle left out: provider and version stand at its ends."""
    half = NAME_CHARACTERS // 2
    return name if len(name) <= NAME_CHARACTERS else f"{name[:half]}…{name[1 - half :]}"
