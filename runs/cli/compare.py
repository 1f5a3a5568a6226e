"""``lawtrace compare``: compare two runs over the same tasks, or two models of one run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.console import RenderableType
from rich.text import Text

from lawtrace.runs.cli.options import BrokenRuleOption, FactOption, VerdictOption
from lawtrace.runs.cli.output import print_note, problem_notes
from lawtrace.runs.report.attempt_filter import AttemptFilter
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.run_comparison import RunComparison, compare_folders, comparison_table
from lawtrace.runs.report.run_kinds import outcome_label
from lawtrace.runs.report.terminal_tables import report_table
from lawtrace.runs.report.text import cut, visible
from lawtrace.schemas.errors import InputError

MAX_FLIPS = 20
MAX_REASON = 300
"""Characters of the reason of an outcome; --json has all."""


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run, an ablation or `grade --compare`.")],
    second: Annotated[Path | None, typer.Argument(help="Second folder; default: the first.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of the first run.")] = None,
    against: Annotated[str | None, typer.Option(help="Model of the second run.")] = None,
    verdict: VerdictOption = None,
    rule: BrokenRuleOption = None,
    fact: FactOption = None,
) -> CommandResult:
    """Compare two runs or two models, attempt by attempt.

    --verdict, --rule and --fact choose the attempts that are listed below the table, by either side.
    """
    if (model is None) != (against is None):
        raise InputError("--model and --against must be given together")
    if second is None and model is None:
        raise InputError("give two runs, or one run with --model and --against")
    models = (model, against) if model and against else None
    comparison = compare_folders(first, second or first, models, AttemptFilter(verdict, rule, fact))
    for note in problem_notes(comparison.problems):
        print_note(note)
    json = TypeAdapter(RunComparison).dump_python(comparison, mode="json")
    return CommandResult(json, _shown(comparison), exit_code=1 if comparison.problems else 0)


def _shown(comparison: RunComparison) -> Iterator[RenderableType]:
    for name, parts in comparison.changed_tasks.items():
        yield Note(f"task {name} differs between the sides: {', '.join(parts)}")
    for side, roles in zip(comparison.sides, comparison.roles, strict=True):
        if roles:
            yield Note(f"{side}: {visible(roles)}")
    yield report_table(comparison_table(comparison))
    if comparison.evaluators:
        yield Text(visible(str(comparison.evaluators)))
    for flip in comparison.flips[:MAX_FLIPS]:
        before, after = (outcome_label(outcome).label for outcome in flip.outcomes)
        trial = f", trial {flip.trial + 1}" if flip.trial else ""
        place = f"{flip.variant}: {flip.task}" if flip.variant else flip.task
        yield Note(f"{visible(place)}, {flip.style}{trial}, {visible(flip.model)}: {before} -> {after}")
        for reason in flip.reasons:
            yield Note(f"    {visible(cut(reason, MAX_REASON))}")
    if len(comparison.flips) > MAX_FLIPS:
        yield Note(f"... and {len(comparison.flips) - MAX_FLIPS} more flips; --json lists them all")
