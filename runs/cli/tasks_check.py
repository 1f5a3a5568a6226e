"""``lawtrace tasks check``: check a file of tasks, or a whole release."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import Problem
from lawtrace.environments.events import Json
from lawtrace.runs.cli.options import (
    BudgetOption,
    EnvironmentFolderOption,
    JsonOption,
    OutOption,
    RecipeOption,
    SandboxOption,
    with_budget,
)
from lawtrace.runs.cli.output import (
    make_table,
    print_grouped,
    print_json,
    print_note,
    print_problems,
    print_result,
    silence_libraries,
)
from lawtrace.runs.cli.stage_runs import run_stages, stage_recipe
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.release.integrity import check_release, task_files
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import Task
from lawtrace.runs.stages.pipeline import QUALITY, TASKS
from lawtrace.runs.stages.quality import CHECKS, QualityRow
from lawtrace.runs.store.task_file import read_usable_tasks


def check_tasks_command(
    file: Annotated[Path, typer.Argument(help="Task file (JSON lines), or release folder.")],
    recipe: RecipeOption = None,
    env: EnvironmentFolderOption = None,
    sandbox: SandboxOption = None,
    budget: BudgetOption = None,
    out: OutOption = Path("quality.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Check the quality of tasks.

    Checks whether the reference passes and whether a task is complete, unambiguous, leak-free and needed, among others.

    The files of a release are first compared with the digests in its manifest; a changed file is not checked further.
    """
    silence_libraries()
    files, problems = [file], list[Problem]()
    if file.is_dir():
        problems = check_release(file)
        touched = {problem.place for problem in problems}
        files = [path for path in task_files(file) if str(path) not in touched]
    rows: list[QualityRow] = []
    for path in files:
        read, domain = read_usable_tasks(path, env)
        problems += read.problems
        options = stage_recipe(recipe, env or domain.environment.name, {"sandbox": sandbox})
        rows += _check(with_budget(options, budget), read.rows, domain, out)
    QUALITY.write(out, rows)
    _say_result(rows, problems, out, as_json=as_json)
    raise typer.Exit(0 if all(row.passed for row in rows) and not problems else 1)


def _check(recipe: Recipe, tasks: Sequence[Task], domain: Domain, out: Path) -> list[QualityRow]:
    async def work(session: Session) -> list[QualityRow]:
        runner = session.runner(recipe, domain=domain, folder=session.folder.part(domain.environment.name))
        runner.give(TASKS, tasks)
        return (await runner.make(QUALITY))[QUALITY]

    return run_stages(recipe, out, "tasks check", work)


def _say_result(rows: Sequence[QualityRow], problems: Sequence[Problem], out: Path, *, as_json: bool) -> None:
    passed = sum(row.passed for row in rows)
    counts = {check: Counter(row.answer(check) for row in rows) for check in CHECKS}
    if as_json:
        checks: dict[str, Json] = {check: {**answers} for check, answers in counts.items()}
        invalid: list[Json] = [str(problem) for problem in problems]
        print_json({"tasks": len(rows), "passed": passed, "checks": checks, "invalid": invalid, "out": str(out)})
    else:
        failed = [(row.task, finding) for row in rows for finding in row.findings if finding.answer == "failed"]
        table = make_table("check", "passed", "failed", "undecided", "reasons")
        for name, answers in counts.items():
            reasons = sum(finding.check == name for _, finding in failed)
            table.add_row(name, *(str(answers[answer]) for answer in ("passed", "failed", "undecided")), str(reasons))
        print_result(table)
        print_grouped((task, str(finding)) for task, finding in failed)
        print_result(f"{passed} of {len(rows)} pairs pass, {len(problems)} rows or files are invalid.")
        print_note(f"Written: {out}")
    print_problems(problems)
