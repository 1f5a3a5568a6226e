"""The scope aligner: says of each provision whether it concerns what the tools can do (P 3.2, scope alignment)."""

import json
from collections.abc import Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.declaration import Environment
from lawtrace.environments.documentation import document
from lawtrace.environments.regulation import Provision, Regulation
from lawtrace.prompts.loader import Prompt


class ScopeDecision(BaseModel):
    """Whether a provision concerns what the tools can do, and why. Most do not."""

    model_config = ConfigDict(frozen=True)

    citation: str
    concerns: bool
    because: str


class Scoping(BaseModel):
    """A decision on every provision. Later turns give all of them again."""

    model_config = ConfigDict(frozen=True)

    decisions: tuple[ScopeDecision, ...]


def check_scoping(answer: Scoping, provisions: Sequence[Provision]) -> list[str]:
    """What is wrong with it: each provision is decided on exactly once, and a *no* says why."""
    given = [decision.citation for decision in answer.decisions]
    wanted = [provision.citation for provision in provisions]
    return [
        *(f"{citation}: there is no such provision here" for citation in given if citation not in wanted),
        *(
            f"{citation}: decided on {given.count(citation)} times, not once"
            for citation in wanted
            if given.count(citation) != 1
        ),
        *(
            f"{decision.citation}: say why it does not concern the tools"
            for decision in answer.decisions
            if not decision.concerns and not decision.because.strip()
        ),
    ]


def seat_scope_aligner(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, regulation: Regulation
) -> RoleSpeaker[Scoping]:
    system = prompt.fill(
        regulation=f"{regulation.title} ({regulation.source})",
        provisions=json.dumps(
            [
                {"citation": provision.citation, "heading": provision.heading or "", "text": provision.whole()}
                for provision in regulation.provisions
            ],
            indent=1,
            ensure_ascii=False,
        ),
        documentation=json.dumps(document(environment), indent=1),
    )
    return RoleSpeaker(
        "scope_aligner",
        client=client,
        prompt=prompt,
        system=system,
        answer=Scoping,
        attend=hear_objections,
        remembers=True,
    )
