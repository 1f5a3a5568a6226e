"""The policy extractor: proposes rules from provisions (P 3.2)."""

import json
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Literal

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
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


def make_policy_extractor(
    client: ChatCompletionClient,
    prompt: Prompt,
    environment: Environment,
    regulation: Regulation,
    obligations: str = "[]",
) -> RoleAgent[Proposal]:
    """``obligations``: what the steps before have made of the provisions, as JSON."""
    system = prompt.fill(
        regulation=f"{regulation.title} ({regulation.source})",
        provisions=provisions_json(regulation),
        documentation=json.dumps(document(environment), indent=1),
        obligations=obligations,
    )
    return RoleAgent(
        "policy_extractor",
        client=client,
        prompt=prompt,
        system=system,
        answer=Proposal,
        attend=_read_rule_objections,
        remembers=True,
    )


def _read_rule_objections(content: BaseModel | str) -> str | None:
    if isinstance(content, str):
        return content
    # The critic's and the validator's objections, and what the analysis has proved.
    objections: Sequence[BaseModel] = getattr(content, "objections", None) or getattr(content, "findings", ())
    return "Objections:\n" + "\n".join(objection.model_dump_json() for objection in objections) if objections else None


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


def make_scope_aligner(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, regulation: Regulation
) -> RoleAgent[Scoping]:
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
    return RoleAgent(
        "scope_aligner",
        client=client,
        prompt=prompt,
        system=system,
        answer=Scoping,
        attend=read_objections,
        remembers=True,
    )


ObligationOrder = Literal["before", "after", "other"]
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
    order: ObligationOrder
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


def make_verifiability_refiner(
    client: ChatCompletionClient, prompt: Prompt, regulation: Regulation
) -> RoleAgent[Refinement]:
    return RoleAgent(
        "verifiability_refiner",
        client=client,
        prompt=prompt,
        system=prompt.fill(
            regulation=f"{regulation.title} ({regulation.source})", provisions=provisions_json(regulation)
        ),
        answer=Refinement,
        attend=read_objections,
        remembers=True,
    )


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


def make_tool_mapper(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, obligations: Sequence[Obligation]
) -> RoleAgent[ToolMapping]:
    return RoleAgent(
        "tool_mapper",
        client=client,
        prompt=prompt,
        system=prompt.fill(
            obligations=obligations_json(obligations), documentation=json.dumps(document(environment), indent=1)
        ),
        answer=ToolMapping,
        attend=read_objections,
        remembers=True,
    )


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


def make_ltl_critic(
    client: ChatCompletionClient, prompt: Prompt, environment: Environment, regulation: Regulation
) -> RoleAgent[Critique]:
    system = prompt.fill(
        provisions=provisions_json(regulation), documentation=json.dumps(document(environment), indent=1)
    )
    return RoleAgent(
        "ltl_critic",
        client=client,
        prompt=prompt,
        system=system,
        answer=Critique,
        attend=lambda content: content.model_dump_json() if isinstance(content, Candidates) else None,
        remembers=False,
    )
