"""What the roles of rule extraction are sent: the law and the tools, never our reading of a provision or our rules."""

import json
import re
from collections.abc import Sequence

import pytest
from autogen_core.models import AssistantMessage, LLMMessage

from lawtrace.agents.conversations.rule_extraction import extract_rules
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.runtime.documentation import document
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.rules import load_rules
from tests.support.transcripts import Cast

ROLES = {"scope_aligner", "verifiability_refiner", "tool_mapper", "policy_extractor", "ltl_critic"}
WORDS_IN_A_ROW = 7
"""So many words of our prose in a row are not chance."""


def align_all(messages: Sequence[LLMMessage]) -> str:
    decisions = [
        {"citation": one["citation"], "concerns": True, "because": "it does"}
        for one in labelled_json(messages, "provisions")
    ]
    return json.dumps({"decisions": decisions})


def refine_all(messages: Sequence[LLMMessage]) -> str:
    obligations = [
        {"citation": one["citation"], "quote": one["text"][:30], "statement": "Do it.", "order": "other", "first": "a"}
        for one in labelled_json(messages, "provisions")
    ]
    return json.dumps({"obligations": obligations})


def map_all(messages: Sequence[LLMMessage]) -> str:
    tool = labelled_json(messages, "documentation")["tools"][0]["name"]
    mapped = [
        {"obligation": one["obligation"], "first": [tool], "second": []}
        for one in labelled_json(messages, "obligations")
    ]
    return json.dumps({"mapped": mapped})


SCRIPTS = {**OFFLINE_ROLES, "scope_aligner": align_all, "verifiability_refiner": refine_all, "tool_mapper": map_all}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
async def test_no_role_is_sent_our_reading_or_our_rules(name: str) -> None:
    domain, cast = load_domain(name), Cast(SCRIPTS)
    regulation = domain.regulation
    await extract_rules(
        domain.environment,
        regulation,
        role_models=cast,
        context=Context(stage="rules", role="policy_extractor"),
        event_log=MemoryEventLog(),
        most_rounds=1,
    )
    assert set(cast.asked) == ROLES
    messages = [message for _, request in cast.requests for message in request]
    sent = "\n".join(str(message.content) for message in messages if not isinstance(message, AssistantMessage))
    assert all(json.dumps(provision.words(), ensure_ascii=False) in sent for provision in regulation.provisions)
    rules, tools = load_rules(domain.rules_file), domain.environment.tools.values()
    ours = [*(tool.hint or "" for tool in tools), *(rule.rationale for rule in rules)]
    allowed = f"{regulation.text()} {json.dumps(document(domain.environment))}"
    assert rows("\n".join(ours)) & rows(sent) <= rows(allowed)


def rows(text: str) -> set[tuple[str, ...]]:
    """All sequences of some words in a row."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + WORDS_IN_A_ROW]) for start in range(len(words) - WORDS_IN_A_ROW + 1)}
