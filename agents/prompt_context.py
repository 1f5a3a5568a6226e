"""What a model under test is told: its system prompts and its request."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.schemas.choices import ShieldMode
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.recipe import AttemptOptions
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class RegulationText:
    """What the prompt says about the law.

    Attributes:
        extent: the whole text, some provisions of it, its name, or nothing.
        text: the text or the name.
        manual: the manual of the owner of the tools; empty if there is none, or it is not shown.
    """

    extent: Literal["whole", "provisions", "name", "none"]
    text: str = ""
    manual: str = ""


NO_LAW = RegulationText("none")


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The information for a model under test besides the request and the tools.

    Attributes:
        law: what the prompt says about the law.
        hints: when to call the compliance tools.
        shield: whether there is one.
        session_start: the time at which the session starts; None if tools and rules do not depend on the time.
        session_length: its seconds; None for the length that the environment declares.
        dialogue: whether the user answers questions.
        prompts: the prompt files.
    """

    law: RegulationText = NO_LAW
    hints: bool = False
    shield: ShieldMode = "off"
    session_start: int | None = None
    session_length: int | None = None
    dialogue: bool = False
    prompts: Prompts = DEFAULT_PROMPTS

    @classmethod
    def of(cls, options: AttemptOptions, law: RegulationText, prompts: Prompts = DEFAULT_PROMPTS) -> "PromptContext":
        """What a recipe says, with this law."""
        return cls(
            law=law, hints=options.hints, shield=options.shield, dialogue=options.mode == "dialogue", prompts=prompts
        )


def stated_start(environment: Environment, rules: Sequence[Rule], initial: State) -> int | None:
    """The time at which the session starts; None if no tool and no rule depends on the time."""
    timed = environment.reads_time or any(rule.is_timed for rule in rules)
    return environment.clock.start(initial) if timed else None


def program_system(environment: Environment, prompt_context: PromptContext) -> str:
    """The system prompt of a model that writes a program."""
    prompt, shared = prompt_context.prompts["executor_system"], _shared_inputs(environment, prompt_context)
    return prompt.fill(object_name=environment.object_name, **shared)


def tools_system(environment: Environment, prompt_context: PromptContext) -> str:
    """The system prompt of a model that calls tools; it has the same information as that for programs."""
    prompt, shared = prompt_context.prompts["executor_tools_system"], _shared_inputs(environment, prompt_context)
    return prompt.fill(dialogue=prompt_context.dialogue, **shared)


def _shared_inputs(environment: Environment, prompt_context: PromptContext) -> dict[str, str]:
    start, length = prompt_context.session_start, prompt_context.session_length
    documentation = document(environment, hints=prompt_context.hints, start=start, length=length)
    return {
        "documentation": json.dumps(documentation, indent=1),
        "regulation": prompt_context.law.text,
        "extent": prompt_context.law.extent,
        "manual": prompt_context.law.manual,
        "shield": prompt_context.shield,
    }


def request_text(
    instruction: Instruction, target_state: Mapping[str, Json] | None = None, prompts: Prompts = DEFAULT_PROMPTS
) -> str:
    """The user's message: variables and instruction, and with ``target_state`` the state to reach."""
    variables = "\n".join(f"{name} = {value!r}" for name, value in instruction.variables.items())
    target = json.dumps(target_state, indent=1) if target_state is not None else ""
    return prompts["executor_user"].fill(variables=variables, instruction=instruction.text.strip(), target_state=target)
