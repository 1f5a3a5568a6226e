"""Pictures in files of their own, for papers and slides: which ordered pairs of adjacent tools occur, and how often."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

from lawtrace.environments.errors import InputError, OperationalError
from lawtrace.runs.report.heatmap import SHADES, draw_heat_map
from lawtrace.solver.planner.tool_sequences import ToolPair

_SETTINGS: dict[RcKeyType, Any] = {"svg.hashsalt": "lawtrace", "font.size": 9, "text.parse_math": False}
INK = "#202020"


@dataclass(frozen=True, slots=True)
class Panel:
    """One heat map: in how many traces each pair occurs, and which pairs are possible."""

    title: str
    tools: tuple[str, ...]
    occurrences: Mapping[ToolPair, int]
    possible: frozenset[ToolPair]


def check_picture(path: Path) -> None:
    """Raises InputError unless the name ends in .svg or .png."""
    if path.suffix not in {".svg", ".png"}:
        raise InputError(f"{path}: a picture is written as .svg or .png; give the file one of these endings")


def write_picture(path: Path, panels: Sequence[Panel]) -> None:
    """Draw the panels side by side into one file; the same panels give the same bytes. Raises CannotCarryOut."""
    check_picture(path)
    with mpl.rc_context(_SETTINGS):
        side = max(2.8 + 0.3 * len(panel.tools) for panel in panels)
        figure = Figure(figsize=(side * len(panels), side + 0.6), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            draw_heat_map(axes, panel.tools, panel.occurrences, panel.possible, INK)
            axes.set_title(panel.title)
        figure.supxlabel(f"Shade: in how many traces ({', '.join(words for words, _ in SHADES)}). Cross: impossible.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
        except OSError as error:
            raise OperationalError(f"{path}: the picture cannot be written: {error.strerror}") from error
