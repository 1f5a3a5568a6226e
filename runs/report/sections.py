"""Sections of a run's report, shown on the viewer's pages and in the report file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lawtrace.agents.conversations.formalized_group import FormalizedGroup
from lawtrace.runs.report.ablation_tables import axis_tables, variant_building_table, variant_lines, variant_table
from lawtrace.runs.report.build_tables import (
    building_tables,
    coverage_table,
    formalization_table,
    habit_table,
    strength_tables,
    usage_table,
)
from lawtrace.runs.report.content import CoverageLine, ReportContent
from lawtrace.runs.report.outcome_lines import OutcomeLine, outcome_lines, pool_lines
from lawtrace.runs.report.outcome_tables import (
    docket_table,
    failure_figures,
    gap_table,
    model_pair_table,
    outcome_figures,
    pair_fact_table,
    pair_score_table,
    provision_table,
    rule_tables,
    trial_table,
    user_score_table,
    verdict_table,
)
from lawtrace.runs.report.tables import Figure, Table, filled
from lawtrace.runs.report.task_view import TaskView, view_tasks
from lawtrace.runs.scoring.ablation import Ablation
from lawtrace.runs.store.model_usage import ModelUsage
from lawtrace.schemas.errors import Problem

MOST_BARS = 80
"""Maximum number of bars in a panel; the verdict table has them all."""


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report.

    Attributes:
        id: anchor in the report.
        template: template of the body; ``values`` are its variables, beside ``text``, ``figures`` and ``tables`` (by
            name). The default template shows these three in that order.
        text: paragraphs before the figures and tables.
        figures: drawn figures, which have files; the default template shows them, others may show their tables.
    """

    id: str
    title: str
    template: str = "sections/tables.html.jinja"
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    text: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()


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
        identity: what identifies the run, by name.
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
    identity: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def tables(self) -> list[Table]:
        return [table for section in self.sections for table in section.tables]

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]

    @property
    def broken_rules(self) -> list[str]:
        """The ids of the rules that some attempt breaks or leaves undetermined."""
        marks = (mark for task in self.tasks for marks in task.marks.values() for mark in marks)
        return sorted({rule for mark in marks for rule in mark.rules})


_HABITS = (
    "A habit makes the requested calls and fixed compliance calls around them. It reads neither the regulation nor "
    "what results say. What a habit passes does not measure whether the law was read."
)
_PAIRS = (
    "The two sides of a contrast pair have the same request. Their initial states differ in one fact, and so does "
    "what is lawful. A pair is right if both sides end in safe success."
)
_DOCKETS = (
    "A docket is a session with many matters under one clock. A matter is right if the final state has one of its "
    "ends, and no rule of the law is broken for it."
)
_USERS = (
    "In a dialogue the seed chooses what the user does besides answering, whatever the model does: some models "
    "never let it come to that. All sides of a comparison have the same users."
)


def _optional(identifier: str, title: str, *tables: Table, text: str = "") -> list[Section]:
    """A section of the tables with rows; none without any."""
    shown = filled(*tables)
    return [Section(identifier, title, text=(text,) if text else (), tables=shown)] if shown else []


def _outcome_sections(lines: Sequence[OutcomeLine]) -> tuple[Section, Section, Section]:
    """Verdicts, P Figure 2 and P Figure 3."""
    bars = Counter(line.scenario for line in lines)
    drawn = outcome_figures(lines) if max(bars.values(), default=0) <= MOST_BARS else ()
    failures = failure_figures(lines)
    return (
        Section("verdicts", "Verdicts", "sections/verdicts.html.jinja", tables=filled(verdict_table(lines))),
        Section(
            "outcomes",
            "Outcomes",
            "sections/outcomes.html.jinja",
            {"too_many": bool(lines) and not drawn},
            figures=drawn,
        ),
        Section(
            "failures",
            "Failure modes",
            "sections/failures.html.jinja",
            figures=failures,
            tables=tuple(figure.table for figure in failures),
        ),
    )


def make_run_report(content: ReportContent) -> RunReport:
    """The report of a run. Raises InputError for a verdict on an unknown task."""
    lines, found = outcome_lines(content), content.findings
    comparisons = filled(
        trial_table(lines), gap_table(lines), provision_table(lines, content.models), model_pair_table(lines)
    )
    verdicts, outcomes, failures = _outcome_sections(lines)
    building = Section(
        "building",
        "Building the tasks",
        "sections/building.html.jinja",
        {"funnel": found.funnel, "strength": found.strength},
        tables=(*building_tables(found.funnel), *strength_tables(found.strength)),
    )
    rules, anchors = rule_tables(content, lines)
    scores = pair_score_table(
        content.verdicts, {task.id: content.scenario_title(task.environment) for task in content.tasks}
    )
    pairs = (scores, pair_fact_table(content)) if scores.rows else ()
    return RunReport(
        content.title,
        content.settings,
        (
            verdicts,
            *_optional("habits", "Best habit", habit_table(found.habits), text=_HABITS),
            outcomes,
            *_optional("pairs", "Contrast pairs", *pairs, text=_PAIRS),
            *_optional("dockets", "Dockets", docket_table(content.verdicts), text=_DOCKETS),
            *_optional("users", "Dialogues by user", user_score_table(content.verdicts), text=_USERS),
            failures,
            Section("comparisons", "Comparisons", tables=comparisons),
            _coverage_section(content.coverage),
            building,
            *_optional("usage", "Cost and health", usage_table(content.usage)),
            _rule_section(content, rules),
        ),
        notices=(*content.notices, *_notices(content)),
        problems=content.problems,
        tasks=tuple(view_tasks(content)),
        models=content.models,
        rule_anchors=anchors,
        identity=content.identity,
    )


def _coverage_section(coverage: Sequence[CoverageLine]) -> Section:
    text = () if coverage else ("Coverage was not measured in this run.",)
    return Section("coverage", "Coverage", text=text, tables=filled(coverage_table(coverage)))


def _rule_section(content: ReportContent, rules: Sequence[Table]) -> Section:
    extraction = content.findings.extraction
    return Section("rules", "Rules", "sections/rules.html.jinja", {"score": extraction}, tables=filled(*rules))


def make_ablation_report(
    ablation: Ablation,
    contents: Mapping[int, ReportContent],
    title: str,
    settings: Mapping[str, str],
    usage: Sequence[ModelUsage] = (),
    identity: Mapping[str, str] | None = None,
) -> RunReport:
    """The report of an ablation: its variants, the effect of each axis, the outcomes of all variants, and how rules
    and tasks were built.

    ``contents``: number of a variant -> its content. With several environments the outcomes are also pooled.
    """
    by_environment = variant_lines(ablation, contents)
    lines = [*by_environment, *pool_lines(by_environment)]
    only_environments = list(ablation.variants[0].changes) == ["environment"]
    no_axis = () if ablation.axes else ("No two variants that differ in one axis were judged on a task in common.",)
    variants = [
        Section("variants", "Variants", tables=(variant_table(ablation),)),
        Section("axes", "Axes", text=no_axis, tables=axis_tables(ablation)),
    ]
    verdicts, figures, failures = _outcome_sections(lines)
    traces: dict[tuple[str, str], CoverageLine] = {}
    for content in contents.values():
        for line in content.coverage:
            traces.setdefault((line.scenario, line.mode), line)
    coverage = _coverage_section(tuple(traces.values()))
    comparisons = _optional("comparisons", "Comparisons", *_model_pairs(lines, ablation))
    outcomes = [figures, failures, coverage, verdicts, *comparisons]
    return RunReport(
        title,
        settings,
        (
            *(outcomes if only_environments else variants),
            *(variants if only_environments else outcomes),
            Section("building", "Building", tables=(variant_building_table(ablation),)),
            *_optional("usage", "Cost and health", usage_table(usage)),
        ),
        notices=tuple(dict.fromkeys(notice for content in contents.values() for notice in content.notices)),
        identity=identity or {},
    )


def _model_pairs(lines: Sequence[OutcomeLine], ablation: Ablation) -> tuple[Table, ...]:
    """Paired tests between the models of the recipe, pooled and by environment."""
    named = {model for row in ablation.variants for model in row.models}
    of_recipe = [line for line in lines if line.verdicts[0].model in named]
    return filled(
        model_pair_table(
            [line for line in of_recipe if line.pooled], "model-pairs-pooled", "Models in pairs, all environments"
        ),
        model_pair_table([line for line in of_recipe if not line.pooled]),
    )


def make_extraction_report(groups: Sequence[FormalizedGroup]) -> RunReport:
    """Formalizations of a regulation: the outcome of each group of provisions, its rules, and its sessions."""
    first = groups[0]
    models = {one.model for group in groups for one in group.formalizations}
    return RunReport(
        f"Rules for {first.environment}",
        {"regulation": first.regulation},
        (
            Section("groups", "Groups of provisions", tables=(formalization_table(groups),)),
            *(
                Section(f"group-{number}", group.group, "sections/formalization.html.jinja", {"group": group})
                for number, group in enumerate(groups, 1)
            ),
        ),
        notices=tuple(
            [f"{group.group} was not read: {group.failure}" for group in groups if group.failure]
            + (["All rules are by one model; its agreement with itself is that of one."] if len(models) == 1 else [])
        ),
    )


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
