"""The conversation that writes rules for a group of provisions: the policy extractor proposes, code validates each rule
and analyses the set, the LTL critic objects (P 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import CodeCheck, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import extraction_roles as roles
from lawtrace.agents.roles.rule_answers import Candidates, Critique, Proposal, ProposedRule, RuleObjection, RuleSessions
from lawtrace.environments.logs import get_logger
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import Feedback
from lawtrace.schemas.errors import InputError, NotRecorded
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.lint.findings import RuleFinding
from lawtrace.solver.lint.rule_sets import analyse_rules, tell_rule_examples
from lawtrace.solver.logic.syntax import Formula, atoms_of
from lawtrace.solver.rules import Definition, Rule, check_rules, used_definitions

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProposedRules:
    """The result of the conversation.

    Attributes:
        rules: those of the last proposal to which code has no objection.
        refused: the others, with the objections.
        disputed: what the critic still objects to in the rules that stay.
        last: the last proposal; None if there is none.
        failure: why the conversation could not be finished, or None.
        unusable: whether the reason is an answer that did not parse.
    """

    rules: tuple[Rule, ...]
    refused: tuple[RuleObjection, ...]
    disputed: tuple[RuleObjection, ...]
    last: Proposal | None
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
    inputs: Mapping[str, str],
    opening: str,
    feedback: Feedback = "traces",
) -> ProposedRules:
    """Run the conversation over all provisions of the regulation.

    Args:
        inputs: what both roles are shown (`lawtrace.agents.conversations.formalization`).
        feedback: who objects: code alone, or the critic as well, without or with sessions of each rule.
    """

    def validate(proposal: Proposal) -> Critique:
        objections = invalid_rules(proposal, environment, regulation)
        answered = {one.citation for one in (*proposal.rules, *proposal.not_checkable)}
        unanswered = [citation for citation in regulation.by_citation if citation not in answered]
        missing = [f"{citation}: write a rule, or give the reason in not_checkable" for citation in unanswered]
        return Critique(objections=(*objections, *(_objection(None, why) for why in missing)))

    known: dict[Formula, tuple[str, str]] = {}

    def told(rule: Rule) -> tuple[str, str]:
        if rule.parsed not in known:
            known[rule.parsed] = tell_rule_examples(environment, rule)
        return known[rule.parsed]

    def search(proposal: Proposal) -> Candidates:
        rules = valid_rules(proposal, environment, regulation)
        found = {rule.id: told(rule) for rule in rules} if feedback == "traces" else {}
        return Candidates(
            proposal=proposal,
            findings=find_flaws(environment, rules),
            examples=tuple(RuleSessions(rule=id_, kept=kept, broken=no) for id_, (kept, no) in found.items()),
        )

    shown = {name: inputs[name] for name in ("provisions", "documentation")}
    messages = list[Utterance]()

    def next_speaker(so_far: Sequence[Utterance]) -> str | None:
        nonlocal messages
        messages = [*so_far]
        return _next_speaker(so_far, most_rounds, feedback)

    try:
        messages = await run_conversation(
            [
                roles.POLICY_EXTRACTOR.agent(role_models, context, **inputs),
                CodeCheck("signature_validator", Proposal, Critique, validate, slow=True),
                CodeCheck("rule_analysis", Proposal, Candidates, search, slow=True),
                roles.LTL_CRITIC.agent(role_models, context, **shown),
            ],
            opening=opening,
            next_speaker=next_speaker,
            context=context,
            event_log=event_log,
            most_messages=4 * most_rounds + 2,
        )
    except NotRecorded as missing:  # code may object otherwise than it did: what was written until then counts
        if not any(isinstance(content, Proposal) for _, content in messages):
            raise
        log.warning("the recording ends before the conversation does", missing=str(missing))
    proposals = [content for _, content in messages if isinstance(content, Proposal)]
    last = messages[-1][1]
    failure, unusable = (last.reason, last.answered) if isinstance(last, RoleFailure) else (None, False)
    if not proposals:
        return ProposedRules((), (), (), None, failure or "no answer was usable", unusable)
    return ProposedRules(*_accepted(proposals[-1], messages, environment, regulation), proposals[-1], failure, unusable)


def _objection(rule: str | None, because: str) -> RuleObjection:
    return RuleObjection(rule=rule, because=because)


def invalid_rules(proposal: Proposal, environment: Environment, regulation: Regulation) -> list[RuleObjection]:
    """The objections of `validate_signature`, and those to ids that occur twice."""
    found: list[RuleObjection] = []
    seen = set[str]()
    for rule in proposal.rules:
        why = validate_signature(proposal, rule, environment, regulation)
        why = "its id occurs twice; give each rule its own" if rule.id in seen else why
        seen.add(rule.id)
        if why is not None:
            found.append(_objection(rule.id, why))
    return found


def validate_signature(
    proposal: Proposal, proposed: ProposedRule, environment: Environment, regulation: Regulation
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


def valid_rules(proposal: Proposal, environment: Environment, regulation: Regulation) -> list[Rule]:
    """The rules of the proposal to which `validate_signature` does not object; of one id, the first."""
    valid: dict[str, Rule] = {}
    for proposed in proposal.rules:
        if proposed.id not in valid and validate_signature(proposal, proposed, environment, regulation) is None:
            valid[proposed.id] = rule_of(proposal, proposed, regulation)
    return list(valid.values())


def find_flaws(environment: Environment, rules: Sequence[Rule]) -> tuple[RuleObjection, ...]:
    """Objections that the analysis of the rules proves, each against one rule.

    Of conflicting rules the last is rejected. A rule that another objection depends on is kept, so that meeting all
    objections loses no demand of the set. Rules that others imply are merged later, and the remaining rule cites the
    provisions of all. Undecided questions, and what is proved for traces of some length only, are no objections.
    """
    flaws: dict[str, RuleFinding] = {}
    needed: set[str] = set()
    for finding in analyse_rules(environment, rules, redundancy=False).findings if rules else ():
        rule = None if finding.calls is not None else _rule_to_remove(finding, environment)
        if rule is None or rule in needed or rule in flaws or flaws.keys() & set(finding.reasons):
            continue
        needed |= {*finding.rules, *finding.reasons} - {rule}
        flaws[rule] = finding
    return tuple(_objection(rule, f"{one.message}. {one.proof}") for rule, one in flaws.items())


def _rule_to_remove(finding: RuleFinding, environment: Environment) -> str | None:
    match finding.kind:
        case "conflict":
            return finding.rules[-1]
        case "vacuous":
            return finding.rules[0]
        case "unreachable":
            is_critical = finding.tool in environment.critical_tools
            return finding.reasons[-1] if is_critical and finding.reasons else None
        case "equivalent" | "redundant" | "undecided" | "undeclared" | "unseparated":
            return None


def _next_speaker(messages: Sequence[Utterance], most_rounds: int, feedback: Feedback) -> str | None:
    source, content = messages[-1]
    rounds = sum(isinstance(content, Proposal) for _, content in messages)
    again = "policy_extractor" if rounds < most_rounds else None
    match content:
        case Proposal():
            return "signature_validator"
        case Candidates():
            return "ltl_critic"
        case Critique(objections=()) if source == "ltl_critic":
            return again if any(found.findings for found in _since_proposal(messages)) else None
        case Critique(objections=objections) if source == "signature_validator":
            # In the last round the critic must still see the rules that are valid.
            critical = None if feedback == "none" else "rule_analysis"
            return again or critical if objections else critical
        case Critique():
            return again
        case _:
            return "policy_extractor"


def _since_proposal(messages: Sequence[Utterance]) -> list[Candidates]:
    """The findings on the last proposal."""
    last = max(number for number, (_, content) in enumerate(messages) if isinstance(content, Proposal))
    return [content for _, content in messages[last:] if isinstance(content, Candidates)]


def _accepted(
    last: Proposal, messages: Sequence[Utterance], environment: Environment, regulation: Regulation
) -> tuple[tuple[Rule, ...], tuple[RuleObjection, ...], tuple[RuleObjection, ...]]:
    """The rules of the last proposal without an objection of code, these objections, and those that a critic still has.

    A critic may err as the author may: where rules of several authors differ, sessions decide.
    """
    answers = [content for _, content in messages[max(n for n, (_, one) in enumerate(messages) if one is last) :]]
    proved = [one for content in answers if isinstance(content, Candidates) for one in content.findings]
    refused = {one.rule: one for one in reversed([*invalid_rules(last, environment, regulation), *proved])}
    rules = tuple(rule for rule in valid_rules(last, environment, regulation) if rule.id not in refused)
    objections = [one for content in answers if isinstance(content, Critique) for one in content.objections]
    disputed = {one.rule: one for one in reversed(objections) if one.rule in {rule.id for rule in rules}}
    ids = {rule.id for rule in last.rules}
    return rules, tuple(one for id_, one in refused.items() if id_ in ids), tuple(reversed(disputed.values()))


def rule_of(proposal: Proposal, proposed: ProposedRule, regulation: Regulation) -> Rule:
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
