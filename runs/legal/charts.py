"""The figures of a legal run: Cohen's kappa between models (M Fig. 2) and contexts (M Fig. 3), and what cases and
questions are made of (M Figs. 4 to 6)."""

# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from lawtrace.environments.legal.case import Case
from lawtrace.runs.legal.case_statistics import ElementCounts, element_counts
from lawtrace.runs.legal.legal_tables import AgreementMatrix
from lawtrace.runs.report.charts import INK, draw_heat_map, make_figure, render_svg, shorten_name, svg_settings
from lawtrace.runs.report.tables import Cell, Figure, Table, make_table
from lawtrace.runs.report.text import unique_anchors, visible


def agreement_figures(agreements: Sequence[AgreementMatrix], prefix: str) -> tuple[Figure, ...]:
    """A heat map for each matrix, with the kappa of each pair."""
    anchors = unique_anchors([agreement.title.rpartition(":")[0] for agreement in agreements])
    figures: list[Figure] = []
    for agreement, anchor in zip(agreements, anchors, strict=True):
        table = make_table(
            f"{prefix}-{anchor.lower()}",
            agreement.title,
            (
                {"First": one, **{f"#{other}": _kappa(agreement, one, other) for other in agreement.names[1:]}}
                for one in agreement.names[:-1]
            ),
        )
        figures.append(Figure(table, draw_heat_map(table, table.name, unit="Cohen's kappa")))
    return tuple(figures)


def _kappa(agreement: AgreementMatrix, one: str, other: str) -> Cell:
    """White at 0 and below; empty for a pair that another cell has."""
    if (one, other) not in agreement.kappa:
        return Cell(None, "")
    kappa = agreement.kappa[one, other]
    return Cell(None, "–") if kappa is None else Cell(kappa, f"{kappa:.2f}", shade=min(1.0, max(0.0, kappa)))


_WIDTH = 6.4
_LABELLED_FROM = 0.06
"""Minimum share of a segment with a number in it. The table of the cases has all numbers."""

_LOOKS = (("#56B4E9", ""), ("#E69F00", "///"), ("#009E73", "\\\\\\"), ("#CC79A7", "xxx"))
"""Okabe-Ito colours, light enough for black text, each with its own hatch."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A case with its counts in the order of the legend. ``note`` is printed after the total."""

    name: str
    counts: tuple[int, ...]
    note: str = ""


def case_figures(cases: Sequence[Case]) -> tuple[Figure, ...]:
    """M Figures 4 to 6; those of questions only if there are questions."""
    elements = element_counts(cases)
    kinds, decisions = question_bars(cases)
    drawn = (
        (
            "elements-by-case",
            "Elements of the argument, in paragraphs",
            _element_labels(elements),
            _element_bars(elements),
        ),
        ("questions-by-kind", "Questions by kind", ("yes/no", "A–D"), kinds),
        ("questions-by-decision", "Questions by what the passage holds", ("decision", "opinion"), decisions),
    )
    return tuple(
        Figure(_bar_table(name, title, labels, bars), draw_bars(bars, labels, name, title))
        for name, title, labels, bars in drawn
        if bars
    )


def _bar_table(name: str, title: str, labels: Sequence[str], bars: Sequence[Bar]) -> Table:
    return make_table(
        name,
        title,
        ({"Case": bar.name, **{f"#{label}": bar.counts[at] for at, label in enumerate(labels)}} for bar in bars),
    )


def question_bars(cases: Sequence[Case]) -> tuple[list[Bar], list[Bar]]:
    """For each case with questions: their number by kind, and by decision or opinion."""
    asked = [case for case in cases if case.questions]
    kinds = [Bar(case.id, _split([q.kind == "yes_no" for q in case.questions])) for case in asked]
    return kinds, [Bar(case.id, _split([q.decision for q in case.questions])) for case in asked]


def draw_bars(bars: Sequence[Bar], labels: Sequence[str], name: str, title: str) -> Markup:
    """A stacked bar of shares for each case, with counts inside and the total beside it."""
    with svg_settings():
        figure = make_figure(_WIDTH, 1.0 + 0.3 * len(bars))
        axes = figure.subplots()
        for place, bar in enumerate(bars):
            _draw_bar(axes, place, bar)
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_yticks(range(len(bars)), labels=[visible(shorten_name(bar.name)) for bar in bars])
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100 %"])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        patches = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="black", linewidth=0.5, label=label)
            for label, (colour, hatch) in zip(labels, _LOOKS, strict=False)
        ]
        figure.legend(handles=patches, loc="outside upper left", ncols=len(patches), frameon=False, labelcolor=INK)
        return render_svg(figure, name, f"{title}. {_describe_bars(bars, labels)}")


def _draw_bar(axes: Axes, place: int, bar: Bar) -> None:
    left, total = 0.0, sum(bar.counts)
    for count, (colour, hatch) in zip(bar.counts, _LOOKS, strict=False):
        share = count / total if total else 0.0
        if share:
            axes.add_patch(Rectangle((left, place - 0.36), share, 0.72, fc=colour, ec="black", lw=0.5, hatch=hatch))
        if share > _LABELLED_FROM:
            label = axes.text(left + share / 2, place, str(count), ha="center", va="center", color="black")
            if hatch:
                label.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 1.2})
        left += share
    axes.text(1.015, place, f"n = {total}{bar.note}", va="center")


def _element_labels(elements: Sequence[ElementCounts]) -> tuple[str, ...]:
    return tuple(elements[0].counts) if elements else ()


def _element_bars(elements: Sequence[ElementCounts]) -> list[Bar]:
    return [Bar(line.case, (*line.counts.values(),), "" if line.whole else " *") for line in elements]


def _split(marks: Sequence[bool]) -> tuple[int, int]:
    return sum(marks), len(marks) - sum(marks)


def _describe_bars(bars: Sequence[Bar], labels: Sequence[str]) -> str:
    return " ".join(
        f"{visible(bar.name)}: "
        + ", ".join(f"{label} {count}" for label, count in zip(labels, bar.counts, strict=True))
        + "."
        for bar in bars
    )
