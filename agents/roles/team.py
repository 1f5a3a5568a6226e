"""The seats of the team that decomposes a question: decomposer, atomicity judge, role agent, integrator (M Alg. 1, 2).

Decomposer, judge and integrator are one model, the Meta-LLM; the role agents are those that the recipe casts.
"""

import json
from collections.abc import Mapping, Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, field_validator

from lawtrace.agents.roles.meta_llm import Citation, LegalAnswer, question_json
from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.case import Agent, Chunk, Question
from lawtrace.environments.casebook.choices import declines
from lawtrace.prompts.loader import Prompt

AGENT_WORK: Mapping[Agent, str] = {
    "F": "facts: what happened and how it was investigated",
    "LR": "rules: the provisions and what they demand",
    "AR": "application: who has which legal role, what is which kind of data, what relates to what",
    "CS": "common sense: what everybody would infer about roles and kinds of data",
}


MOST_PARTS = 8
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
        if len(tasks) > MOST_PARTS:
            raise ValueError(f"{len(tasks)} tasks are too many; {MOST_PARTS} are the most")
        return tasks


class Atomicity(BaseModel):
    """Whether one step of reasoning does a task."""

    model_config = ConfigDict(frozen=True)

    atomic: bool
    because: str = ""


class PartAnswer(BaseModel):
    """What a role agent found on its part."""

    model_config = ConfigDict(frozen=True)

    answer: str
    citations: tuple[Citation, ...] = ()


class PartFound(BaseModel):
    """A part as the integrator reads it; ``found`` is None if its agent said nothing usable."""

    model_config = ConfigDict(frozen=True)

    task: str
    agent: Agent
    found: str | None
    citations: tuple[Citation, ...]


def seat_decomposer(
    client: ChatCompletionClient,
    prompt: Prompt,
    question: Question,
    introduction: str,
    task: str,
    agents: Sequence[Agent],
) -> RoleSpeaker[Decomposition]:
    system = prompt.fill(
        introduction=introduction,
        question=question_json(question),
        task=json.dumps({"task": task}, ensure_ascii=False),
        agents=json.dumps({agent: AGENT_WORK[agent] for agent in agents}, indent=1),
    )
    return RoleSpeaker(
        "decomposer",
        client=client,
        prompt=prompt,
        system=system,
        answer=Decomposition,
        attend=hear_objections,
        remembers=False,
    )


def seat_atomicity_judge(client: ChatCompletionClient, prompt: Prompt, task: str) -> RoleSpeaker[Atomicity]:
    return RoleSpeaker(
        "atomicity_judge",
        client=client,
        prompt=prompt,
        system=prompt.fill(task=json.dumps({"task": task}, ensure_ascii=False)),
        answer=Atomicity,
        attend=hear_objections,
        remembers=False,
    )


def seat_role_agent(
    client: ChatCompletionClient, prompt: Prompt, agent: Agent, task: str, passages: Sequence[Chunk]
) -> RoleSpeaker[PartAnswer]:
    shown = [{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in passages]
    system = prompt.fill(
        agent=AGENT_WORK[agent],
        task=json.dumps({"task": task}, ensure_ascii=False),
        passages=json.dumps(shown, indent=1, ensure_ascii=False),
    )
    return RoleSpeaker(
        "role_agent",
        client=client,
        prompt=prompt,
        system=system,
        answer=PartAnswer,
        attend=hear_objections,
        remembers=False,
    )


def seat_integrator(
    client: ChatCompletionClient,
    prompt: Prompt,
    question: Question,
    introduction: str,
    parts: Sequence[PartFound],
    *,
    may_refuse: bool,
) -> RoleSpeaker[LegalAnswer]:
    system = prompt.fill(
        introduction=introduction,
        question=question_json(question),
        parts=json.dumps([part.model_dump() for part in parts], indent=1, ensure_ascii=False),
        may_refuse=may_refuse,
    )
    return RoleSpeaker(
        "integrator",
        client=client,
        prompt=prompt,
        system=system,
        answer=LegalAnswer,
        attend=hear_objections,
        remembers=False,
        declines=declines,
    )
