"""Golden transcripts of the legal team; see tests/agents/conversations/test_golden_transcripts.py.

    .venv/bin/python -m tests.agents.legal.test_golden_team

writes them again.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.legal.decomposition import DecompositionLimits
from lawtrace.agents.legal.legal_team import answer_as_team
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.case import Agent, Chunk
from lawtrace.schemas.log_entries import Context
from tests.support.legal.small_cases import BOTTLES
from tests.support.transcripts import Cast, Script, Teams, golden, transcript, write_golden

FOLDER = Path(__file__).parent / "transcripts"


async def play(scripts: Mapping[str, Script]) -> list[str]:
    def search(agents: Sequence[Agent], texts: Sequence[str]) -> Sequence[Sequence[Chunk]]:
        return [BOTTLES.chunks_of(tuple(agents))[:2] for _ in texts]

    cast, event_log = Cast(LEGAL_OFFLINE_ROLES, "offline", **scripts), MemoryEventLog()
    question = BOTTLES.questions[0]
    calls = RoleCalls(cast, Context(stage="answers", role="meta_llm", task=question.id), event_log)
    await answer_as_team(BOTTLES, question, ("F", "LR"), search, calls, limits=DecompositionLimits())
    return transcript(event_log, cast)


async def offline() -> list[str]:
    return await play({})


async def asked_back() -> list[str]:
    """A task is split twice, an agent must repair an answer, another is asked back, twice in one message."""

    def split(messages: Sequence[LLMMessage]) -> str:
        task = labelled_json(messages, "task")["task"]
        parts = ["the law and the facts", "the theft"] if "Bottle" in task else ["the law", "the facts"]
        return json.dumps(
            {"tasks": [{"task": part, "agent": "rules_agent" if "law" in part else ""} for part in parts]}
        )

    def judge(messages: Sequence[LLMMessage]) -> str:
        return json.dumps({"atomic": "and" not in labelled_json(messages, "task")["task"]})

    def ask_back(messages: Sequence[LLMMessage]) -> str:
        asked = [{"task": f"What does Article {number} demand?", "agent": "rules_agent"} for number in (32, 33)]
        return json.dumps({"missing": "the duty", "questions": asked})

    def in_prose_first(messages: Sequence[LLMMessage]) -> str:
        theft = labelled_json(messages, "task")["task"] == "the theft"
        return "A theft." if theft and len(messages) == 2 else LEGAL_OFFLINE_ROLES["facts_agent"](messages)

    return await play(
        {"decomposer": split, "atomicity_judge": judge, "sufficiency_judge": ask_back, "facts_agent": in_prose_first}
    )


TEAMS: Teams = {"team_offline": offline, "team_asked_back": asked_back}


@pytest.mark.parametrize("name", TEAMS)
async def test_the_team_says_what_it_said(name: str) -> None:
    assert await TEAMS[name]() == golden(FOLDER, name)


if __name__ == "__main__":
    write_golden(FOLDER, TEAMS)
