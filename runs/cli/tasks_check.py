"""``lawtrace tasks check``: check a file of tasks, or a whole release."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import OutOption
from lawtrace.runs.cli.output import best_habits, grouped_notes, make_table, problem_notes
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, SELECTION, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.release.task_set import check_prompts, check_release, read_errata, task_files
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import HABITS, QUALITY, TASKS
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.task_file import find_release, read_usable_tasks, select_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.quality_rows import CHECKS, QualityRow
from lawtrace.schemas.validity_rows import Erratum


@recipe_flags(*SELECTION, *MODEL_CALLS, env="folder")
def check_tasks(
    flags: RecipeFlags,
    file: Annotated[Path, typer.Argument(help="Task file (JSON lines), or folder or name of a release.")],
    out: OutOption = Path("quality.jsonl"),
) -> CommandResult:
    """Check the quality of tasks.

    Checks whether the reference passes and whether a task is complete, unambiguous, leak-free and needed, among others.

    The files of a release are first compared with the digests in its manifest; a changed file is not checked further.
    """
    file = find_release(file)
    files, problems, errata = [file], list[Problem](), list[Erratum]()
    if file.is_dir():
        problems, errata = check_release(file), read_errata(file)
        touched = {problem.place for problem in problems}
        files = [path for path in task_files(file) if str(path) not in touched]
    rows, habits = list[QualityRow](), dict[str, Sequence[HabitRow]]()
    given = {path: read_usable_tasks(path, flags.env) for path in files}
    every = [task for read, _ in given.values() for task in read.rows]
    chosen = {task.id for task in select_tasks(every, stage_recipe(flags).recipe.tasks, file)} if every else ()
    for path, (read, domain) in given.items():
        problems += read.problems
        if file.is_dir() and not read.problems:
            problems += check_prompts(file, path.stem, read.rows, domain)
        if tasks := [task for task in read.rows if task.id in chosen]:
            inputs = replace(stage_recipe(flags, domain.environment.name), domain=domain)
            quality, habits[path.stem] = _check(inputs, tasks, out, f"tasks check {file}", force=flags.force)
            rows += quality
    QUALITY.write(out, rows)
    return _result(rows, habits, problems, errata, out)


def _check(
    inputs: StageInputs, tasks: Sequence[Task], out: Path, command: str, *, force: bool
) -> tuple[list[QualityRow], Sequence[HabitRow]]:
    """The results of the checks, and the best habits."""

    async def work(session: Session) -> tuple[list[QualityRow], Sequence[HabitRow]]:
        runner = session.runner(inputs, folder=RunFolder(session.folder.path / inputs.domain.environment.name))
        runner.give(TASKS, tasks)
        made = await runner.make(QUALITY, HABITS)
        return list(made[QUALITY]), made[HABITS]

    return run_stages(inputs.recipe, out, command, work, force=force)


def _result(
    rows: Sequence[QualityRow],
    habits: Mapping[str, Sequence[HabitRow]],
    problems: Sequence[Problem],
    errata: Sequence[Erratum],
    out: Path,
) -> CommandResult:
    passed = sum(row.passed for row in rows)
    counts = {check: Counter(row.answer(check) for row in rows) for check in CHECKS}
    failed = [(row.task, finding) for row in rows for finding in row.findings if finding.answer == "failed"]
    reasons = Counter(finding.check for _, finding in failed)
    answers = ("passed", "failed", "undecided")
    by_check = ((name, *(of[answer] for answer in answers), reasons[name]) for name, of in counts.items())
    shown = (
        *grouped_notes((task, str(finding)) for task, finding in failed),
        make_table(("check", *answers, "reasons"), by_check),
        *(f"{name}. {row.sentence}" for name, found in habits.items() for row in found),
        *(f"Known defect: {one}" for one in errata),
        f"{passed} of {len(rows)} tasks pass, {len(problems)} rows or files are invalid.",
    )
    return CommandResult(
        {
            "tasks": len(rows),
            "passed": passed,
            "checks": counts,
            "habits": {name: best_habits(found) for name, found in habits.items()},
            "invalid": [str(problem) for problem in problems],
            "errata": [one.model_dump() for one in errata],
        },
        shown,
        out,
        problem_notes(problems),
        0 if passed == len(rows) and not problems else 1,
    )
