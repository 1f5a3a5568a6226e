"""The roles of decomposition: decomposer, atomicity judge, role agent, integrator (M Alg. 1, 2).

The Meta-LLM is decomposer, judge and integrator; the recipe names the model of the role agents.
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
    "F": "facts: the events and the investigation",
    "LR": "rules: the provisions and their requirements",
    "AR": "application: the legal roles of entities, the kinds of data, and the relations between entities",
    "CS": "common sense: what necessarily follows about legal roles and kinds of data",
}


MAX_SUBTASKS = 8
"""The most subtasks of one split: twice what the prompt asks for. It bounds the cost of a question."""


class SubTask(BaseModel):
    """A subtask and the agent it is assigned to."""

    model_config = ConfigDict(frozen=True)

    task: str
    agent: str = ""


class Decomposition(BaseModel):
    """The subtasks of a task."""

    model_config = ConfigDict(frozen=True)

    tasks: tuple[SubTask, ...]

    @field_validator("tasks")
    @classmethod
    def _not_too_many(cls, tasks: tuple[SubTask, ...]) -> tuple[SubTask, ...]:
        if len(tasks) > MAX_SUBTASKS:
            raise ValueError(f"{len(tasks)} tasks are too many; {MAX_SUBTASKS} are the most")
        return tasks


class Atomicity(BaseModel):
    """Whether a task needs a single step of reasoning."""

    model_config = ConfigDict(frozen=True)

    atomic: bool
    because: str = ""


class SubTaskAnswer(BaseModel):
    """The answer of a role agent to its subtask."""

    model_config = ConfigDict(frozen=True)

    answer: str
    citations: tuple[Citation, ...] = ()


class SubTaskResult(BaseModel):
    """A subtask as the integrator reads it; ``found`` is None without a usable answer."""

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
