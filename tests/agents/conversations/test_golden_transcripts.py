"""Golden transcripts: what each team says and what its models are sent, with scripted models.

A change of AutoGen's version, of a team or of a prompt shows here. If it is meant, write the transcripts again with

    .venv/bin/python -m tests.agents.conversations.test_golden_transcripts
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.conversations.instruction_writing import write_instruction
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules
from tests.agents.conversations.test_attempts import act
from tests.agents.conversations.test_formalization import AFTER, BEFORE, formalize, judging, revising
from tests.support.openai_server import calling
from tests.support.transcripts import Cast, Teams, golden, said_in, transcript, write_golden

FOLDER = Path(__file__).parent / "transcripts"
BANKING = load_domain("banking")


async def writing() -> list[str]:
    """The first draft names a hidden step, the second answer does not parse, the third is accepted."""
    drafts = 0

    def generator(messages: Sequence[LLMMessage]) -> str:
        nonlocal drafts
        drafts += 1
        text = json.loads(OFFLINE_ROLES["instruction_generator"](messages[:2]))["text"]
        match drafts:
            case 1:
                return json.dumps({"text": f"{text}\nDo not forget to record an audit event."})
            case 2:
                return "Sorry, I was distracted."
            case _:
                return json.dumps({"text": text})

    rules = load_rules(BANKING.rules_file)
    trace = next(synthesize(BANKING.environment, rules, count=1, length=8, seed=7))
    cast, event_log = Cast(OFFLINE_ROLES, "offline", instruction_generator=generator), MemoryEventLog()
    await write_instruction(
        BANKING.environment,
        trace,
        "workflow",
        role_models=cast,
        context=Context(stage="tasks", role="instruction_generator", task="t"),
        event_log=event_log,
        most_rounds=3,
    )
    return transcript(event_log, cast)


async def extraction() -> list[str]:
    """An author and a critic; a judge refutes the author, who writes again."""
    event_log = MemoryEventLog()
    await formalize({"one": revising(AFTER, BEFORE)}, {"judge": judging("lawful")}, event_log=event_log)
    return said_in(event_log)


async def tools() -> list[str]:
    """Two calls in one message, then a text."""

    def answer(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        if any(message["role"] == "tool" for message in request["messages"]):
            return "Both are there."
        of_savings, of_checking = ({"account_type": kind} for kind in ("savings", "checking"))
        return calling(("GetAccountInformation", of_savings), ("GetAccountInformation", of_checking), saying="I look.")

    event_log = MemoryEventLog()
    _, _, requests = await act(answer, event_log=event_log)
    return [
        *said_in(event_log),
        *(f"executor is sent {[one['role'] for one in sent['messages']]}" for sent in requests),
    ]


TEAMS: Teams = {"writing": writing, "extraction": extraction, "tools": tools}


@pytest.mark.parametrize("team", TEAMS)
async def test_a_team_says_what_it_said(team: str) -> None:
    assert await TEAMS[team]() == golden(FOLDER, team)


if __name__ == "__main__":
    write_golden(FOLDER, TEAMS)
