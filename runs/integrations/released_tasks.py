"""A task file, ready for attempts: tasks, environment, law and options."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from lawtrace.agents.prompt_context import PromptContext, RegulationText
from lawtrace.agents.roles.executor import request_text, stated_start, tools_system
from lawtrace.agents.scripted.user_automaton import ScriptedUser
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.runtime.session import Session
from lawtrace.prompts.loader import DEFAULT_PROMPTS, prompts_of
from lawtrace.runs.recipe_file import validate_options
from lawtrace.runs.stages.baseline_answers import REFUSAL, baseline_calls
from lawtrace.runs.stages.dialogue_users import DialogueUsers
from lawtrace.runs.stages.execution import open_session
from lawtrace.runs.stages.habits import Habits, find_task_habits
from lawtrace.runs.stages.regulation_prompt import Law
from lawtrace.runs.stages.resolve import inputs_of
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.guard.shield import Shields
from lawtrace.solver.traces import PlannedCall


@lru_cache(maxsize=8)
def read_task_file(file: str, env: str | None = None) -> tuple[tuple[Task, ...], Domain]:
    """The tasks of a file and their environment. Raises InputError."""
    rows, domain = read_tasks(Path(file).expanduser(), env)
    if not rows:
        raise InputError(f"{file}: no tasks")
    return tuple(rows), domain


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a file, how models act on them, and what they are told.

    Attributes:
        recipe: seed, law and options of attempts.
    """

    tasks: tuple[Task, ...]
    domain: Domain
    recipe: Recipe
    law: Law

    def __post_init__(self) -> None:
        self.law.check(rule for task in self.tasks if task.published is None for rule in task.rules)
        _ = self.texts  # a contrast pair of which one side is missing is an error of the file

    @classmethod
    def read(cls, file: str, env: str | None, options: dict[str, Any]) -> "TaskSet":
        """The tasks of a file with options as in a recipe, for Inspect. Raises InputError."""
        tasks, domain = read_task_file(file, env)
        made = cls.of(tasks, domain, options, "-T")
        if made.recipe.attempts.mode == "program":
            raise InputError("mode 'program': in Inspect a model calls tools; choose 'tools' or 'dialogue'")
        return made

    @classmethod
    def of(cls, tasks: Sequence[Task], domain: Domain, options: dict[str, Any], place: str) -> "TaskSet":
        """Tasks with options as in a recipe. Raises InputError with the place where the options are from."""
        recipe = validate_options(Recipe, {**options, "environment": domain.environment.name}, place)
        return cls(tuple(tasks), domain, recipe, inputs_of(recipe, domain).law)

    @cached_property
    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    @cached_property
    def texts(self) -> dict[str, RegulationText]:
        """What prompts contain of the law, by task."""
        return self.law.regulation_texts(self.tasks)

    @cached_property
    def habits(self) -> Habits:
        """The best habits for all tasks of the file."""
        return {row.style: row.habit for row in find_task_habits(self.domain.environment, self.tasks)}

    @cached_property
    def shields(self) -> Shields:
        return Shields(self.domain.environment, self.law.regulation)

    def open_session(self, task: Task) -> Session:
        return open_session(self.domain.environment, task, self.recipe.attempts.shield, self.shields)

    def system_text(self, task: Task) -> str:
        """The system prompt for a task."""
        environment = self.domain.environment
        options, text, prompts = self.recipe.attempts, self.texts[task.id], prompts_of(self.recipe.prompts)
        start = stated_start(environment, task.rules, task.initial(environment))
        return tools_system(environment, replace(PromptContext.of(options, text, prompts), session_start=start))

    def request(self, task: Task, style: Style) -> str:
        """The user's message."""
        return request_text(task.instructions[style], prompts=DEFAULT_PROMPTS)

    def user(self, task: Task, style: Style, session: Session) -> ScriptedUser | None:
        """The user of a dialogue; None in mode ``tools``."""
        options = self.recipe.attempts
        if options.mode != "dialogue":
            return None
        users = DialogueUsers(self.domain.environment, options.dialogue.behaviours, self.recipe.seed)
        return users.script(task, style, session)

    def baseline(self, policy: str, task: Task, style: Style) -> Sequence[PlannedCall] | str:
        """The calls of a baseline policy, or what it says instead. Raises InputError for another name."""
        spec = ModelSpec.parse(f"baseline:{policy}")
        if policy == "refuse":
            return REFUSAL
        if policy in {"reference", "literal", "habit"} and not task.calls:
            raise InputError(f"task {task.id}: imported as a program, so it has no trace for lawtrace/{policy}")
        habits: Habits = self.habits if policy == "habit" else {}
        calls = baseline_calls(spec, self.domain.environment, task, style, habits)
        assert calls is not None
        return calls
