"""Answers executed in the sandbox."""

from collections.abc import Sequence

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.sandbox import SandboxPool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.stages.attempts_stage import AnswerExecutor
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt


def execute_answers(
    environment: Environment,
    tasks: Sequence[Task],
    answers: Sequence[Answer | Attempt],
    sandboxes: SandboxPool,
    *,
    regulation: Regulation | None = None,
) -> list[Attempt]:
    """Execute each answer, in order (see `AnswerExecutor`)."""
    execute = AnswerExecutor(environment, tasks, regulation).execute
    return [one.result() for one in [sandboxes.submit(execute, answer) for answer in answers]]
