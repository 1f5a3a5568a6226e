"""Tables of a run besides its outcomes: pairs, users, habits, comparisons, coverage, building, usage."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import MUTATION_DESCRIPTIONS, USER_LABELS
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Line,
    Table,
    Value,
    decimal,
    heat,
    make_table,
    number,
    p_value,
    part,
    share,
    words,
)
from lawtrace.runs.scoring.breakdowns import Breakdowns, GapLine, PairLine, TrialLine
from lawtrace.runs.scoring.metrics import (
    OutcomeCounts,
    RuleCounts,
    count_pairs,
    pair_scores,
    user_scores,
)
from lawtrace.runs.scoring.statistics import PairedComparison
from lawtrace.runs.scoring.trace_coverage import CoverageLine
from lawtrace.runs.store.model_usage import ModelUsage, total_usage
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.findings import Coverage, HabitRow, HabitRunnerUp, MutationScore, TaskFunnel
from lawtrace.schemas.verdict_rows import Verdict

Titles = Callable[[str], str]
"""From an environment's name to its title."""


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


def gap_cells(
    models: Sequence[str], tallies: Callable[[Line], Mapping[tuple[str, Style], RuleCounts]]
) -> dict[str | Column, Callable[[Line], Cell]]:
    """Two columns a model, one for each style: the inference gap; below it, how often the rules were broken."""
    return {
        Column(style[0].upper(), model, numeric=True): lambda line, at=(model, style): _gap_cell(tallies(line).get(at))
        for model in models
        for style in STYLES
    }


def _gap_cell(tally: RuleCounts | None) -> Cell:
    if tally is None or not tally.traced:
        return Cell(None, "–", {"broken": None, "traced": None})
    below = f"{tally.broken} of {tally.traced}"
    below += f", {tally.undetermined} undetermined" if tally.undetermined else ""
    return heat(tally.inference_gap, below, more={"broken": tally.broken, "traced": tally.traced})


def pair_score_table(verdicts: Sequence[Verdict], environments: Mapping[str, str] | None = None) -> Table | None:
    """The contrast pairs by model and style; None if there are none. ``environments``: task id -> title."""
    scores = pair_scores(verdicts, environments)
    if not scores:
        return None
    several = len({group.environment for group in scores}) > 1
    return make_table(
        "pairs",
        "Contrast pairs",
        scores.items(),
        {
            Column("Environment", shown=several): lambda line: words(line[0].environment),
            "Model": lambda line: words(line[0].model),
            "Style": lambda line: words(line[0].style),
            "#Pair score": lambda line: share(line[1].score, interval=line[1].interval, strong=True),
            "#both sides right": lambda line: number(line[1].both),
            "#one side": lambda line: number(line[1].one),
            "#no side": lambda line: number(line[1].none),
        },
        "pair score: the share of pairs that are right, in brackets its 95 % Wilson interval. Pairs with a side that "
        "was not judged do not count.",
        grouped=True,
    )


def pair_fact_table(content: ReportContent) -> Table:
    """The contrast pairs that are right, by the fact that their sides differ in."""
    facts = {task.id: task.contrast.fact for task in content.tasks if task.contrast}
    models = tuple(dict.fromkeys(verdict.contender for verdict in content.verdicts))

    def right(fact: str, model: str) -> Cell:
        of = count_pairs(v for v in content.verdicts if v.contender == model and facts.get(v.task) == fact)
        return Cell(of.both, str(of.both), {"of": of.pairs}, f"of {of.pairs}")

    return make_table(
        "pairs-by-fact",
        "Contrast pairs by fact",
        sorted(set(facts.values())),
        {"Fact": words, **{Column(model, numeric=True): partial(right, model=model) for model in models}},
        "pairs that are right, by the fact that their sides differ in, of both styles.",
    )


def user_score_table(verdicts: Sequence[Verdict]) -> Table | None:
    """The dialogues by the behaviour of the user; None if there are none."""
    scores = user_scores(verdicts)
    if not scores:
        return None
    return make_table(
        "dialogues",
        "Dialogues by user",
        [(model, USER_LABELS[kind], tally) for model, kinds in scores.items() for kind, tally in kinds.items()],
        {
            "Model": lambda line: words(line[0]),
            "User": lambda line: words(line[1]),
            "#Judged of planned": lambda line: denominator(line[2]),
            "#Safe success": lambda line: share(line[2].pass_at_1, interval=line[2].pass_at_1_interval, strong=True),
        },
        "dialogues of both styles by the behaviour of the user. Safe success: the share of the attempts judged, in "
        "brackets its 95 % Wilson interval.",
        grouped=True,
    )


def habit_table(habits: Sequence[HabitRow]) -> Table:
    """The best habit of each style and the runners-up."""
    lines: list[tuple[HabitRow, HabitRunnerUp | None]] = []
    for row in habits:
        lines += [(row, None), *((row, other) for other in row.runners_up)]

    def passed(line: tuple[HabitRow, HabitRunnerUp | None]) -> int:
        return line[1].passed if line[1] else len(line[0].passed)

    def pairs(line: tuple[HabitRow, HabitRunnerUp | None]) -> Cell:
        row, right = line[0], len(line[0].pairs_passed)
        shown = row.pairs and line[1] is None
        return Cell(right, f"{right} of {row.pairs}", {"of": row.pairs}) if shown else Cell(None, "")

    return make_table(
        "habits",
        "Best habit",
        lines,
        {
            "Style": lambda line: words(line[0].style),
            "Habit": lambda line: words(line[1].name) if line[1] else words(line[0].name, look="strong"),
            "#passed": lambda line: number(passed(line)),
            "#of tasks": lambda line: number(line[0].tasks),
            "#rate": lambda line: share(passed(line) / line[0].tasks, strong=line[1] is None),
            Column("pairs", numeric=True, shown=any(row.pairs for row in habits)): pairs,
        },
        "the habit that passes most tasks, in simulation, and the runners-up. It is the policy baseline:habit.",
        grouped=True,
    )


def comparison_tables(found: Breakdowns, models: Sequence[str], content: ReportContent) -> tuple[Table, ...]:
    """Several trials, goal against workflow, the gap by provision, models in pairs; each only with lines."""
    title = content.scenario_title
    tables = (
        _trial_table(found.trials, title),
        _gap_table(found.gaps, content),
        make_table(
            "provision-gaps",
            "Inference gap by provision",
            found.provisions,
            {
                "Environment": lambda line: words(title(line.scenario)),
                "Provision": lambda line: words(line.provision),
                "Rules": lambda line: words(", ".join(line.rules)),
                **gap_cells(models, lambda line: line.tallies),
            },
            "in goals (G) and workflows (W): the share of the attempts judged that reached the goal while some rule "
            "that rests on the provision was broken. Below it, on how many attempts one was broken at all, of those "
            "with a trace.",
        ),
        model_pair_table(found.pairs, found.all_pairs, title),
    )
    return tuple(table for table in tables if table.rows)


def _trial_table(lines: Sequence[TrialLine], title: Titles) -> Table:
    return make_table(
        "trials",
        "Several trials",
        lines,
        {
            "Environment": lambda line: words(title(line.scenario)),
            "Model": lambda line: words(line.model),
            "#n": lambda line: denominator(line.tally),
            "#k": lambda line: number(line.k),
            "#pass@k": lambda line: share(line.at_least_one),
            "#pass^k": lambda line: share(line.all_of_them),
        },
        "pass@k, at least one of k trials is a safe success; pass^k, all of them are. Mean over tasks and styles.",
    )


def _gap_table(lines: Sequence[GapLine], content: ReportContent) -> Table:
    return make_table(
        "gaps",
        "Goal against workflow",
        lines,
        {
            "Environment": lambda line: words(content.scenario_title(line.scenario)),
            "#Density": lambda line: number(content.critical_tools.get(line.scenario, 0)),
            "Model": lambda line: words(line.model),
            "#Goal > Pass@1": lambda line: share(line.goal.pass_at_1),
            "#Goal > gap": lambda line: share(line.goal.inference_gap),
            "#Goal > n": lambda line: denominator(line.goal),
            "#Workflow > Pass@1": lambda line: share(line.workflow.pass_at_1),
            "#Workflow > gap": lambda line: share(line.workflow.inference_gap),
            "#Workflow > n": lambda line: denominator(line.workflow),
        },
        "the gap is the share of unsafe successes among the attempts judged; density is the number of critical tools "
        "offered.",
    )


def model_pair_table(lines: Sequence[PairLine], every: int, title: Titles) -> Table:
    """Paired tests between models. ``every``: the number of pairs compared, of which the lines may be a part."""
    lines_or_pairs = (
        "all lines of this table"
        if len(lines) == every
        else f"all {every} pairs, of which the {len(lines)} least likely are shown"
    )
    return make_table(
        "model-pairs",
        "Models in pairs",
        lines,
        {
            "Environment": lambda line: words(title(line.scenario)),
            "First": lambda line: words(line.first),
            "Second": lambda line: words(line.second),
            **paired_cells("#Pass@1 of first", "#of second", lambda line: (line.compared, line.adjusted_p)),
        },
        "over the attempts that both were judged on: Pass@1 of each, their difference with a 95 % interval (bootstrap "
        f"over tasks), and McNemar's exact p-value, in brackets adjusted (Holm) for {lines_or_pairs}.",
    )


def paired_cells(
    first: str, second: str, compared: Callable[[Line], tuple[PairedComparison, float]]
) -> dict[str | Column, Callable[[Line], Cell]]:
    """The columns of a paired test: number, both rates, difference with its interval, p-value and adjusted one."""
    return {
        "#n": lambda line: number(compared(line)[0].pairs),
        first: lambda line: share(compared(line)[0].first),
        second: lambda line: share(compared(line)[0].second),
        "#Difference": lambda line: difference(compared(line)[0]),
        "#p": lambda line: p_value(compared(line)[0].p_value, compared(line)[1]),
    }


def difference(compared: PairedComparison) -> Cell:
    """The difference of two rates with its interval."""
    return share(compared.difference, interval=compared.interval)


def coverage_table(lines: Sequence[CoverageLine], title: Titles) -> Table:
    """P Table 2: coverage by the search and by the model-written baseline."""
    compliant = any(line.compliant_only for line in lines)

    def written(line: CoverageLine, cell: Callable[[Coverage], Cell]) -> Cell:
        return cell(line.model_written) if line.model_written else _NOT_MEASURED

    return make_table(
        "coverage",
        "Coverage",
        lines,
        {
            "Environment": lambda line: words(title(line.scenario)),
            "Trace mode": lambda line: words(line.mode),
            "#Calls a trace": lambda line: number(line.length),
            "#Search > traces": lambda line: number(line.search.traces),
            "#Search > ATC": lambda line: _atc(line.search, strong=True),
            "#Search > S.C.": lambda line: _critical(line.search),
            "#Model-written > traces": lambda line: written(line, lambda of: number(of.traces)),
            "#Model-written > ATC": lambda line: written(line, _atc),
            "#Model-written > S.C.": lambda line: written(line, _critical),
            Column("ATC", "Its compliant ones", numeric=True, shown=compliant): lambda line: (
                _atc(line.compliant_only) if line.compliant_only else _NOT_MEASURED
            ),
        },
        "adjacent-tool coverage (ATC: distinct ordered pairs of adjacent completed calls, of all pairs of tools) and "
        "safety-critical coverage (S.C.: critical tools that occur). `lawtrace traces coverage` says how much a "
        "suite of traces can reach.",
    )


_NOT_MEASURED = Cell(None, "not measured")


def _atc(coverage: Coverage, *, strong: bool = False) -> Cell:
    return part(len(coverage.pairs), coverage.all_pairs, strong=strong)


def _critical(coverage: Coverage) -> Cell:
    return part(len(coverage.critical), len(coverage.all_critical))


def building_tables(funnel: TaskFunnel | None) -> tuple[Table, ...]:
    """Rounds until acceptance, and dropped candidates."""
    if funnel is None:
        return ()
    found = (
        make_table(
            "rounds",
            "Rounds",
            funnel.rounds.items(),
            {"#Rounds": lambda line: number(line[0]), "#Accepted instructions": lambda line: number(line[1])},
            "rounds of generator and evaluator until an instruction was accepted.",
        ),
        make_table(
            "dropped",
            "Dropped candidates",
            funnel.dropped.items(),
            {"Reason": lambda line: words(line[0]), "#Candidates": lambda line: number(line[1])},
            "by reason.",
        ),
    )
    return tuple(table for table in found if table.rows)


def strength_tables(strength: MutationScore | None) -> tuple[Table, ...]:
    """Changes of reference traces that the rules detect, by kind and by rule."""
    if strength is None:
        return ()
    return (
        make_table(
            "mutations",
            "Mutation score",
            strength.mutants.items(),
            {
                "Change": lambda line: words(MUTATION_DESCRIPTIONS[line[0]]),
                "#tried": lambda line: number(line[1]),
                "#detected": lambda line: number(strength.killed[line[0]]),
                "why others pass": lambda line: words(_survivors(strength, line[0])),
            },
            "reference traces with one change each, and how many of the changes break a rule. A change that breaks no "
            "rule is harmless, or the rules are too weak to detect it.",
        ),
        make_table(
            "mutations-by-rule",
            "Detection by rule",
            strength.kills_by_rule.items(),
            {"Rule": lambda line: words(line[0]), "#detected": lambda line: number(line[1])},
            "changes that each rule detects; several rules may detect the same change.",
        ),
    )


def _survivors(strength: MutationScore, kind: str) -> str:
    reasons = [survivor.reason for survivor in strength.survivors if survivor.kind == kind]
    return "; ".join(f"{reasons.count(reason)} {reason}" for reason in sorted(set(reasons)))


def usage_table(usage: Sequence[ModelUsage]) -> Table:
    """Model calls and tokens used by the run, by role and model, with their sum."""
    lines = (*usage, *((total_usage(usage),) if len(usage) > 1 else ()))
    money = any(line.money is not None for line in usage)
    replayed, retries, failures = (
        any(getattr(line, name) for line in usage) for name in ("replayed", "retries", "failures")
    )
    return make_table(
        "usage",
        "Cost and health",
        lines,
        {
            "Role": lambda line: words(line.role),
            "Model": lambda line: words(line.model),
            "#Answers": lambda line: number(line.asked),
            Column("Replayed", numeric=True, shown=replayed): lambda line: number(line.replayed),
            Column("Retries", numeric=True, shown=retries): lambda line: number(line.retries),
            Column("Failures", numeric=True, shown=failures): lambda line: number(line.failures),
            "#Tokens > prompts": lambda line: number(line.prompt_tokens),
            "#Tokens > answers": lambda line: number(line.completion_tokens),
            "#Seconds > waiting": lambda line: decimal(line.seconds, 1),
            "#Seconds > queued": lambda line: decimal(line.queued, 1),
            Column("Money", numeric=True, shown=money): lambda line: decimal(line.money, 4),
        },
        "model calls of this run by role: answers from endpoints, their tokens, the time spent waiting for them (with "
        "retries) and for a free slot, and money by the prices of the recipe. Replayed answers are free.",
    )
