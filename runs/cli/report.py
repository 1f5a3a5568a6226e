"""``lawtrace report``: write the reports of runs again."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import EnvironmentFolderOption, FailUnderOption, JsonOption
from lawtrace.runs.cli.output import print_shown, problem_notes
from lawtrace.runs.cli.run_results import report_shown
from lawtrace.runs.cli.thresholds import find_shortfalls, verdicts_of_run
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.run_kinds import run_kind_of
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.export import write_run_report


def report(
    directories: Annotated[list[Path], typer.Argument(help="Folders of finished runs or of comparisons.")],
    env: EnvironmentFolderOption = None,
    fail_under: FailUnderOption = None,
    as_json: JsonOption = False,
) -> CommandResult:
    """Write the report and tables of each run.

    Exit code 1 if a model of a run has no judged attempt or too low a Pass@1.
    """
    written: list[str] = []
    problems: list[str] = []
    shortfalls: list[str] = []
    for directory in directories:
        if kind := run_kind_of(directory):
            of_kind = kind.write_report(directory)
            written.append(str(of_kind.path))
            print_shown(() if as_json else of_kind.shown)
            continue
        made = write_run_report(directory, env)
        written.append(str(made.path))
        shortfalls += find_shortfalls(verdicts_of_run(RunFolder(directory)), fail_under)
        found = made.content.problems if made.content else ()
        print_shown(problem_notes(found))
        problems += map(str, found)
        print_shown(() if as_json else report_shown(made, directory))
    json = {"reports": written, "unusable": problems, "shortfalls": shortfalls}
    return CommandResult(json, notes=shortfalls, exit_code=1 if problems or shortfalls else 0)
