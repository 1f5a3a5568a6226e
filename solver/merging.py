"""Rules that say the same, or less than another, become one rule that rests on the provisions of both; by proof.

One rule implies another if no trace keeps the first and breaks the second (an empty product of automata). Of rules that
are quantified over a value only those that are written the same are merged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from lawtrace.solver.ltlf import ForAll, product, shortest_accepted
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class Merge:
    """A rule that was merged into another, and why: it says the same, or the other implies it."""

    rule: Rule
    into: str
    because: Literal["equivalent", "implied"]


def implies(one: Rule, other: Rule) -> bool:
    """Whether every trace that keeps the one keeps the other."""
    if isinstance(one.parsed, ForAll) or isinstance(other.parsed, ForAll):
        return one.parsed == other.parsed
    return shortest_accepted(product(one.automaton, other.automaton, lambda left, right: left and not right)) is None


def merge_rules(rules: Sequence[Rule]) -> tuple[tuple[Rule, ...], tuple[Merge, ...]]:
    """The distinct rules in their order, each with the provisions of all that were merged into it; and the merges.

    Of equivalent rules the first stays; of two of which one implies the other, the one that implies.
    """
    merges: dict[str, Merge] = {}
    for one, other in combinations(rules, 2):
        if other.id in merges or one.id in merges:
            continue
        if implies(one, other):
            merges[other.id] = Merge(other, one.id, "equivalent" if implies(other, one) else "implied")
        elif implies(other, one):
            merges[one.id] = Merge(one, other.id, "implied")
    found = [merges[rule.id] for rule in rules if rule.id in merges]
    settled = [_settled(merge, merges) for merge in found]
    kept: list[Rule] = []
    for rule in rules:
        if rule.id not in merges:
            absorbed = [merge.rule for merge in settled if merge.into == rule.id]
            kept.append(resting_on(rule, absorbed))
    return tuple(kept), tuple(settled)


def resting_on(rule: Rule, others: Sequence[Rule]) -> Rule:
    """The rule, resting on the provisions of the others besides its own."""
    provisions = dict.fromkeys([*rule.provisions, *(p for other in others for p in other.provisions)])
    return Rule.model_validate({**rule.model_dump(), "provisions": tuple(provisions)})


def _settled(merge: Merge, merges: Mapping[str, Merge]) -> Merge:
    """The merge into the rule where its chain ends: equivalent only if every link is. It does end: each link goes to a
    rule that was in no merge yet, or said more."""
    into, because = merge.into, merge.because
    while into in merges:
        into, because = merges[into].into, "implied" if merges[into].because == "implied" else because
    return Merge(merge.rule, into, because)
