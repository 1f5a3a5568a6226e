"""Attempts from sessions with tools: of a session that was just held, and of a recorded conversation."""

from lawtrace.environments.runtime.attempt_session import AttemptSession, Ended, replay
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt, Execution
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.tool_conversation import ToolConversation
from lawtrace.solver.guard.shield import Shields


def open_session(environment: Environment, task: Task, shield: ShieldMode, shields: Shields) -> Session:
    """A new session of a task. Raises InputError for a shield without the regulation that it cites."""
    return Session(environment, task.initial(environment), shields.open(task.rules, shield))


def attempt_of(answer: Answer, session: Session, ended: Ended, *, withdrawn: bool = False) -> Attempt:
    """The attempt of a session. Without calls there is nothing to judge, unless the user withdrew the request."""
    if not session.calls and not withdrawn:
        return Attempt(answer=answer)
    return Attempt(
        answer=answer,
        execution=Execution(ended.end, ended.reason, None, None, "", session.calls),
        events=tuple(session.events),
        end=session.end,
        objections=tuple(session.objections),
        final_state=encode_state(session.state, session.environment.entities),
    )


def attempt_so_far(attempt: AttemptSession, task: str, style: Style, model: str, shield: ShieldMode) -> Attempt:
    """The attempt of a session that is under way, of which only the calls are known."""
    answer = Answer(task=task, style=style, model=model, mode="tools", shield=shield, program=None, id=task)
    return attempt_of(answer, attempt.session, attempt.ended or Ended())


def execute_conversation(
    environment: Environment, task: Task, answer: Answer, conversation: ToolConversation, shields: Shields
) -> Attempt:
    """The attempt of a conversation in a new session, which gives the same events as the model's own."""
    session = open_session(environment, task, answer.shield, shields)
    replay(conversation, session)
    ended = Ended(conversation.end, conversation.reason)
    return attempt_of(answer, session, ended, withdrawn=conversation.withdrawal is not None)
