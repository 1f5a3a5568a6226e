"""From the content of a report to one HTML file that needs nothing else: no network, no other file.

The same content gives the same bytes. Every word of a model or a user passes through Jinja's escaping; and should
something slip through, the page forbids the browser every script but its own, and every request.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from environments.errors import CannotCarryOut
from runs.grading.verdict import FAILURE_MODES, OUTCOMES
from runs.report.comparisons import compare_within
from runs.report.content import ReportContent
from runs.report.looks import FAILURE_WORDS, MONITOR_LOOKS, OUTCOME_LOOKS
from runs.report.profiles import view_profiles
from runs.report.summary import scenario_title, summarize
from runs.report.tasks import task_pages
from runs.report.texts import (
    counted,
    cut,
    percent,
    sentence,
    show_interval,
    show_probability,
    show_value,
    slug,
    visible,
)

__all__ = ["render_report", "write_report"]

_TEMPLATES = Path(__file__).parent / "templates"
_FILTERS: dict[str, Callable[..., str]] = {
    "anchor": slug,
    "counted": counted,
    "interval": show_interval,
    "percent": percent,
    "probability": show_probability,
    "sentence": sentence,
    "shortened": cut,
    "value": show_value,
    "visible": visible,
}


def write_report(content: ReportContent, path: Path) -> None:
    """Write the report of a run to one HTML file. It appears whole or not at all. Raises CannotCarryOut."""
    text = render_report(content)
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise CannotCarryOut(f"{path}: the report cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def render_report(content: ReportContent) -> str:
    """The report as HTML. Raises InputError for a verdict on a task that the content lacks."""
    summary = summarize(content)
    script = (_TEMPLATES / "filter.js").read_text(encoding="utf-8")
    return _with_plain_quotes(
        _environment()
        .get_template("report.html.jinja")
        .render(
            content=content,
            summary=summary,
            comparisons=compare_within(content),
            profiles=view_profiles(content, content.profiles) if content.profiles else None,
            pages=task_pages(content),
            notices=(*content.notices, *_own_notices(content)),
            rule_anchors={(line.scenario, line.rule.id): line.anchor for line in reversed(summary.rules)},
            scenario_title=partial(scenario_title, content),
            css=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704
            script=Markup(script),  # noqa: S704
            OUTCOMES=OUTCOMES,
            OUTCOME_LOOKS=OUTCOME_LOOKS,
            MONITOR_LOOKS=MONITOR_LOOKS,
            FAILURE_MODES=FAILURE_MODES,
            FAILURE_WORDS=FAILURE_WORDS,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def _with_plain_quotes(html: str) -> str:
    """The page with quotes unescaped between tags, where they mean nothing; JSON and programs are full of them.

    Escaped text holds no angle bracket, so what stands between ``>`` and ``<`` is never inside a tag.
    """
    return re.sub(r">[^<>]*<", lambda text: text[0].replace("&#34;", '"').replace("&#39;", "'"), html)


def _own_notices(content: ReportContent) -> list[str]:
    """What a reader of the numbers must know and the content itself does not say."""
    notices: list[str] = []
    invalid = Counter(verdict.outcome for verdict in content.verdicts)["invalid"]
    if invalid:
        notices.append(
            f"{invalid} of {len(content.verdicts)} attempts are invalid: no verdict on them, no rate has them."
        )
    tried = Counter((attempt.task, attempt.style, attempt.model, attempt.trial) for attempt in content.attempts)
    judged = Counter((verdict.task, verdict.style, verdict.model, verdict.trial) for verdict in content.verdicts)
    if unjudged := (tried - judged).total():
        notices.append(f"{unjudged} attempts have no verdict yet and are not shown.")
    if any(verdict.trial for verdict in content.verdicts):
        notices.append("Some tasks were tried several times; the intervals take every attempt as independent.")
    return notices


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own types allow no filters but Jinja's.
    cast("dict[str, Callable[..., str]]", environment.filters).update(_FILTERS)
    return environment
