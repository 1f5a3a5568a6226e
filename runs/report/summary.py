"""Summary of a report: table lines and figure panels, as values for the templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lawtrace.runs.report.charts import draw_outcomes
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.text import slug, unique_anchors
from lawtrace.runs.schemas.verdict_rows import FailureMode, Verdict
from lawtrace.runs.scoring.metrics import (
    OutcomeCounts,
    RuleCounts,
    VerdictGroup,
    count_outcomes,
    count_rule_breaks,
    failure_shares,
    group_verdicts,
)
from lawtrace.solver.masking.instructions import Style
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """Verdicts of one scenario or variant, a line for each model and style. ``variant``: its name in an ablation."""

    title: str
    lines: tuple[tuple[VerdictGroup, OutcomeCounts], ...]
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class ChartPanel:
    """A figure with its heading."""

    title: str
    figure: Markup


@dataclass(frozen=True, slots=True)
class FailureLine:
    """The failure modes of one model, as shares of its judged attempts."""

    model: str
    tally: OutcomeCounts
    shares: Mapping[FailureMode, float | None]


@dataclass(frozen=True, slots=True)
class FailureTable:
    title: str
    lines: tuple[FailureLine, ...]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule of a scenario with its counts for each model and style; absent where it judged no attempt.

    Imported tasks may have rules with the same id; each has its own line and anchor, and they share counts.
    """

    scenario: str
    anchor: str
    rule: Rule
    tallies: Mapping[tuple[str, Style], RuleCounts]


@dataclass(frozen=True, slots=True)
class Summary:
    """The part of the report before the task pages."""

    models: tuple[str, ...]
    blocks: tuple[VerdictTable, ...]
    outcomes: tuple[ChartPanel, ...]
    failures: tuple[FailureTable, ...]
    rules: tuple[RuleLine, ...]


def summarize(content: ReportContent) -> Summary:
    """Compute tables and figures. Raises InputError for a verdict on an unknown task."""
    environments = {task.id: task.scenario for task in content.tasks}
    groups = group_verdicts(content.verdicts, environments)
    scenarios = tuple(dict.fromkeys(group.environment for group in groups))
    models = tuple(dict.fromkeys(verdict.contender for verdict in content.verdicts))
    tallies = {
        group: count_outcomes(members, content.planned(group.environment, group.style))
        for group, members in groups.items()
    }
    panels: list[tuple[str, Style]] = list(dict.fromkeys((group.environment, group.style) for group in groups))
    return Summary(
        models=models,
        blocks=tuple(
            VerdictTable(
                content.scenario_title(scenario),
                tuple((group, tally) for group, tally in tallies.items() if group.environment == scenario),
            )
            for scenario in scenarios
        ),
        outcomes=tuple(_outcome_panel(content, tallies, scenario, style) for scenario, style in panels),
        # The paper's Figure 3 is about goals, so those come first.
        failures=tuple(
            _failure_table(content, groups, tallies, scenario, style)
            for scenario, style in sorted(panels, key=_goals_first)
        ),
        rules=tuple(_rule_lines(content, groups)),
    )


def _goals_first(panel: tuple[str, Style]) -> bool:
    return panel[1] != "goal"


def _outcome_panel(
    content: ReportContent, tallies: Mapping[VerdictGroup, OutcomeCounts], scenario: str, style: Style
) -> ChartPanel:
    title = f"{content.scenario_title(scenario)}, {style}"
    lines = [(group.model, tally) for group, tally in tallies.items() if _belongs(group, scenario, style)]
    return ChartPanel(title, draw_outcomes(lines, f"outcomes-{slug(scenario)}-{style}", f"Outcomes: {title}"))


def _failure_table(
    content: ReportContent,
    groups: Mapping[VerdictGroup, Sequence[Verdict]],
    tallies: Mapping[VerdictGroup, OutcomeCounts],
    scenario: str,
    style: Style,
) -> FailureTable:
    return FailureTable(
        f"{content.scenario_title(scenario)}, {style}",
        tuple(
            FailureLine(group.model, tallies[group], failure_shares(members))
            for group, members in groups.items()
            if _belongs(group, scenario, style)
        ),
    )


def _belongs(group: VerdictGroup, scenario: str, style: Style) -> bool:
    return group.environment == scenario and group.style == style


def _rule_lines(content: ReportContent, groups: Mapping[VerdictGroup, Sequence[Verdict]]) -> list[RuleLine]:
    rules = {(task.scenario, rule.id, rule.formula): rule for task in content.tasks for rule in task.rules}
    fared = {group: count_rule_breaks(members) for group, members in groups.items()}
    anchors = unique_anchors([f"rule-{scenario}-{identifier}" for scenario, identifier, _ in rules])
    return [
        RuleLine(
            scenario,
            anchor,
            rule,
            {
                (group.model, group.style): tallies[rule.id]
                for group, tallies in fared.items()
                if group.environment == scenario and rule.id in tallies
            },
        )
        for anchor, ((scenario, _, _), rule) in zip(anchors, rules.items(), strict=True)
    ]
