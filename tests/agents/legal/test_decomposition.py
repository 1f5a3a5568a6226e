"""Decomposition: it terminates within its limits, assigns subtasks to agents, and integrates their answers."""

import json
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from autogen_core.models import ChatCompletionClient, LLMMessage
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.agents.event_log import Context, MemoryEventLog, MessageSent, RoleFailed
from lawtrace.agents.legal.decomposition import (
    MAX_SUBTASKS,
    DecompositionLimits,
    TeamAnswer,
    answer_by_decomposition,
)
from lawtrace.agents.legal.meta_llm import LegalAnswer
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.participants import RoleFailure
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.case import Agent, Chunk, Question
from lawtrace.prompts.loader import Prompt, load_prompt
from tests.support.legal.small_cases import BOTTLES

Script = Callable[[Sequence[LLMMessage]], str]
QUESTION = BOTTLES.questions[0]


class Cast:
    """The offline roles, except those that a test scripts itself; counts the requests of each role."""

    def __init__(self, **scripts: Script) -> None:
        self._scripts = scripts
        self.asked: Counter[str] = Counter()

    def prompt(self, role: str) -> Prompt:
        return load_prompt(role)

    def name_of(self, role: str) -> str:
        return "scripted"

    def client(self, role: str, context: Context) -> ChatCompletionClient:
        self.asked[role] += 1
        return ScriptedClient(self._scripts.get(role, LEGAL_OFFLINE_ROLES[role]))


def store(agent: Agent, text: str) -> tuple[Sequence[Chunk], float]:
    pool = BOTTLES.chunks_of((agent,))
    return pool[:2], float(len(pool))


async def ask(
    cast: Cast,
    *,
    question: Question = QUESTION,
    active: Sequence[Agent] = ("F", "LR"),
    limits: DecompositionLimits | None = None,
    event_log: MemoryEventLog | None = None,
) -> TeamAnswer:
    return await answer_by_decomposition(
        BOTTLES,
        question,
        active,
        store,
        RoleCalls(cast, Context(stage="answers", role="meta_llm", task=question.id), event_log or MemoryEventLog()),
        limits=limits or DecompositionLimits(),
    )


async def test_offline_roles_ask_every_active_agent() -> None:
    event_log = MemoryEventLog()
    cast = Cast()
    team = await ask(cast, event_log=event_log)
    assert [(part.agent, part.ended) for part in team.subtasks] == [("F", "atomic"), ("LR", "atomic")]
    assert [part.passages for part in team.subtasks] == [("F1", "F2"), ("LR1", "LR2")]
    assert isinstance(team.answer, LegalAnswer)
    assert team.answer.answer == "Yes"
    said = [entry.source for entry in event_log.entries if isinstance(entry, MessageSent)]
    assert said == ["decomposer", *["atomicity_judge"] * 2, *["role_agent"] * 2, "integrator"]
    assert all(entry.prompt_hash for entry in event_log.entries if isinstance(entry, MessageSent))


def splits_for_ever(parts: int) -> Script:
    def split(messages: Sequence[LLMMessage]) -> str:
        task = labelled_json(messages, "task")["task"]
        return json.dumps({"tasks": [{"task": f"{task} {letter}", "agent": "LR"} for letter in "stuvwxyz"[:parts]]})

    return split


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 5), st.integers(1, 20))
async def test_the_upper_bound_of_calls_is_reached(depth: int, calls: int) -> None:
    most = DecompositionLimits(depth, calls).most()
    splitting = Cast(decomposer=splits_for_ever(MAX_SUBTASKS), atomicity_judge=lambda messages: '{"atomic": false}')
    await ask(splitting, limits=DecompositionLimits(depth, calls))
    assert splitting.asked["decomposer"] == most["decomposer"]
    assert splitting.asked["role_agent"] == most["role_agent"]
    judging = Cast(decomposer=splits_for_ever(MAX_SUBTASKS), atomicity_judge=lambda messages: '{"atomic": true}')
    await ask(judging, limits=DecompositionLimits(depth, calls))
    assert judging.asked["atomicity_judge"] == min(most["atomicity_judge"], MAX_SUBTASKS)


async def test_too_many_subtasks_are_rejected_and_the_task_is_answered_whole() -> None:
    def too_many(messages: Sequence[LLMMessage]) -> str:
        return json.dumps({"tasks": [{"task": f"part {n}"} for n in range(MAX_SUBTASKS + 1)]})

    event_log = MemoryEventLog()
    team = await ask(Cast(decomposer=too_many), event_log=event_log)
    assert [part.ended for part in team.subtasks] == ["not split"]
    assert any(isinstance(entry, RoleFailed) and "too many" in entry.text for entry in event_log.entries)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 5), st.integers(1, 20), st.integers(1, MAX_SUBTASKS), st.integers(0, 2**20 - 1))
async def test_decomposition_terminates_within_its_limits(depth: int, calls: int, parts: int, verdicts: int) -> None:
    said = iter(f"{verdicts:020b}")

    def judge(messages: Sequence[LLMMessage]) -> str:
        return json.dumps({"atomic": next(said) == "1"})

    cast, limits = Cast(decomposer=splits_for_ever(parts), atomicity_judge=judge), DecompositionLimits(depth, calls)
    team = await ask(cast, limits=limits)
    assert all(cast.asked[role] <= most for role, most in limits.most().items())
    assert cast.asked["decomposer"] + cast.asked["atomicity_judge"] <= max(calls, 1)
    assert max(part.depth for part in team.subtasks) <= depth
    assert {part.ended for part in team.subtasks} <= {"depth", "calls", "atomic"}
    tasks = [part.task for part in team.subtasks]
    assert len(set(tasks)) == len(tasks)
    assert isinstance(team.answer, LegalAnswer)


async def test_a_repeated_task_is_dropped() -> None:
    cast = Cast(decomposer=lambda messages: json.dumps({"tasks": [{"task": QUESTION.text.upper(), "agent": "F"}]}))
    team = await ask(cast)
    assert [(part.task, part.ended) for part in team.subtasks] == [(QUESTION.text, "not split")]


async def test_nonatomic_tasks_are_split_and_their_subtasks_judged() -> None:
    def split(messages: Sequence[LLMMessage]) -> str:
        task = labelled_json(messages, "task")["task"]
        parts = ["both things"] if task == QUESTION.text else ["the rule", "the fact"]
        return json.dumps({"tasks": [{"task": part, "agent": "LR" if "rule" in part else "F"} for part in parts]})

    def judge(messages: Sequence[LLMMessage]) -> str:
        return json.dumps({"atomic": "both" not in labelled_json(messages, "task")["task"]})

    team = await ask(Cast(decomposer=split, atomicity_judge=judge), limits=DecompositionLimits(depth=3))
    assert [(part.task, part.agent, part.depth) for part in team.subtasks] == [
        ("the rule", "LR", 2),
        ("the fact", "F", 2),
    ]


async def test_a_subtask_for_an_inactive_agent_goes_to_the_best_store() -> None:
    cast = Cast(decomposer=lambda messages: json.dumps({"tasks": [{"task": "infer", "agent": "CS"}]}))
    team = await ask(cast, active=("LR", "F"))
    (part,) = team.subtasks
    assert (part.wanted, part.agent) == ("CS", "F")


async def test_unusable_replies_do_not_stop_the_decomposition() -> None:
    def nonsense(messages: Sequence[LLMMessage]) -> str:
        return "hm"

    team = await ask(Cast(decomposer=nonsense, atomicity_judge=nonsense, role_agent=nonsense))
    assert [(part.ended, part.answer) for part in team.subtasks] == [("not split", None)]
    assert isinstance(team.answer, LegalAnswer)
    unjudged = await ask(Cast(atomicity_judge=nonsense))
    assert {part.ended for part in unjudged.subtasks} == {"not judged"}
    silent = await ask(Cast(integrator=nonsense))
    assert isinstance(silent.answer, RoleFailure)
    assert silent.answer.answered


async def test_an_unreachable_endpoint_leaves_the_question_invalid() -> None:
    def gone(messages: Sequence[LLMMessage]) -> str:
        raise CallFailed("endpoint", "nobody is there")

    team = await ask(Cast(role_agent=gone))
    assert isinstance(team.answer, RoleFailure)
    assert not team.answer.answered
