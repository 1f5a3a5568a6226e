"""What all episodes on a task file share: its tasks, its environment, and what a model is told."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Literal, Self, get_args

from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.store.task_file import find_tasks, read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.errors import InputError

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


class TrainingTasks(TaskSet):
    """The tasks of a file in one style, attempted as in ``lawtrace run --mode tools``. Threads can share it.

    Attributes:
        file: where the tasks are from, for messages.
        style: of the instructions.
        tools: the tools as the OpenAI API takes them.
    """

    file: str
    style: Style
    tools: tuple[dict[str, Any], ...]

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
    ) -> Self:
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
        made = cls.of(chosen, domain, {"seed": seed, "attempts": attempts}, "training")
        made.file, made.style = str(file), style
        functions = call_schemas(domain.environment, hints=hints)
        made.tools = tuple({"type": "function", "function": one._asdict()} for one in functions)
        return made

    def task(self, name: str) -> Task:
        """A task by its id. Raises InputError for one that is not there."""
        return find_tasks(self.tasks, name, self.file)[0]

    def drawn(self, seed: int) -> Task:
        """The task of a seed. With n tasks, the seeds k n, ..., k n + n - 1 give each task once."""
        tasks = list(self.tasks)
        epoch, place = divmod(seed, len(tasks))
        Random(epoch).shuffle(tasks)
        return tasks[place]

    def observe(self, task: Task) -> Observation:
        """What a model is given at the start of an episode on a task."""
        return Observation(task.id, self.system_text(task), self.request(task, self.style), self.tools)
