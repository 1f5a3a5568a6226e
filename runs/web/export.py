"""From the content of a report to its page.

The same content gives the same bytes. What makes a page safe to open stands in `lawtrace.runs.web.render`.
"""

import base64
import hashlib
from collections import Counter
from functools import partial
from pathlib import Path

from markupsafe import Markup

from lawtrace.runs.report.breakdowns import break_down
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.grading_profiles import view_profiles
from lawtrace.runs.report.labels import FAILURE_DESCRIPTIONS, MONITOR_LABELS, MUTATION_DESCRIPTIONS, OUTCOME_LABELS
from lawtrace.runs.report.summary import scenario_title, summarize
from lawtrace.runs.report.task_view import view_tasks
from lawtrace.runs.schemas.verdict_rows import FAILURE_MODES, OUTCOMES
from lawtrace.runs.web.extraction_page import draw_funnel
from lawtrace.runs.web.render import TEMPLATES, render_page, write_page


def write_report(content: ReportContent, path: Path) -> None:
    """Write the report of a run to one HTML file. It appears whole or not at all. Raises CannotCarryOut."""
    write_page(render_report(content), path)


def render_report(content: ReportContent) -> str:
    """The report as HTML. Raises InputError for a verdict on a task that the content lacks."""
    summary = summarize(content)
    script = (TEMPLATES / "filter.js").read_text(encoding="utf-8")
    return render_page(
        "report.html.jinja",
        content=content,
        usage=content.usage,
        summary=summary,
        comparisons=break_down(content),
        profiles=view_profiles(content, content.profiles) if content.profiles else None,
        pages=view_tasks(content),
        notices=(*content.notices, *_own_notices(content)),
        rule_anchors={(line.scenario, line.rule.id): line.anchor for line in reversed(summary.rules)},
        scenario_title=partial(scenario_title, content),
        extraction_funnel=draw_funnel(content.extraction.steps, "extraction-funnel")
        if content.extraction and content.extraction.steps
        else None,
        script=Markup(script),  # noqa: S704
        OUTCOMES=OUTCOMES,
        OUTCOME_LOOKS=OUTCOME_LABELS,
        MONITOR_LOOKS=MONITOR_LABELS,
        MUTATION_WORDS=MUTATION_DESCRIPTIONS,
        FAILURE_MODES=FAILURE_MODES,
        FAILURE_WORDS=FAILURE_DESCRIPTIONS,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


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
        notices.append(
            "Some tasks were tried several times. Wilson's intervals and McNemar's p-values take every attempt as "
            "independent and are too sure of themselves; the intervals by bootstrap over tasks do not."
        )
    return notices
