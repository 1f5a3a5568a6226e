"""Outcomes and failure modes of a report: the verdict table, P Figures 2 and 3, and the rules of the tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lawtrace.runs.report.charts import BarLine, draw_heat_map, draw_outcomes
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import OUTCOME_LABELS
from lawtrace.runs.report.run_tables import denominator, gap_cells
from lawtrace.runs.report.tables import Cell, Column, Figure, Table, Target, heat, make_table, number, share, words
from lawtrace.runs.report.text import short_percent, unique_anchors
from lawtrace.runs.scoring.metrics import (
    OutcomeCounts,
    RuleCounts,
    count_outcomes,
    count_rule_breaks,
    failure_shares,
    group_verdicts,
)
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.findings import ExtractionScore
from lawtrace.schemas.verdict_rows import FAILURE_MODES, OUTCOMES, FailureMode, Outcome, Verdict
from lawtrace.solver.rules import Rule

ALL_ENVIRONMENTS = "All environments"


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """The verdicts on one model in one scenario and style.

    Attributes:
        scenario: its title; ``density``: its number of critical tools (P 5.3), None if unknown.
        model: the model as shown; ``contender``: as the verdicts name it.
        failures: the share of judged attempts with each failure mode.
        variant: the name of the variant in an ablation.
        pooled: over several scenarios; the attempts are then in no single list.
    """

    scenario: str
    model: str
    contender: str
    style: Style
    verdicts: tuple[Verdict, ...]
    tally: OutcomeCounts
    density: int | None = None
    variant: str | None = None
    pooled: bool = False

    @property
    def failures(self) -> Mapping[FailureMode, float | None]:
        return failure_shares(self.verdicts)

    def attempts(self, outcome: Outcome) -> Target | None:
        """The list of the attempts with this outcome."""
        if self.pooled or not self.tally.count(outcome):
            return None
        return Target(
            "attempts",
            {"model": self.contender, "style": self.style, "outcome": outcome, "variant": self.variant},
        )


def outcome_lines(content: ReportContent) -> list[OutcomeLine]:
    """A line for each scenario, model and style. Raises InputError for a verdict on an unknown task."""
    groups = group_verdicts(content.verdicts, {task.id: task.scenario for task in content.tasks})
    return [
        OutcomeLine(
            content.scenario_title(group.environment),
            group.model,
            group.model,
            group.style,
            members,
            count_outcomes(members, content.planned(group.environment, group.style)),
            content.critical_tools.get(group.environment),
        )
        for group, members in groups.items()
    ]


def pool_lines(lines: Sequence[OutcomeLine]) -> list[OutcomeLine]:
    """The lines of each model and style over all scenarios, authorized and denied apart; none for one scenario."""
    pooled: list[OutcomeLine] = []
    for task_variant, title in (("authorized", ALL_ENVIRONMENTS), ("denied", f"{ALL_ENVIRONMENTS}, denied sessions")):
        of_kind = [line for line in lines if line.verdicts and line.verdicts[0].variant == task_variant]
        if len(scenarios(of_kind)) < 2:
            continue
        groups: dict[tuple[str, Style], list[OutcomeLine]] = {}
        for line in of_kind:
            groups.setdefault((line.model, line.style), []).append(line)
        for members in groups.values():
            verdicts = tuple(verdict for line in members for verdict in line.verdicts)
            tally = count_outcomes(verdicts, sum(line.tally.planned for line in members))
            first = replace(members[0], scenario=title, verdicts=verdicts, tally=tally, density=None, pooled=True)
            pooled.append(first)
    return pooled


def scenarios(lines: Iterable[OutcomeLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.scenario for line in lines))


def verdict_table(lines: Sequence[OutcomeLine], name: str = "verdicts", title: str = "Verdicts") -> Table:
    """Outcomes, denominators and rates, a row for each line."""
    undecided = any(line.tally.undetermined for line in lines)
    left_out = {"invalid"} if undecided else {"invalid", "undetermined"}
    shown: list[Outcome] = [outcome for outcome in OUTCOMES if outcome not in left_out]
    return make_table(
        name,
        title,
        lines,
        {
            Column("Environment", shown=len(scenarios(lines)) > 1): lambda line: words(line.scenario),
            "Model": lambda line: words(line.model),
            "Style": lambda line: words(line.style),
            Column("API density", numeric=True, shown=False): lambda line: number(line.density),
            "#Pass@1": lambda line: share(line.tally.pass_at_1, interval=line.tally.pass_at_1_interval, strong=True),
            **{f"#Outcomes > {OUTCOME_LABELS[outcome].label}": _outcome_cell(outcome) for outcome in shown},
            "#Attempts > judged": lambda line: _judged_cell(line.tally),
            "#Attempts > invalid": lambda line: number(line.tally.invalid, link=line.attempts("invalid")),
            "#Attempts > missing": lambda line: number(line.tally.missing),
            "#Inference gap > of all": lambda line: share(line.tally.inference_gap),
            "#Inference gap > of goals reached": lambda line: share(line.tally.inference_gap_given_goal),
        },
        "rates are shares of the attempts judged, that is of all planned attempts except the invalid ones and those "
        "without a verdict (missing). Attempts without a program and undetermined ones count. Pass@1 is the share of "
        "safe successes, in brackets its 95 % Wilson interval.",
        grouped=True,
    )


def _judged_cell(tally: OutcomeCounts) -> Cell:
    return Cell(tally.judged, str(tally.judged), {"planned": tally.planned}, f"of {tally.planned}")


def _outcome_cell(outcome: Outcome) -> Callable[[OutcomeLine], Cell]:
    def cell(line: OutcomeLine) -> Cell:
        count, of_all = line.tally.count(outcome), line.tally.share(outcome)
        return Cell(count, str(count), {"share": of_all}, short_percent(of_all), link=line.attempts(outcome))

    return cell


def outcome_figures(lines: Sequence[OutcomeLine], prefix: str = "outcomes") -> tuple[Figure, ...]:
    """P Figure 2: a panel for each scenario, a bar for each model and style."""
    figures: list[Figure] = []
    for scenario, anchor in zip(scenarios(lines), unique_anchors(scenarios(lines)), strict=True):
        members = [line for line in lines if line.scenario == scenario]
        name, density = f"{prefix}-{anchor.lower()}", members[0].density
        title = f"{scenario}, API density {density}" if density is not None else scenario
        svg = draw_outcomes([BarLine(line.model, line.style, line.tally) for line in members], name, title)
        figures.append(Figure(verdict_table(members, name, title), svg))
    return tuple(figures)


def failure_tables(lines: Sequence[OutcomeLine], prefix: str = "failures") -> tuple[Figure, ...]:
    """P Figure 3, once for each style; the paper's is about goals, so those come first."""
    return tuple(
        _failure_table([line for line in lines if line.style == style], f"{prefix}-{style}", style)
        for style in STYLES
        if any(line.style == style for line in lines)
    )


def _failure_table(lines: Sequence[OutcomeLine], name: str, style: Style) -> Figure:
    """A row for each model, the failure modes in each scenario."""
    places, found = scenarios(lines), {(line.scenario, line.model): line for line in lines}

    def cell(model: str, place: str, head: FailureMode | None) -> Cell:
        line = found.get((place, model))
        if line is None:
            return Cell(None, "–")
        return denominator(line.tally) if head is None else heat(line.failures[head])

    table = make_table(
        name,
        f"Failure modes of {style} tasks",
        dict.fromkeys(line.model for line in lines),
        {
            "Model": words,
            **{
                Column(head or "n", group, numeric=True): partial(cell, place=place, head=head)
                for place, group in zip(places, places if len(places) > 1 else ("",), strict=True)
                for head in (*FAILURE_MODES, None)
            },
        },
        "share of the attempts judged.",
    )
    return Figure(table, draw_heat_map(table, f"{name}-map"))


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule of a scenario with its counts for each model and style; absent where it judged no attempt.

    Imported tasks may have rules with the same id; each has its own line and anchor, and they share counts.
    """

    scenario: str
    anchor: str
    rule: Rule
    tallies: Mapping[tuple[str, Style], RuleCounts]


def rule_lines(content: ReportContent) -> list[RuleLine]:
    """The rules of all tasks, with their counts."""
    groups = group_verdicts(content.verdicts, {task.id: task.scenario for task in content.tasks})
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


def extraction_table(score: ExtractionScore, baseline: ExtractionScore | None) -> Table:
    """The scores of the extracted rules, and of the offline roles on the same text if a model took part."""
    return make_table(
        "extraction",
        "Extracted rules",
        [one for one in (score, baseline) if one is not None],
        {
            "Text": lambda one: words(one.source),
            "Form": lambda one: words("restated" if one.restated else "as published"),
            "Extracted by": lambda one: words(
                f"{one.extracted_by} (baseline)" if one.extracted_by == "offline" else one.extracted_by
            ),
            "#Extracted": lambda one: number(one.extracted),
            "#Found": lambda one: number(one.found),
            "#Gold": lambda one: number(one.curated),
            "#Precision": lambda one: share(one.precision),
            "#Recall": lambda one: share(one.recall),
        },
        "the text that the rules were extracted from, and their score against the gold rules. A gold rule is found if "
        "an extracted rule has an equivalent automaton.",
    )


def rule_table(lines: Sequence[RuleLine], content: ReportContent) -> Table:
    """Each rule with its formula and provisions."""

    def why(rule: Rule) -> str:
        return " ".join(filter(None, (rule.rationale, rule.derived and f"Derived: {rule.derived}")))

    return make_table(
        "rules",
        "Rules of the tasks",
        lines,
        {
            "Rule": lambda line: Cell(
                line.rule.id, line.rule.id, below=(f"{content.scenario_title(line.scenario)}, {line.rule.template}",)
            ),
            "Formula": lambda line: words(line.rule.formula, look="code"),
            "Rests on": lambda line: words(f"{line.rule.regulation} {'; '.join(line.rule.provisions)}".strip()),
            "Why": lambda line: words(why(line.rule)),
            Column("Environment", shown=False): lambda line: words(content.scenario_title(line.scenario)),
        },
        "each rule as a formula over completed calls, and the provisions it rests on.",
        look="rules",
        anchor=lambda line: line.anchor,
    )


def broken_rule_table(lines: Sequence[RuleLine], models: Sequence[str], content: ReportContent) -> Table:
    """The part of each rule in the inference gap of each model and style."""
    return make_table(
        "rule-gaps",
        "Inference gap by rule",
        lines,
        {
            "Environment": lambda line: words(content.scenario_title(line.scenario)),
            "Rule": lambda line: words(line.rule.id, link=Target("anchor", {"name": line.anchor})),
            **gap_cells(models, lambda line: line.tallies),
        },
        "in goals (G) and workflows (W): the share of the attempts judged that reached the goal while the rule was "
        "broken. Below it, on how many attempts it was broken at all, of those with a trace.",
    )
