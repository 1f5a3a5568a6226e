"""Terminal tables of a run: outcomes, mutation strength of the rules, planned and used model calls."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from lawtrace.runs.call_plan import USUAL_ANSWER_SECONDS, USUAL_ANSWER_TOKENS, CallPlan, RunPlan
from lawtrace.runs.report.labels import MUTATION_DESCRIPTIONS, OUTCOME_LABELS, USER_LABELS
from lawtrace.runs.report.text import format_duration, percent, show_interval, visible
from lawtrace.runs.schemas.verdict_rows import OUTCOMES, Outcome, Verdict
from lawtrace.runs.scoring.metrics import OutcomeCounts, count_outcomes, group_verdicts, pair_scores, user_scores
from lawtrace.runs.store.model_usage import ModelUsage, total_usage
from lawtrace.solver.coverage.mutations import MutationScore

_LABELS = {"authorized": "", "denied": "denied"}


def _make_table(caption: str | None = None) -> Table:
    """A table without frame, its caption below."""
    return Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, caption=caption, caption_justify="left")


def outcome_table(
    verdicts: Iterable[Verdict],
    environments: Mapping[str, str] | None = None,
    *,
    planned: int | None = None,
    unusable: int = 0,
) -> Table:
    """A row for each model and style: Pass@1 and outcome counts, at most 80 columns wide,
    and wider if an attempt is undetermined.

    ``planned``: number of planned attempts; by default the number of verdicts. ``unusable``: rows that could not be
    used, also counted as invalid.

    ``environments`` (task id -> environment) splits the rows by environment, if there are several; without it, denied
    sessions have separate rows.
    """
    rows = list(verdicts)
    behind = _behind(count_outcomes(rows, planned), unusable)
    groups = group_verdicts(rows, environments or {row.task: _LABELS[row.variant] for row in rows})
    split = len({group.environment for group in groups}) > 1
    table = _make_table(f"Pass@1: share of safe successes among the attempts judged\n{behind}")
    table.add_column("model\n  style", overflow="fold")
    table.add_column("Pass@1", justify="right", vertical="bottom", min_width=7)
    tally = count_outcomes(rows)
    shown: list[Outcome] = [outcome for outcome in OUTCOMES if outcome != "undetermined" or tally.undetermined]
    for outcome in shown:
        label = OUTCOME_LABELS[outcome].label.replace(" ", "\n")
        table.add_column(label, justify="right", vertical="bottom", min_width=7)
    above = None
    for group, members in groups.items():
        tally = count_outcomes(members)
        model = f"{group.environment}: {group.model}" if split and group.environment else group.model
        name = f"  {group.style}" if model == above else f"{visible(model)}\n  {group.style}"
        above = model
        cells = [name, percent(tally.pass_at_1), *(str(tally.count(outcome)) for outcome in shown)]
        # Text, not str: a model name in square brackets is a name, not markup.
        table.add_row(*(Text(cell) for cell in cells))
    return table


def pair_table(verdicts: Sequence[Verdict]) -> Table | None:
    """A row for each model and style: the contrast pairs with both sides right; None if there are no pairs."""
    table = _make_table("Pair score: share of contrast pairs with safe success on both sides, with its 95 % interval")
    table.add_column("model\n  style", overflow="fold")
    for name in ("pair score", "interval", "both sides", "one side", "no side"):
        table.add_column(name, justify="right", vertical="bottom", min_width=11)
    above = None
    for group, counts in pair_scores(verdicts).items():
        name = f"  {group.style}" if group.model == above else f"{visible(group.model)}\n  {group.style}"
        above = group.model
        numbers = (counts.both, counts.one, counts.none)
        cells = [name, percent(counts.score), show_interval(counts.interval), *map(str, numbers)]
        table.add_row(*(Text(cell) for cell in cells))
    return table if table.rows else None


def user_table(verdicts: Sequence[Verdict]) -> Table | None:
    """A row for each model and behaviour of its users in dialogues; None if there are no dialogues."""
    table = _make_table("Dialogues: share of safe successes among the attempts judged, with its 95 % interval")
    table.add_column("model\n  user", overflow="fold")
    for name in ("Pass@1", "interval", "safe success", "judged"):
        table.add_column(name, justify="right", vertical="bottom", min_width=11)
    for model, kinds in user_scores(verdicts).items():
        table.add_row(Text(visible(model)))
        for kind, tally in kinds.items():
            numbers = (str(tally.count("safe_success")), str(tally.judged))
            table.add_row(
                f"  {USER_LABELS[kind]}", percent(tally.pass_at_1), show_interval(tally.pass_at_1_interval), *numbers
            )
    return table if table.rows else None


def _behind(tally: OutcomeCounts, unusable: int) -> str:
    undetermined = f", {tally.undetermined} undetermined" if tally.undetermined else ""
    return (
        f"{tally.planned} attempts planned: {tally.judged} judged ({tally.count('no_program')} of them no program"
        f"{undetermined}), "
        f"{tally.invalid} invalid, {tally.missing} missing"
    ) + (f"; also invalid: {unusable} unusable rows" if unusable else "")


def strength_table(strength: MutationScore) -> Table:
    """Share of mutated traces (one change each) that the rules detect, and why the others pass."""
    table = _make_table()
    table.add_column("one change to a reference trace", overflow="fold")
    for name in ("tried", "noticed"):
        table.add_column(name, justify="right", min_width=8)
    table.add_column("  reasons for survivors", overflow="fold")
    for kind, tried in strength.mutants.items():
        reasons = Counter(survivor.reason for survivor in strength.survivors if survivor.kind == kind)
        why = "; ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        table.add_row(MUTATION_DESCRIPTIONS[kind], str(tried), str(strength.killed[kind]), f"  {why}")
    kills = ", ".join(f"{rule} {count}" for rule, count in strength.kills_by_rule.items())
    table.caption = f"Noticed by rule: {visible(kills)}"
    return table


def plan_table(plan: RunPlan) -> Table:
    """Planned model calls of a run, by role and model."""
    variants = f"{plan.variants} variants, stages with the same inputs counted once. " if plan.variants > 1 else ""
    return calls_table(
        plan,
        f"{variants}Model calls. Expected: every answer is accepted at once. At most: every round is needed, every "
        "spare trace is tried, every answer is requested twice.",
    )


def calls_table(plan: CallPlan, meaning: str) -> Table:
    """Planned calls by role and model; ``meaning`` explains the two numbers."""
    table = _make_table()
    table.add_column("role", overflow="fold")
    table.add_column("  model", overflow="fold")
    for name in ("expected", "at most"):
        table.add_column(name, justify="right", min_width=10)
    for line in plan.calls:
        cells = (line.role, f"  {visible(line.model)}", f"{line.expected:,}", f"{line.most:,}")
        table.add_row(*(Text(cell) for cell in cells))
    table.add_row(Text("all calls"), Text(""), Text(f"{plan.expected:,}"), Text(f"{plan.most:,}"))
    table.caption = f"{meaning}\n{_estimate(plan)}" if plan.calls else "No model is called."
    return table


def _estimate(plan: CallPlan) -> str:
    """What the calls cost and how long they take: expected, and at most."""
    most = (
        "unlimited (set budget.money, or prices and parameters.max_tokens)"
        if plan.ceiling is None
        else f"at most {plan.ceiling:,.2f}"
    )
    expected = (
        "unknown without prices" if plan.cost is None else f"about {min(plan.cost, plan.ceiling or plan.cost):,.2f}"
    )
    return (
        f"Cost: {expected}, {most}. Duration: about {format_duration(plan.seconds)}, at most "
        f"{format_duration(plan.most_seconds)}, with {plan.concurrency} calls at a time. Estimates assume "
        f"{USUAL_ANSWER_TOKENS} tokens and {USUAL_ANSWER_SECONDS} s for an answer."
    )


def usage_table(usage: Sequence[ModelUsage]) -> Table:
    """Model calls and tokens used by the run, by role and model."""
    table = _make_table()
    table.add_column("role\n  model", overflow="fold")
    for name in ("answers", "replayed", "retries", "failed", "tokens", "seconds", "money"):
        table.add_column(name, justify="right", min_width=len(name) + 2)
    for line in (*usage, *((total_usage(usage),) if len(usage) > 1 else ())):
        cells = (
            f"{line.role}\n  {visible(line.model)}" if line.model else line.role,
            f"{line.asked:,}",
            f"{line.replayed:,}",
            f"{line.retries:,}",
            f"{line.failures:,}",
            f"{line.prompt_tokens + line.completion_tokens:,}",
            f"{line.seconds:,.1f}",
            "–" if line.money is None else f"{line.money:,.4f}",
        )
        table.add_row(*(Text(cell) for cell in cells))
    table.caption = (
        "Answers of endpoints. replayed: copied from another event log, at no cost. seconds: waiting for answers, "
        "summed over all conversations."
    )
    return table
