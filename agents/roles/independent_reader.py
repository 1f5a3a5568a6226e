"""The independent reader: gets only the request and the documentation, and says which calls it would make."""

import json

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.instruction_generator import Draft
from lawtrace.agents.speaker import RoleSpeaker
from lawtrace.environments.declaration import Environment
from lawtrace.environments.documentation import document
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.masking import ReadCall, Style


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
