"""Sections of a run's report, shown on the viewer's pages and in the report file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.agents.conversations.provenance import PROVISION_STATUS_LABELS
from lawtrace.environments.errors import Problem
from lawtrace.runs.report.breakdowns import break_down
from lawtrace.runs.report.charts import draw_funnel
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.grading_profiles import view_profiles
from lawtrace.runs.report.labels import USER_LABELS
from lawtrace.runs.report.summary import summarize
from lawtrace.runs.report.task_view import TaskView, view_tasks
from lawtrace.runs.scoring.ablation import Ablation
from lawtrace.runs.scoring.metrics import count_pairs, pair_scores, user_scores
from lawtrace.runs.store.model_usage import ModelUsage
from lawtrace.runs.store.provenance_file import ExtractionProvenance
from lawtrace.runs.variants import format_axis_value

PAGES: Mapping[str, str] = {
    "results": "Results",
    "building": "Building",
    "rules": "Rules",
    "extraction": "Extraction",
}
"""Viewer pages made of sections: page -> title."""


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report.

    Attributes:
        id: anchor in the report.
        template: template of the body; ``values`` are its variables.
        page: the page of the viewer that shows the section, a key of `PAGES`.
    """

    id: str
    title: str
    template: str
    values: Mapping[str, object]
    page: str = "results"


@dataclass(frozen=True, slots=True)
class RunReport:
    """A report: sections, and for runs with tasks a view of each task.

    Attributes:
        settings: name -> value (environment, seed, models ...).
        notices: warnings shown before the numbers.
        problems: rows that could not be used.
        models: columns of the task index; None for a report without tasks.
        rule_anchors: (scenario, rule id) -> anchor in the rule table.
        template_folders: template folders of plug-ins, searched first.
    """

    title: str
    settings: Mapping[str, str]
    sections: tuple[Section, ...]
    notices: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    tasks: tuple[TaskView, ...] = ()
    models: tuple[str, ...] | None = None
    rule_anchors: Mapping[tuple[str, str], str] | None = None
    template_folders: tuple[Path, ...] = ()

    def of_page(self, page: str) -> list[Section]:
        return [section for section in self.sections if section.page == page]


def _pair_section(content: ReportContent) -> list[Section]:
    """The contrast pairs by model, and by the fact that their sides differ in; nothing if there are none."""
    titles = {task.id: content.scenario_title(task.scenario) for task in content.tasks}
    scores = pair_scores(content.verdicts, titles)
    if not scores:
        return []
    facts = {task.id: task.contrast.fact for task in content.tasks if task.contrast}
    models = tuple(dict.fromkeys(verdict.contender for verdict in content.verdicts))
    by_fact = {
        fact: [
            count_pairs(v for v in content.verdicts if v.contender == model and facts.get(v.task) == fact)
            for model in models
        ]
        for fact in sorted(set(facts.values()))
    }
    values = {"scores": scores, "models": models, "facts": by_fact}
    return [Section("pairs", "Contrast pairs", "sections/pairs.html.jinja", values)]


def _user_section(content: ReportContent) -> list[Section]:
    """The dialogues by what their users do; nothing if there are none."""
    scores = user_scores(content.verdicts)
    values = {"scores": scores, "labels": USER_LABELS}
    return [Section("users", "Dialogues by user", "sections/users.html.jinja", values)] if scores else []


def make_run_report(content: ReportContent) -> RunReport:
    """The report of a run or of a profile comparison. Raises InputError for a verdict on an unknown task."""
    summary, title = summarize(content), content.scenario_title
    breakdowns = break_down(content)
    sections = [
        Section("verdicts", "Verdicts", "sections/verdicts.html.jinja", {"tables": summary.blocks}),
        Section("outcomes", "Outcomes", "sections/outcomes.html.jinja", {"panels": summary.outcomes}),
        *_pair_section(content),
        *_user_section(content),
        Section("failures", "Failure modes", "sections/failures.html.jinja", {"tables": summary.failures}),
        Section(
            "comparisons",
            "Comparisons",
            "sections/comparisons.html.jinja",
            {"comparisons": breakdowns, "models": summary.models, "scenario_title": title},
        ),
    ]
    if content.habits:
        sections.insert(1, Section("habits", "Best habit", "sections/habits.html.jinja", {"habits": content.habits}))
    if content.profiles:
        profiles = view_profiles(content, content.profiles)
        sections.append(Section("profiles", "Grading profiles", "sections/profiles.html.jinja", {"profiles": profiles}))
    sections += [
        Section(
            "coverage",
            "Coverage",
            "sections/coverage.html.jinja",
            {"coverage": content.coverage, "scenario_title": title},
            "building",
        ),
        Section(
            "building",
            "Building the tasks",
            "sections/building.html.jinja",
            {"funnel": content.funnel, "deletions": content.deletions, "strength": content.strength},
            "building",
        ),
        *_usage_section(content.usage),
    ]
    extraction = content.extraction
    steps = extraction.steps if extraction else None
    sections.append(
        Section(
            "rules",
            "Rules",
            "sections/rules.html.jinja",
            {
                "score": extraction,
                "funnel": draw_funnel(steps, "extraction-funnel") if steps else None,
                "rules": summary.rules,
                "models": summary.models,
                "scenario_title": title,
            },
            "rules",
        )
    )
    return RunReport(
        content.title,
        content.settings,
        tuple(sections),
        notices=(*content.notices, *_notices(content)),
        problems=content.problems,
        tasks=tuple(view_tasks(content)),
        models=summary.models,
        rule_anchors={(line.scenario, line.rule.id): line.anchor for line in reversed(summary.rules)},
    )


def make_ablation_report(
    ablation: Ablation, title: str, settings: Mapping[str, str], usage: Sequence[ModelUsage] = ()
) -> RunReport:
    """The report of an ablation: its variants, the effect of each axis, and how rules and tasks were built."""
    values = {"ablation": ablation, "axes": list(ablation.variants[0].changes), "format_value": format_axis_value}
    return RunReport(
        title,
        settings,
        (
            Section("variants", "Variants", "sections/variants.html.jinja", values),
            Section("axes", "Axes", "sections/axes.html.jinja", values),
            Section("building", "Building", "sections/variant_building.html.jinja", values, "building"),
            *_usage_section(usage),
        ),
    )


def make_extraction_report(provenance: ExtractionProvenance) -> RunReport:
    """The provenance of extracted rules: the funnel, every rule, every provision and all messages about them."""
    head, statuses = provenance.head, Counter(provision.fate.fate for provision in provenance.provisions)
    values = {
        "provenance": provenance,
        "head": head,
        "funnel": draw_funnel(provenance.funnel, "funnel"),
        "statuses": [(label, statuses[name]) for name, label in PROVISION_STATUS_LABELS.items() if statuses[name]],
        "status_labels": PROVISION_STATUS_LABELS,
    }
    return RunReport(
        f"Rules from {head.regulation} for {head.environment}",
        {"regulation": f"{head.title} ({head.source})"},
        tuple(
            Section(name, title, f"sections/extraction/{name}.html.jinja", values, "extraction")
            for name, title in (
                ("funnel", "Funnel"),
                ("candidates", "Rules"),
                ("provisions", "Provisions"),
                ("messages", "Messages"),
            )
        ),
        notices=tuple(_extraction_notices(provenance)),
    )


def _extraction_notices(provenance: ExtractionProvenance) -> list[str]:
    head, notices = provenance.head, list[str]()
    if head.restated:
        notices.append("The text is a restatement by this project, not the text of the law.")
    offline = sorted(role.replace("_", " ") for role, model in head.models.items() if model == "offline")
    if offline:
        notices.append(f"Roles without a model: {', '.join(offline)}. Their results are a baseline.")
    if provenance.unread:
        reason = f": {head.stopped}" if head.stopped else ""
        notices.append(f"{len(provenance.unread)} of {len(provenance.provisions)} provisions were not read{reason}.")
    return notices


def _usage_section(usage: Sequence[ModelUsage]) -> list[Section]:
    if not usage:
        return []
    return [Section("usage", "Cost and health", "sections/usage.html.jinja", {"usage": usage}, "building")]


def _notices(content: ReportContent) -> list[str]:
    notices: list[str] = []
    invalid = Counter(verdict.outcome for verdict in content.verdicts)["invalid"]
    if invalid:
        notices.append(f"{invalid} of {len(content.verdicts)} attempts are invalid and are left out of every rate.")
    judged = {verdict.answer for verdict in content.verdicts}
    if unjudged := sum(attempt.answer.id not in judged for attempt in content.attempts):
        notices.append(f"{unjudged} attempts have no verdict yet and are not shown.")
    if any(verdict.trial for verdict in content.verdicts):
        notices.append(
            "Some tasks have several trials. The Wilson intervals and McNemar p-values treat attempts as independent, "
            "so they are too narrow and too small; the bootstrap intervals over tasks are not affected."
        )
    return notices
