"""The offline roles behind an endpoint: a model that plays the writing roles well."""

from collections.abc import Mapping
from typing import Any

from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage

from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.prompts.loader import load_prompt
from lawtrace.schemas.choices import RoleName

WRITING: tuple[RoleName, ...] = (
    "scope_aligner",
    "verifiability_refiner",
    "tool_mapper",
    "instruction_generator",
    "masking_evaluator",
    "independent_reader",
    "policy_extractor",
    "ltl_critic",
)


def role_of(request: Mapping[str, Any]) -> RoleName:
    """The role whose prompt starts the request; the executor if no writing role matches."""
    system = str(request["messages"][0]["content"])
    for role in WRITING:
        if system.startswith(load_prompt(role).body[:40]):
            return role
    return "executor"


def play(request: Mapping[str, Any], program: str = "pass") -> str:
    """The answer of the offline role; the executor writes the program."""
    role = role_of(request)
    if role == "executor":
        return f"```python\n{program}\n```"
    return OFFLINE_ROLES[role]([_message(sent) for sent in _as_if_never_sent_back(request["messages"])])


def _as_if_never_sent_back(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages[:-2] if "cannot be used" in str(messages[-1]["content"]) else messages


def _message(sent: Mapping[str, Any]) -> LLMMessage:
    content = str(sent["content"])
    match sent["role"]:
        case "system":
            return SystemMessage(content=content)
        case "assistant":
            return AssistantMessage(content=content, source="assistant")
        case _:
            return UserMessage(content=content, source="user")
