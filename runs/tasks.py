"""Reading a file of tasks, and making sure that programs can be judged by it."""

from pathlib import Path

from environments.catalogue import Setting
from environments.errors import InputError
from runs.files import read_rows
from runs.settings import setting_of_tasks
from runs.stages.rows import TaskRow
from solver.rules import check_rules

__all__ = ["read_tasks"]


def read_tasks(path: Path, env: str | None = None) -> tuple[list[TaskRow], Setting]:
    """The tasks of a file and what they are about; ``env`` says where that is, if it is not built in.

    Raises InputError naming file and task: an id that occurs twice, two environments, a rule about a tool that there is
    not, a state that cannot be read. A verdict on any of these would mean nothing.
    """
    tasks = read_rows(path, TaskRow)
    setting = setting_of_tasks(tasks, str(path), env)
    environment = setting.environment
    seen: set[str] = set()
    for task in tasks:
        place = f"{path}, task {task.id!r}"
        if task.id in seen:
            raise InputError(f"{place}: this id occurs twice; a verdict could belong to either")
        seen.add(task.id)
        if task.environment != environment.name:
            raise InputError(f"{place}: its environment is {task.environment!r}, others are {environment.name!r}")
        try:
            check_rules(task.rules, environment)
            task.initial(environment)
            task.target(environment)
        except InputError as error:
            raise InputError(f"{place}: {error}") from error
    return tasks, setting
