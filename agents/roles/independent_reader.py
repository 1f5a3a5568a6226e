"""The independent reader: gets only the request and the documentation, and says which calls it would make."""

import json

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from agents.roles.instruction_generator import Draft
from agents.speaker import RoleSpeaker
from environments.declaration import Environment
from environments.documentation import document
from prompts.loader import Prompt
from solver.masking import ReadCall, Style

__all__ = ["Reading", "seat_independent_reader"]


class Reading(BaseModel):
    """The calls that the reader makes of a request."""

    model_config = ConfigDict(frozen=True)

    calls: tuple[ReadCall, ...]


def seat_independent_reader(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, style: Style
) -> RoleSpeaker[Reading]:
    system = prompt.fill(documentation=json.dumps(document(environment), indent=1), style=style)
    return RoleSpeaker(
        "independent_reader",
        client=client,
        prompt=prompt,
        system=system,
        answer=Reading,
        attend=lambda content: content.text if isinstance(content, Draft) else None,
        remembers=False,
    )
