"""``lawtrace tasks validity``: what is recorded about the validity of a release."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.output import make_table
from lawtrace.runs.release import validity
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.store.stage_files import write_text
from lawtrace.runs.store.task_file import find_release


def report_validity(
    release: Annotated[Path, typer.Argument(help="Folder or name of a release, with its references.")],
    out: Annotated[Path | None, typer.Option(help="Output file (Markdown); default: RELEASE/VALIDITY.md.")] = None,
) -> CommandResult:
    """Report what is recorded about a release.

    Who judged what, agreement, wrong verdicts with a bound, solvers, habits, changes of references, known defects; each
    figure beside its aim. Records are the folders of `tasks sample` in RELEASE/validity.

    Exit code 1 if an aim is not met, or a record is missing.
    """
    folder = find_release(release)
    report = validity.report_validity(folder)
    out = out or folder / "VALIDITY.md"
    write_text(out, validity.as_markdown(report))
    table = make_table(
        ("what", "figure", "aim", "met"), ((aim.what, aim.figure, aim.aim, aim.answer) for aim in report.aims)
    )
    unmet = len(report.unmet)
    return CommandResult(
        report.model_dump(mode="json"),
        [table, f"{len(report.aims) - unmet} of {len(report.aims)} aims are met."],
        out,
        exit_code=1 if unmet else 0,
    )
