"""The policy extractor: proposes rules from provisions (P 3.2)."""

import json
from collections.abc import Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.speaker import RoleSpeaker
from lawtrace.environments.declaration import Environment
from lawtrace.environments.documentation import document
from lawtrace.environments.regulation import Regulation
from lawtrace.prompts.loader import Prompt


class ProposedRule(BaseModel):
    """One rule as proposed, with the provision and the words that it rests on.

    ``beyond_templates``: why neither template can say it, for a rule in the full language.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    formula: str
    citation: str
    quote: str = ""
    rationale: str = ""
    beyond_templates: str = ""


class NotCheckable(BaseModel):
    """A provision that tool calls cannot show to be kept, and why."""

    model_config = ConfigDict(frozen=True)

    citation: str
    because: str


class Proposal(BaseModel):
    """The extractor's whole list. Later turns give the whole list again."""

    model_config = ConfigDict(frozen=True)

    rules: tuple[ProposedRule, ...]
    not_checkable: tuple[NotCheckable, ...] = ()


def provisions_json(regulation: Regulation) -> str:
    return json.dumps(
        [{"citation": provision.citation, "text": provision.whole()} for provision in regulation.provisions],
        indent=1,
        ensure_ascii=False,
    )


def seat_policy_extractor(
    client: ChatCompletionClient,
    prompt: Prompt,
    environment: Environment,
    regulation: Regulation,
    obligations: str = "[]",
) -> RoleSpeaker[Proposal]:
    """``obligations``: what the steps before have made of the provisions, as JSON."""
    system = prompt.fill(
        regulation=f"{regulation.title} ({regulation.source})",
        provisions=provisions_json(regulation),
        documentation=json.dumps(document(environment), indent=1),
        obligations=obligations,
    )
    return RoleSpeaker(
        "policy_extractor",
        client=client,
        prompt=prompt,
        system=system,
        answer=Proposal,
        attend=_attend,
        remembers=True,
    )


def _attend(content: BaseModel | str) -> str | None:
    if isinstance(content, str):
        return content
    # The critic's and the validator's objections, and what the analysis has proved.
    objections: Sequence[BaseModel] = getattr(content, "objections", None) or getattr(content, "findings", ())
    return "Objections:\n" + "\n".join(objection.model_dump_json() for objection in objections) if objections else None
