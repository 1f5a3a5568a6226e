"""``lawtrace report``: write the reports of runs again."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import EnvironmentFolderOption, FailUnderOption, JsonOption
from lawtrace.runs.cli.output import print_note, print_shown, problem_notes
from lawtrace.runs.cli.run_results import report_shown
from lawtrace.runs.cli.thresholds import find_shortfalls, verdicts_of_run
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.run_kinds import run_kind_of
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.export import write_run_report
from lawtrace.schemas.errors import InputError


def report(
    directories: Annotated[list[Path], typer.Argument(help="Folders of finished runs or of comparisons.")],
    env: EnvironmentFolderOption = None,
    fail_under: FailUnderOption = None,
    as_json: JsonOption = False,
) -> CommandResult:
    """Write the report and tables of each run.

    Of several folders, those without a finished run are named and left out.

    Exit code 1 if a model of a run has no judged attempt or too low a Pass@1.
    """
    written: list[str] = []
    problems: list[str] = []
    shortfalls: list[str] = []
    unfinished: list[str] = []
    for directory in directories:
        if kind := run_kind_of(directory):
            of_kind = kind.write_report(directory)
            written.append(str(of_kind.path))
            print_shown(() if as_json else of_kind.shown)
            continue
        try:
            made = write_run_report(directory, env)
        except InputError as error:
            if len(directories) == 1:
                raise
            print_note(f"Left out: {error}")
            unfinished.append(str(directory))
            continue
        written.append(str(made.path))
        shortfalls += find_shortfalls(verdicts_of_run(RunFolder(directory)), fail_under)
        found = made.content.problems if made.content else ()
        print_shown(problem_notes(found))
        problems += map(str, found)
        print_shown(() if as_json else report_shown(made, directory))
    json = {"reports": written, "unusable": problems, "shortfalls": shortfalls, "unfinished": unfinished}
    return CommandResult(json, notes=shortfalls, exit_code=1 if problems or shortfalls or not written else 0)
