"""The tool mapper: says which tools each obligation speaks of."""

import json
from collections.abc import Collection, Sequence
from difflib import get_close_matches

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.verifiability_refiner import Obligation
from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.declaration import Environment
from lawtrace.environments.documentation import document
from lawtrace.prompts.loader import Prompt


class MappedObligation(BaseModel):
    """The tools that an obligation speaks of. No tools: calls cannot show it, and why.

    Attributes:
        obligation: its number, from 1.
        first: the tools that are the check or the occasion; any of them counts.
        second: the tools that wait for the check, or of which one must follow the occasion.
    """

    model_config = ConfigDict(frozen=True)

    obligation: int
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    because: str = ""


class ToolMapping(BaseModel):
    """Every obligation once. Later turns give all of them again."""

    model_config = ConfigDict(frozen=True)

    mapped: tuple[MappedObligation, ...]


def check_mapping(answer: ToolMapping, obligations: Sequence[Obligation], tools: Collection[str]) -> list[str]:
    """What is wrong with it: tools that there are not, with the nearest; obligations that are left out."""
    objections: list[str] = []
    for mapped in answer.mapped:
        for name in (*mapped.first, *mapped.second):
            if name not in tools:
                near = get_close_matches(name, tools, 1, 0.4)
                remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(tools))}"
                objections.append(f"obligation {mapped.obligation}: there is no tool {name!r}; {remedy}")
        if not (mapped.first or mapped.second or mapped.because.strip()):
            objections.append(f"obligation {mapped.obligation}: name its tools, or say why none shows it")
    given = [mapped.obligation for mapped in answer.mapped]
    return [
        *objections,
        *(f"obligation {n}: map it exactly once" for n in range(1, len(obligations) + 1) if given.count(n) != 1),
        *(f"obligation {n}: there is none of that number" for n in given if not 0 < n <= len(obligations)),
    ]


def obligations_json(obligations: Sequence[Obligation]) -> str:
    numbered = [{"obligation": n, **one.model_dump()} for n, one in enumerate(obligations, 1)]
    return json.dumps(numbered, indent=1, ensure_ascii=False)


def seat_tool_mapper(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, obligations: Sequence[Obligation]
) -> RoleSpeaker[ToolMapping]:
    return RoleSpeaker(
        "tool_mapper",
        client=client,
        prompt=prompt,
        system=prompt.fill(
            obligations=obligations_json(obligations), documentation=json.dumps(document(environment), indent=1)
        ),
        answer=ToolMapping,
        attend=hear_objections,
        remembers=True,
    )
