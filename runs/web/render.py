"""Templates to HTML. All text from models and users is escaped; a template with an undefined variable fails."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import cast
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lawtrace.runs.report.labels import (
    FAILURE_DESCRIPTIONS,
    MONITOR_LABELS,
    MUTATION_DESCRIPTIONS,
    OUTCOME_LABELS,
    OutcomeLabel,
)
from lawtrace.runs.report.message_view import conversation_title
from lawtrace.runs.report.run_kinds import outcome_label
from lawtrace.runs.report.sections import Section
from lawtrace.runs.report.tables import Column
from lawtrace.runs.report.task_view import monitor_cells
from lawtrace.runs.report.text import (
    counted,
    cut,
    percent,
    replace_unseen,
    sentence,
    short_percent,
    show_interval,
    show_probability,
    show_value,
    slug,
    visible,
)
from lawtrace.runs.web.links import ReportLinks, RunLinks, query
from lawtrace.schemas.events import name_events
from lawtrace.schemas.verdict_rows import FAILURE_MODES, OUTCOMES
from lawtrace.schemas.violations import format_time

TEMPLATES = Path(__file__).parent / "templates"
SCRIPT = TEMPLATES / "site.js"
MESSAGE_CHARACTERS = 8_000
"""Characters of a message shown in a conversation; the full message has its own page."""


def _pick(values: Sequence[Column], places: Sequence[int]) -> list[Column]:
    return [values[place] for place in places]


def _runs_of_groups(shown: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Neighbouring columns by their group."""
    return [(group, list(members)) for group, members in groupby(shown, key=lambda column: column.group)]


def _exact(value: object) -> Markup:
    """A value for an attribute, with invisible and reordering characters as references: what is sent is the same."""
    return Markup(replace_unseen(str(escape(value)), lambda code: f"&#{code};"))  # noqa: S704


_FILTERS: Mapping[str, Callable[..., object]] = {
    "anchor": slug,
    "counted": counted,
    "events": name_events,
    "exact": _exact,
    "heading": conversation_title,
    "moment": format_time,
    "interval": show_interval,
    "monitor_cells": monitor_cells,
    "path": quote,
    "percent": percent,
    "pick": _pick,
    "probability": show_probability,
    "runs_of_groups": _runs_of_groups,
    "sentence": sentence,
    "short_percent": short_percent,
    "shortened": cut,
    "value": show_value,
    "visible": visible,
}
_GLOBALS: Mapping[str, object] = {
    "OUTCOMES": OUTCOMES,
    "OUTCOME_LABELS": OUTCOME_LABELS,
    "outcome_label": outcome_label,
    "MONITOR_LABELS": MONITOR_LABELS,
    "MUTATION_DESCRIPTIONS": MUTATION_DESCRIPTIONS,
    "FAILURE_MODES": FAILURE_MODES,
    "FAILURE_DESCRIPTIONS": FAILURE_DESCRIPTIONS,
    "MESSAGE_CHARACTERS": MESSAGE_CHARACTERS,
    "assets": None,
    "query": query,
    "run_links": RunLinks,
}


@lru_cache(maxsize=8)
def make_environment(*folders: Path) -> Environment:
    """The template environment of all pages, with compiled templates; one for each combination of folders.

    ``folders``: more template folders, searched before `TEMPLATES`.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's types allow only Jinja's own filters.
    cast("dict[str, Callable[..., object]]", environment.filters).update(_FILTERS)
    cast("dict[str, object]", environment.globals).update(_GLOBALS)
    return environment


def render(environment: Environment, template: str, **values: object) -> str:
    return environment.get_template(template).render(**values)


def render_sections(
    environment: Environment, sections: Iterable[Section], links: ReportLinks
) -> list[tuple[Section, Markup]]:
    """Each section with its body. A body sees the values of its section, and ``links``."""
    return [(section, Markup(render(environment, section.template, **_values(section, links)))) for section in sections]  # noqa: S704


def _values(section: Section, links: ReportLinks) -> dict[str, object]:
    tables = {table.name: table for table in section.tables}
    return {"links": links, "text": section.text, "figures": section.figures, "tables": tables, **section.values}


def render_css(environment: Environment, labels: Mapping[str, OutcomeLabel] | None = None) -> str:
    """The style sheet of all pages, with shades of heat maps and colours of outcomes (of the core, or as given)."""
    css = (TEMPLATES / "site.css").read_text(encoding="utf-8")
    return css + environment.get_template("shades.css.jinja").render(labels=labels or OUTCOME_LABELS)
