"""A page of a report: one HTML file that needs nothing else, no network, no other file.

Every word of a model or a user passes through Jinja's escaping; and should something slip through, the page forbids the
browser every script but its own, and every request.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lawtrace.environments.errors import OperationalError
from lawtrace.runs.report.task_view import monitor_cells
from lawtrace.runs.report.text import (
    counted,
    cut,
    percent,
    sentence,
    short_percent,
    show_interval,
    show_probability,
    show_value,
    slug,
    visible,
)
from lawtrace.runs.store.stage_files import reject_device

TEMPLATES = Path(__file__).parent / "templates"
_FILTERS: dict[str, Callable[..., str]] = {
    "anchor": slug,
    "counted": counted,
    "interval": show_interval,
    "monitor_cells": monitor_cells,
    "percent": percent,
    "probability": show_probability,
    "sentence": sentence,
    "short_percent": short_percent,
    "shortened": cut,
    "value": show_value,
    "visible": visible,
}


def render_page(template: str, **values: object) -> str:
    """The template filled with the values; ``css`` is the style sheet that all pages share."""
    css = Markup((TEMPLATES / "report.css").read_text(encoding="utf-8"))  # noqa: S704
    return _with_plain_quotes(template_environment().get_template(template).render(css=css, **values))


def write_page(text: str, path: Path) -> None:
    """Write a page. It appears whole or not at all. Raises CannotCarryOut."""
    reject_device(path)
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise OperationalError(f"{path}: the report cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def template_environment(
    *folders: Path, filters: Mapping[str, Callable[..., str]] | None = None, values: Mapping[str, object] | None = None
) -> Environment:
    """What fills templates: all is escaped, nothing may be missing; the filters are the report's and those given.

    Templates come from the folders given, then from the report's own. ``values`` are there in every template.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own types allow no filters but Jinja's.
    cast("dict[str, Callable[..., str]]", environment.filters).update(_FILTERS | dict(filters or {}))
    cast("dict[str, object]", environment.globals).update(values or {})
    return environment


def _with_plain_quotes(html: str) -> str:
    """The page with quotes unescaped between tags, where they mean nothing; JSON and programs are full of them.

    Escaped text holds no angle bracket, so what stands between ``>`` and ``<`` is never inside a tag.
    """
    return re.sub(r">[^<>]*&#3[49];[^<>]*<", lambda text: text[0].replace("&#34;", '"').replace("&#39;", "'"), html)
