"""``lawtrace compare``: compare two runs over the same tasks, or two models of one run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.runs.cli.output import make_table, print_note, problem_notes
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.graded_units import compare_folders
from lawtrace.runs.report.run_kinds import outcome_label
from lawtrace.runs.report.text import percent, show_interval, show_probability, visible
from lawtrace.runs.scoring.run_comparison import RunComparison
from lawtrace.schemas.errors import InputError

MAX_FLIPS = 20


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run, an ablation or `grade --compare`.")],
    second: Annotated[Path | None, typer.Argument(help="Second folder; default: the first.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of the first run.")] = None,
    against: Annotated[str | None, typer.Option(help="Model of the second run.")] = None,
) -> CommandResult:
    """Compare two runs or two models, attempt by attempt."""
    if (model is None) != (against is None):
        raise InputError("--model and --against must be given together")
    if second is None and model is None:
        raise InputError("give two runs, or one run with --model and --against")
    comparison = compare_folders(first, second or first, (model, against) if model and against else None)
    for note in problem_notes(comparison.problems):
        print_note(note)
    json = TypeAdapter(RunComparison).dump_python(comparison, mode="json")
    return CommandResult(json, _shown(comparison), exit_code=1 if comparison.problems else 0)


def _shown(comparison: RunComparison) -> Iterator[RenderableType]:
    for name, parts in comparison.changed_tasks.items():
        yield Note(f"task {name} differs between the sides: {', '.join(parts)}")
    yield _table(comparison)
    for flip in comparison.flips[:MAX_FLIPS]:
        before, after = (outcome_label(outcome).label for outcome in flip.outcomes)
        trial = f", trial {flip.trial + 1}" if flip.trial else ""
        place = f"{flip.variant}: {flip.task}" if flip.variant else flip.task
        yield Note(f"{visible(place)}, {flip.style}{trial}, {visible(flip.model)}: {before} -> {after}")
        for reason in flip.reasons:
            yield Note(f"    {visible(reason)}")
    if len(comparison.flips) > MAX_FLIPS:
        yield Note(f"... and {len(comparison.flips) - MAX_FLIPS} more flips; --json lists them all")


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
