"""``lawtrace compare``: compare two runs over the same tasks, or two models of one run."""

from pathlib import Path
from typing import cast

import typer
from pydantic import TypeAdapter
from rich.table import Table
from rich.text import Text

from lawtrace.runs.cli.output import make_table, print_json, print_note, print_problems, print_result
from lawtrace.runs.report.graded_units import compare_folders
from lawtrace.runs.report.run_kinds import outcome_label
from lawtrace.runs.report.text import percent, show_interval, show_probability, visible
from lawtrace.runs.scoring.run_comparison import RunComparison
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

MAX_FLIPS = 20


def compare(*, first: Path, second: Path | None, model: str | None, against: str | None, as_json: bool) -> None:
    """Print the comparison of two sides."""
    if (model is None) != (against is None):
        raise InputError("--model and --against must be given together")
    if second is None and model is None:
        raise InputError("give two runs, or one run with --model and --against")
    comparison = compare_folders(first, second or first, (model, against) if model and against else None)
    print_problems(comparison.problems)
    if as_json:
        print_json(cast("dict[str, Json]", TypeAdapter(RunComparison).dump_python(comparison, mode="json")))
        raise typer.Exit(1 if comparison.problems else 0)
    for name, parts in comparison.changed_tasks.items():
        print_note(f"task {name} differs between the sides: {', '.join(parts)}")
    print_result(_table(comparison))
    for flip in comparison.flips[:MAX_FLIPS]:
        before, after = (outcome_label(outcome).label for outcome in flip.outcomes)
        trial = f", trial {flip.trial + 1}" if flip.trial else ""
        place = f"{flip.variant}: {flip.task}" if flip.variant else flip.task
        print_note(f"{visible(place)}, {flip.style}{trial}, {visible(flip.model)}: {before} -> {after}")
        for reason in flip.reasons:
            print_note(f"    {visible(reason)}")
    if len(comparison.flips) > MAX_FLIPS:
        print_note(f"... and {len(comparison.flips) - MAX_FLIPS} more flips; --json lists them all")
    raise typer.Exit(1 if comparison.problems else 0)


def _table(comparison: RunComparison) -> Table:
    table = make_table()
    table.padding, table.caption_justify = 0, "left"
    graded = any(line.unsafe_success is None for line in comparison.lines)  # a run of another kind
    names, gaps = ("model", comparison.unit), () if graded else ("gap",)
    for column in (*names, "n", comparison.success, "difference", "p", *gaps):
        table.add_column(column, overflow="fold", justify="left" if column in names else "right")
    table.caption = (
        f"{comparison.sides[0]} compared with {comparison.sides[1]}. In brackets the 95 % interval "
        f"({comparison.intervals}). p: {comparison.test}; in brackets adjusted for the lines of this table (Holm)."
    )
    if not graded:
        table.caption += " gap: change of the share of unsafe successes."
    for line in comparison.lines:
        safe, gap = line.safe_success, line.unsafe_success
        cells = [
            line.models[0] if line.models[0] == line.models[1] else " / ".join(line.models),
            (line.style or ("all" if graded else "both")) + (", denied" if line.variant == "denied" else ""),
            str(safe.pairs) + (f" (+{line.unmatched})" if line.unmatched else ""),
            f"{percent(safe.first, unit='')} -> {percent(safe.second)}",
            f"{percent(safe.difference, unit='')} [{show_interval(safe.interval)}]",
            f"{show_probability(safe.p_value)} ({show_probability(line.adjusted_p)})",
            *([percent(gap.difference)] if gap else []),
        ]
        table.add_row(*(Text(visible(cell)) for cell in cells))
    if any(line.unmatched for line in comparison.lines):
        table.caption += " (+n): attempts with a verdict on one side only, left out."
    return table
