"""Drawing rules from a regulation: the extractor proposes, code validates signatures and proves what speaks against the
set, the critic objects (P 3.2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel

from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.participants import CodeCheck, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.extraction_roles import (
    Candidates,
    Critique,
    NotCheckable,
    Proposal,
    ProposedRule,
    RuleObjection,
    make_ltl_critic,
    make_policy_extractor,
    quoted_in,
)
from lawtrace.environments.errors import InputError
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.lint.rule_sets import RuleFinding, RuleFindingKind, analyse_rules
from lawtrace.solver.ltlf import InstructionAdherence, OperationalRestriction, atoms_of, match_template
from lawtrace.solver.rules import Rule, check_rules

MERGED_FINDINGS: Final[frozenset[RuleFindingKind]] = frozenset({"equivalent", "redundant"})
"""What is merged afterwards rather than objected to."""


@dataclass(frozen=True, slots=True)
class RuleCandidate:
    """A rule that was proposed, in the last round or in one before.

    Attributes:
        rule: None if it is no rule over these tools at all.
        because: what was held against it; None for one that stands.
    """

    proposed: ProposedRule
    rule: Rule | None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class ProposedRules:
    """What came of the conversation.

    Attributes:
        candidates: everything that was proposed, each rule once.
        rules: the rules that passed the signature validator and that the critic let stand (or did not object to
            within the rounds allowed).
        dropped: proposed rules that did not, with the objection.
        not_checkable: provisions that the extractor says calls cannot show, and why.
        rounds: how many proposals were made.
        failure: why the conversation could not be finished, or None.
        unusable: whether an answer was the reason, and not the want of one.
    """

    rules: tuple[Rule, ...]
    dropped: tuple[tuple[ProposedRule, str], ...]
    not_checkable: tuple[NotCheckable, ...]
    rounds: int
    failure: str | None
    candidates: tuple[RuleCandidate, ...] = ()
    unusable: bool = False


async def propose_rules(
    environment: Environment,
    regulation: Regulation,
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    most_rounds: int,
    critic: bool = True,
    obligations: str = "[]",
) -> ProposedRules:
    """Hold the conversation over all provisions; what is still objected to after the last round is dropped.

    Without a ``critic`` only code objects. ``obligations``: what the steps before have made of the provisions, as JSON
    (`lawtrace.agents.conversations.rule_extraction`).
    """

    def validate(content: BaseModel | str) -> Critique:
        rules = content.rules if isinstance(content, Proposal) else ()
        found = ((rule, validate_signature(rule, environment, regulation)) for rule in rules)
        return Critique(objections=tuple(RuleObjection(rule=rule.id, because=why) for rule, why in found if why))

    def search(content: BaseModel | str) -> Candidates:
        proposal = content if isinstance(content, Proposal) else Proposal(rules=())
        return Candidates(proposal=proposal, findings=find_flaws(proposal, environment, regulation))

    said = await run_conversation(
        [
            make_policy_extractor(
                role_models.client("policy_extractor", context),
                role_models.prompt("policy_extractor"),
                environment,
                regulation,
                obligations,
            ),
            CodeCheck("signature_validator", Critique, validate, slow=True),
            CodeCheck("rule_analysis", Candidates, search, about=Proposal, slow=True),
            make_ltl_critic(
                role_models.client("ltl_critic", context), role_models.prompt("ltl_critic"), environment, regulation
            ),
        ],
        opening=f"Draw the rules from {regulation.id}.",
        next_speaker=lambda said: _next_speaker(said, most_rounds, critic=critic),
        context=context,
        event_log=event_log,
        most_messages=4 * most_rounds + 2,
    )
    proposals = [content for _, content in said if isinstance(content, Proposal)]
    broke = said[-1][1] if isinstance(said[-1][1], RoleFailure) else None
    failure, unusable = (broke.reason, broke.answered) if broke else (None, False)
    if not proposals:
        return ProposedRules((), (), (), 0, failure, unusable=unusable)
    return replace(_settle(proposals, said, environment, regulation, failure), unusable=unusable)


def validate_signature(proposed: ProposedRule, environment: Environment, regulation: Regulation) -> str | None:
    """What makes the proposed rule invalid, whatever it means: syntax, names, template, citation, quote; or None.

    A rule in the full language is valid if it says why neither template can say it.
    """
    rule = _rule(proposed, regulation)
    try:
        check_rules([rule], environment, regulation)
        _ = rule.automaton  # compiled here, where a formula that is too large costs one rule and no conversation
    except InputError as error:
        return str(error)
    match match_template(rule.parsed):
        case OperationalRestriction(first, second) | InstructionAdherence(first, second):
            if atoms_of([first]) == atoms_of([second]):
                return "both of its parts are the same call, which no provision can mean"
        case None if not proposed.beyond_templates.strip():
            return "it has neither of the two templates; use one, or say in beyond_templates why neither can say it"
        case None:
            pass
    atoms = atoms_of([rule.parsed])
    if not atoms:
        return "it names no tool"
    if any(atom.condition is not None or atom.attempted for atom in atoms) and not proposed.beyond_templates.strip():
        return "its parts must be plain names of tools, unless beyond_templates says why a condition is needed"
    provision = regulation.by_citation.get(proposed.citation)
    if proposed.quote and provision is not None and not quoted_in(proposed.quote, provision.whole()):
        return f"the words quoted ({proposed.quote!r}) do not stand in {proposed.citation}"
    return None


def find_flaws(proposal: Proposal, environment: Environment, regulation: Regulation) -> tuple[RuleObjection, ...]:
    """What a search over all traces proves against the valid rules of a proposal, each against one rule with its proof.

    Of rules in conflict the last is objected to. A rule that another objection rests on is left alone, so that meeting
    all of them loses nothing that the set demands. Questions that were not decided are no objections, nor are rules
    that others say as well: code merges them afterwards, and the rule that stays rests on the provisions of all.
    """
    valid: dict[str, Rule] = {}
    for proposed in proposal.rules:
        if proposed.id not in valid and validate_signature(proposed, environment, regulation) is None:
            valid[proposed.id] = _rule(proposed, regulation)
    found = rule_flaws(environment, list(valid.values()), but=MERGED_FINDINGS)
    return tuple(RuleObjection(rule=rule, because=f"{one.message}. {one.proof}") for rule, one in found.items())


def rule_flaws(
    environment: Environment, rules: Sequence[Rule], but: Collection[RuleFindingKind] = ()
) -> dict[str, RuleFinding]:
    """The rules that should give way, each with the finding against it; ``but`` are kinds that do not count."""
    flaws: dict[str, RuleFinding] = {}
    resting: set[str] = set()
    for finding in analyse_rules(environment, rules).findings if rules else ():
        blamed = None if finding.kind in but else _blamed(finding, environment)
        if blamed is None or blamed in resting or blamed in flaws or flaws.keys() & set(finding.reasons):
            continue
        resting |= {*finding.rules, *finding.reasons} - {blamed}
        flaws[blamed] = finding
    return flaws


def _blamed(finding: RuleFinding, environment: Environment) -> str | None:
    """The rule that should give way."""
    match finding.kind:
        case "conflict" | "equivalent":
            return finding.rules[-1]
        case "redundant" | "vacuous":
            return finding.rules[0]
        case "unreachable":
            is_critical = finding.tool in environment.critical_tools
            return finding.reasons[-1] if is_critical and finding.reasons else None
        case "undecided":
            return None


def _next_speaker(said: Sequence[Utterance], most_rounds: int, *, critic: bool) -> str | None:
    source, content = said[-1]
    rounds = sum(isinstance(content, Proposal) for _, content in said)
    match content:
        case Proposal():
            return "signature_validator"
        case Candidates() if critic:
            return "ltl_critic"
        case Candidates(findings=findings):
            return "policy_extractor" if findings and rounds < most_rounds else None
        case Critique(objections=()) if source == "signature_validator":
            return "rule_analysis"
        case Critique(objections=()):
            agreed = not any(found.findings for found in _since_proposal(said))
            return None if agreed or rounds >= most_rounds else "policy_extractor"
        case Critique() if rounds < most_rounds:
            return "policy_extractor"
        case Critique():
            # No round is left: what the validator let stand must still be heard by the critic.
            return "rule_analysis" if source == "signature_validator" else None
        case _:
            return "policy_extractor"


def _since_proposal(said: Sequence[Utterance]) -> list[Candidates]:
    """What code has found in the last proposal."""
    last = max(number for number, (_, content) in enumerate(said) if isinstance(content, Proposal))
    return [content for _, content in said[last:] if isinstance(content, Candidates)]


def _settle(
    proposals: Sequence[Proposal],
    said: Sequence[Utterance],
    environment: Environment,
    regulation: Regulation,
    failure: str | None,
) -> ProposedRules:
    last = proposals[-1]
    place = max(number for number, (_, content) in enumerate(said) if content is last)
    objected = {
        objection.rule: objection.because
        for _, content in said[place:]
        if isinstance(content, Critique | Candidates)
        for objection in (content.objections if isinstance(content, Critique) else content.findings)
    }
    kept: dict[str, Rule] = {}
    candidates: list[RuleCandidate] = []
    for proposed in last.rules:
        invalid = validate_signature(proposed, environment, regulation)
        why = invalid or objected.get(proposed.id)
        if why is None and proposed.id in kept:
            why = "another rule has the same id"
        rule = None if invalid else _rule(proposed, regulation)
        candidates.append(RuleCandidate(proposed, rule, why))
        if why is None:
            kept[proposed.id] = _rule(proposed, regulation)
    dropped = tuple((one.proposed, one.because) for one in candidates if one.because is not None)
    candidates += _withdrawn(proposals, environment, regulation)
    return ProposedRules(tuple(kept.values()), dropped, last.not_checkable, len(proposals), failure, tuple(candidates))


def _withdrawn(proposals: Sequence[Proposal], environment: Environment, regulation: Regulation) -> list[RuleCandidate]:
    """What an earlier round had, and the last one has not: neither the rule nor its formula for that provision."""
    seen = {(rule.citation, rule.formula) for rule in proposals[-1].rules}
    ids = {rule.id for rule in proposals[-1].rules}
    withdrawn: list[RuleCandidate] = []
    for proposal in reversed(proposals[:-1]):
        for proposed in proposal.rules:
            if proposed.id in ids or (proposed.citation, proposed.formula) in seen:
                continue
            seen.add((proposed.citation, proposed.formula))
            ids.add(proposed.id)
            invalid = validate_signature(proposed, environment, regulation)
            rule = None if invalid else _rule(proposed, regulation)
            because = invalid or "withdrawn after an objection"
            withdrawn.append(RuleCandidate(proposed, rule, because))
    return withdrawn


def _rule(proposed: ProposedRule, regulation: Regulation) -> Rule:
    rationale = f"{proposed.rationale} Quoted: {proposed.quote!r}." if proposed.quote else proposed.rationale
    return Rule(
        id=proposed.id or "unnamed",
        formula=proposed.formula or "?",
        regulation=regulation.id,
        provisions=(proposed.citation,),
        rationale=rationale,
    )
