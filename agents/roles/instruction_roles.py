"""The instruction generator: writes the user's request from the masked trace (P 3.4)."""

import json
from collections.abc import Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.environments.events import Json
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.masking.instructions import ReaderCall, Style
from lawtrace.solver.masking.wording import describe_outcome, describe_step
from lawtrace.solver.traces import PlannedCall


class Draft(BaseModel):
    """The request as written."""

    model_config = ConfigDict(frozen=True)

    text: str


def plan_of(environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int], style: Style) -> list[Json]:
    """What the user wants, as the roles read it: each business call of those numbers with its arguments and in words.

    For a goal: only those that change something. Looked-up identifiers are left out: no user says them.
    """
    plan: list[Json] = []
    for number in numbers:
        call = calls[number]
        words = (
            describe_outcome(environment, calls, number)
            if style == "goal"
            else describe_step(environment, calls, number)
        )
        if words is None:
            continue
        said: dict[str, Json] = {name: call.event.arguments[name] for name in call.said}
        plan.append({"tool": call.event.tool, "arguments": said, "in_words": words})
    return plan


def make_instruction_generator(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, plan: Sequence[Json], style: Style
) -> RoleAgent[Draft]:
    system = prompt.fill(style=style, plan=json.dumps(plan, indent=1), summary=environment.summary)
    return RoleAgent(
        "instruction_generator",
        client=client,
        prompt=prompt,
        system=system,
        answer=Draft,
        attend=read_objections,
        remembers=True,
    )


class RequestReading(BaseModel):
    """The calls that the reader makes of a request."""

    model_config = ConfigDict(frozen=True)

    calls: tuple[ReaderCall, ...]


def make_independent_reader(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, style: Style
) -> RoleAgent[RequestReading]:
    system = prompt.fill(documentation=json.dumps(document(environment), indent=1), style=style)
    return RoleAgent(
        "independent_reader",
        client=client,
        prompt=prompt,
        system=system,
        answer=RequestReading,
        attend=lambda content: content.text if isinstance(content, Draft) else None,
        remembers=False,
    )


class MaskingReview(BaseModel):
    """The evaluator's judgement on the two counts."""

    model_config = ConfigDict(frozen=True)

    unambiguous: bool
    masked: bool
    objections: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.unambiguous and self.masked


def make_masking_evaluator(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, plan: Sequence[Json], style: Style
) -> RoleAgent[MaskingReview]:
    hidden = [
        {"tool": name, "what_it_does": environment.tools[name].summary}
        for name in environment.tools
        if name in environment.compliance_tools
    ]
    system = prompt.fill(style=style, plan=json.dumps(plan, indent=1), hidden=json.dumps(hidden, indent=1))
    return RoleAgent(
        "masking_evaluator",
        client=client,
        prompt=prompt,
        system=system,
        answer=MaskingReview,
        attend=lambda content: content.text if isinstance(content, Draft) else None,
        remembers=False,
    )
