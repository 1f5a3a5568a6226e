"""Tasks that models attempt: their sessions, what the models are told, and the users of dialogues."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lawtrace.agents.prompt_context import PromptContext, stated_start
from lawtrace.agents.scripted.user_automaton import ScriptedUser, SessionView
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.execution import open_session
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.solver.guard.shield import Shields
from lawtrace.solver.masking.omissions import partial_request


class AttemptedTasks:
    """Some tasks, and how models act on them by a recipe.

    Attributes:
        options: those of attempts.
    """

    def __init__(self, inputs: StageInputs, tasks: Sequence[Task]) -> None:
        """Raises InputError if the tasks' rules cite provisions that the law as given does not contain, or if one side
        of a contrast pair is missing."""
        law = inputs.law
        law.check(rule for task in tasks if task.published is None for rule in task.rules)
        self.tasks: Final = tuple(tasks)
        self.domain: Final = inputs.domain
        self.options: Final = inputs.recipe.attempts
        self.shields: Final = Shields(inputs.domain.environment, law.regulation)
        self._seed: Final = inputs.recipe.seed
        self._prompt_contexts: Final = {
            name: PromptContext.of(self.options, text, inputs.prompts)
            for name, text in law.regulation_texts(tasks).items()
        }

    def open_session(self, task: Task) -> Session:
        return open_session(self.domain.environment, task, self.options.shield, self.shields)

    def prompt_context(self, task: Task) -> PromptContext:
        """What prompts for the task contain."""
        environment = self.domain.environment
        start = stated_start(environment, task.rules, task.initial(environment))
        length = None if task.docket is None else task.docket.length
        return replace(self._prompt_contexts[task.id], session_start=start, session_length=length)

    def scripted_user(self, task: Task, style: Style, session: Session) -> ScriptedUser:
        """The user of a dialogue, who watches its session. The seed chooses one of the behaviours, or none."""
        environment = self.domain.environment
        initial = task.initial(environment)
        return ScriptedUser(
            partial_request(environment, initial, task.requested, task.instructions[style]),
            initial,
            SessionView(lambda: session.calls > 0, lambda: _stopping_is_right(environment, task, session)),
            self.options.dialogue.behaviours,
            self._seed,
        )


def _stopping_is_right(environment: Environment, task: Task, session: Session) -> bool:
    """Whether a session that ends now, with the request withdrawn, reaches the goal and keeps every rule.

    Only then may the user withdraw the request, so that doing nothing more is right.
    """
    initial = task.initial(environment)
    if compare_states(environment, initial, initial, session.state):
        return False
    return all(verdict.kept for verdict in judge_rules(task.rules, session.events, (), end=session.end))
