"""The restater: asks a yes/no question with the opposite polarity, so that answers that lean to Yes gain nothing."""

import json

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from agents.speaker import RoleSpeaker, hear_objections
from environments.casebook.case import Question
from prompts.loader import Prompt

__all__ = ["Restatement", "seat_restater"]


class Restatement(BaseModel):
    """The question as restated; null where it cannot be done."""

    model_config = ConfigDict(frozen=True)

    question: str | None


def seat_restater(client: ChatCompletionClient, prompt: Prompt, question: Question) -> RoleSpeaker[Restatement]:
    return RoleSpeaker(
        "restater",
        client=client,
        prompt=prompt,
        system=prompt.fill(question=json.dumps({"question": question.text}, indent=1, ensure_ascii=False)),
        answer=Restatement,
        attend=hear_objections,
        remembers=True,
    )
