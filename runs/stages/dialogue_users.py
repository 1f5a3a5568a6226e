"""The users of dialogues: from a task to its scripted user, and when that user may withdraw the request."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.user import USER, DialogueUser
from lawtrace.agents.scripted.user_automaton import ScriptedUser, SessionView
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Behaviour, Style
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.masking.omissions import partial_request


@dataclass(frozen=True, slots=True)
class DialogueUsers:
    """Makes the users of a run.

    Attributes:
        behaviours: those of which the seed chooses one for each request, or none.
        voice: the models of the roles, if a model words what the users say; else None.
    """

    environment: Environment
    behaviours: Collection[Behaviour]
    seed: int
    voice: RoleModels | None = None

    @classmethod
    def of(cls, context: StageContext) -> Self:
        """The users of a recipe's dialogues."""
        recipe = context.recipe
        voice = context.role_models if recipe.models.user is not None else None
        return cls(context.domain.environment, recipe.attempts.dialogue.behaviours, recipe.seed, voice)

    def user(self, task: Task, style: Style, session: Session, context: Context) -> DialogueUser:
        """A new user for one attempt, who watches its session."""
        script = self.script(task, style, session)
        if self.voice is None:
            return DialogueUser(self.environment, script)
        voice = USER.agent(self.voice, context.at(role=USER.name), summary=self.environment.summary)
        return DialogueUser(self.environment, script, voice)

    def script(self, task: Task, style: Style, session: Session) -> ScriptedUser:
        """What that user says."""
        initial = task.initial(self.environment)
        return ScriptedUser(
            partial_request(self.environment, initial, task.requested, task.instructions[style]),
            initial,
            SessionView(lambda: session.calls > 0, lambda: stopping_is_right(self.environment, task, session)),
            self.behaviours,
            self.seed,
        )


def stopping_is_right(environment: Environment, task: Task, session: Session) -> bool:
    """Whether a session that ends now, with the request withdrawn, reaches the goal and keeps every rule.

    Only then may the user withdraw the request, so that doing nothing more is right.
    """
    initial = task.initial(environment)
    if compare_states(environment, initial, initial, session.state):
        return False
    return all(verdict.kept for verdict in judge_rules(task.rules, session.events, (), end=session.end))
