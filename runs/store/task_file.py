"""Reading a file of tasks, and sifting what is said of them: programs, attempts, verdicts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import InputError, Problem
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.schemas.task_rows import Attempt, ProgramRow, Task
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.stages.resolve import environment_of_tasks
from lawtrace.runs.store.stage_files import UsableRows, read_usable_rows
from lawtrace.solver.rules import check_rules


def read_tasks(path: Path, env: str | None = None) -> tuple[list[Task], Domain]:
    """The tasks of a file and what they are about; ``env`` says where that is, if it is not built in.

    Raises InputError naming file and task: an id that occurs twice, two environments, a rule about a tool that there is
    not, a state that cannot be read. A verdict on any of these would mean nothing.
    """
    usable, setting = read_usable_tasks(path, env)
    if usable.problems:
        raise InputError(str(usable.problems[0]))
    return usable.rows, setting


def read_usable_tasks(path: Path, env: str | None = None) -> tuple[UsableRows[Task], Domain]:
    """The same, with a problem instead of an error for each task that cannot be used. Raises InputError if none can."""
    read = read_usable_rows(path, Task)
    if not read.rows:
        raise InputError(f"{path}: no task of it can be used; {read.problems[0]}")
    setting = environment_of_tasks(read.rows, str(path), env)
    usable = UsableRows[Task](problems=read.problems)
    seen: set[str] = set()
    for place, task in zip(read.places, read.rows, strict=True):
        trouble = _task_problem(setting.environment, task, seen)
        if trouble is None:
            usable.add(place, task)
            seen.add(task.id)
        else:
            usable.problems.append(Problem(f"{place}, task {task.id!r}", trouble))
    if not usable.rows:
        raise InputError(f"{path}: no task of it can be used; {usable.problems[0]}")
    return usable, setting


def _task_problem(environment: Environment, task: Task, seen: set[str]) -> str | None:
    if task.id in seen:
        return "this id occurs twice; a verdict could belong to either"
    if task.environment != environment.name:
        return f"its environment is {task.environment!r}, others are {environment.name!r}"
    try:
        check_rules(task.rules, environment)
        task.initial(environment)
        task.target(environment)
    except InputError as error:
        return str(error)
    return None


RowAboutTask = TypeVar("RowAboutTask", bound=ProgramRow | Attempt | Verdict)


def match_to_tasks(tasks: Sequence[Task], read: UsableRows[RowAboutTask]) -> UsableRows[RowAboutTask]:
    """What is said of tasks, and styles of them, that there are, and each thing once; the rest are problems.

    Of two rows on the same try the first is used: nothing says which of them is meant.
    """
    by_id = {task.id: task for task in tasks}
    first: dict[tuple[str, ...], str] = {}
    usable = UsableRows[RowAboutTask](problems=[*read.problems])
    for place, row in zip(read.places, read.rows, strict=True):
        before = first.setdefault(_attempt_key(row), place)
        if (trouble := _unknown_task(by_id, row)) is not None:
            usable.problems.append(Problem(place, trouble))
        elif before != place:
            usable.problems.append(Problem(place, f"the same try of {row.task!r} by {row.model!r} as in {before}"))
        else:
            usable.add(place, row)
    return usable


def _attempt_key(row: ProgramRow | Attempt | Verdict) -> tuple[str, ...]:
    way = () if isinstance(row, ProgramRow) else (row.mode, row.shield)
    return (row.task, row.style, row.model, str(row.trial), *way)


def _unknown_task(tasks: Mapping[str, Task], row: ProgramRow | Attempt | Verdict) -> str | None:
    if row.task not in tasks:
        return f"there is no task {row.task!r} in the file of tasks"
    if row.style not in tasks[row.task].instructions:
        return f"task {row.task!r} has no {row.style} instruction"
    return None
