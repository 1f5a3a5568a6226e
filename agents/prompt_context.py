"""What a model under test is told besides the request and the tools."""

from dataclasses import dataclass
from typing import Literal

from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.schemas.choices import ShieldMode
from lawtrace.schemas.recipe import AttemptOptions


@dataclass(frozen=True, slots=True)
class RegulationText:
    """What the prompt says about the law.

    Attributes:
        extent: the whole text, some provisions of it, its name, or nothing.
        text: the text or the name.
    """

    extent: Literal["whole", "provisions", "name", "none"]
    text: str = ""


NO_LAW = RegulationText("none")


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The information for a model under test besides the request and the tools.

    Attributes:
        law: what the prompt says about the law.
        hints: when to call the compliance tools.
        shield: whether there is one.
        session_start: the time at which the session starts; None if tools and rules do not depend on the time.
        dialogue: whether the user answers questions.
        prompts: the prompt files.
    """

    law: RegulationText = NO_LAW
    hints: bool = False
    shield: ShieldMode = "off"
    session_start: int | None = None
    dialogue: bool = False
    prompts: Prompts = DEFAULT_PROMPTS

    @classmethod
    def of(cls, options: AttemptOptions, law: RegulationText, prompts: Prompts = DEFAULT_PROMPTS) -> "PromptContext":
        """What a recipe says, with this law."""
        return cls(
            law=law,
            hints=options.hints,
            shield=options.shield,
            dialogue=options.mode == "dialogue",
            prompts=prompts,
        )
