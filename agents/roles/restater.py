"""The restater: asks a yes/no question with the opposite polarity, so that answers that lean to Yes gain nothing."""

import json

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.case import Question
from lawtrace.prompts.loader import Prompt


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
