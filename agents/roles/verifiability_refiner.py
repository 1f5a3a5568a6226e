"""The verifiability refiner: turns provisions into atomic obligations that a sequence of calls can show, or says why
not (P 3.2)."""

from typing import Literal

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.roles.policy_extractor import NotCheckable, provisions_json
from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.regulation import Regulation
from lawtrace.prompts.loader import Prompt

Order = Literal["before", "after", "other"]
"""*before*: the first must come before the second. *after*: the second must follow the first. *other*: neither."""


class Obligation(BaseModel):
    """One thing that a provision demands.

    Attributes:
        quote: the words that oblige, as they stand in the provision.
        statement: the obligation as one sentence about what happens.
        first: the check, or the occasion; the tools are named in the next step.
        second: the action that waits for the check, or what must follow the occasion.
    """

    model_config = ConfigDict(frozen=True)

    citation: str
    quote: str
    statement: str
    order: Order
    first: str = ""
    second: str = ""


class Refinement(BaseModel):
    """All obligations of all provisions. Later turns give the whole list again."""

    model_config = ConfigDict(frozen=True)

    obligations: tuple[Obligation, ...] = Field(max_length=200)
    not_checkable: tuple[NotCheckable, ...] = ()


def quoted_in(quote: str, words: str) -> bool:
    """Whether the quote stands in the words, whatever the spaces, quotation marks and capitals."""
    return bool(plain := _plain(quote)) and plain in _plain(words)


def _plain(text: str) -> str:
    straight = text.translate(str.maketrans("‘’“”„–—", '\'\'"""--')).casefold()
    return " ".join(straight.split()).strip(" .;,")


def check_refinement(answer: Refinement, regulation: Regulation) -> list[str]:
    """What is wrong with it: quotes that are not there, provisions that nothing was said of."""
    objections: list[str] = []
    for obligation in answer.obligations:
        provision = regulation.by_citation.get(obligation.citation)
        if provision is None:
            objections.append(f"{obligation.citation}: there is no such provision here")
        elif not quoted_in(obligation.quote, provision.whole()):
            objections.append(f"{obligation.citation}: the words quoted ({obligation.quote!r}) do not stand in it")
        elif obligation.order != "other" and not (obligation.first.strip() and obligation.second.strip()):
            objections.append(f"{obligation.citation}: an obligation with an order needs both first and second")
    answered = {said.citation for said in (*answer.obligations, *answer.not_checkable)}
    objections += [
        f"{provision.citation}: give an obligation, or say why calls cannot show one"
        for provision in regulation.provisions
        if provision.citation not in answered
    ]
    return objections


def seat_verifiability_refiner(
    client: ChatCompletionClient, prompt: Prompt, regulation: Regulation
) -> RoleSpeaker[Refinement]:
    return RoleSpeaker(
        "verifiability_refiner",
        client=client,
        prompt=prompt,
        system=prompt.fill(
            regulation=f"{regulation.title} ({regulation.source})", provisions=provisions_json(regulation)
        ),
        answer=Refinement,
        attend=hear_objections,
        remembers=True,
    )
