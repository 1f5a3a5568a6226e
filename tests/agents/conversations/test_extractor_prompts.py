"""What the roles that write and judge rules are sent: the law and the tools, never our reading or our rules."""

import json
import re

import pytest
from autogen_core.models import AssistantMessage

from lawtrace.agents.conversations.formalization import Formalizing
from lawtrace.agents.conversations.formalized_group import provision_groups
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.environments.runtime.documentation import document
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.rules import load_rules
from tests.support.playing import PLAYED
from tests.support.transcripts import Cast

WORDS_IN_A_ROW = 7
"""So many words of our prose in a row are not chance."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
async def test_no_role_is_sent_our_reading_or_our_rules(name: str) -> None:
    domain, cast = load_domain(name), Cast(PLAYED)
    regulation = domain.regulation
    await Formalizing(
        environment=domain.environment,
        regulation=regulation,
        models_of=lambda _: cast,
        formalizers=[ModelSpec.parse("openai:some")],
        annotators=[],
        answers=[],
        context=Context(stage="rules", role="policy_extractor"),
        event_log=MemoryEventLog(),
        rounds=1,
    ).groups(provision_groups(regulation))
    assert set(cast.asked) == {"policy_extractor", "ltl_critic"}
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
