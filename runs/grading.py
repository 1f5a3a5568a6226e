"""What `lawtrace grade` judges, and counts of what came of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from lawtrace.runs.stages.submitted_programs import SubmittedRow, read_programs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import UsableRows, read_usable_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_usable_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.verdict_rows import OUTCOMES, Verdict
from lawtrace.solver.declarations.loader import Domain


@dataclass(frozen=True, slots=True)
class GradedInput:
    """What is judged: the attempts of a run with their verdicts, or programs with the verdicts recorded with them."""

    domain: Domain
    tasks: list[Task]
    rows: Sequence[SubmittedRow]
    recorded: Sequence[Any]
    verdicts: Sequence[Verdict]
    problems: list[Problem]

    def of_tasks(self, tasks: list[Task]) -> Self:
        """The input about these of its tasks."""
        ids = {task.id for task in tasks}
        rows = [row for row in self.rows if row.key.task in ids]
        return replace(self, tasks=tasks, rows=rows, verdicts=[row for row in self.verdicts if row.task in ids])


def read_input(run: Path | None, tasks: Path | None, programs: list[Path] | None, env: str | None) -> GradedInput:
    """The attempts in the folder of a run, or the programs in files for tasks. Raises InputError."""
    if (run is None) != (tasks is not None and bool(programs)) or (run is not None and (tasks or programs)):
        raise InputError("give either the folder of a run, or --tasks FILE and --programs FILE")
    if run is None:
        assert tasks is not None
        read, domain = read_usable_tasks(tasks, env)
        matched, recorded = _programs(read.rows, programs or [])
        return GradedInput(domain, read.rows, matched.rows, recorded, (), [*read.problems, *matched.problems])
    folder = RunFolder(run).existing()
    if not folder.attempts.exists():
        raise InputError(f"{run}: has no attempts; to judge programs, give --tasks {run} and --programs FILE")
    read, domain = read_usable_tasks(folder.tasks, env)
    attempts = match_to_tasks(read.rows, read_usable_rows(folder.attempts, Attempt))
    earlier = read_usable_rows(folder.verdicts, Verdict).rows if folder.verdicts.exists() else ()
    return GradedInput(domain, read.rows, attempts.rows, (), earlier, [*read.problems, *attempts.problems])


def _programs(tasks: list[Task], files: list[Path]) -> tuple[UsableRows[SubmittedRow], Sequence[Any]]:
    """The programs of all files about the tasks, and the verdicts recorded with them."""
    found, recorded = UsableRows[SubmittedRow](), list[Any]()
    for path in files:
        read = read_programs(path)
        found.rows += read.usable.rows
        found.places += read.usable.places
        found.problems += read.usable.problems
        recorded += read.recorded
    matched = match_to_tasks(tasks, found)
    if not matched.rows:
        first = f"; {matched.problems[0]}" if matched.problems else ""
        raise InputError(f"{', '.join(map(str, files))}: no usable program{first}")
    return matched, recorded


def require_published(tasks: Sequence[Task], option: str) -> None:
    """Raises InputError if a task was not imported; ``option`` needs that."""
    for task in tasks:
        if task.published is None:
            raise InputError(f"{option} needs imported tasks, and {task.id!r} is not one; use `lawtrace tasks import`")


def count_cut_short(attempts: Sequence[Attempt]) -> dict[str, int]:
    """Programs stopped by a limit or killed: status -> number. They have verdicts like the others."""
    statuses = Counter(attempt.execution.status for attempt in attempts if attempt.execution is not None)
    return {
        status: number for status, number in sorted(statuses.items()) if status.endswith("limit") or status == "killed"
    }


def count_by_outcome(verdicts: Sequence[Verdict], unusable: int) -> dict[str, int]:
    """How many verdicts have each outcome; unusable rows are invalid."""
    counts: dict[str, int] = {outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in OUTCOMES}
    counts["invalid"] += unusable
    return counts
