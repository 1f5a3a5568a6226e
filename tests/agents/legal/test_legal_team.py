"""The legal team: it ends within its limits, addresses parts to agents, asks them back and integrates answers."""

import asyncio
import json
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.legal.decomposition import AGENT_ROLES, MAX_SUBTASKS, DecompositionLimits
from lawtrace.agents.legal.legal_team import TeamAnswer, answer_as_team
from lawtrace.agents.legal.meta_llm import LegalAnswer
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.participants import RoleFailure
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.case import Agent, Chunk, Question
from lawtrace.schemas.log_entries import Context, MessageSent
from tests.support.legal.small_cases import BOTTLES
from tests.support.transcripts import Cast, Script

QUESTION = BOTTLES.questions[0]


def search(agents: Sequence[Agent], texts: Sequence[str]) -> Sequence[Sequence[Chunk]]:
    return [BOTTLES.chunks_of(tuple(agents))[:2] for _ in texts]


def asked_of_agents(cast: Cast) -> int:
    return sum(cast.asked[role] for role in AGENT_ROLES.values())


async def ask(
    cast: Cast,
    *,
    question: Question = QUESTION,
    active: Sequence[Agent] = ("F", "LR"),
    limits: DecompositionLimits | None = None,
    event_log: MemoryEventLog | None = None,
) -> TeamAnswer:
    return await answer_as_team(
        BOTTLES,
        question,
        active,
        search,
        RoleCalls(cast, Context(stage="answers", role="meta_llm", task=question.id), event_log or MemoryEventLog()),
        limits=limits or DecompositionLimits(),
    )


async def test_offline_roles_ask_every_active_agent() -> None:
    event_log = MemoryEventLog()
    cast = Cast(LEGAL_OFFLINE_ROLES)
    team = await ask(cast, event_log=event_log)
    assert [(part.agent, part.ended) for part in team.parts] == [("F", "atomic"), ("LR", "atomic")]
    assert [part.passages for part in team.parts] == [("F1", "F2"), ("LR1", "LR2")]
    assert isinstance(team.answer, LegalAnswer)
    assert team.answer.answer == "Yes"
    said = [entry for entry in event_log.entries if isinstance(entry, MessageSent)]
    roles = [
        *("decomposer", "atomicity_judge", "atomicity_judge"),
        *("facts_agent", "rules_agent", "sufficiency_judge", "integrator"),
    ]
    assert [(one.source, one.to) for one in said] == [
        ("user", None),
        *(pair for role in roles for pair in (("dispatcher", role), (role, "dispatcher"))),
    ]
    assert all(entry.prompt_hash for entry in said if entry.to == "dispatcher")


def splits_for_ever(parts: int) -> Script:
    def split(messages: Sequence[LLMMessage]) -> str:
        task = labelled_json(messages, "task")["task"]
        return json.dumps({"tasks": [{"task": f"{task} {letter}", "agent": "LR"} for letter in "stuvwxyz"[:parts]]})

    return split


def asks_for_ever() -> Script:
    numbers = count()

    def ask_back(messages: Sequence[LLMMessage]) -> str:
        asked = [{"task": f"question {next(numbers)}", "agent": "facts_agent"} for _ in range(MAX_SUBTASKS)]
        return json.dumps({"missing": "all", "questions": asked})

    return ask_back


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 5), st.integers(1, 20), st.integers(0, 2))
async def test_the_upper_bound_of_calls_is_reached(depth: int, calls: int, rounds: int) -> None:
    limits = DecompositionLimits(depth=depth, calls=calls, rounds=rounds)
    most, asking = limits.most_calls(), asks_for_ever()
    splitting = Cast(
        LEGAL_OFFLINE_ROLES,
        decomposer=splits_for_ever(MAX_SUBTASKS),
        atomicity_judge=lambda messages: '{"atomic": false}',
        sufficiency_judge=asking,
    )
    event_log = MemoryEventLog()
    await ask(splitting, limits=limits, event_log=event_log)
    assert splitting.asked["decomposer"] == most.decomposer
    assert asked_of_agents(splitting) == most.agents
    assert splitting.asked["sufficiency_judge"] == most.sufficiency_judge
    assert sum(isinstance(entry, MessageSent) for entry in event_log.entries) <= limits.most_messages() + most.agents
    judging = Cast(
        LEGAL_OFFLINE_ROLES,
        decomposer=splits_for_ever(MAX_SUBTASKS),
        atomicity_judge=lambda messages: '{"atomic": true}',
    )
    await ask(judging, limits=limits)
    assert judging.asked["atomicity_judge"] == min(most.atomicity_judge, MAX_SUBTASKS)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 5), st.integers(1, 20), st.integers(1, MAX_SUBTASKS), st.integers(0, 2**20 - 1))
async def test_decomposition_terminates_within_its_limits(depth: int, calls: int, parts: int, verdicts: int) -> None:
    said = iter(f"{verdicts:020b}")

    def judge(messages: Sequence[LLMMessage]) -> str:
        return json.dumps({"atomic": next(said) == "1"})

    cast, limits = (
        Cast(LEGAL_OFFLINE_ROLES, decomposer=splits_for_ever(parts), atomicity_judge=judge),
        DecompositionLimits(depth=depth, calls=calls),
    )
    team = await ask(cast, limits=limits)
    most = limits.most_calls()
    assert cast.asked["decomposer"] <= most.decomposer
    assert cast.asked["atomicity_judge"] <= most.atomicity_judge
    assert asked_of_agents(cast) <= most.agents
    assert cast.asked["decomposer"] + cast.asked["atomicity_judge"] <= max(calls, 1)
    assert max(part.depth for part in team.parts) <= depth
    assert {part.ended for part in team.parts} <= {"depth", "calls", "atomic", "asked back"}
    tasks = [part.task for part in team.parts]
    assert len(set(tasks)) == len(tasks)
    assert isinstance(team.answer, LegalAnswer)


async def test_a_part_for_an_inactive_agent_goes_to_the_agent_with_the_best_chunk() -> None:
    cast = Cast(
        LEGAL_OFFLINE_ROLES,
        decomposer=lambda messages: json.dumps({"tasks": [{"task": "infer", "agent": "common_sense_agent"}]}),
    )
    team = await ask(cast, active=("LR", "F"))
    (part,) = team.parts
    best = BOTTLES.chunks_of(("LR", "F"))[0].agent
    assert (part.wanted, part.agent) == ("common_sense_agent", best)


@pytest.mark.parametrize("rounds", [0, 1, 2])
async def test_agents_are_asked_back_until_nothing_is_missing(rounds: int) -> None:
    def ask_back(messages: Sequence[LLMMessage]) -> str:
        parts = labelled_json(messages, "parts")
        asked = [{"task": "Which article demands notice?", "agent": "LR"}] if len(parts) < 3 else []
        return json.dumps({"missing": "a provision", "questions": asked})

    cast = Cast(LEGAL_OFFLINE_ROLES, sufficiency_judge=ask_back)
    team = await ask(cast, limits=DecompositionLimits(rounds=rounds))
    assert cast.asked["sufficiency_judge"] == rounds
    back = [part for part in team.parts if part.ended == "asked back"]
    assert [(part.task, part.agent) for part in back] == ([("Which article demands notice?", "LR")] if rounds else [])
    assert all(part.found for part in team.parts)


async def test_parts_of_one_agent_are_answered_concurrently() -> None:
    working, most = 0, 0

    class Slow(Cast):
        def client(self, role: str, context: Context) -> ChatCompletionClient:
            client = super().client(role, context)
            create = client.create

            async def create_slowly(*arguments: Any, **options: Any) -> CreateResult:
                nonlocal working, most
                working += 1
                most = max(most, working)
                await asyncio.sleep(0.01)
                working -= 1
                return await create(*arguments, **options)

            client.create = create_slowly
            return client

    tasks = [{"task": f"part {number}", "agent": "F"} for number in range(4)]
    team = await ask(Slow(LEGAL_OFFLINE_ROLES, decomposer=lambda messages: json.dumps({"tasks": tasks})))
    assert most == 4
    assert [part.task for part in team.parts] == [f"part {number}" for number in range(4)]


async def test_unusable_replies_do_not_stop_the_decomposition() -> None:
    def nonsense(messages: Sequence[LLMMessage]) -> str:
        return "hm"

    team = await ask(
        Cast(
            LEGAL_OFFLINE_ROLES,
            decomposer=nonsense,
            atomicity_judge=nonsense,
            facts_agent=nonsense,
            rules_agent=nonsense,
            sufficiency_judge=nonsense,
        )
    )
    assert [(part.ended, part.found) for part in team.parts] == [("not split", None)]
    assert isinstance(team.answer, LegalAnswer)
    unjudged = await ask(Cast(LEGAL_OFFLINE_ROLES, atomicity_judge=nonsense))
    assert {part.ended for part in unjudged.parts} == {"not judged"}
    silent = await ask(Cast(LEGAL_OFFLINE_ROLES, integrator=nonsense))
    assert isinstance(silent.answer, RoleFailure)
    assert silent.answer.answered


async def test_an_unreachable_endpoint_leaves_the_question_invalid() -> None:
    def gone(messages: Sequence[LLMMessage]) -> str:
        raise CallFailed("endpoint", "no connection")

    team = await ask(Cast(LEGAL_OFFLINE_ROLES, rules_agent=gone))
    assert isinstance(team.answer, RoleFailure)
    assert not team.answer.answered
