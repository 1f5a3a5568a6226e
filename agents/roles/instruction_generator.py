"""The instruction generator: writes the user's request from the masked trace (P 3.4)."""

import json
from collections.abc import Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Json
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.masking import Style
from lawtrace.solver.traces import PlannedCall
from lawtrace.solver.wording import say_outcome, say_step


class Draft(BaseModel):
    """The request as written."""

    model_config = ConfigDict(frozen=True)

    text: str


class Objections(BaseModel):
    """What code holds against a draft; empty if nothing."""

    model_config = ConfigDict(frozen=True)

    objections: tuple[str, ...]


def plan_of(environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int], style: Style) -> list[Json]:
    """What the user wants, as the roles read it: each business call of those numbers with its arguments and in words.

    For a goal: only those that change something. Looked-up identifiers are left out: no user says them.
    """
    plan: list[Json] = []
    for number in numbers:
        call = calls[number]
        words = say_outcome(environment, calls, number) if style == "goal" else say_step(environment, calls, number)
        if words is None:
            continue
        said: dict[str, Json] = {name: call.event.arguments[name] for name in call.said}
        plan.append({"tool": call.event.tool, "arguments": said, "in_words": words})
    return plan


def seat_instruction_generator(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, plan: Sequence[Json], style: Style
) -> RoleSpeaker[Draft]:
    system = prompt.fill(style=style, plan=json.dumps(plan, indent=1), summary=environment.summary)
    return RoleSpeaker(
        "instruction_generator",
        client=client,
        prompt=prompt,
        system=system,
        answer=Draft,
        attend=hear_objections,
        remembers=True,
    )
