"""``lawtrace report``: write the reports of runs again."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import EnvironmentFolderOption
from lawtrace.runs.cli.output import print_invalid, print_json, print_note, print_problems, print_result
from lawtrace.runs.cli.run import report_ablation
from lawtrace.runs.published.profile_comparison import is_comparison, read_comparison
from lawtrace.runs.report.content import load_comparison_content, load_run_content
from lawtrace.runs.report.terminal_tables import outcome_table
from lawtrace.runs.run_kinds import run_kind_of
from lawtrace.runs.scoring.ablation import is_ablation
from lawtrace.runs.web.export import write_report


def report(
    directories: Annotated[list[Path], typer.Argument(help="Folders of finished runs or of comparisons.")],
    env: EnvironmentFolderOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write the report of each run and print its table."""
    written: list[str] = []
    problems: list[str] = []
    for directory in directories:
        if kind := run_kind_of(directory):
            written.append(str(kind.write_report(directory, quiet=as_json)))
            continue
        if is_ablation(directory):
            written.append(str(report_ablation(directory, env, quiet=as_json)))
            continue
        if is_comparison(directory):
            content = load_comparison_content(read_comparison(directory, env))
        else:
            content = load_run_content(directory, env)
        path = directory / "report.html"
        write_report(content, path)
        written.append(str(path))
        print_problems(content.problems)
        problems += map(str, content.problems)
        if not as_json:
            print_result(
                outcome_table(content.verdicts, planned=content.planned_in_all, unusable=len(content.problems))
            )
            print_invalid((row.task, row.reason) for row in content.verdicts if row.outcome == "invalid")
            print_note(f"Report: {path}")
    if as_json:
        print_json({"reports": [*written], "unusable": [*problems]})
    raise typer.Exit(1 if problems else 0)
