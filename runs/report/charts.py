"""Matplotlib figures as inline SVG: no file, no global pyplot state, the same figure gives the same bytes.

A page has many figures, in a light and a dark theme. So element ids are unique per figure, and everything drawn in INK
takes the colour of the surrounding text.
"""

# pyright: reportUnknownMemberType=false

import io
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from lawtrace.runs.report.labels import OUTCOME_LABELS, RARE_OUTCOMES
from lawtrace.runs.report.outcome_lines import OutcomeLine
from lawtrace.runs.report.tables import Table
from lawtrace.runs.report.text import percent, short_percent, visible
from lawtrace.runs.scoring.metrics import OutcomeCounts
from lawtrace.schemas.verdict_rows import OUTCOMES, Outcome

if TYPE_CHECKING:  # imported where something is drawn: it takes half a second, and most commands draw nothing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib.typing import RcKeyType

INK = "#010203"
"""Placeholder colour; replaced by the colour of the page's text."""

_UNWANTED = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"^.*?(?=<svg)",
        r"<metadata>.*?</metadata>|<!--.*?-->",
        # A style sheet inside a figure would apply to the whole page, which has its own for figures.
        r"<defs>\s*<style.*?</style>\s*</defs>",
        r"font-family: [^;]*; ",
        r' transform="rotate\(-0 [^"]*"',
        r"(?<=\n)\s+",
    )
)

MOST_ENLARGED = 1.25
"""Maximum scale of a figure on a wide screen."""

_SVG_SETTINGS: "dict[RcKeyType, Any]" = {
    "svg.hashsalt": "lawtrace",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "text.color": INK,
    # A dollar sign in a model's name is not math.
    "text.parse_math": False,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def svg_settings() -> Generator[None]:
    """Matplotlib settings; both drawing and rendering must happen in this context."""
    import matplotlib as mpl

    with mpl.rc_context(_SVG_SETTINGS):
        yield


def make_figure(width: float, height: float) -> "Figure":
    """An empty transparent figure of that size in inches, with a layout that cuts no label."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", frameon=False)
    FigureCanvasSVG(figure)
    return figure


def make_rectangle(corner: tuple[float, float], width: float, height: float, **look: Any) -> "Rectangle":  # noqa: ANN401
    """A rectangle, to be added to axes. ``look``: keywords of matplotlib."""
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **look)


def render_svg(figure: "Figure", name: str, description: str) -> Markup:
    """The figure as an ``<svg>`` element; ``name`` is unique in the page, ``description`` for screen readers."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = buffer.getvalue()
    for unwanted in _UNWANTED:
        text = unwanted.sub("", text)
    text = re.sub(r'\b(id|xlink:href)="(#?)', rf'\1="\2{name}-', text)
    text = text.replace("url(#", f"url(#{name}-").replace(INK, "currentColor")
    width = figure.get_size_inches()[0] * 72 * MOST_ENLARGED
    opening = f'<svg role="img" aria-label="{escape(description)}" width="{width:.0f}pt" viewBox='
    text = re.sub(r"^<svg .*?viewBox=", lambda _: opening, text, count=1, flags=re.DOTALL)
    return Markup(re.sub(r'style="([^"]*)"', _as_attributes, text))  # noqa: S704


def _as_attributes(style: re.Match[str]) -> str:
    """Each property as an attribute: pages allow no inline style."""
    return " ".join(f'{name}="{value}"' for name, value in (part.split(": ") for part in style[1].split("; ") if part))


PANEL_WIDTH = 6.2
NAME_CHARACTERS = 34
LABELLED_FROM = 0.08
"""Smaller shares have no room for a percentage; the verdict table has them all."""
BAR_PITCH, MODEL_GAP = 0.24, 0.45
"""Inches from bar to bar; the additional space between models, in bars."""

_RATED: tuple[Outcome, ...] = tuple(outcome for outcome in OUTCOMES if outcome != "invalid")


def draw_outcomes(lines: Sequence[OutcomeLine], name: str, title: str) -> Markup:
    """A panel with a stacked bar for each model and style, its Pass@1, and its number of attempts judged."""
    places = _bar_places(lines)
    bottom = places[-1] + 0.5 if places else 0.5
    with svg_settings():
        figure = make_figure(PANEL_WIDTH, 0.7 + BAR_PITCH * (bottom + 1.5))
        axes = figure.subplots()
        for place, line in zip(places, lines, strict=True):
            _draw_bar(axes, place, line.tally)
        _beside(axes, -1, "Pass@1", "n")
        axes.set_yticks(places, labels=[visible(label) for label in _bar_names(lines)])
        axes.set_ylim(bottom, -1.5)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100 %"])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        return render_svg(figure, name, f"Outcomes: {title}. {_in_words(lines)}")


def _bar_places(lines: Sequence[OutcomeLine]) -> list[float]:
    """The height of each bar, with a gap where another model begins."""
    places: list[float] = []
    for place, line in enumerate(lines):
        new = place > 0 and lines[place - 1].model != line.model
        places.append(places[-1] + 1 + MODEL_GAP * new if places else 0.0)
    return places


def _bar_names(lines: Sequence[OutcomeLine]) -> list[str]:
    """The model at its first bar, and the style at each."""
    return [
        line.style
        if place > 0 and lines[place - 1].model == line.model
        else f"{shorten_name(line.model)}\u2003{line.style}"
        for place, line in enumerate(lines)
    ]


def _draw_bar(axes: "Axes", place: float, tally: OutcomeCounts) -> None:
    left = 0.0
    for outcome in _RATED:
        look, share = OUTCOME_LABELS[outcome], tally.share(outcome) or 0.0
        if share:
            bar = make_rectangle(
                (left, place - 0.42), share, 0.84, fc=look.colour, ec="black", lw=0.5, hatch=look.hatch
            )
            axes.add_patch(bar)
        if share > LABELLED_FROM:
            text = short_percent(share, unit="")
            label = axes.text(left + share / 2, place, text, ha="center", va="center", color="black", fontsize=8)
            if look.hatch:
                label.set_bbox({"facecolor": look.colour, "edgecolor": "none", "pad": 0.8})
        left += share
    beside = str(tally.judged)
    if tally.judged < tally.planned:
        beside += f" of {tally.planned}" + (f", {tally.invalid} invalid" if tally.invalid else "")
    _beside(axes, place, percent(tally.pass_at_1), beside)


def _beside(axes: "Axes", place: float, rate: str, count: str) -> None:
    """Two texts on the right of a bar, at a fixed distance: the layout can count with them."""
    for points, text in ((6, rate), (48, count)):
        axes.annotate(text, (1, place), (points, 0), textcoords="offset points", va="center", annotation_clip=False)


def _in_words(lines: Sequence[OutcomeLine]) -> str:
    return " ".join(
        f"{visible(line.model)}, {line.style}: "
        + ", ".join(
            f"{OUTCOME_LABELS[outcome].label} {percent(line.tally.share(outcome), digits=0)}"
            for outcome in _RATED
            if outcome not in RARE_OUTCOMES or line.tally.count(outcome)
        )
        + "."
        for line in lines
    )


def draw_heat_map(table: Table, name: str, unit: str = "in percent") -> Markup:
    """The shaded columns of a table as a heat map, a row of cells for each of its rows, groups of columns apart."""
    shaded = [place for place in table.places if any(row.cells[place].shade is not None for row in table.rows)]
    groups = [table.columns[place].group for place in shaded]
    lefts = [at + CELL_GAP * len(set(groups[: at + 1])) for at in range(len(shaded))]
    height = len(table.rows)
    with svg_settings():
        figure = make_figure(2.6 + 0.66 * (len(shaded) + CELL_GAP), 1.3 + BAR_PITCH * height)
        axes = figure.subplots()
        for at, row in enumerate(table.rows):
            for left, place in zip(lefts, shaded, strict=True):
                cell = row.cells[place]
                alpha = 0.75 * (cell.shade or 0.0)
                axes.add_patch(make_rectangle((left, at), 1, 1, fc=(*_HEAT, alpha), ec=INK, lw=0.3))
                axes.text(left + 0.5, at + 0.5, cell.text.removesuffix(" %"), ha="center", va="center", fontsize=8)
        axes.set_xlim(lefts[0] if lefts else 0, lefts[-1] + 1.02 if lefts else 1)
        axes.set_ylim(height or 1, 0)
        titles = [table.columns[place].title.replace(" ", "\n") for place in shaded]
        axes.set_xticks([left + 0.5 for left in lefts], labels=titles, fontsize=7)
        axes.xaxis.tick_top()
        for group in dict.fromkeys(groups):
            of_group = [left for left, other in zip(lefts, groups, strict=True) if other == group]
            middle = (of_group[0] + of_group[-1] + 1) / 2
            axes.annotate(visible(group), (middle, 0), (0, 32), textcoords="offset points", ha="center", weight="bold")
        names = [shorten_name(row.cells[table.places[0]].text) for row in table.rows]
        axes.set_yticks([at + 0.5 for at in range(height)], labels=[visible(one) for one in names])
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        return render_svg(figure, name, f"{table.title}, {unit}")


CELL_GAP = 0.4
"""Space before a group of columns, in cells."""

_HEAT = (230 / 255, 159 / 255, 0.0)


def shorten_name(name: str) -> str:
    """A long name without its middle: provider and version are at its ends."""
    half = NAME_CHARACTERS // 2
    return name if len(name) <= NAME_CHARACTERS else f"{name[:half]}…{name[1 - half :]}"
