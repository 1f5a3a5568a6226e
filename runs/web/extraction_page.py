"""The page of an extraction: the funnel, what became of every provision, and each rule with everything said over it."""

# pyright: reportUnknownMemberType=false
# (matplotlib leaves keyword arguments without a type)

from collections import Counter
from pathlib import Path

from markupsafe import Markup
from matplotlib.patches import Rectangle

from lawtrace.agents.conversations.provenance import PROVISION_STATUS_LABELS, ExtractionFunnel
from lawtrace.runs.report.charts import INK, make_figure, render_svg, svg_settings
from lawtrace.runs.store.provenance_file import FUNNEL_STEPS, ExtractionProvenance
from lawtrace.runs.web.render import render_page, write_page

_PROVISIONS, _RULES = "#7aa6c2", "#c9a66b"
_OF_PROVISIONS = ("provisions", "in_scope", "refined")


def draw_funnel(funnel: ExtractionFunnel, name: str) -> Markup:
    """A bar for each step: provisions above, rules below, each on a scale of its own with its number beside it."""
    with svg_settings():
        figure = make_figure(6.0, 0.5 + 0.3 * len(FUNNEL_STEPS))
        axes = figure.subplots()
        for place, (step, label) in enumerate(FUNNEL_STEPS.items()):
            of_provisions = step in _OF_PROVISIONS
            count = getattr(funnel, step)
            whole = funnel.provisions if of_provisions else funnel.candidates
            width = count / whole if whole else 0.0
            hatch = "" if of_provisions else "//"
            colour = _PROVISIONS if of_provisions else _RULES
            axes.add_patch(Rectangle((-width / 2, place - 0.36), width, 0.72, fc=colour, ec=INK, lw=0.5, hatch=hatch))
            axes.text(0.56, place, str(count), va="center", color=INK)
            axes.text(-0.56, place, label, va="center", ha="right", color=INK)
        axes.set_xlim(-1.0, 0.7)
        axes.set_ylim(len(FUNNEL_STEPS) - 0.5, -0.5)
        axes.set_axis_off()
        words = ", ".join(f"{getattr(funnel, step)} {label}" for step, label in FUNNEL_STEPS.items())
        return render_svg(figure, name, f"From provisions to rules: {words}.")


def render_extraction(trail: ExtractionProvenance) -> str:
    fates = Counter(provision.fate.fate for provision in trail.provisions)
    offline = sorted(role for role, model in trail.head.models.items() if model == "offline")
    return render_page(
        "extraction.html.jinja",
        trail=trail,
        head=trail.head,
        funnel=draw_funnel(trail.funnel, "funnel"),
        fates=[(fate, words, fates[fate]) for fate, words in PROVISION_STATUS_LABELS.items() if fates[fate]],
        fate_words=PROVISION_STATUS_LABELS,
        offline=[role.replace("_", " ") for role in offline],
    )


def write_extraction(trail: ExtractionProvenance, path: Path) -> None:
    """Write the page. It appears whole or not at all. Raises CannotCarryOut."""
    write_page(render_extraction(trail), path)
