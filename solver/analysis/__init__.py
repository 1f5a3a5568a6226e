"""What speaks against a rule set, with proofs: conflicts, tools out of reach, vacuous, redundant and equivalent rules.

    analysis = analyse(environment, rules)
    analysis.findings                        # empty for a rule set in order
    analysis.breaking["record-transfer"]     # a trace that breaks this rule and no other

Every answer is a trace, or a proof for traces of any length (a product that was exhausted), or *undecided*.
"""

from collections.abc import Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.solver.analysis.examples import Examples, find_examples
from lawtrace.solver.analysis.findings import Analysis, Finding, FindingKind, Witness
from lawtrace.solver.analysis.proofs import Prover
from lawtrace.solver.analysis.questions import (
    Inquiry,
    conflicts,
    equivalents,
    redundant_rules,
    unreachable_tools,
    vacuous_rules,
)
from lawtrace.solver.analysis.scopes import ScopeName, environment_scope, free_scope
from lawtrace.solver.analysis.search import LIMIT
from lawtrace.solver.ltlf import ForAll
from lawtrace.solver.rules import Rule

__all__ = ["Analysis", "Examples", "Finding", "FindingKind", "ScopeName", "Witness", "analyse", "find_examples"]


def analyse(environment: Environment, rules: Sequence[Rule], *, limit: int = LIMIT) -> Analysis:
    """What can be said against a rule set, and the traces that show it to be needed and to leave room.

    Where rules are in conflict, nothing is asked about traces that keep all of them, since there are none: only
    whether rules are equivalent, and whether each can be triggered at all.

    Args:
        environment: where the rules are to be kept.
        rules: as `lawtrace.solver.rules.check_rules` lets them pass.
        limit: the states that one search may make before its question counts as undecided.
    """
    prover = Prover(free_scope(environment), environment_scope(environment), limit)
    inquiry = Inquiry.into(environment, rules, prover)
    findings = conflicts(inquiry)
    hopeless = {finding.rules for finding in findings if finding.kind == "conflict"}
    same, distinct = equivalents(inquiry, [rule for rule in inquiry.rules if (rule,) not in hopeless])
    findings += same
    breaking: dict[str, Witness] = {}
    calling: dict[str, Witness] = {}
    if hopeless:
        findings += vacuous_rules(inquiry, distinct, together=False)
    else:
        unreachable, calling = unreachable_tools(inquiry)
        vacuous = vacuous_rules(inquiry, distinct, together=True)
        redundant, breaking = redundant_rules(inquiry, distinct, settled=_kept_by_default(inquiry, vacuous))
        findings += [*unreachable, *vacuous, *redundant]
    return Analysis(
        findings=tuple(findings),
        breaking=breaking,
        calling=calling,
        assumptions=_assumptions(inquiry),
        nodes=prover.nodes,
    )


def _kept_by_default(inquiry: Inquiry, vacuous: Sequence[Finding]) -> set[str]:
    """The rules that are implied because nothing ever triggers them: what a template asks, it asks of its trigger."""
    return {
        rule
        for finding in vacuous
        for rule in finding.rules
        if finding.scope == "free" and inquiry.rules[rule].template != "general"
    }


def _assumptions(inquiry: Inquiry) -> tuple[str, ...]:
    """What the answers rest on."""
    sentences = [
        "In each step there is one call of one tool, which completes or is refused.",
        "Preconditions are what the planner goes by: which rows were looked up, and whether something is pending. "
        "Amounts and balances are left out.",
    ]
    if any(atom.condition for rule in inquiry.rules.values() for atom in rule.automaton.atoms):
        sentences.append(
            "Conditions on arguments and results may be met or not in any combination. What no trace can do stays "
            "true; a trace shown may need values that do not go together."
        )
    if any(isinstance(rule.parsed, ForAll) for rule in inquiry.rules.values()):
        sentences.append(
            "Of quantified rules one value is followed, the same in all of them. What no trace can do stays true; a "
            "trace shown may break such a rule for another value."
        )
    return tuple(sentences)
