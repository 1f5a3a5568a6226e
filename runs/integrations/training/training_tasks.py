"""What all episodes on a task file share: its tasks, its environment, and what a model is told."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Final, Literal, get_args

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import AttemptOptions

LawForm = Literal["restated", "named", "none"]
"""What the system prompt contains of the law: its text as restated, its name, nothing."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a model is given at the start of an episode.

    Attributes:
        task: the id of the task.
        system: the system prompt.
        instruction: the message of the user.
        tools: as the OpenAI API takes them.
    """

    task: str
    system: str
    instruction: str
    tools: tuple[dict[str, Any], ...]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The first messages of a conversation."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.instruction}]


@dataclass(frozen=True)
class TrainingTasks:
    """The tasks of a file in one style. Episodes and threads can share it.

    Attributes:
        file: where the tasks are from, for messages.
        task_set: the tasks, how a model acts and what it is told, as in ``lawtrace attempt --mode tools``.
        tools: the tools as the OpenAI API takes them.
    """

    file: str
    task_set: TaskSet
    style: Style
    tools: tuple[dict[str, Any], ...]

    @property
    def domain(self) -> Domain:
        return self.task_set.domain

    @property
    def tasks(self) -> Mapping[str, Task]:
        """By id, in the order of the file."""
        return self.task_set.by_id

    @property
    def options(self) -> AttemptOptions:
        return self.task_set.options

    @classmethod
    def load(
        cls,
        file: str | PathLike[str],
        *,
        style: Style = "goal",
        shield: ShieldMode = "off",
        env: str | None = None,
        regulation: LawForm = "restated",
        regulation_words: int | None = None,
        hints: bool = False,
        seed: int = 1,
    ) -> "TrainingTasks":
        """Read a task file.

        Args:
            file: written by ``lawtrace tasks build`` or released.
            style: of the instructions; tasks without it are left out.
            shield: whether a guard warns of, or refuses, calls that break a rule.
            env: the folder of the environment, if it is not built in.
            regulation: what the prompt contains of the law.
            regulation_words: None for its whole text; else the provisions that apply, and others up to this many words.
            hints: whether the documentation says when to call compliance tools.
            seed: draws the other provisions.

        Raises InputError for a file that cannot be read or is of another kind, and for a choice that does not exist.
        """
        if regulation not in get_args(LawForm):
            raise InputError(f"regulation {regulation!r}: expected one of {', '.join(get_args(LawForm))}")
        if Path(file).is_dir():
            raise InputError(f"{file}: a folder; name one task file in it, for instance banking.jsonl")
        tasks, domain = read_tasks(Path(file), env)
        chosen = [task for task in tasks if style in task.instructions]
        if not chosen:
            raise InputError(f"{file}: style {style!r}: no task has such an instruction")
        attempts = {
            "mode": "tools",
            "shield": shield,
            "styles": (style,),
            "hints": hints,
            "regulation": regulation,
            "regulation_words": regulation_words,
        }
        task_set = TaskSet.of(chosen, domain, {"seed": seed, "attempts": attempts}, "training")
        return cls(str(file), task_set, style, tuple(openai_tools(domain, hints=hints)))

    def task(self, name: str) -> Task:
        """A task by its id. Raises InputError for one that is not there."""
        found = self.tasks.get(name)
        if found is None:
            nearest = difflib.get_close_matches(name, self.tasks, 1) or [next(iter(self.tasks))]
            raise InputError(f"{self.file}: no task {name!r}; did you mean {nearest[0]!r}?")
        return found

    def drawn(self, seed: int) -> Task:
        """The task of a seed. With n tasks, the seeds k n, ..., k n + n - 1 give each task once."""
        names: Final = list(self.tasks)
        epoch, place = divmod(seed, len(names))
        Random(epoch).shuffle(names)
        return self.tasks[names[place]]

    def observe(self, task: Task) -> Observation:
        """What a model is given at the start of an episode on a task."""
        request = self.task_set.request(task, self.style)
        return Observation(task.id, self.task_set.system_text(task), request, self.tools)


def openai_tools(domain: Domain, *, hints: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, schema in call_schemas(domain.environment, hints=hints).items():
        parameters = {key: value for key, value in schema.items() if key != "description"}
        function = {"name": name, "description": schema["description"], "parameters": parameters}
        found.append({"type": "function", "function": function})
    return found
