"""The structured answers of the roles that turn a regulation into rules (P 3.2)."""

from typing import Literal

from lawtrace.schemas.models import FrozenModel

SessionVerdict = Literal["lawful", "unlawful", "arguable", "not understood"]


class ProposedRule(FrozenModel):
    """A proposed rule with the provision and the words that it rests on."""

    id: str
    formula: str
    citation: str
    quote: str = ""
    rationale: str = ""


class ProposedDefinition(FrozenModel):
    """A notion that formulas of a proposal use by its name; see `lawtrace.solver.rules.Definition`."""

    name: str
    parameters: tuple[str, ...] = ()
    formula: str
    means: str = ""


class NotCheckable(FrozenModel):
    """A provision without a rule, and why."""

    citation: str
    because: str


class OpenPoint(FrozenModel):
    """A point that the author of rules finds open, with the readings; the rules have the first."""

    citation: str
    asks: str
    readings: tuple[str, ...] = ()


class Proposal(FrozenModel):
    """The complete list of rules of a group of provisions, in every turn, with the definitions that they use."""

    rules: tuple[ProposedRule, ...]
    definitions: tuple[ProposedDefinition, ...] = ()
    not_checkable: tuple[NotCheckable, ...] = ()
    open_points: tuple[OpenPoint, ...] = ()


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


class SessionJudgment(FrozenModel):
    """Whether a session is lawful by a group of provisions, with the words that decide."""

    verdict: SessionVerdict
    citation: str = ""
    words: str = ""
    because: str = ""


class Candidates(FrozenModel):
    """A proposal as the critic reads it: with the findings that the analysis of its valid rules proved, and sessions
    that these keep and break."""

    proposal: Proposal
    findings: tuple[RuleObjection, ...]
    examples: tuple[RuleSessions, ...] = ()
