"""The masking evaluator: is the request unambiguous, and does it give nothing away? (P 3.4)"""

import json
from collections.abc import Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.instruction_generator import Draft
from lawtrace.agents.speaker import RoleSpeaker
from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Json
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.masking import Style


class Review(BaseModel):
    """The evaluator's judgement on the two counts."""

    model_config = ConfigDict(frozen=True)

    unambiguous: bool
    masked: bool
    objections: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.unambiguous and self.masked


def seat_masking_evaluator(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, plan: Sequence[Json], style: Style
) -> RoleSpeaker[Review]:
    hidden = [
        {"tool": name, "what_it_does": environment.tools[name].summary}
        for name in environment.tools
        if name in environment.compliance_tools
    ]
    system = prompt.fill(style=style, plan=json.dumps(plan, indent=1), hidden=json.dumps(hidden, indent=1))
    return RoleSpeaker(
        "masking_evaluator",
        client=client,
        prompt=prompt,
        system=system,
        answer=Review,
        attend=lambda content: content.text if isinstance(content, Draft) else None,
        remembers=False,
    )
