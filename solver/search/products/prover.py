"""Proofs about rule sets: a trace that reaches a goal and keeps the rules, or a minimal set of rules that excludes it.

Rules are added lazily. The search begins with the goal alone. While the trace found breaks rules, some of these rules
are added and the search is repeated. So a claim about forty rules needs a product of only the few that matter, and a
shortest trace under those few that also keeps the rest is a shortest one under all.

If no trace is left, the added rules exclude the goal. Rules that the proof does not need are dropped one by one. For
each rule that is needed, a trace is kept that reaches the goal without it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lawtrace.solver.search.core import minimal_core
from lawtrace.solver.search.problem import Budget, Obstacle, Proof, ScopeName, Unknown
from lawtrace.solver.search.products import product_search
from lawtrace.solver.search.products.call_scopes import AbstractTrace, CallScope
from lawtrace.solver.search.products.product_search import Component, FoundSteps, ProductAnswer


class Prover:
    """Answers queries about one rule set in both scopes, and counts the nodes searched."""

    def __init__(self, free: CallScope, environment: CallScope) -> None:
        self.nodes = 0
        self._known: dict[tuple[ScopeName, Component], list[Proof[AbstractTrace]]] = {}
        self._free = free
        self._environment = environment

    def prove_free(self, goal: Component, rules: Mapping[str, Component]) -> ProductAnswer:
        """The result over all call sequences."""
        return self._answer(self._free, goal, rules)

    def prove(self, goal: Component, rules: Mapping[str, Component]) -> ProductAnswer:
        """The result over the sequences that the environment's preconditions allow.

        If the core found there excludes the goal over all call sequences as well, that stronger result is returned.
        """
        answer = self._answer(self._environment, goal, rules)
        if isinstance(answer, Proof):
            stronger = self.prove_free(goal, {rule: rules[rule] for rule in answer.rules})
            return stronger if isinstance(stronger, Proof) else answer
        return answer

    def _answer(self, scope: CallScope, goal: Component, rules: Mapping[str, Component]) -> ProductAnswer:
        known = self._known.setdefault((scope.name, goal), [])
        for excluded in known:  # a superset of an excluding set excludes too
            if rules.keys() >= set(excluded.rules):
                return excluded
        answer = self._search_lazily(scope, goal, rules)
        if isinstance(answer, Proof):
            known.append(answer)
        return answer

    def _search_lazily(self, scope: CallScope, goal: Component, rules: Mapping[str, Component]) -> ProductAnswer:
        added: dict[str, Component] = {}
        shortest = True
        while True:
            answer = self._search(scope, goal, added, shortest=shortest)
            match answer:
                case FoundSteps(trace=trace):
                    shortest = answer.shortest  # once not shortest, more rules do not help
                    broken = [rule for rule, component in rules.items() if not component.accepts(trace)]
                    if not broken:
                        return answer
                    batch = 1 + len(added) // 4  # small batches for a small proof, growing to limit restarts
                    added |= {rule: rules[rule] for rule in broken[:batch]}
                case Proof():
                    in_order = {rule: part for rule, part in rules.items() if rule in added}
                    return self._needed(scope, goal, in_order, answer)
                case Unknown():
                    return answer

    def _needed(
        self, scope: CallScope, goal: Component, added: Mapping[str, Component], proof: Proof[AbstractTrace]
    ) -> Proof[AbstractTrace]:
        """The proof with all unnecessary rules removed."""
        without: dict[str, AbstractTrace] = {}
        undecided: list[str] = []

        def excludes(rule: str, others: Sequence[str]) -> bool:
            nonlocal proof
            match self._search(scope, goal, {other: added[other] for other in others}):
                case Proof() as smaller:
                    proof = smaller
                    return True
                case FoundSteps(trace=trace):
                    without[rule] = trace
                case Unknown():
                    undecided.append(rule)
            return False

        core = tuple(Obstacle("rule", rule) for rule in minimal_core(added, excludes))
        return replace(proof, core=core, without=without, undecided=tuple(undecided))

    def _search(
        self, scope: CallScope, goal: Component, rules: Mapping[str, Component], *, shortest: bool = True
    ) -> ProductAnswer:
        budget = Budget(product_search.NODE_LIMIT)
        answer = product_search.search(scope, (goal, *rules.values()), budget, shortest=shortest)
        self.nodes += budget.steps - budget.left
        return answer
