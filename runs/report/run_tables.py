"""Tables of a run besides its outcomes: pairs, users, habits, comparisons, coverage, building, usage."""

from collections.abc import Callable, Mapping, Sequence

from lawtrace.environments.choices import STYLES, Style
from lawtrace.runs.report.breakdowns import Breakdowns, PairLine
from lawtrace.runs.report.content import CoverageLine, ReportContent
from lawtrace.runs.report.labels import MUTATION_DESCRIPTIONS, USER_LABELS
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Table,
    Value,
    columns,
    decimal,
    heat,
    number,
    p_value,
    part,
    rows,
    share,
    words,
)
from lawtrace.runs.schemas.findings import HabitRow, TaskFunnel
from lawtrace.runs.schemas.verdict_rows import UserKind, Verdict
from lawtrace.runs.scoring.metrics import (
    OutcomeCounts,
    RuleCounts,
    VerdictGroup,
    count_pairs,
    pair_scores,
    user_scores,
)
from lawtrace.runs.scoring.statistics import PairedComparison
from lawtrace.runs.store.model_usage import ModelUsage, total_usage
from lawtrace.solver.coverage.measures import Coverage
from lawtrace.solver.coverage.mutations import MutationScore

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


def gap_columns(models: Sequence[str]) -> tuple[Column, ...]:
    """Two columns a model, one for each style."""
    return tuple(Column(letter, model, numeric=True) for model in models for letter in ("G", "W"))


def gap_cells(tallies: Mapping[tuple[str, Style], RuleCounts], models: Sequence[str]) -> list[Cell]:
    """The share of rules in the inference gap of each model and style; below it, how often they were broken."""
    return [_gap_cell(tallies.get((model, style))) for model in models for style in STYLES]


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
    return Table(
        "pairs",
        "Contrast pairs",
        (
            Column("Environment", shown=_several(scores)),
            *columns("Model", "Style", "#Pair score", "#both sides right", "#one side", "#no side"),
        ),
        rows(
            [
                [
                    words(group.environment),
                    words(group.model),
                    words(group.style),
                    share(counts.score, interval=counts.interval, strong=True),
                    number(counts.both),
                    number(counts.one),
                    number(counts.none),
                ]
                for group, counts in scores.items()
            ]
        ),
        "pair score: the share of pairs that are right, in brackets its 95 % Wilson interval. Pairs with a side that "
        "was not judged do not count.",
        grouped=True,
    )


def _several(groups: Mapping[VerdictGroup, object]) -> bool:
    return len({group.environment for group in groups}) > 1


def pair_fact_table(content: ReportContent) -> Table:
    """The contrast pairs that are right, by the fact that their sides differ in."""
    facts = {task.id: task.contrast.fact for task in content.tasks if task.contrast}
    models = tuple(dict.fromkeys(verdict.contender for verdict in content.verdicts))
    counted = {
        fact: [
            count_pairs(v for v in content.verdicts if v.contender == model and facts.get(v.task) == fact)
            for model in models
        ]
        for fact in sorted(set(facts.values()))
    }
    return Table(
        "pairs-by-fact",
        "Contrast pairs by fact",
        columns("Fact", *(f"#{model}" for model in models)),
        rows(
            [
                [words(fact), *(Cell(of.both, str(of.both), {"of": of.pairs}, f"of {of.pairs}") for of in counts)]
                for fact, counts in counted.items()
            ]
        ),
        "pairs that are right, by the fact that their sides differ in, of both styles.",
    )


def user_score_table(verdicts: Sequence[Verdict]) -> Table | None:
    """The dialogues by the behaviour of the user; None if there are none."""
    scores = user_scores(verdicts)
    if not scores:
        return None
    return Table(
        "dialogues",
        "Dialogues by user",
        columns("Model", "User", "#Judged of planned", "#Safe success"),
        rows([_user_cells(model, kind, tally) for model, kinds in scores.items() for kind, tally in kinds.items()]),
        "dialogues of both styles by the behaviour of the user. Safe success: the share of the attempts judged, in "
        "brackets its 95 % Wilson interval.",
        grouped=True,
    )


def _user_cells(model: str, kind: UserKind, tally: OutcomeCounts) -> list[Cell]:
    return [
        words(model),
        words(USER_LABELS[kind]),
        denominator(tally),
        share(tally.pass_at_1, interval=tally.pass_at_1_interval, strong=True),
    ]


def habit_table(habits: Sequence[HabitRow]) -> Table:
    """The best habit of each style and the runners-up."""
    with_pairs = any(row.pairs for row in habits)
    lines: list[list[Cell]] = []
    for row in habits:
        pairs = Cell(len(row.pairs_passed), f"{len(row.pairs_passed)} of {row.pairs}", {"of": row.pairs})
        lines.append(
            [
                words(row.style),
                words(row.name, look="strong"),
                number(len(row.passed)),
                number(row.tasks),
                share(row.rate, strong=True),
                pairs if row.pairs else Cell(None, ""),
            ]
        )
        for other in row.runners_up:
            rate = share(other.passed / row.tasks)
            cells = [words(row.style), words(other.name), number(other.passed), number(row.tasks), rate, Cell(None, "")]
            lines.append(cells)
    return Table(
        "habits",
        "Best habit",
        columns("Style", "Habit", "#passed", "#of tasks", "#rate", Column("pairs", numeric=True, shown=with_pairs)),
        rows(lines),
        "the habit that passes most tasks, in simulation, and the runners-up. It is the policy baseline:habit.",
        grouped=True,
    )


def comparison_tables(comparisons: Breakdowns, models: Sequence[str], title: Titles) -> tuple[Table, ...]:
    """Several trials, goal against workflow, the gap by provision, models in pairs; each only with lines."""
    found = (
        _trial_table(comparisons, title),
        _gap_table(comparisons, title),
        Table(
            "provision-gaps",
            "Inference gap by provision",
            columns("Environment", "Provision", "Rules", *gap_columns(models)),
            rows(
                [
                    [
                        words(title(line.scenario)),
                        words(line.provision),
                        words(", ".join(line.rules)),
                        *gap_cells(line.tallies, models),
                    ]
                    for line in comparisons.provisions
                ]
            ),
            "in goals (G) and workflows (W): the share of the attempts judged that reached the goal while some rule "
            "that rests on the provision was broken. Below it, on how many attempts one was broken at all, of those "
            "with a trace.",
        ),
        model_pair_table(comparisons.pairs, comparisons.all_pairs, title),
    )
    return tuple(table for table in found if table.rows)


def _trial_table(comparisons: Breakdowns, title: Titles) -> Table:
    return Table(
        "trials",
        "Several trials",
        columns("Environment", "Model", "#n", "#k", "#pass@k", "#pass^k"),
        rows(
            [
                [
                    words(title(line.scenario)),
                    words(line.model),
                    denominator(line.tally),
                    number(k),
                    share(one),
                    share(every),
                ]
                for line in comparisons.trials
                for k, (one, every) in enumerate(zip(line.at_least_one, line.all_of_them, strict=True), 1)
            ]
        ),
        "pass@k, at least one of k trials is a safe success; pass^k, all of them are. Mean over tasks and styles.",
    )


def _gap_table(comparisons: Breakdowns, title: Titles) -> Table:
    return Table(
        "gaps",
        "Goal against workflow",
        (
            *columns("Environment", "#Density", "Model"),
            *(Column(head, style, numeric=True) for style in ("Goal", "Workflow") for head in ("Pass@1", "gap", "n")),
        ),
        rows(
            [
                [
                    words(title(line.scenario)),
                    number(line.density),
                    words(line.model),
                    *(
                        cell
                        for tally in (line.goal, line.workflow)
                        for cell in (share(tally.pass_at_1), share(tally.inference_gap), denominator(tally))
                    ),
                ]
                for line in comparisons.gaps
            ]
        ),
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
    return Table(
        "model-pairs",
        "Models in pairs",
        columns("Environment", "First", "Second", "#n", "#Pass@1 of first", "#of second", "#Difference", "#p"),
        rows(
            [
                [
                    words(title(line.scenario)),
                    words(line.first),
                    words(line.second),
                    number(line.compared.pairs),
                    share(line.compared.first),
                    share(line.compared.second),
                    difference(line.compared),
                    p_value(line.compared.p_value, line.adjusted_p),
                ]
                for line in lines
            ]
        ),
        "over the attempts that both were judged on: Pass@1 of each, their difference with a 95 % interval (bootstrap "
        f"over tasks), and McNemar's exact p-value, in brackets adjusted (Holm) for {lines_or_pairs}.",
    )


def difference(compared: PairedComparison) -> Cell:
    """The difference of two rates with its interval."""
    return share(compared.difference, interval=compared.interval)


def coverage_table(lines: Sequence[CoverageLine], title: Titles) -> Table:
    """P Table 2: coverage by the search and by the model-written baseline."""
    compliant = any(line.compliant_only for line in lines)
    return Table(
        "coverage",
        "Coverage",
        (
            *columns("Environment", "Trace mode", "#Calls a trace"),
            *(Column(head, "Search", numeric=True) for head in ("traces", "ATC", "ceiling", "S.C.")),
            *(Column(head, "Model-written", numeric=True) for head in ("traces", "ATC", "S.C.")),
            Column("ATC", "Its compliant ones", numeric=True, shown=compliant),
        ),
        rows([_coverage_cells(line, title) for line in lines]),
        "adjacent-tool coverage (ATC: distinct ordered pairs of adjacent completed calls, of all pairs of tools) and "
        "safety-critical coverage (S.C.: critical tools that occur). The ceiling is the most that traces of this mode "
        "and length can reach.",
    )


def _coverage_cells(line: CoverageLine, title: Titles) -> list[Cell]:
    search, written, compliant = line.search, line.model_written, line.compliant_only
    return [
        words(title(line.scenario)),
        words(line.mode),
        number(line.length),
        number(search.traces),
        _atc(search, strong=True),
        part(len(line.possible_pairs), search.all_pairs),
        _critical(search),
        *((number(written.traces), _atc(written), _critical(written)) if written else (_NOT_MEASURED,) * 3),
        _atc(compliant) if compliant else _NOT_MEASURED,
    ]


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
        Table(
            "rounds",
            "Rounds",
            columns("#Rounds", "#Accepted instructions"),
            rows([[number(rounds), number(count)] for rounds, count in funnel.rounds.items()]),
            "rounds of generator and evaluator until an instruction was accepted.",
        ),
        Table(
            "dropped",
            "Dropped candidates",
            columns("Reason", "#Candidates"),
            rows([[words(reason), number(count)] for reason, count in funnel.dropped.items()]),
            "by reason.",
        ),
    )
    return tuple(table for table in found if table.rows)


def strength_tables(strength: MutationScore | None) -> tuple[Table, ...]:
    """Changes of reference traces that the rules detect, by kind and by rule."""
    if strength is None:
        return ()
    return (
        Table(
            "mutations",
            "Mutation score",
            columns("Change", "#tried", "#detected", "why others pass"),
            rows(
                [
                    [
                        words(MUTATION_DESCRIPTIONS[kind]),
                        number(tried),
                        number(strength.killed[kind]),
                        words(_survivors(strength, kind)),
                    ]
                    for kind, tried in strength.mutants.items()
                ]
            ),
            "reference traces with one change each, and how many of the changes break a rule. A change that breaks no "
            "rule is harmless, or the rules are too weak to detect it.",
        ),
        Table(
            "mutations-by-rule",
            "Detection by rule",
            columns("Rule", "#detected"),
            rows([[words(rule), number(count)] for rule, count in strength.kills_by_rule.items()]),
            "changes that each rule detects; several rules may detect the same change.",
        ),
    )


def _survivors(strength: MutationScore, kind: str) -> str:
    reasons = [survivor.reason for survivor in strength.survivors if survivor.kind == kind]
    return "; ".join(f"{reasons.count(reason)} {reason}" for reason in sorted(set(reasons)))


def usage_table(usage: Sequence[ModelUsage]) -> Table:
    """Model calls and tokens used by the run, by role and model, with their sum."""
    lines = (*usage, *((total_usage(usage),) if len(usage) > 1 else ()))
    return Table(
        "usage",
        "Cost and health",
        (
            *columns("Role", "Model", "#Answers"),
            Column("Replayed", numeric=True, shown=any(line.replayed for line in usage)),
            Column("Retries", numeric=True, shown=any(line.retries for line in usage)),
            Column("Failures", numeric=True, shown=any(line.failures for line in usage)),
            *(Column(head, "Tokens", numeric=True) for head in ("prompts", "answers")),
            *(Column(head, "Seconds", numeric=True) for head in ("waiting", "queued")),
            Column("Money", numeric=True, shown=any(line.money is not None for line in usage)),
        ),
        rows(
            [
                [
                    words(line.role),
                    words(line.model),
                    *map(number, (line.asked, line.replayed, line.retries, line.failures)),
                    *map(number, (line.prompt_tokens, line.completion_tokens)),
                    *(decimal(seconds, 1) for seconds in (line.seconds, line.queued)),
                    decimal(line.money, 4),
                ]
                for line in lines
            ]
        ),
        "model calls of this run by role: answers from endpoints, their tokens, the time spent waiting for them (with "
        "retries) and for a free slot, and money by the prices of the recipe. Replayed answers are free.",
    )
