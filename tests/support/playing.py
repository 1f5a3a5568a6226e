"""Models behind an endpoint: the offline roles, and scripts for the roles that write and judge rules."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage

from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES, ScriptedRole
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.prompts.loader import load_prompt
from lawtrace.schemas.choices import RoleName

CHECK_FIRST = "!((!CheckAuthorization) U TransferFunds)"
RECORD_AFTER = "G(TransferFunds -> F RecordAuditEvent)"
UNDERSTOOD = {
    "Every transfer of funds and every bill payment must": (RECORD_AFTER, "G(PayBill -> F RecordAuditEvent)"),
    "retrieval of an account statement must afterwards": ("G(GetAccountStatement -> F RecordAuditEvent)",),
    "must come before an account statement": ("!((!CheckAuthorization) U GetAccountStatement)",),
    "before a transfer of funds or the payment of a bill": (CHECK_FIRST, "!((!CheckAuthorization) U PayBill)"),
    "search must come before a bill is paid": ("!((!SearchPayee) U PayBill)",),
    "must come before": (CHECK_FIRST,),
    "recorded as an audit event": (RECORD_AFTER,),
}
"""The sentences that the author of rules understands, and the rules that it then writes."""


def write_rules(messages: Sequence[LLMMessage]) -> str:
    """Rules for each provision that it understands."""
    rules: list[Mapping[str, str]] = []
    others: list[Mapping[str, str]] = []
    for one in labelled_json(messages, "provisions"):
        text, citation = one["text"], one["citation"]
        formulas = next((formulas for words, formulas in UNDERSTOOD.items() if words in text), ())
        for formula in formulas:
            rules.append({"id": f"r{len(rules)}", "formula": formula, "citation": citation, "quote": text})
        if not formulas:
            others.append({"citation": citation, "because": "calls do not show it"})
    return json.dumps({"rules": rules, "not_checkable": others})


PLAYED: Mapping[str, ScriptedRole] = {
    **OFFLINE_ROLES,
    "policy_extractor": write_rules,
    "ltl_critic": lambda _: '{"objections": []}',
    "annotator": lambda _: '{"verdict": "lawful"}',
}
WRITING: tuple[RoleName, ...] = (
    "instruction_generator",
    "masking_evaluator",
    "independent_reader",
    "policy_extractor",
    "ltl_critic",
    "annotator",
)


def role_of(request: Mapping[str, Any]) -> RoleName:
    """The role whose prompt starts the request; the executor if no writing role matches."""
    system = str(request["messages"][0]["content"])
    for role in WRITING:
        if system.startswith(load_prompt(role).body[:40]):
            return role
    return "executor"


def play(request: Mapping[str, Any], program: str = "pass") -> str:
    """The answer of the role; the executor writes the program."""
    role = role_of(request)
    if role == "executor":
        return f"```python\n{program}\n```"
    return PLAYED[role]([_message(sent) for sent in _as_if_never_sent_back(request["messages"])])


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
