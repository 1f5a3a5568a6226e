"""The seats of the team that decomposes a question: decomposer, atomicity judge, role agent, integrator (M Alg. 1, 2).

Decomposer, judge and integrator are one model, the Meta-LLM; the role agents are those that the recipe casts.
"""

import json
from collections.abc import Mapping, Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, field_validator

from lawtrace.agents.legal.meta_llm import Citation, LegalAnswer, question_json
from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.environments.legal.case import Agent, Chunk, Question
from lawtrace.environments.legal.choice_parser import is_refusal
from lawtrace.prompts.loader import Prompt

AGENT_DESCRIPTIONS: Mapping[Agent, str] = {
    "F": "facts: what happened and how it was investigated",
    "LR": "rules: the provisions and what they demand",
    "AR": "application: who has which legal role, what is which kind of data, what relates to what",
    "CS": "common sense: what everybody would infer about roles and kinds of data",
}


MAX_SUBTASKS = 8
"""Parts that a task may be split into at once: twice what the prompt asks for. It bounds what a question can cost."""


class SubTask(BaseModel):
    """A task that a larger one was split into, and the assistant whom it fits."""

    model_config = ConfigDict(frozen=True)

    task: str
    agent: str = ""


class Decomposition(BaseModel):
    """What a task was split into."""

    model_config = ConfigDict(frozen=True)

    tasks: tuple[SubTask, ...]

    @field_validator("tasks")
    @classmethod
    def _not_too_many(cls, tasks: tuple[SubTask, ...]) -> tuple[SubTask, ...]:
        if len(tasks) > MAX_SUBTASKS:
            raise ValueError(f"{len(tasks)} tasks are too many; {MAX_SUBTASKS} are the most")
        return tasks


class Atomicity(BaseModel):
    """Whether one step of reasoning does a task."""

    model_config = ConfigDict(frozen=True)

    atomic: bool
    because: str = ""


class SubTaskAnswer(BaseModel):
    """What a role agent found on its part."""

    model_config = ConfigDict(frozen=True)

    answer: str
    citations: tuple[Citation, ...] = ()


class SubTaskResult(BaseModel):
    """A part as the integrator reads it; ``found`` is None if its agent said nothing usable."""

    model_config = ConfigDict(frozen=True)

    task: str
    agent: Agent
    found: str | None
    citations: tuple[Citation, ...]


def make_decomposer(
    client: ChatCompletionClient,
    prompt: Prompt,
    question: Question,
    introduction: str,
    task: str,
    agents: Sequence[Agent],
) -> RoleAgent[Decomposition]:
    system = prompt.fill(
        introduction=introduction,
        question=question_json(question),
        task=json.dumps({"task": task}, ensure_ascii=False),
        agents=json.dumps({agent: AGENT_DESCRIPTIONS[agent] for agent in agents}, indent=1),
    )
    return RoleAgent(
        "decomposer",
        client=client,
        prompt=prompt,
        system=system,
        answer=Decomposition,
        attend=read_objections,
        remembers=False,
    )


def make_atomicity_judge(client: ChatCompletionClient, prompt: Prompt, task: str) -> RoleAgent[Atomicity]:
    return RoleAgent(
        "atomicity_judge",
        client=client,
        prompt=prompt,
        system=prompt.fill(task=json.dumps({"task": task}, ensure_ascii=False)),
        answer=Atomicity,
        attend=read_objections,
        remembers=False,
    )


def make_role_agent(
    client: ChatCompletionClient, prompt: Prompt, agent: Agent, task: str, passages: Sequence[Chunk]
) -> RoleAgent[SubTaskAnswer]:
    shown = [{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in passages]
    system = prompt.fill(
        agent=AGENT_DESCRIPTIONS[agent],
        task=json.dumps({"task": task}, ensure_ascii=False),
        passages=json.dumps(shown, indent=1, ensure_ascii=False),
    )
    return RoleAgent(
        "role_agent",
        client=client,
        prompt=prompt,
        system=system,
        answer=SubTaskAnswer,
        attend=read_objections,
        remembers=False,
    )


def make_integrator(
    client: ChatCompletionClient,
    prompt: Prompt,
    question: Question,
    introduction: str,
    parts: Sequence[SubTaskResult],
    *,
    may_refuse: bool,
) -> RoleAgent[LegalAnswer]:
    system = prompt.fill(
        introduction=introduction,
        question=question_json(question),
        parts=json.dumps([part.model_dump() for part in parts], indent=1, ensure_ascii=False),
        may_refuse=may_refuse,
    )
    return RoleAgent(
        "integrator",
        client=client,
        prompt=prompt,
        system=system,
        answer=LegalAnswer,
        attend=read_objections,
        remembers=False,
        declines=is_refusal,
    )
