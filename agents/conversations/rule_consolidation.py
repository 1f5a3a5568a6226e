"""The rules of all pieces together: named apart, merged by proof, freed of what cannot be kept, each with its trail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.agents.conversations.provenance import (
    ProvisionProvenance,
    ProvisionStatus,
    ProvisionStatusName,
    Quote,
    RuleProvenance,
    RuleStatus,
)
from lawtrace.agents.conversations.rule_extraction import BatchCandidate, ExtractionResult
from lawtrace.agents.conversations.rule_proposal import MERGED_FINDINGS, rule_flaws
from lawtrace.agents.roles.extraction_roles import quoted_in
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.rule_transforms import RuleMerge, merge_rules, with_provisions_of
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class ConsolidatedRules:
    """The accepted rules, the trail of every rule proposed, and what became of every provision."""

    rules: tuple[Rule, ...]
    candidates: tuple[RuleProvenance, ...]
    provisions: tuple[ProvisionProvenance, ...]


@dataclass(slots=True)
class _Case:
    """A candidate while it is settled."""

    drawn: BatchCandidate
    rule: Rule
    status: RuleStatus
    because: str = ""
    into: tuple[str, ...] = ()


def consolidate_rules(environment: Environment, regulation: Regulation, drawing: ExtractionResult) -> ConsolidatedRules:
    """Settle what the pieces left. Rules of different pieces meet here for the first time."""
    cases = [_case(drawn, id_) for drawn, id_ in zip(drawing.candidates, _names(drawing.candidates), strict=True)]
    kept = _without_redundant(environment, _without_flawed(environment, cases), cases)
    rules = {rule.id: rule for rule in kept}
    for case in cases:
        case.rule = rules.get(case.rule.id, case.rule)
    trails = tuple(_trail(case, regulation) for case in cases)
    pieces = {citation: piece.piece for piece in drawing.pieces for citation in piece.citations}
    provisions = tuple(
        ProvisionProvenance(
            citation=provision.citation,
            heading=provision.heading or "",
            words=provision.whole(),
            fate=_fate(drawing.fates[provision.citation], kept, cases),
            rules=tuple(rule.id for rule in kept if provision.citation in rule.provisions),
            piece=pieces[provision.citation],
        )
        for provision in regulation.provisions
    )
    return ConsolidatedRules(tuple(kept), trails, provisions)


def _case(drawn: BatchCandidate, name: str) -> _Case:
    proposed, candidate = drawn.candidate.proposed, drawn.candidate
    if candidate.rule is None:
        # Kept in the trail as it was written, whatever it is.
        shown = Rule(
            id=name, formula=proposed.formula or "?", provisions=(proposed.citation,), rationale=proposed.rationale
        )
        return _Case(drawn, shown, "invalid", candidate.because or "")
    rule = Rule.model_validate({**candidate.rule.model_dump(), "id": name})
    if candidate.because is not None:
        return _Case(drawn, rule, "dropped", candidate.because)
    return _Case(drawn, rule, "accepted")


def _names(drawn: Sequence[BatchCandidate]) -> list[str]:
    """The ids that were proposed, told apart where two pieces chose the same."""
    names: list[str] = []
    for one in drawn:
        wanted = one.candidate.proposed.id.strip() or "unnamed"
        name, number = wanted, 2
        while name in names:
            name, number = f"{wanted}-{number}", number + 1
        names.append(name)
    return names


def _without_flawed(environment: Environment, cases: Sequence[_Case]) -> list[Rule]:
    """The rules that can be kept together, each merged with those that say the same or less.

    After every rule that gives way the rest is looked at anew: one flaw hides another, and what was merged into the
    rule because it says less may stand without it.
    """
    by_id = {case.rule.id: case for case in cases}
    standing = [case.rule for case in cases if case.status == "accepted"]
    kept, merges = merge_rules(standing)
    while flaws := rule_flaws(environment, kept, but=MERGED_FINDINGS):
        for name, finding in flaws.items():
            by_id[name].status, by_id[name].because = "dropped", f"{finding.message}. {finding.proof}"
        same = [merge for merge in merges if merge.into in flaws and merge.because == "equivalent"]
        _note_merges(same, by_id)
        gone = flaws.keys() | {merge.rule.id for merge in same}
        standing = [rule for rule in standing if rule.id not in gone]
        kept, merges = merge_rules(standing)
    _note_merges(merges, by_id)
    return list(kept)


def _note_merges(merges: Iterable[RuleMerge], by_id: Mapping[str, _Case]) -> None:
    for merge in merges:
        case = by_id[merge.rule.id]
        case.status, case.into = "merged", (merge.into,)
        case.because = f"proved {merge.because}: no trace of any length keeps {merge.into} and breaks it"


def _without_redundant(environment: Environment, kept: Sequence[Rule], cases: Sequence[_Case]) -> list[Rule]:
    """Without rules that several others imply together. What the rules demand stays the same."""
    by_id = {case.rule.id: case for case in cases}
    rules = {rule.id: rule for rule in kept}
    while flaws := rule_flaws(environment, list(rules.values())):
        for name, finding in flaws.items():
            case, rule = by_id[name], rules.pop(name)
            merged = finding.kind == "redundant" and finding.reasons
            case.status, case.into = ("merged", finding.reasons) if merged else ("dropped", ())
            case.because = f"{finding.message}. {finding.proof}"
            rules |= {
                reason: with_provisions_of(rules[reason], [rule]) for reason in finding.reasons if reason in rules
            }
    return list(rules.values())


def _fate(fate: ProvisionStatus, kept: Sequence[Rule], cases: Sequence[_Case]) -> ProvisionStatus:
    own = [case for case in cases if fate.citation in case.rule.provisions]
    ids = [rule.id for rule in kept if fate.citation in rule.provisions]
    name: ProvisionStatusName = "rule" if ids else fate.fate
    because = fate.because
    if ids:
        because = f"{', '.join(ids)} rest{'s' if len(ids) == 1 else ''} on it"
    elif own and fate.fate != "out_of_scope":
        because = "; ".join(f"{case.rule.id}: {case.because or case.status}" for case in own)
    return ProvisionStatus(citation=fate.citation, fate=name, because=because, scope=fate.scope, refined=fate.refined)


def _trail(case: _Case, regulation: Regulation) -> RuleProvenance:
    proposed = case.drawn.candidate.proposed
    provision = regulation.by_citation.get(proposed.citation)
    stands = provision is not None and quoted_in(case.drawn.quote, provision.whole())
    checks = [f"cites {proposed.citation}" + ("" if provision else ", which there is not")]
    if case.status != "invalid":
        states = len(case.rule.automaton.verdicts)
        checks += [
            f"formula parses, names only tools and arguments that there are; {case.rule.template}",
            f"minimal automaton of {states} states",
        ]
    quotes = (Quote(citation=proposed.citation, words=case.drawn.quote, checked=stands),) if case.drawn.quote else ()
    return RuleProvenance(
        rule=case.rule,
        quotes=quotes,
        status=case.status,
        because=case.because,
        into=case.into,
        piece=case.drawn.piece,
        checks=tuple(checks),
    )
