"""Task files, and rows that refer to their tasks: answers, attempts, verdicts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.environments.errors import InputError, Problem
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.schemas.attempt_rows import Answer, Attempt, AttemptKey
from lawtrace.runs.schemas.task_rows import Task
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.store.stage_files import UsableRows, read_usable_rows
from lawtrace.solver.rules import check_rules


def read_tasks(path: Path, env: str | None = None) -> tuple[list[Task], Domain]:
    """The tasks of a file and their environment; ``env`` is its folder, if it is not built in.

    Raises InputError with file and task for a repeated id, a second environment, a rule about an unknown tool or an
    invalid state: a verdict on such a task would be meaningless.
    """
    usable, domain = read_usable_tasks(path, env)
    if usable.problems:
        raise InputError(str(usable.problems[0]))
    return usable.rows, domain


def read_usable_tasks(path: Path, env: str | None = None) -> tuple[UsableRows[Task], Domain]:
    """Like `read_tasks`, with a problem for each invalid task. Raises InputError if no task is valid."""
    read = read_usable_rows(path, Task)
    if not read.rows:
        raise InputError(f"{path}: no valid task; {read.problems[0]}")
    domain = environment_of_tasks(read.rows, str(path), env)
    usable = UsableRows[Task](problems=read.problems)
    seen: set[str] = set()
    for place, task in zip(read.places, read.rows, strict=True):
        problem = _task_problem(domain.environment, task, seen)
        if problem is None:
            usable.add(place, task)
            seen.add(task.id)
        else:
            usable.problems.append(Problem(f"{place}, task {task.id!r}", problem))
    if not usable.rows:
        raise InputError(f"{path}: no valid task; {usable.problems[0]}")
    return usable, domain


def environment_of_tasks(tasks: Sequence[Task], place: str, env: str | None = None) -> Domain:
    """The environment of the tasks; ``env`` is its folder, if it is not built in.

    Raises InputError with the place of the tasks if the environment is not found, or is another one.
    """
    name = tasks[0].environment
    if env is None and name not in BUILT_IN_DOMAINS:
        raise InputError(
            f"{place}: its tasks are about the environment {name!r}, which is not built in; say where its folder is: "
            f"--env ./{name}"
        )
    domain = load_domain(env or name)
    if domain.environment.name != name:
        raise InputError(f"{place}: its tasks are about {name!r}, not about {domain.environment.name!r} from --env")
    return domain


def _task_problem(environment: Environment, task: Task, seen: set[str]) -> str | None:
    if task.id in seen:
        return "this id occurs twice; a verdict would be ambiguous"
    if task.environment != environment.name:
        return f"its environment is {task.environment!r}, others are {environment.name!r}"
    try:
        check_rules(task.rules, environment)
        task.initial(environment)
        task.target(environment)
    except InputError as error:
        return str(error)
    return None


RowAboutTask = TypeVar("RowAboutTask", bound=Answer | Attempt | Verdict)


def match_to_tasks(tasks: Sequence[Task], read: UsableRows[RowAboutTask]) -> UsableRows[RowAboutTask]:
    """The rows about known tasks and styles, one for each attempt; the others become problems.

    Of two rows about the same attempt the first is used.
    """
    by_id = {task.id: task for task in tasks}
    first: dict[AttemptKey, str] = {}
    usable = UsableRows[RowAboutTask](problems=[*read.problems])
    for place, row in zip(read.places, read.rows, strict=True):
        key = row.key
        before = first.setdefault(key, place)
        if (problem := _unknown_task(by_id, key)) is not None:
            usable.problems.append(Problem(place, problem))
        elif before != place:
            usable.problems.append(Problem(place, f"the same attempt of {key.task!r} by {key.model!r} as in {before}"))
        else:
            usable.add(place, row)
    return usable


def _unknown_task(tasks: Mapping[str, Task], key: AttemptKey) -> str | None:
    if key.task not in tasks:
        return f"no task {key.task!r} in the task file"
    if key.style not in tasks[key.task].instructions:
        return f"task {key.task!r} has no {key.style} instruction"
    return None
