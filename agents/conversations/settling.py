"""The rules of all pieces together: named apart, merged by proof, freed of what cannot be kept, each with its trail."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.conversations.drawing import Drawing, DrawnRule
from agents.conversations.extracting import flaws_of
from agents.conversations.trail import Fate, FateName, ProvisionTrail, Quote, RuleStatus, RuleTrail
from agents.roles.verifiability_refiner import quoted_in
from environments.declaration import Environment
from environments.regulation import Regulation
from solver.merging import merge_rules, resting_on
from solver.rules import Rule

__all__ = ["Settled", "settle_rules"]


@dataclass(frozen=True, slots=True)
class Settled:
    """The accepted rules, the trail of every rule proposed, and what became of every provision."""

    rules: tuple[Rule, ...]
    candidates: tuple[RuleTrail, ...]
    provisions: tuple[ProvisionTrail, ...]


@dataclass(slots=True)
class _Case:
    """A candidate while it is settled."""

    drawn: DrawnRule
    rule: Rule
    status: RuleStatus
    because: str = ""
    into: tuple[str, ...] = ()


def settle_rules(environment: Environment, regulation: Regulation, drawing: Drawing) -> Settled:
    """Settle what the pieces left. Rules of different pieces meet here for the first time."""
    cases = [_case(drawn, id_) for drawn, id_ in zip(drawing.candidates, _names(drawing.candidates), strict=True)]
    kept = _merged(cases)
    kept = _without_flaws(environment, kept, cases)
    rules = {rule.id: rule for rule in kept}
    for case in cases:
        case.rule = rules.get(case.rule.id, case.rule)
    trails = tuple(_trail(case, regulation) for case in cases)
    pieces = {citation: piece.piece for piece in drawing.pieces for citation in piece.citations}
    provisions = tuple(
        ProvisionTrail(
            citation=provision.citation,
            heading=provision.heading or "",
            words=provision.whole(),
            fate=_fate(drawing.fates[provision.citation], kept, cases),
            rules=tuple(rule.id for rule in kept if provision.citation in rule.provisions),
            piece=pieces[provision.citation],
        )
        for provision in regulation.provisions
    )
    return Settled(tuple(kept), trails, provisions)


def _case(drawn: DrawnRule, name: str) -> _Case:
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


def _names(drawn: Sequence[DrawnRule]) -> list[str]:
    """The ids that were proposed, told apart where two pieces chose the same."""
    names: list[str] = []
    for one in drawn:
        wanted = one.candidate.proposed.id.strip() or "unnamed"
        name, number = wanted, 2
        while name in names:
            name, number = f"{wanted}-{number}", number + 1
        names.append(name)
    return names


def _merged(cases: Sequence[_Case]) -> list[Rule]:
    kept, merges = merge_rules([case.rule for case in cases if case.status == "accepted"])
    by_id = {case.rule.id: case for case in cases}
    for merge in merges:
        case = by_id[merge.rule.id]
        case.status, case.into = "merged", (merge.into,)
        case.because = f"proved {merge.because}: no trace of any length keeps {merge.into} and breaks it"
    return list(kept)


def _without_flaws(environment: Environment, kept: list[Rule], cases: Sequence[_Case]) -> list[Rule]:
    """Without rules in conflict with others, never triggered, or implied by several together."""
    by_id = {case.rule.id: case for case in cases}
    rules = {rule.id: rule for rule in kept}
    for name, finding in flaws_of(environment, kept).items():
        case, rule = by_id[name], rules.pop(name)
        case.because = f"{finding.message}. {finding.proof}"
        if finding.kind == "redundant" and finding.reasons:
            case.status, case.into = "merged", finding.reasons
            rules |= {reason: resting_on(rules[reason], [rule]) for reason in finding.reasons if reason in rules}
        else:
            case.status = "dropped"
    return list(rules.values())


def _fate(fate: Fate, kept: Sequence[Rule], cases: Sequence[_Case]) -> Fate:
    own = [case for case in cases if fate.citation in case.rule.provisions]
    ids = [rule.id for rule in kept if fate.citation in rule.provisions]
    name: FateName = "rule" if ids else fate.fate
    because = fate.because
    if ids:
        because = f"{', '.join(ids)} rest{'s' if len(ids) == 1 else ''} on it"
    elif own:
        because = "; ".join(f"{case.rule.id}: {case.because or case.status}" for case in own)
    return Fate(citation=fate.citation, fate=name, because=because, scope=fate.scope, refined=fate.refined)


def _trail(case: _Case, regulation: Regulation) -> RuleTrail:
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
    return RuleTrail(
        rule=case.rule,
        quotes=quotes,
        status=case.status,
        because=case.because,
        into=case.into,
        piece=case.drawn.piece,
        checks=tuple(checks),
    )
