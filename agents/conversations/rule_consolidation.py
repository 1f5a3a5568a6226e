"""Consolidates the rules of all batches: unique ids, merging by proof, removal of conflicting and redundant rules."""

from collections.abc import Iterable, Sequence

from lawtrace.agents.conversations.provenance import (
    ProvisionProvenance,
    ProvisionStatus,
    ProvisionStatusName,
    RuleCandidate,
)
from lawtrace.agents.conversations.rule_proposal import MERGED_FINDINGS, rule_flaws
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.rule_transforms import RuleMerge, merge_rules, with_provisions_of
from lawtrace.solver.rules import Rule


def consolidate_rules(environment: Environment, candidates: Iterable[RuleCandidate]) -> tuple[RuleCandidate, ...]:
    """Accept, merge or drop every candidate that met no objection in its batch."""
    named = _by_unique_id(candidates)
    for rule in _without_redundant(environment, _without_flawed(environment, named), named):
        named[rule.id] = named[rule.id].model_copy(update={"rule": rule}).becomes("accepted")
    return tuple(named.values())


def _by_unique_id(candidates: Iterable[RuleCandidate]) -> dict[str, RuleCandidate]:
    """The candidates in order, with numbers added to ids that several batches chose."""
    named: dict[str, RuleCandidate] = {}
    for candidate in candidates:
        wanted = candidate.rule.id.strip() or "unnamed"
        id_, number = wanted, 2
        while id_ in named:
            id_, number = f"{wanted}-{number}", number + 1
        rule = Rule.model_validate({**candidate.rule.model_dump(), "id": id_})
        named[id_] = candidate.model_copy(update={"rule": rule})
    return named


def _without_flawed(environment: Environment, candidates: dict[str, RuleCandidate]) -> list[Rule]:
    """The rules that are compatible, each merged with those that are equivalent or weaker.

    The analysis is repeated after each removal: one flaw can hide another, and a rule that was merged into a removed
    one because it is weaker may be kept without it.
    """
    remaining = [candidate.rule for candidate in candidates.values() if candidate.status == "proposed"]
    kept, merges = merge_rules(remaining)
    while flaws := rule_flaws(environment, kept, but=MERGED_FINDINGS):
        for id_, finding in flaws.items():
            candidates[id_] = candidates[id_].becomes("dropped", f"{finding.message}. {finding.proof}")
        same = [merge for merge in merges if merge.into in flaws and merge.because == "equivalent"]
        _note_merges(same, candidates)
        removed = flaws.keys() | {merge.rule.id for merge in same}
        remaining = [rule for rule in remaining if rule.id not in removed]
        kept, merges = merge_rules(remaining)
    _note_merges(merges, candidates)
    return list(kept)


def _note_merges(merges: Iterable[RuleMerge], candidates: dict[str, RuleCandidate]) -> None:
    for merge in merges:
        proof = f"proved {merge.because}: no trace of any length keeps {merge.into} and breaks it"
        candidates[merge.rule.id] = candidates[merge.rule.id].becomes("merged", proof, (merge.into,))


def _without_redundant(
    environment: Environment, kept: Sequence[Rule], candidates: dict[str, RuleCandidate]
) -> list[Rule]:
    """The rules without those that several others imply together. The demands of the set stay the same."""
    rules = {rule.id: rule for rule in kept}
    while flaws := rule_flaws(environment, list(rules.values())):
        for id_, finding in flaws.items():
            rule = rules.pop(id_)
            proof = f"{finding.message}. {finding.proof}"
            if finding.kind == "redundant" and finding.reasons:
                candidates[id_] = candidates[id_].becomes("merged", proof, finding.reasons)
            else:
                candidates[id_] = candidates[id_].becomes("dropped", proof)
            rules |= {
                reason: with_provisions_of(rules[reason], [rule]) for reason in finding.reasons if reason in rules
            }
    return list(rules.values())


def settle_provision(
    provision: Provision, status: ProvisionStatus, candidates: Iterable[RuleCandidate], piece: int
) -> ProvisionProvenance:
    """A provision with the status that the consolidated rules give it. ``piece``: its batch."""
    own = [candidate for candidate in candidates if provision.citation in candidate.rule.provisions]
    ids = tuple(candidate.rule.id for candidate in own if candidate.status == "accepted")
    name: ProvisionStatusName = "rule" if ids else status.fate
    because = status.because
    if ids:
        because = f"{', '.join(ids)} rest{'s' if len(ids) == 1 else ''} on it"
        because = "; ".join((because, *(f"not understood: {reason}" for reason in status.not_understood)))
    elif own and status.fate != "out_of_scope":
        because = "; ".join(f"{candidate.rule.id}: {candidate.because or candidate.status}" for candidate in own)
    return ProvisionProvenance(
        citation=provision.citation,
        heading=provision.heading or "",
        within=provision.within,
        words=provision.words(),
        fate=status.model_copy(update={"fate": name, "because": because}),
        rules=ids,
        piece=piece,
    )
