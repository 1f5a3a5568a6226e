"""The LTL critic: objects to rules that the provisions do not demand, or that say something else."""

import json

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.policy_extractor import Proposal, provisions_json
from lawtrace.agents.speaker import RoleSpeaker
from lawtrace.environments.declaration import Environment
from lawtrace.environments.documentation import document
from lawtrace.environments.regulation import Regulation
from lawtrace.prompts.loader import Prompt


class RuleObjection(BaseModel):
    """What speaks against a rule, or (rule None) what is missing."""

    model_config = ConfigDict(frozen=True)

    rule: str | None
    because: str


class Critique(BaseModel):
    """The objections of the critic, or of the signature validator; none means agreement."""

    model_config = ConfigDict(frozen=True)

    objections: tuple[RuleObjection, ...]


class Candidates(BaseModel):
    """A proposal as the critic reads it: with what code has proved against the set of its valid rules."""

    model_config = ConfigDict(frozen=True)

    proposal: Proposal
    findings: tuple[RuleObjection, ...]


def seat_ltl_critic(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, regulation: Regulation
) -> RoleSpeaker[Critique]:
    system = prompt.fill(
        provisions=provisions_json(regulation), documentation=json.dumps(document(environment), indent=1)
    )
    return RoleSpeaker(
        "ltl_critic",
        client=client,
        prompt=prompt,
        system=system,
        answer=Critique,
        attend=lambda content: content.model_dump_json() if isinstance(content, Candidates) else None,
        remembers=False,
    )
