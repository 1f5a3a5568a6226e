"""The restater: asks a yes/no question with the opposite polarity, so that answers that lean to Yes gain nothing."""

import json
from dataclasses import dataclass

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.conversation import run_proposal_loop
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.case import Question
from lawtrace.environments.legal.polarity import check_negation
from lawtrace.prompts.loader import Prompt


class Restatement(BaseModel):
    """The question as restated; null where it cannot be done."""

    model_config = ConfigDict(frozen=True)

    question: str | None


def make_restater(client: ChatCompletionClient, prompt: Prompt, question: Question) -> RoleAgent[Restatement]:
    return RoleAgent(
        "restater",
        client=client,
        prompt=prompt,
        system=prompt.fill(question=json.dumps({"question": question.text}, indent=1, ensure_ascii=False)),
        answer=Restatement,
        attend=read_objections,
        remembers=True,
    )


@dataclass(frozen=True, slots=True)
class RestatementResult:
    """The question as restated; or None, and why it was refused."""

    text: str | None
    refused: str = ""


async def restate_question(
    question: Question, *, role_models: RoleModels, context: Context, event_log: EventLog, most_rounds: int
) -> RestatementResult:
    """Hold the conversation. What code cannot check after the last round is refused."""

    def against(answer: Restatement) -> list[str]:
        reason = answer.question and check_negation(question.text, answer.question)
        return [reason] if reason else []

    place = context.at(role="restater", task=question.id)
    found = await run_proposal_loop(
        make_restater(role_models.client("restater", place), role_models.prompt("restater"), question),
        Restatement,
        against,
        opening="Restate the question.",
        context=place,
        event_log=event_log,
        most_rounds=most_rounds,
    )
    if not found.proposals:
        return RestatementResult(None, found.failure or "nothing was proposed")
    text = found.proposals[-1].question
    if not text:
        return RestatementResult(None, "the restater declined")
    reason = check_negation(question.text, text)
    return RestatementResult(None, reason) if reason else RestatementResult(text.strip())
