"""The roles that write and check instructions (P 3.4): their structured answers, inputs, and the table of roles."""

import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from lawtrace.agents.participants import Role
from lawtrace.environments.events import Json
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.masking.instructions import ReaderCall, Style
from lawtrace.solver.masking.wording import describe_outcome, describe_step
from lawtrace.solver.traces import PlannedCall


class Draft(BaseModel):
    """A draft of the request."""

    model_config = ConfigDict(frozen=True)

    text: str


class RequestReading(BaseModel):
    """The calls that the reader derives from a request, and the sentences that it cannot turn into calls."""

    model_config = ConfigDict(frozen=True)

    calls: tuple[ReaderCall, ...]
    unclear: tuple[str, ...] = ()


class MaskingReview(BaseModel):
    """The evaluator's judgement on the two criteria."""

    model_config = ConfigDict(frozen=True)

    unambiguous: bool
    masked: bool
    objections: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.unambiguous and self.masked


def instruction_plan(
    environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int], style: Style
) -> list[Json]:
    """What the user wants, for the prompts: the calls of these numbers with their arguments and in words.

    In goal style only calls that change something. Identifiers from look-ups are left out, because users do not say
    them.
    """
    plan: list[Json] = []
    for number in numbers:
        call = calls[number]
        describe = describe_outcome if style == "goal" else describe_step
        words = describe(environment, calls, number)
        if words is None:
            continue
        said: dict[str, Json] = {name: call.event.arguments[name] for name in call.said}
        plan.append({"tool": call.event.tool, "arguments": said, "in_words": words})
    return plan


def hidden_tools_json(environment: Environment) -> str:
    """The compliance tools, which a request must not hint at."""
    hidden = [
        {"tool": name, "what_it_does": environment.tools[name].summary}
        for name in environment.tools
        if name in environment.compliance_tools
    ]
    return json.dumps(hidden, indent=1)


def _read_draft(content: BaseModel | str) -> str | None:
    return content.text if isinstance(content, Draft) else None


INSTRUCTION_GENERATOR = Role("instruction_generator", Draft)
"""Writes the user's request from the masked trace."""
INDEPENDENT_READER = Role("independent_reader", RequestReading, attend=_read_draft, remembers=False)
"""Sees only the request and the documentation, and says which calls it would make."""
MASKING_EVALUATOR = Role("masking_evaluator", MaskingReview, attend=_read_draft, remembers=False)
"""Judges whether the request is unambiguous and hints at no hidden step."""
