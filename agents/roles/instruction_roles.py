"""The roles that write and check instructions (P 3.4): their structured answers, inputs, and the table of roles."""

import json
from collections.abc import Sequence
from random import Random

from pydantic import BaseModel

from lawtrace.agents.participants import Role
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import FrozenModel
from lawtrace.solver.masking.instructions import ReaderCall
from lawtrace.solver.masking.wording import describe_outcome, describe_step
from lawtrace.solver.traces import PlannedCall


class Saying(FrozenModel):
    """A note of the writer: the words of the text that say the value of an argument (``Tool.parameter``)."""

    argument: str
    words: str


class Draft(FrozenModel):
    """A draft of the request, with notes on the words that say a value which it does not state literally."""

    text: str
    says: tuple[Saying, ...] = ()

    @property
    def noted(self) -> dict[str, tuple[str, ...]]:
        """The words by argument."""
        named = dict.fromkeys(saying.argument for saying in self.says)
        return {name: tuple(saying.words for saying in self.says if saying.argument == name) for name in named}


class RequestReading(FrozenModel):
    """The calls that the reader derives from a request, and the sentences that it cannot turn into calls."""

    calls: tuple[ReaderCall, ...]
    unclear: tuple[str, ...] = ()


class MaskingReview(FrozenModel):
    """The evaluator's judgement on the criteria."""

    unambiguous: bool
    masked: bool
    natural: bool = True
    objections: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.unambiguous and self.masked and self.natural


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


MANNERS = (
    "short and plain, like a text message",
    "friendly and a little chatty",
    "polite and formal, like a letter",
    "spoken, as on the phone",
    "in a hurry, but clear",
    "relaxed, between people who know each other",
    "careful, from a person who explains the occasion in a clause",
)


def manner_of(task: str | None, style: Style) -> str:
    """How the request of a task sounds: another manner from task to task."""
    return Random(f"{task}/{style}").choice(MANNERS)


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
INDEPENDENT_READER = Role("independent_reader", RequestReading, message_filter=_read_draft, stateful=False)
"""Sees only the request and the documentation, and says which calls it would make."""
MASKING_EVALUATOR = Role("masking_evaluator", MaskingReview, message_filter=_read_draft, stateful=False)
"""Judges whether the request is unambiguous and hints at no hidden step."""
