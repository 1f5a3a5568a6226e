"""The heat maps of a legal run: Cohen's kappa between contexts (M Fig. 3) and between models (M Fig. 2)."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from markupsafe import Markup
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from lawtrace.runs.legal.tables import Agreement
from lawtrace.runs.report.svg import INK, figure_of, render_svg, svg_settings
from lawtrace.runs.visibility import visible

_CELL = 0.62
_FULL = (0.34, 0.71, 0.91)


def draw_agreement(agreement: Agreement, name: str) -> Markup:
    """One map: each pair once, its kappa printed; the three lowest have a thick frame and a star."""
    names, size = agreement.names, len(agreement.names)
    with svg_settings():
        figure = figure_of(1.4 + _CELL * size, 1.0 + _CELL * 0.7 * size)
        axes = figure.subplots()
        for (left, right), kappa in agreement.kappa.items():
            column, row = names.index(left), names.index(right)
            lowest = (left, right) in agreement.lowest
            axes.add_patch(
                Rectangle(
                    (column, row),
                    1,
                    1,
                    facecolor=_colour(kappa),
                    edgecolor="black" if lowest else INK,
                    linewidth=2.2 if lowest else 0.4,
                    zorder=2 if lowest else 1,
                )
            )
            shown = "–" if kappa is None else f"{kappa:.2f}" + ("*" if lowest else "")
            axes.text(column + 0.5, row + 0.5, shown, ha="center", va="center", color="black", zorder=3)
        axes.set_xlim(0, size - 1)
        axes.set_ylim(size, 1)
        labels = [visible(label) for label in names]
        axes.set_xticks([place + 0.5 for place in range(size - 1)], labels=labels[:-1])
        axes.set_yticks([place + 0.5 for place in range(1, size)], labels=labels[1:])
        for label in axes.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        return render_svg(figure, name, f"{agreement.title}. {_in_words(agreement)}")


def _colour(kappa: float | None) -> str:
    """White at 0 and below, blue at 1; always light enough for black text."""
    if kappa is None:
        return "#dddddd"
    share = min(1.0, max(0.0, kappa))
    red, green, blue = (1 - share * (1 - full) for full in _FULL)
    return to_hex((red, green, blue))


def _in_words(agreement: Agreement) -> str:
    known = [(pair, kappa) for pair, kappa in agreement.kappa.items() if kappa is not None]
    return " ".join(f"{visible(left)} and {visible(right)}: {kappa:.2f}." for (left, right), kappa in known)
