"""Terminal tables: outcomes, planned model calls, and any table of a report."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from lawtrace.runs.call_plan import USUAL_ANSWER_SECONDS, USUAL_ANSWER_TOKENS, CallPlan, RunPlan
from lawtrace.runs.report import tables
from lawtrace.runs.report.labels import OUTCOME_LABELS, RARE_OUTCOMES
from lawtrace.runs.report.text import format_duration, visible
from lawtrace.runs.scoring.metrics import OutcomeCounts, count_outcomes, group_verdicts
from lawtrace.schemas.verdict_rows import OUTCOMES, Outcome, Verdict


def outcome_table(verdicts: Iterable[Verdict], *, planned: int | None = None, unusable: int = 0) -> Table:
    """A row for each model and style: Pass@1 and outcome counts, at most 80 columns wide, and wider if an attempt is
    undetermined.

    ``planned``: number of planned attempts; by default the number of verdicts. ``unusable``: rows that could not be
    used, also counted as invalid.
    """
    rows = list(verdicts)
    every = count_outcomes(rows, planned)
    groups = group_verdicts(rows, {row.task: "" for row in rows})
    shown: list[Outcome] = [one for one in OUTCOMES if one not in RARE_OUTCOMES or every.count(one)]
    made = tables.make_table(
        "outcomes",
        "Pass@1",
        (
            {
                "model": group.model,
                "style": group.style,
                "#Pass@1": tables.share(tally.pass_at_1),
                **{f"#{OUTCOME_LABELS[one].label.replace(' ', ' > ')}": tally.count(one) for one in shown},
            }
            for group, members in groups.items()
            for tally in (count_outcomes(members),)
        ),
        f"share of safe successes among the attempts judged\n{_behind(every, unusable)}",
    )
    return report_table(made)


def _behind(tally: OutcomeCounts, unusable: int) -> str:
    undetermined = f", {tally.undetermined} undetermined" if tally.undetermined else ""
    return (
        f"{tally.planned} attempts planned: {tally.judged} judged ({tally.count('no_program')} of them no program"
        f"{undetermined}), "
        f"{tally.invalid} invalid, {tally.missing} missing"
    ) + (f"; also invalid: {unusable} unusable rows" if unusable else "")


def report_table(table: tables.Table) -> Table:
    """A table of a report. Its leading text columns share one column, each indented below the one before; what a row
    has in common with the row above is left out."""
    places = table.places
    numbers = [place for place, at in enumerate(places) if table.columns[at].numeric]
    named = places[: numbers[0] if numbers else 1]
    others = places[len(named) :]
    caption = visible(f"{table.title}: {table.caption}" if table.caption else table.title)
    shown = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, caption=caption, caption_justify="left")
    heads = _indented([table.columns[place].title for place in named])
    shown.add_column(heads, overflow="fold", vertical="bottom", min_width=22)
    for place in others:
        column = table.columns[place]
        head = "\n".join(part for part in (column.group, column.title) if part)
        justify = "right" if column.numeric else "left"
        shown.add_column(visible(head), justify=justify, vertical="bottom", overflow="fold")
    above: list[str] = []
    for row in table.rows:
        names = [visible(row.cells[place].text) for place in named]
        common = next((at for at, (one, two) in enumerate(zip(above, names, strict=False)) if one != two), len(names))
        first = min(common, len(names) - 1) if above else 0
        above = names
        cells = ["\n".join(filter(None, (row.cells[place].text, row.cells[place].aside))) for place in others]
        # Text, not str: a model name in square brackets is a name, not markup.
        shown.add_row(Text(visible(_indented(names, first))), *(Text(visible(cell)) for cell in cells))
    return shown


def _indented(names: Sequence[str], first: int = 0) -> str:
    """The names from the first one, each on its line below the one before."""
    return "\n".join(f"{'  ' * at}{name}" for at, name in enumerate(names) if at >= first and name)


def plan_table(plan: RunPlan) -> Table:
    """Planned model calls of a run, by role and model."""
    variants = f"{plan.variants} variants, stages with the same inputs counted once. " if plan.variants > 1 else ""
    searched = f"First {plan.traces} traces are searched, spare ones too: " if plan.traces else ""
    searched += "up to a second each, longer for dockets. " if plan.traces else ""
    return calls_table(
        plan,
        f"{variants}{searched}Model calls. Expected: every answer is accepted at once. At most: every round is needed, "
        "every spare trace is tried, every answer is requested twice.",
    )


def calls_table(plan: CallPlan, meaning: str) -> Table:
    """Planned calls by role and model; ``meaning`` explains the two numbers."""
    lines = [(line.role, line.model, line.expected, line.most) for line in plan.calls]
    made = tables.make_table(
        "calls",
        f"{meaning}\n{_estimate(plan)}" if plan.calls else "No model is called.",
        (
            {"role": role, "model": model, "#expected": expected, "#at most": most}
            for role, model, expected, most in [*lines, ("all calls", "", plan.expected, plan.most)]
        ),
    )
    return report_table(made)


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
    limit = plan.requests_per_minute
    rated = "" if limit is None else f"At {limit:g} requests a minute: at least {format_duration(plan.least_seconds)}. "
    return (
        f"Cost: {expected}, {most}. Duration: about {format_duration(plan.seconds)}, at most "
        f"{format_duration(plan.most_seconds)}, with {plan.concurrency} calls at a time. {rated}Estimates assume "
        f"{USUAL_ANSWER_TOKENS} tokens and {USUAL_ANSWER_SECONDS} s for an answer."
    )
