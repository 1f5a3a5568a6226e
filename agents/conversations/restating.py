"""Turning the polarity of a question: the restater proposes, code accepts only what surely flips the answer."""

from dataclasses import dataclass

from lawtrace.agents.casting import Casting
from lawtrace.agents.conversations.checked import propose
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles.restater import Restatement, seat_restater
from lawtrace.environments.casebook.case import Question
from lawtrace.environments.casebook.polarity import check_turned


@dataclass(frozen=True, slots=True)
class Restated:
    """The question as restated; or None, and why it was refused."""

    text: str | None
    refused: str = ""


async def restate_question(
    question: Question, *, casting: Casting, context: Context, ledger: Ledger, most_rounds: int
) -> Restated:
    """Hold the conversation. What code cannot check after the last round is refused."""

    def against(answer: Restatement) -> list[str]:
        reason = answer.question and check_turned(question.text, answer.question)
        return [reason] if reason else []

    place = context.at(role="restater", task=question.id)
    found = await propose(
        seat_restater(casting.client("restater", place), casting.prompt("restater"), question),
        Restatement,
        against,
        opening="Restate the question.",
        context=place,
        ledger=ledger,
        most_rounds=most_rounds,
    )
    if not found.proposals:
        return Restated(None, found.failure or "nothing was proposed")
    text = found.proposals[-1].question
    if not text:
        return Restated(None, "the restater declined")
    reason = check_turned(question.text, text)
    return Restated(None, reason) if reason else Restated(text.strip())
