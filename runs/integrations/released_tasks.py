"""A task file, ready for attempts: tasks, environment, law and options."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from lawtrace.agents.prompt_context import request_text, tools_system
from lawtrace.agents.scripted.user_automaton import ScriptedUser
from lawtrace.environments.runtime.session import Session
from lawtrace.runs.recipe_file import validate_options
from lawtrace.runs.stages.attempted_tasks import AttemptedTasks
from lawtrace.runs.stages.resolve import inputs_of
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import Domain


@lru_cache(maxsize=8)
def read_task_file(file: str, env: str | None = None) -> tuple[tuple[Task, ...], Domain]:
    """The tasks of a file and their environment. Raises InputError."""
    rows, domain = read_tasks(Path(file).expanduser(), env)
    if not rows:
        raise InputError(f"{file}: no tasks")
    return tuple(rows), domain


class TaskSet(AttemptedTasks):
    """The tasks of a file, how models act on them, and what they are told."""

    @classmethod
    def read(cls, file: str, env: str | None, options: dict[str, Any]) -> Self:
        """The tasks of a file with options as in a recipe, for Inspect. Raises InputError."""
        tasks, domain = read_task_file(file, env)
        made = cls.of(tasks, domain, options, "-T")
        if made.options.mode == "program":
            raise InputError("mode 'program': in Inspect a model calls tools; choose 'tools' or 'dialogue'")
        return made

    @classmethod
    def of(cls, tasks: Sequence[Task], domain: Domain, options: dict[str, Any], place: str) -> Self:
        """Tasks with options as in a recipe. Raises InputError with the place where the options are from."""
        recipe = validate_options(Recipe, {**options, "environment": domain.environment.name}, place)
        return cls(inputs_of(recipe, domain), tasks)

    @cached_property
    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def system_text(self, task: Task) -> str:
        """The system prompt for a task."""
        return tools_system(self.domain.environment, self.prompt_context(task))

    def request(self, task: Task, style: Style) -> str:
        """The user's message."""
        return request_text(task.instructions[style])

    def user(self, task: Task, style: Style, session: Session) -> ScriptedUser | None:
        """The user of a dialogue; None in mode ``tools``."""
        return self.scripted_user(task, style, session) if self.options.mode == "dialogue" else None
