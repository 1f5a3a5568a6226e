"""Matplotlib figures as inline SVG: no file, no global pyplot state, the same figure gives the same bytes.

Many figures stand in one page, in light and in dark. So the ids of each are made its own, and whatever was drawn in
INK takes the colour of the surrounding text.
"""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

import io
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

INK = "#010203"
"""Drawn in this, a line or a text appears in the colour of the page's text."""

_UNWANTED = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"^.*?(?=<svg)",
        r"<metadata>.*?</metadata>|<!--.*?-->",
        # A style sheet in one figure would hold for the whole page; the page has its own for figures.
        r"<defs>\s*<style.*?</style>\s*</defs>",
        r"font-family: [^;]*; ",
        r' transform="rotate\(-0 [^"]*"',
        r"(?<=\n)\s+",
    )
)

LARGEST = 1.25
"""How much larger than drawn a figure may appear on a wide screen."""

_SETTINGS: dict[RcKeyType, Any] = {
    "svg.hashsalt": "lawtrace",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "text.color": INK,
    # A dollar sign in a model's name is no formula.
    "text.parse_math": False,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def svg_settings() -> Generator[None]:
    """Draw and render inside this: matplotlib reads these settings in both."""
    with mpl.rc_context(_SETTINGS):
        yield


def figure_of(width: float, height: float) -> Figure:
    """An empty figure of that size in inches, transparent, laid out so that no label is cut."""
    figure = Figure(figsize=(width, height), layout="constrained", frameon=False)
    FigureCanvasSVG(figure)
    return figure


def render_svg(figure: Figure, name: str, description: str) -> Markup:
    """The figure as an ``<svg>`` element; ``name`` is unique in the page, ``description`` for screen readers."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = buffer.getvalue()
    for unwanted in _UNWANTED:
        text = unwanted.sub("", text)
    text = re.sub(r'\b(id|xlink:href)="(#?)', rf'\1="\2{name}-', text)
    text = text.replace("url(#", f"url(#{name}-").replace(INK, "currentColor")
    width = figure.get_size_inches()[0] * 72 * LARGEST
    opening = f'<svg role="img" aria-label="{escape(description)}" style="max-width:{width:.0f}pt" viewBox='
    return Markup(re.sub(r"^<svg .*?viewBox=", lambda _: opening, text, count=1, flags=re.DOTALL))  # noqa: S704
