"""The conversation that writes rules for a batch of provisions: the policy extractor proposes, code validates each rule
and analyses the set, the LTL critic objects (P 3.2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.conversations.provenance import Quote, RuleCandidate
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import CodeCheck, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import extraction_roles as roles
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.lint.findings import RuleFinding, RuleFindingKind
from lawtrace.solver.lint.rule_sets import analyse_rules, tell_rule_examples
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.rules import Definition, Rule, check_rules, used_definitions

MERGED_FINDINGS: Final[frozenset[RuleFindingKind]] = frozenset({"equivalent", "redundant"})
"""Findings that lead to a merge later rather than to an objection."""


@dataclass(frozen=True, slots=True)
class ProposedRules:
    """The result of the conversation.

    Attributes:
        candidates: every proposed rule once. Those that still have the status *proposed* have no open objection.
        last: the last proposal; empty if there is none.
        failure: why the conversation could not be finished, or None.
        unusable: whether the reason is an answer that did not parse.
    """

    candidates: tuple[RuleCandidate, ...]
    last: roles.Proposal
    failure: str | None
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
    """Run the conversation over all provisions. Rules with an objection after the last round are dropped.

    Args:
        critic: whether the LTL critic takes part; without it only code objects.
        obligations: the obligations and tools that earlier steps found in the provisions, as JSON.
    """

    def validate(proposal: roles.Proposal) -> roles.Critique:
        found = ((rule, validate_signature(proposal, rule, environment, regulation)) for rule in proposal.rules)
        return roles.Critique(
            objections=tuple(roles.RuleObjection(rule=rule.id, because=why) for rule, why in found if why)
        )

    def search(proposal: roles.Proposal) -> roles.Candidates:
        rules = valid_rules(proposal, environment, regulation)
        found = {rule.id: tell_rule_examples(environment, rule) for rule in rules} if critic else {}
        return roles.Candidates(
            proposal=proposal,
            findings=find_flaws(environment, rules),
            examples=tuple(roles.RuleSessions(rule=id_, kept=kept, broken=no) for id_, (kept, no) in found.items()),
        )

    provisions, documentation = roles.provisions_json(regulation), roles.documentation_json(environment)
    messages = await run_conversation(
        [
            roles.POLICY_EXTRACTOR.agent(
                role_models,
                context,
                regulation=roles.regulation_title(regulation),
                provisions=provisions,
                documentation=documentation,
                obligations=obligations,
            ),
            CodeCheck("signature_validator", roles.Proposal, roles.Critique, validate, slow=True),
            CodeCheck("rule_analysis", roles.Proposal, roles.Candidates, search, slow=True),
            roles.LTL_CRITIC.agent(role_models, context, provisions=provisions, documentation=documentation),
        ],
        opening=f"Write the rules of {regulation.id}.",
        next_speaker=lambda messages: _next_speaker(messages, most_rounds, critic=critic),
        context=context,
        event_log=event_log,
        most_messages=4 * most_rounds + 2,
    )
    proposals = [content for _, content in messages if isinstance(content, roles.Proposal)]
    last = messages[-1][1]
    failure, unusable = (last.reason, last.answered) if isinstance(last, RoleFailure) else (None, False)
    if not proposals:
        return ProposedRules((), roles.Proposal(rules=()), failure, unusable)
    candidates = _candidates(proposals, messages, environment, regulation)
    return ProposedRules(tuple(candidates), proposals[-1], failure, unusable)


def validate_signature(
    proposal: roles.Proposal, proposed: roles.ProposedRule, environment: Environment, regulation: Regulation
) -> str | None:
    """Why a rule of the proposal is invalid: syntax, names, citation or quote; None if it is valid."""
    rule = rule_of(proposal, proposed, regulation)
    try:
        check_rules([rule], environment, regulation)
        _ = rule.compiled  # compiled here, where a formula that is too large or not safe invalidates one rule
    except InputError as error:
        return str(error)
    if not atoms_of([rule.parsed]):
        return "it names no tool"
    provision = regulation.by_citation.get(proposed.citation)
    if proposed.quote and provision is not None and not roles.quoted_in(proposed.quote, provision.words()):
        return f"{proposed.citation} does not contain the quoted words ({proposed.quote!r})"
    return None


def valid_rules(proposal: roles.Proposal, environment: Environment, regulation: Regulation) -> list[Rule]:
    """The rules of the proposal to which `validate_signature` does not object; of one id, the first."""
    valid: dict[str, Rule] = {}
    for proposed in proposal.rules:
        if proposed.id not in valid and validate_signature(proposal, proposed, environment, regulation) is None:
            valid[proposed.id] = rule_of(proposal, proposed, regulation)
    return list(valid.values())


def find_flaws(environment: Environment, rules: Sequence[Rule]) -> tuple[roles.RuleObjection, ...]:
    """Objections that the analysis of the rules proves, each against one rule.

    Of conflicting rules the last is rejected. A rule that another objection depends on is kept, so that meeting all
    objections loses no demand of the set. Undecided questions are not objections. Rules that others imply are merged
    later, and the remaining rule cites the provisions of all.
    """
    found = rule_flaws(environment, rules, but=MERGED_FINDINGS)
    return tuple(roles.RuleObjection(rule=rule, because=f"{one.message}. {one.proof}") for rule, one in found.items())


def rule_flaws(
    environment: Environment, rules: Sequence[Rule], but: Collection[RuleFindingKind] = ()
) -> dict[str, RuleFinding]:
    """The rules to remove, each with the finding against it.

    Findings of the kinds in ``but`` are ignored, and those that are not proved for traces of any length.
    """
    flaws: dict[str, RuleFinding] = {}
    needed: set[str] = set()
    for finding in analyse_rules(environment, rules).findings if rules else ():
        ignored = finding.kind in but or finding.calls is not None
        rule = None if ignored else _rule_to_remove(finding, environment)
        if rule is None or rule in needed or rule in flaws or flaws.keys() & set(finding.reasons):
            continue
        needed |= {*finding.rules, *finding.reasons} - {rule}
        flaws[rule] = finding
    return flaws


def _rule_to_remove(finding: RuleFinding, environment: Environment) -> str | None:
    match finding.kind:
        case "conflict" | "equivalent":
            return finding.rules[-1]
        case "redundant" | "vacuous":
            return finding.rules[0]
        case "unreachable":
            is_critical = finding.tool in environment.critical_tools
            return finding.reasons[-1] if is_critical and finding.reasons else None
        case "undecided" | "unseparated":
            return None


def _next_speaker(messages: Sequence[Utterance], most_rounds: int, *, critic: bool) -> str | None:
    source, content = messages[-1]
    rounds = sum(isinstance(content, roles.Proposal) for _, content in messages)
    match content:
        case roles.Proposal():
            return "signature_validator"
        case roles.Candidates() if critic:
            return "ltl_critic"
        case roles.Candidates(findings=findings):
            return "policy_extractor" if findings and rounds < most_rounds else None
        case roles.Critique(objections=()) if source == "signature_validator":
            return "rule_analysis"
        case roles.Critique(objections=()):
            agreed = not any(found.findings for found in _since_proposal(messages))
            return None if agreed or rounds >= most_rounds else "policy_extractor"
        case roles.Critique() if rounds < most_rounds:
            return "policy_extractor"
        case roles.Critique():
            # In the last round the critic must still see the rules that are valid.
            return "rule_analysis" if source == "signature_validator" else None
        case _:
            return "policy_extractor"


def _since_proposal(messages: Sequence[Utterance]) -> list[roles.Candidates]:
    """The findings on the last proposal."""
    last = max(number for number, (_, content) in enumerate(messages) if isinstance(content, roles.Proposal))
    return [content for _, content in messages[last:] if isinstance(content, roles.Candidates)]


def _candidates(
    proposals: Sequence[roles.Proposal], messages: Sequence[Utterance], environment: Environment, regulation: Regulation
) -> list[RuleCandidate]:
    """The rules of the last proposal, then earlier ones that it dropped: neither their id nor their formula for that
    provision occurs in it."""
    last = proposals[-1]
    position = max(number for number, (_, content) in enumerate(messages) if content is last)
    objections = {
        objection.rule: objection.because
        for _, content in messages[position:]
        if isinstance(content, roles.Critique | roles.Candidates)
        for objection in (content.objections if isinstance(content, roles.Critique) else content.findings)
    }
    candidates: list[RuleCandidate] = []
    for proposed in last.rules:
        candidate = _candidate(last, proposed, environment, regulation)
        why = objections.get(proposed.id)
        if why is None and any(one.rule.id == candidate.rule.id and one.status == "proposed" for one in candidates):
            why = "another rule has the same id"
        candidates.append(candidate.becomes("dropped", why) if why and candidate.status == "proposed" else candidate)
    seen = {(rule.citation, rule.formula) for rule in last.rules}
    ids = {rule.id for rule in last.rules}
    for proposal in reversed(proposals[:-1]):
        for proposed in proposal.rules:
            if proposed.id in ids or (proposed.citation, proposed.formula) in seen:
                continue
            seen.add((proposed.citation, proposed.formula))
            ids.add(proposed.id)
            candidate = _candidate(proposal, proposed, environment, regulation)
            is_valid = candidate.status == "proposed"
            candidates.append(candidate.becomes("dropped", "withdrawn after an objection") if is_valid else candidate)
    return candidates


def _candidate(
    proposal: roles.Proposal, proposed: roles.ProposedRule, environment: Environment, regulation: Regulation
) -> RuleCandidate:
    rule = rule_of(proposal, proposed, regulation)
    provision = regulation.by_citation.get(proposed.citation)
    checks = [f"cites {proposed.citation}" + ("" if provision else ", which does not exist")]
    invalid = validate_signature(proposal, proposed, environment, regulation)
    if invalid is None:
        compiled = rule.compiled
        checks += [
            f"the formula parses and uses known tools and arguments; {rule.template}",
            f"minimal automaton of {len(compiled.verdicts)} states"
            if isinstance(compiled, Automaton)
            else "evaluated on times and values; no automaton",
        ]
    candidate = RuleCandidate(
        rule=rule,
        quotes=quotes_of(proposed.quote, proposed.citation, regulation),
        grounds=proposed.grounds,
        checks=tuple(checks),
    )
    return candidate if invalid is None else candidate.becomes("invalid", invalid)


def quotes_of(words: str, citation: str, regulation: Regulation) -> tuple[Quote, ...]:
    """The quote, checked against the provision; none for empty words."""
    provision = regulation.by_citation.get(citation)
    checked = provision is not None and roles.quoted_in(words, provision.words())
    return (Quote(citation=citation, words=words, checked=checked),) if words else ()


def rule_of(proposal: roles.Proposal, proposed: roles.ProposedRule, regulation: Regulation) -> Rule:
    """A rule of the proposal, with the definitions that it uses. One that has no proper name is not found."""
    named = [one for one in proposal.definitions if one.name.isascii() and one.name.isidentifier() and one.formula]
    definitions = [Definition.model_validate(one.model_dump()) for one in named]
    rationale = f"{proposed.rationale} Quoted: {proposed.quote!r}." if proposed.quote else proposed.rationale
    return Rule(
        id=proposed.id or "unnamed",
        formula=proposed.formula or "?",
        definitions=used_definitions(proposed.formula, definitions),
        regulation=regulation.id,
        provisions=(proposed.citation,),
        rationale=rationale,
    )
