"""``lawtrace tasks check``: the gate, on a file of tasks or on a whole release."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.errors import Problem
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Jail
from lawtrace.runs.cli.options import EnvironmentFolderOption, SandboxOption, open_sandbox
from lawtrace.runs.cli.output import (
    ProgressBars,
    make_table,
    print_grouped,
    print_json,
    print_note,
    print_problems,
    print_result,
    silence_libraries,
)
from lawtrace.runs.cli.stage_runs import open_role_models, open_stage_log
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.release.integrity import check_release, task_files
from lawtrace.runs.stages.quality import CHECKS, QualityRow, check_tasks
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import read_usable_tasks


def check_tasks_command(
    file: Annotated[Path, typer.Argument(help="The tasks (JSON lines), or the folder of a release.")],
    env: EnvironmentFolderOption = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe that names the independent reader's model.")] = None,
    sandbox: SandboxOption = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("quality.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Put tasks through the gate: does the reference pass, is it complete, unambiguous, leak-free, needed?

    Of a release every file is held against its SHA-256 first; tasks in a file that is not the one released are not
    put through the gate.
    """
    silence_libraries()
    options = load_recipe(recipe) if recipe else Recipe()
    files, problems = [file], list[Problem]()
    if file.is_dir():
        problems = check_release(file)
        touched = {problem.place for problem in problems}
        files = [path for path in task_files(file) if str(path) not in touched]

    async def check(path: Path, event_log: EventLogFile, jail: Jail) -> tuple[list[QualityRow], list[Problem]]:
        read, setting = read_usable_tasks(path, env)
        async with open_role_models(options, event_log) as role_models:
            with ProgressBars().stage(setting.environment.name, len(read.rows)) as step:
                rows = await check_tasks(
                    setting.environment,
                    read.rows,
                    jail=jail,
                    role_models=role_models,
                    event_log=event_log,
                    reader_is_offline=options.models.independent_reader == "offline",
                    on_task=step,
                )
        return rows, read.problems

    rows: list[QualityRow] = []
    with Jail(backend=open_sandbox(sandbox)) as jail, open_stage_log(out, "tasks check", sandbox) as event_log:
        for path in files:
            checked, unusable = asyncio.run(check(path, event_log, jail))
            rows += checked
            problems += unusable
    write_rows(out, rows)
    _say_result(rows, problems, out, as_json=as_json)
    raise typer.Exit(0 if all(row.passed for row in rows) and not problems else 1)


def _say_result(rows: Sequence[QualityRow], problems: Sequence[Problem], out: Path, *, as_json: bool) -> None:
    passed = sum(row.passed for row in rows)
    counts = {check: Counter(row.answer(check) for row in rows) for check in CHECKS}
    if as_json:
        checks: dict[str, Json] = {check: {**answers} for check, answers in counts.items()}
        invalid: list[Json] = [str(problem) for problem in problems]
        print_json({"tasks": len(rows), "passed": passed, "checks": checks, "invalid": invalid, "out": str(out)})
    else:
        failed = [(row.task, finding) for row in rows for finding in row.findings if finding.answer == "failed"]
        table = make_table("check", "passed", "failed", "undecided", "reasons to fail")
        for name, answers in counts.items():
            reasons = sum(finding.check == name for _, finding in failed)
            table.add_row(name, *(str(answers[answer]) for answer in ("passed", "failed", "undecided")), str(reasons))
        print_result(table)
        print_grouped((task, str(finding)) for task, finding in failed)
        print_result(f"{passed} of {len(rows)} pairs pass, {len(problems)} rows or files are invalid.")
        print_note(f"Written: {out}")
    print_problems(problems)
