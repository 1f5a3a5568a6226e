"""``lawtrace report``: write the reports of runs again."""

import importlib.util
from pathlib import Path

import typer

from lawtrace.runs.cli.output import print_json, print_note, print_problems
from lawtrace.runs.cli.run_results import print_report
from lawtrace.runs.cli.shortfalls import find_shortfalls, verdicts_of_run
from lawtrace.runs.report.run_kinds import run_kind_of
from lawtrace.runs.report.verdict_index import stage_folders
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.export import write_run_report
from lawtrace.schemas.errors import InputError, OperationalError


def report(
    *,
    directories: list[Path],
    env: str | None,
    parquet: bool,
    inspect: bool,
    fail_under: float | None,
    as_json: bool,
) -> None:
    """Write the report and tables of each run, and its verdicts as logs of Inspect."""
    if inspect and importlib.util.find_spec("inspect_ai") is None:
        raise OperationalError("--inspect needs the extra 'inspect': pip install 'lawtrace[inspect]'")
    written: list[str] = []
    logs: list[str] = []
    problems: list[str] = []
    shortfalls: list[str] = []
    for directory in directories:
        if kind := run_kind_of(directory):
            if inspect:
                raise InputError(f"{directory}: --inspect writes runs over tasks, and this is another kind of run")
            written.append(str(kind.write_report(directory, quiet=as_json, parquet=parquet)))
            continue
        made = write_run_report(directory, env, parquet=parquet)
        written.append(str(made.path))
        shortfalls += find_shortfalls(verdicts_of_run(RunFolder(directory)), fail_under)
        found = made.content.problems if made.content else ()
        print_problems(found)
        problems += map(str, found)
        if not as_json:
            print_report(made, directory)
        if inspect:
            logs += _write_eval_logs(directory, env, quiet=as_json)
    if as_json:
        print_json({"reports": [*written], "logs": [*logs], "unusable": [*problems], "shortfalls": shortfalls})
    for shortfall in shortfalls:
        print_note(shortfall)
    raise typer.Exit(1 if problems or shortfalls else 0)


def _write_eval_logs(directory: Path, env: str | None, *, quiet: bool) -> list[str]:
    from lawtrace.runs.integrations.inspect.eval_logs import write_eval_logs

    files = write_eval_logs(directory, stage_folders(RunFolder(directory)), env)
    if not quiet:
        print_note(f"Logs: {', '.join(map(str, files))}. `inspect view --log-dir {files[0].parent}` opens them.")
    return [*map(str, files)]
