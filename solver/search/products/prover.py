"""Proofs about rule sets: a trace that reaches a goal and keeps the rules, or a minimal set of rules that excludes it.

Rules are added lazily. The search begins with the goal alone. While the trace found breaks rules, some of these rules
are added and the search is repeated. So a claim about forty rules needs a product of only the few that matter, and a
shortest trace under those few that also keeps the rest is a shortest one under all.

If no trace is left, the added rules exclude the goal. Rules that the proof does not need are dropped one by one
(deletion-based unsat core). For each rule that is needed, a trace is kept that reaches the goal without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lawtrace.solver.search.products.call_scopes import AbstractTrace, CallScope, ScopeName
from lawtrace.solver.search.products.product_search import Component, Exhausted, Found, Undecided, search


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No trace of the scope, of any length, reaches the goal and keeps these rules.

    Attributes:
        scope: the call sequences that the claim covers.
        core: ids of a minimal set of rules that excludes the goal; empty if no trace at all reaches it.
        counterexamples: for each rule of the core a trace that reaches the goal and keeps the others.
        undecided: rules of the core whose necessity was not decided.
        nodes: the size of the product of goal and rules. The search exhausted it, which is the proof.
    """

    scope: ScopeName
    core: tuple[str, ...]
    counterexamples: Mapping[str, AbstractTrace]
    undecided: tuple[str, ...]
    nodes: int


ProofResult = Found | Infeasible | Undecided


class Prover:
    """Answers queries about one rule set in both scopes, and counts the nodes searched."""

    def __init__(self, free: CallScope, environment: CallScope) -> None:
        self.nodes = 0
        self._known: dict[tuple[ScopeName, Component], list[Infeasible]] = {}
        self._free = free
        self._environment = environment

    def prove_free(self, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        """The result over all call sequences."""
        return self._answer(self._free, goal, rules)

    def prove(self, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        """The result over the sequences that the environment's preconditions allow.

        If the core found there excludes the goal over all call sequences as well, that stronger result is returned.
        """
        answer = self._answer(self._environment, goal, rules)
        if isinstance(answer, Infeasible):
            stronger = self.prove_free(goal, {rule: rules[rule] for rule in answer.core})
            return stronger if isinstance(stronger, Infeasible) else answer
        return answer

    def _answer(self, scope: CallScope, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        known = self._known.setdefault((scope.name, goal), [])
        for excluded in known:  # a superset of an excluding set excludes too
            if rules.keys() >= set(excluded.core):
                return excluded
        answer = self._search_lazily(scope, goal, rules)
        if isinstance(answer, Infeasible):
            known.append(answer)
        return answer

    def _search_lazily(self, scope: CallScope, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        added: dict[str, Component] = {}
        shortest = True
        while True:
            answer = self._search(scope, goal, added, shortest=shortest)
            match answer:
                case Found(trace=trace):
                    shortest = answer.shortest  # once not shortest, more rules do not help
                    broken = [rule for rule, component in rules.items() if not component.accepts(trace)]
                    if not broken:
                        return answer
                    batch = 1 + len(added) // 4  # small batches for a small proof, growing to limit restarts
                    added |= {rule: rules[rule] for rule in broken[:batch]}
                case Exhausted():
                    in_order = {rule: part for rule, part in rules.items() if rule in added}
                    return self._needed(scope, goal, in_order, answer)
                case Undecided():
                    return answer

    def _needed(
        self, scope: CallScope, goal: Component, added: Mapping[str, Component], proof: Exhausted
    ) -> Infeasible:
        """The proof with all unnecessary rules removed."""
        needed = dict(added)
        counterexamples: dict[str, AbstractTrace] = {}
        undecided: list[str] = []
        for rule in added:
            others = {other: component for other, component in needed.items() if other != rule}
            match self._search(scope, goal, others):
                case Exhausted() as smaller:
                    needed, proof = others, smaller
                case Found(trace=trace):
                    counterexamples[rule] = trace
                case Undecided():
                    undecided.append(rule)
        return Infeasible(scope.name, tuple(needed), counterexamples, tuple(undecided), proof.nodes)

    def _search(
        self, scope: CallScope, goal: Component, rules: Mapping[str, Component], *, shortest: bool = True
    ) -> Found | Exhausted | Undecided:
        answer = search(scope, (goal, *rules.values()), shortest=shortest)
        self.nodes += answer.nodes
        return answer
