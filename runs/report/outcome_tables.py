"""Tables and figures of verdicts: outcomes, failure modes, pairs, users, rules and provisions, models in pairs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from lawtrace.runs.report.charts import draw_heat_map, draw_outcomes
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import OUTCOME_LABELS, RARE_OUTCOMES, USER_LABELS
from lawtrace.runs.report.outcome_lines import OutcomeLine, join_styles, scenarios
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Figure,
    Line,
    Table,
    Target,
    Value,
    heat,
    make_table,
    number,
    p_value,
    share,
    words,
)
from lawtrace.runs.report.text import short_percent, unique_anchors
from lawtrace.runs.scoring import metrics, statistics
from lawtrace.runs.scoring.metrics import OutcomeCounts, RuleCounts, count_rule_breaks, group_by
from lawtrace.runs.scoring.readings import count_safe
from lawtrace.runs.scoring.statistics import PairedComparison
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.verdict_rows import FAILURE_MODES, OUTCOMES, Outcome, RuleVerdict, Verdict

MOST_PAIRS = 60
"""Maximum number of pairs of models shown, by smallest p-value; the adjustment of p-values counts all pairs."""


_READINGS_NOTE = (
    " A safe success reaches the goal and is lawful under all readings of the law; least and most are the shares that "
    "do under any one reading of each open question for all attempts of the row, some is the share that does under one."
)


def verdict_table(lines: Sequence[OutcomeLine], name: str = "verdicts", title: str = "Verdicts") -> Table:
    """Outcomes, denominators and rates, a row for each line."""
    left_out = {"invalid", *(one for one in RARE_OUTCOMES if not any(line.tally.count(one) for line in lines))}
    shown: list[Outcome] = [outcome for outcome in OUTCOMES if outcome not in left_out]
    environment = Column("Environment", shown=len(scenarios(lines)) > 1)
    instructed = any(map(_against_instructions, lines))
    disputed = any(count_safe(line.verdicts).turns for line in lines)

    def of(line: OutcomeLine, outcome: Outcome) -> Cell:
        of_all = line.tally.share(outcome)
        return replace(line.count(outcome), more={"share": of_all}, aside=short_percent(of_all))

    return make_table(
        name,
        title,
        (
            {
                environment: line.scenario,
                "Model": line.model,
                "Style": line.style,
                Column("API density", numeric=True, shown=False): line.density,
                "#Pass@1": share(tally.pass_at_1, interval=tally.pass_at_1_interval, strong=True),
                **(_under_readings(line) if disputed else {}),
                **{f"#Outcomes > {OUTCOME_LABELS[outcome].label}": of(line, outcome) for outcome in shown},
                "#Attempts > judged": Cell(
                    tally.judged, str(tally.judged), {"planned": tally.planned}, f"of {tally.planned}"
                ),
                "#Attempts > invalid": line.count("invalid"),
                **({"#Attempts > against instructions": _against_instructions(line)} if instructed else {}),
                "#Attempts > missing": tally.missing,
                "#Inference gap > of all": share(tally.inference_gap),
                "#Inference gap > of goals reached": share(tally.inference_gap_given_goal),
            }
            for line in lines
            for tally in (line.tally,)
        ),
        "rates are shares of the attempts judged, that is of all planned attempts except the invalid ones and those "
        "without a verdict (missing). Attempts without a program and undetermined ones count. Pass@1 is the share of "
        "safe successes, in brackets its 95 % Wilson interval." + (_READINGS_NOTE if disputed else ""),
        grouped=True,
    )


def _against_instructions(line: OutcomeLine) -> int:
    """The attempts that break a rule of the owner's manual."""
    return sum(bool(verdict.against_instructions) for verdict in line.verdicts)


def _under_readings(line: OutcomeLine) -> dict[str, Cell]:
    """The shares of safe successes under readings of open questions."""
    found, judged = count_safe(line.verdicts), line.tally.judged
    counts = {"least": found.least, "most": found.most, "some": found.under_some}
    return {f"#Under readings > {name}": share(count / judged if judged else None) for name, count in counts.items()}


def denominator(tally: OutcomeCounts) -> Cell:
    """The attempts judged of those planned, and why the others are missing."""
    reasons: dict[str, int] = {
        "no program": tally.count("no_program"),
        "undetermined": tally.undetermined,
        "invalid": tally.invalid,
        "missing": tally.missing,
    }
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count)
    more: dict[str, Value] = {"planned": tally.planned}
    return Cell(tally.judged, f"{tally.judged} of {tally.planned}", more, below=(why,) if why else ())


def outcome_figures(lines: Sequence[OutcomeLine], prefix: str = "outcomes") -> tuple[Figure, ...]:
    """P Figure 2: a panel for each scenario, a bar for each model and style."""
    figures: list[Figure] = []
    for scenario, anchor in zip(scenarios(lines), unique_anchors(scenarios(lines)), strict=True):
        members = [line for line in lines if line.scenario == scenario]
        name, density = f"{prefix}-{anchor.lower()}", members[0].density
        title = f"{scenario}, API density {density}" if density is not None else scenario
        figures.append(Figure(verdict_table(members, name, title), draw_outcomes(members, name, title)))
    return tuple(figures)


def failure_figures(lines: Sequence[OutcomeLine], prefix: str = "failures") -> tuple[Figure, ...]:
    """P Figure 3, once for each style; the paper's is about goals, so those come first."""
    return tuple(
        _failure_figure(of_style, f"{prefix}-{style}", style)
        for style in STYLES
        if (of_style := [line for line in lines if line.style == style])
    )


def _failure_figure(lines: Sequence[OutcomeLine], name: str, style: Style) -> Figure:
    """A row for each model, the failure modes in each scenario."""
    places, found = scenarios(lines), {(line.scenario, line.model): line for line in lines}
    heads = (*FAILURE_MODES, "n")

    def cells(line: OutcomeLine | None) -> list[Cell]:
        if line is None:
            return [Cell(None, "–")] * len(heads)
        return [*map(heat, metrics.failure_shares(line.verdicts).values()), denominator(line.tally)]

    table = make_table(
        name,
        f"Failure modes of {style} tasks",
        (
            {
                "Model": model,
                **{
                    Column(head, place if len(places) > 1 else "", numeric=True): cell
                    for place in places
                    for head, cell in zip(heads, cells(found.get((place, model))), strict=True)
                },
            }
            for model in dict.fromkeys(line.model for line in lines)
        ),
        "share of the attempts judged.",
    )
    return Figure(table, draw_heat_map(table, f"{name}-map"))


def pair_score_table(verdicts: Sequence[Verdict], environments: Mapping[str, str] | None = None) -> Table:
    """The contrast pairs by model and style. ``environments``: task id -> title."""
    scores = metrics.pair_scores(verdicts, environments)
    environment = Column("Environment", shown=len({group.environment for group in scores}) > 1)
    return make_table(
        "pairs",
        "Contrast pairs",
        (
            {
                environment: group.environment,
                "Model": group.model,
                "Style": group.style,
                "#Pair score": share(counts.score, interval=counts.interval, strong=True),
                "#both sides right": counts.both,
                "#one side": counts.one,
                "#no side": counts.none,
            }
            for group, counts in scores.items()
        ),
        "pair score: the share of pairs that are right, in brackets its 95 % interval over decision points. Pairs with "
        "a side that was not judged do not count.",
        grouped=True,
    )


def docket_table(verdicts: Sequence[Verdict]) -> Table:
    """The dockets by model."""
    return make_table(
        "dockets",
        "Dockets",
        (
            {
                "Model": model,
                "#Matters right": share(
                    counts.share, interval=statistics.clustered_interval(counts.right, counts.matters), strong=True
                ),
                "#dockets all right": counts.all_right,
                "#attempts": counts.attempts,
                "#crashed": counts.crashed,
            }
            for model, counts in metrics.docket_scores(verdicts).items()
        ),
        "matters right: the share of matters that are handled lawfully, in brackets its 95 % interval by bootstrap "
        "over dockets. An attempt that crashed counts as what it did until then.",
    )


def pair_fact_table(content: ReportContent) -> Table:
    """The contrast pairs that are right, by the fact that their sides differ in."""
    facts = {task.id: task.contrast.fact for task in content.tasks if task.contrast}
    verdicts = group_by(content.verdicts, lambda verdict: (verdict.contender, facts.get(verdict.task)))
    models = dict.fromkeys(model for model, _ in verdicts)

    def right(model: str, fact: str) -> Cell:
        of = metrics.count_pairs(verdicts.get((model, fact), ()))
        return Cell(of.both, str(of.both), {"of": of.pairs}, f"of {of.pairs}")

    return make_table(
        "pairs-by-fact",
        "Contrast pairs by fact",
        (
            {"Fact": fact, **{Column(model, numeric=True): right(model, fact) for model in models}}
            for fact in sorted(set(facts.values()))
        ),
        "pairs that are right, by the fact that their sides differ in, of both styles.",
    )


def user_score_table(verdicts: Sequence[Verdict]) -> Table:
    """The dialogues by the behaviour of the user."""
    return make_table(
        "dialogues",
        "Dialogues by user",
        (
            {
                "Model": model,
                "User": USER_LABELS[kind],
                "#Judged of planned": denominator(tally),
                "#Safe success": share(tally.pass_at_1, interval=tally.pass_at_1_interval, strong=True),
            }
            for model, kinds in metrics.user_scores(verdicts).items()
            for kind, tally in kinds.items()
        ),
        "dialogues of both styles by the behaviour of the user. Safe success: the share of the attempts judged, in "
        "brackets its 95 % Wilson interval.",
        grouped=True,
    )


def trial_table(lines: Sequence[OutcomeLine]) -> Table:
    """Pass@k and pass^k of each model in each environment, up to the number of trials that all its tasks have."""

    def rows() -> Iterator[Line]:
        for line in join_styles(lines):
            most = statistics.max_common_trials(line.verdicts)
            for k in range(1, most + 1) if most > 1 else ():
                yield {
                    "Environment": line.scenario,
                    "Model": line.model,
                    "#n": denominator(line.tally),
                    "#k": k,
                    "#pass@k": share(statistics.pass_at_k(line.verdicts, k)),
                    "#pass^k": share(statistics.pass_hat_k(line.verdicts, k)),
                }

    return make_table(
        "trials",
        "Several trials",
        rows(),
        "pass@k, at least one of k trials is a safe success; pass^k, all of them are. Mean over tasks and styles.",
    )


def gap_table(lines: Sequence[OutcomeLine]) -> Table:
    """Goal against workflow, beside the number of critical tools."""
    tallies = {(line.scenario, line.model, line.style): line.tally for line in lines}

    def of_style(line: OutcomeLine, style: Style) -> dict[str, Cell]:
        tally = tallies.get((line.scenario, line.model, style), OutcomeCounts({}, 0))
        cells = {"Pass@1": share(tally.pass_at_1), "gap": share(tally.inference_gap), "n": denominator(tally)}
        return {f"#{style.capitalize()} > {title}": cell for title, cell in cells.items()}

    return make_table(
        "gaps",
        "Goal against workflow",
        (
            {
                "Environment": line.scenario,
                "#Density": line.density or 0,
                "Model": line.model,
                **of_style(line, "goal"),
                **of_style(line, "workflow"),
            }
            for line in join_styles(lines)
        ),
        "the gap is the share of unsafe successes among the attempts judged; density is the number of critical tools "
        "offered.",
    )


RuleTallies = Mapping[tuple[str, str, Style], Mapping[str, RuleCounts]]
"""Scenario, model and style -> the counts of rules, or of the rules that cite a provision."""


def _tallies(lines: Sequence[OutcomeLine], keys: Callable[[RuleVerdict], Iterable[str]]) -> RuleTallies:
    """The counts of all rules with a key."""
    return {(line.scenario, line.model, line.style): count_rule_breaks(line.verdicts, keys) for line in lines}


def provision_table(lines: Sequence[OutcomeLine], models: Sequence[str]) -> Table:
    """The inference gap by provision: of the rules that cite it, taken together."""
    resting: dict[tuple[str, str], dict[str, None]] = {}
    for line in lines:
        for rule in (rule for verdict in line.verdicts for rule in verdict.rules):
            for provision in rule.provisions:
                resting.setdefault((line.scenario, provision), {})[rule.rule] = None
    tallies = _tallies(lines, lambda rule: set(rule.provisions))
    return make_table(
        "provision-gaps",
        "Inference gap by provision",
        (
            {
                "Environment": scenario,
                "Provision": provision,
                "Rules": ", ".join(rules),
                **_gap_cells(models, tallies, scenario, provision),
            }
            for (scenario, provision), rules in resting.items()
        ),
        "in goals (G) and workflows (W): the share of the attempts judged that reached the goal while some rule "
        "that rests on the provision was broken. Below it, on how many attempts one was broken at all, of those "
        "with a trace.",
    )


def rule_tables(
    content: ReportContent, outcomes: Sequence[OutcomeLine]
) -> tuple[tuple[Table, ...], Mapping[tuple[str, str], str]]:
    """Each rule with its formula and provisions; its part of the inference gap of each model and style. And the anchor
    of each rule of a scenario.

    Imported tasks may have rules with the same id; each has its own line and anchor, and they share counts.
    """
    rules = {(task.environment, rule.id, rule.formula): rule for task in content.tasks for rule in task.rules}
    anchors = unique_anchors([f"rule-{scenario}-{identifier}" for scenario, identifier, _ in rules])
    tallies = _tallies(outcomes, lambda rule: (rule.rule,))
    lines = [(content.scenario_title(scenario), scenario, rule) for (scenario, *_), rule in rules.items()]
    every = make_table(
        "rules",
        "Rules of the tasks",
        (
            {
                "Rule": Cell(rule.id, rule.id, below=(f"{title}, {rule.template}",)),
                "Formula": words(rule.formula, look="code"),
                "Rests on": f"{rule.act} {'; '.join(rule.provisions)}".strip(),
                "Why": rule.rationale,
                Column("Environment", shown=False): title,
            }
            for title, _, rule in lines
        ),
        "each rule as a formula over completed calls, and the provisions it rests on.",
        look="rules",
        anchors=anchors,
    )
    broken = make_table(
        "rule-gaps",
        "Inference gap by rule",
        (
            {
                "Environment": title,
                "Rule": words(rule.id, link=Target("anchor", {"name": anchor})),
                **_gap_cells(content.models, tallies, title, rule.id),
            }
            for anchor, (title, _, rule) in zip(anchors, lines, strict=True)
            if content.models
        ),
        "in goals (G) and workflows (W): the share of the attempts judged that reached the goal while the rule was "
        "broken. Below it, on how many attempts it was broken at all, of those with a trace.",
    )
    first = {(scenario, rule.id): anchor for anchor, (_, scenario, rule) in [*zip(anchors, lines, strict=True)][::-1]}
    return (every, broken), first


def _gap_cells(models: Sequence[str], tallies: RuleTallies, scenario: str, key: str) -> dict[Column, Cell]:
    """Two columns a model, one for each style: the inference gap; below it, how often the rules were broken."""
    return {
        Column(style[0].upper(), model, numeric=True): _gap_cell(tallies.get((scenario, model, style), {}).get(key))
        for model in models
        for style in STYLES
    }


def _gap_cell(tally: RuleCounts | None) -> Cell:
    if tally is None or not tally.traced:
        return Cell(None, "–", {"broken": None, "traced": None})
    below = f"{tally.broken} of {tally.traced}"
    below += f", {tally.undetermined} undetermined" if tally.undetermined else ""
    return heat(tally.inference_gap, below, more={"broken": tally.broken, "traced": tally.traced})


def model_pair_table(
    outcomes: Sequence[OutcomeLine], name: str = "model-pairs", title: str = "Models in pairs"
) -> Table:
    """Paired tests between the models of each scenario, on the attempts that both were judged on."""
    found = [
        (one, other, compared)
        for one, other in combinations(join_styles(outcomes), 2)
        if one.scenario == other.scenario and (compared := statistics.compare_paired(one.verdicts, other.verdicts))
    ]
    lines = [*zip(found, statistics.holm_adjusted([compared.p_value for *_, compared in found]), strict=True)]
    shown = lines if len(lines) <= MOST_PAIRS else sorted(lines, key=lambda line: line[0][2].p_value)[:MOST_PAIRS]
    counted = (
        "all lines of this table"
        if shown is lines
        else f"all {len(lines)} pairs, of which the {len(shown)} least likely are shown"
    )
    return make_table(
        name,
        title,
        (
            {
                "Environment": one.scenario,
                "First": one.model,
                "Second": other.model,
                **paired_cells("#Pass@1 of first", "#of second", compared, adjusted),
            }
            for (one, other, compared), adjusted in shown
        ),
        "over the attempts that both were judged on: Pass@1 of each, their difference with a 95 % interval (bootstrap "
        f"over tasks), and McNemar's exact p-value, in brackets adjusted (Holm) for {counted}.",
    )


def paired_cells(first: str, second: str, compared: PairedComparison, adjusted: float) -> dict[str, Cell]:
    """The cells of a paired test: number, both rates, difference with its interval, p-value and adjusted one."""
    return {
        "#n": number(compared.pairs),
        first: share(compared.first),
        second: share(compared.second),
        "#Difference": share(compared.difference, interval=compared.interval),
        "#p": p_value(compared.p_value, adjusted),
    }
