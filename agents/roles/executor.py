"""The executor, the model under test, and its prompts."""

import json
from collections.abc import Mapping, Sequence

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ChatCompletionClient

from lawtrace.agents.prompt_context import PromptContext
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction
from lawtrace.solver.rules import Rule


def stated_start(environment: Environment, rules: Sequence[Rule], initial: State) -> int | None:
    """The time at which the session starts; None if no tool and no rule depends on the time."""
    timed = environment.reads_time or any(rule.is_timed for rule in rules)
    return environment.clock.start(initial) if timed else None


def make_executor(
    client: ChatCompletionClient,
    environment: Environment,
    prompt_context: PromptContext,
) -> AssistantAgent:
    """A new agent for one attempt. Agents remember, so each attempt needs its own."""
    system = prompt_context.prompts["executor_system"].fill(
        object_name=environment.object_name, **_shared_inputs(environment, prompt_context)
    )
    return AssistantAgent("executor", model_client=client, system_message=system)


def tools_system(environment: Environment, prompt_context: PromptContext) -> str:
    """The system prompt of a model that calls tools; it has the same information as that for programs."""
    prompt, shared = prompt_context.prompts["executor_tools_system"], _shared_inputs(environment, prompt_context)
    return prompt.fill(dialogue=prompt_context.dialogue, **shared)


def _shared_inputs(environment: Environment, prompt_context: PromptContext) -> dict[str, str]:
    documentation = document(environment, hints=prompt_context.hints, start=prompt_context.session_start)
    return {
        "documentation": json.dumps(documentation, indent=1),
        "regulation": prompt_context.law.text,
        "extent": prompt_context.law.extent,
        "shield": prompt_context.shield,
    }


def request_text(
    instruction: Instruction, target_state: Mapping[str, Json] | None = None, prompts: Prompts = DEFAULT_PROMPTS
) -> str:
    """The user's message: variables and instruction, and with ``target_state`` the state to reach."""
    variables = "\n".join(f"{name} = {value!r}" for name, value in instruction.variables.items())
    target = json.dumps(target_state, indent=1) if target_state is not None else ""
    return prompts["executor_user"].fill(variables=variables, instruction=instruction.text.strip(), target_state=target)
