"""``lawtrace report``: the pages of runs, written again."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.ablation import is_ablation
from lawtrace.runs.assemble import content_of_comparison, content_of_run
from lawtrace.runs.cli.legal import report_legal
from lawtrace.runs.cli.options import WhereEnvironment
from lawtrace.runs.cli.output import say, say_invalid, say_problems, show, show_json
from lawtrace.runs.cli.run import report_ablation
from lawtrace.runs.legal.recipe import is_legal
from lawtrace.runs.published.comparison import is_comparison, read_comparison
from lawtrace.runs.record.storage import record_path
from lawtrace.runs.record.store import Record
from lawtrace.runs.report.build import write_report
from lawtrace.runs.report.terminal import outcome_table


def report(
    directories: Annotated[list[Path], typer.Argument(help="Folders of finished runs, or of comparisons.")],
    env: WhereEnvironment = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write the report of each run again, and print its table."""
    written: list[str] = []
    problems: list[str] = []
    for directory in directories:
        if _is_legal(directory):
            written.append(str(report_legal(directory, quiet=as_json)))
            continue
        if is_ablation(directory):
            written.append(str(report_ablation(directory, env, quiet=as_json)))
            continue
        if is_comparison(directory):
            content = content_of_comparison(read_comparison(directory, env))
        else:
            content = content_of_run(directory, env)
        path = directory / "report.html"
        write_report(content, path)
        written.append(str(path))
        say_problems(content.problems)
        problems += map(str, content.problems)
        if not as_json:
            show(outcome_table(content.verdicts, planned=content.planned_in_all, unusable=len(content.problems)))
            say_invalid((row.task, row.reason) for row in content.verdicts if row.outcome == "invalid")
            say(f"Report: {path}")
    if as_json:
        show_json({"reports": [*written], "unusable": [*problems]})
    raise typer.Exit(1 if problems else 0)


def _is_legal(directory: Path) -> bool:
    if not record_path(directory).exists():
        return False
    with Record.open(directory) as record:
        return is_legal(record.recipe)
