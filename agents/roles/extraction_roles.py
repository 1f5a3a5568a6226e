"""The roles of rule extraction (P 3.2): their structured answers, the checks of these, and the table of roles."""

import json
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Literal

from pydantic import BaseModel, Field

from lawtrace.agents.participants import Role
from lawtrace.agents.scripted.justification import Ground
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.models import FrozenModel


class ProposedRule(FrozenModel):
    """A proposed rule with the provision and the words that it rests on.

    ``grounds``: which words justify which part; empty if the role does not say.
    """

    id: str
    formula: str
    citation: str
    quote: str = ""
    rationale: str = ""
    grounds: tuple[Ground, ...] = ()


class ProposedDefinition(FrozenModel):
    """A notion that formulas of a proposal use by its name; see `lawtrace.solver.rules.Definition`."""

    name: str
    parameters: tuple[str, ...] = ()
    formula: str
    means: str = ""


class NotCheckable(FrozenModel):
    """A provision without a rule, and why: its compliance is not visible in tool calls, or it is not understood."""

    citation: str
    because: str


class Proposal(FrozenModel):
    """The complete list of rules, in every turn, with the definitions that they use."""

    rules: tuple[ProposedRule, ...]
    definitions: tuple[ProposedDefinition, ...] = ()
    not_checkable: tuple[NotCheckable, ...] = ()
    not_understood: tuple[NotCheckable, ...] = ()


class ScopeDecision(FrozenModel):
    """Whether a provision concerns what the tools can do, and why. Most do not."""

    citation: str
    concerns: bool
    because: str


class Scoping(FrozenModel):
    """A decision on every provision, in every turn."""

    decisions: tuple[ScopeDecision, ...]


def check_scoping(answer: Scoping, provisions: Sequence[Provision]) -> list[str]:
    """Objections: each provision must be decided on once, and a *no* must say why."""
    given = [decision.citation for decision in answer.decisions]
    wanted = [provision.citation for provision in provisions]
    return [
        *(f"{citation}: unknown provision" for citation in given if citation not in wanted),
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


ObligationOrder = Literal["before", "after", "other"]
"""*before*: the first event must precede the second. *after*: the second must follow the first. *other*: neither."""


class Obligation(FrozenModel):
    """One atomic obligation of a provision.

    Attributes:
        quote: the words of the provision that create it.
        statement: the obligation as one sentence.
        first: the check, or the trigger; the next step names the tools.
        second: the action that requires the check, or the duty that follows the trigger.
    """

    citation: str
    quote: str
    statement: str
    order: ObligationOrder
    first: str = ""
    second: str = ""


class Refinement(FrozenModel):
    """The obligations of all provisions, in every turn.

    ``not_understood``: sentences that the offline baseline cannot read, by the citations of their provisions.
    """

    obligations: tuple[Obligation, ...] = Field(max_length=200)
    not_checkable: tuple[NotCheckable, ...] = ()
    not_understood: tuple[NotCheckable, ...] = ()


def quoted_in(quote: str, words: str) -> bool:
    """Whether the words contain the quote, ignoring white space, case and the kind of quotation marks."""
    return bool(plain := _plain(quote)) and plain in _plain(words)


def _plain(text: str) -> str:
    straight = text.translate(str.maketrans("‘’“”„–—", '\'\'"""--')).casefold()
    return " ".join(straight.split()).strip(" .;,")


def check_refinement(answer: Refinement, regulation: Regulation) -> list[str]:
    """Objections: quotes that the provision does not contain, provisions without an answer."""
    objections: list[str] = []
    for obligation in answer.obligations:
        provision = regulation.by_citation.get(obligation.citation)
        if provision is None:
            objections.append(f"{obligation.citation}: unknown provision")
        elif not quoted_in(obligation.quote, provision.words()):
            objections.append(f"{obligation.citation}: it does not contain the quoted words ({obligation.quote!r})")
        elif obligation.order != "other" and not (obligation.first.strip() and obligation.second.strip()):
            objections.append(f"{obligation.citation}: an obligation with an order needs both first and second")
    answered = {one.citation for one in (*answer.obligations, *answer.not_checkable, *answer.not_understood)}
    objections += [
        f"{provision.citation}: give an obligation, or say why calls cannot show one"
        for provision in regulation.provisions
        if provision.citation not in answered
    ]
    return objections


class MappedObligation(FrozenModel):
    """The tools that an obligation refers to; without tools, the reason.

    Attributes:
        obligation: its number, from 1.
        first: the tools that are the check or the trigger; any of them counts.
        second: the tools that require the check, or of which one must follow the trigger.
        not_understood: whether the offline baseline cannot tell which tools are meant, so that there may be some.
    """

    obligation: int
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    because: str = ""
    not_understood: bool = False


class ToolMapping(FrozenModel):
    """Every obligation once, in every turn."""

    mapped: tuple[MappedObligation, ...]


def check_mapping(answer: ToolMapping, obligations: Sequence[Obligation], tools: Collection[str]) -> list[str]:
    """Objections: unknown tools, with the nearest known one, and obligations that are missing."""
    objections: list[str] = []
    for mapped in answer.mapped:
        for name in (*mapped.first, *mapped.second):
            if name not in tools:
                near = get_close_matches(name, tools, 1, 0.4)
                remedy = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(tools))}"
                objections.append(f"obligation {mapped.obligation}: unknown tool {name!r}; {remedy}")
        if not (mapped.first or mapped.second or mapped.because.strip()):
            objections.append(f"obligation {mapped.obligation}: name its tools, or say why none shows it")
    given = [mapped.obligation for mapped in answer.mapped]
    return [
        *objections,
        *(f"obligation {n}: map it exactly once" for n in range(1, len(obligations) + 1) if given.count(n) != 1),
        *(f"obligation {n}: there is no obligation of that number" for n in given if not 0 < n <= len(obligations)),
    ]


class RuleObjection(FrozenModel):
    """An objection to a rule, or (rule None) a missing rule."""

    rule: str | None
    because: str


class Critique(FrozenModel):
    """Objections of the critic or the signature validator; none means agreement."""

    objections: tuple[RuleObjection, ...]


class RuleSessions(FrozenModel):
    """A session that keeps a rule and in which it is triggered, and one that breaks it, told in sentences.

    Empty where there is none, or none was found.
    """

    rule: str
    kept: str
    broken: str


class Candidates(FrozenModel):
    """A proposal as the critic reads it: with the findings that the analysis of its valid rules proved, and sessions
    that these keep and break."""

    proposal: Proposal
    findings: tuple[RuleObjection, ...]
    examples: tuple[RuleSessions, ...] = ()


def regulation_title(regulation: Regulation) -> str:
    return f"{regulation.title} ({regulation.source})"


def provisions_json(regulation: Regulation, *, headings: bool = False) -> str:
    shown = [
        {
            "citation": provision.citation,
            **({"heading": provision.heading or ""} if headings else {}),
            "text": provision.words(),
        }
        for provision in regulation.provisions
    ]
    return json.dumps(shown, indent=1, ensure_ascii=False)


def documentation_json(environment: Environment) -> str:
    return json.dumps(document(environment), indent=1)


def obligations_json(obligations: Sequence[Obligation]) -> str:
    numbered = [{"obligation": n, **one.model_dump()} for n, one in enumerate(obligations, 1)]
    return json.dumps(numbered, indent=1, ensure_ascii=False)


def _read_rule_objections(content: BaseModel | str) -> str | None:
    """The opening, and the objections of the critic, the validator or the analysis."""
    if isinstance(content, str):
        return content
    objections: Sequence[BaseModel] = getattr(content, "objections", None) or getattr(content, "findings", ())
    return "Objections:\n" + "\n".join(objection.model_dump_json() for objection in objections) if objections else None


def _read_candidates(content: BaseModel | str) -> str | None:
    return content.model_dump_json() if isinstance(content, Candidates) else None


SCOPE_ALIGNER = Role("scope_aligner", Scoping)
"""Decides for each provision whether it concerns what the tools can do."""
VERIFIABILITY_REFINER = Role("verifiability_refiner", Refinement)
"""Splits provisions into atomic obligations that a sequence of calls can show."""
TOOL_MAPPER = Role("tool_mapper", ToolMapping)
"""Names the tools that each obligation refers to."""
POLICY_EXTRACTOR = Role("policy_extractor", Proposal, message_filter=_read_rule_objections)
"""Writes rules from provisions and mapped obligations."""
LTL_CRITIC = Role("ltl_critic", Critique, message_filter=_read_candidates, stateful=False)
"""Objects to rules that the provisions do not require or that mean something else."""
