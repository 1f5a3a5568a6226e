"""Whether messages say something, as a model judges: one question for each message, without the conversation."""

from collections.abc import Callable, Iterable

from autogen_core import CancellationToken

from lawtrace.agents.concurrency import gather
from lawtrace.agents.participants import Role, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.models import FrozenModel


class MessageJudgment(FrozenModel):
    """Whether a message says something, with the words that decide."""

    says: bool
    words: str = ""


MESSAGE_JUDGE = Role("message_judge", MessageJudgment, stateful=False)


async def judge_messages(
    models: RoleModels,
    asked: Iterable[tuple[str, str, str]],
    answered: Callable[[tuple[str, str, str], MessageJudgment | RoleFailure], None],
) -> None:
    """Ask about each speaker, predicate and text. ``answered`` is called as answers come."""

    async def ask(number: int, one: tuple[str, str, str]) -> None:
        speaker, predicate, text = one
        context = Context(stage="audit", role=MESSAGE_JUDGE.name, unit=f"message {number}")
        agent = MESSAGE_JUDGE.agent(models, context, speaker=speaker, predicate=predicate)
        answered(one, await agent.reply([text], CancellationToken()))

    await gather(ask(number, one) for number, one in enumerate(asked, 1))
