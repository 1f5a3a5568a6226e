"""Does any trace reach a goal and keep these rules? Either such a trace, or a smallest set of rules that excludes it.

Rules are drawn in only when they matter. The search begins with the goal alone; as long as the trace it finds breaks
rules, some of those join, and it begins again. So a claim about forty rules rests on a product of the few that take
part in it, and a shortest trace under those few that happens to keep the rest is a shortest one under all of them.

When no trace is left, the rules drawn in exclude the goal. Each that is not needed for that is dropped, one after the
other; for each that is needed there remains a trace that would reach the goal without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lawtrace.solver.model_checking.call_scopes import AbstractTrace, CallScope, ScopeName
from lawtrace.solver.model_checking.product_search import Component, Exhausted, Found, Undecided, search


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No trace of the scope, of any length, reaches the goal and keeps these rules.

    Attributes:
        scope: over which sequences of calls that is so.
        rules: the ids of the rules that exclude it; empty if no trace at all reaches the goal.
        without: for each of them a trace that reaches the goal and keeps the others: it is needed.
        undecided: those of them of which it was not decided whether they are needed.
        nodes: how many nodes the product of goal and rules has. All were seen, which is the proof.
    """

    scope: ScopeName
    core: tuple[str, ...]
    counterexamples: Mapping[str, AbstractTrace]
    undecided: tuple[str, ...]
    nodes: int


ProofResult = Found | Infeasible | Undecided


class Prover:
    """Answers questions about one rule set in the two scopes, and counts what they cost."""

    def __init__(self, free: CallScope, environment: CallScope, limit: int) -> None:
        """`limit`: the nodes that one search may make."""
        self.nodes = 0
        self._known: dict[tuple[ScopeName, Component], list[Infeasible]] = {}
        self._free = free
        self._environment = environment
        self._limit = limit

    def prove_free(self, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        """The answer over all sequences of calls."""
        return self._answer(self._free, goal, rules)

    def prove(self, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        """The answer over the sequences that the environment's preconditions allow.

        Where the rules that exclude the goal there do so in any sequence of calls, the answer is that stronger one.
        """
        answer = self._answer(self._environment, goal, rules)
        if isinstance(answer, Infeasible):
            stronger = self.prove_free(goal, {rule: rules[rule] for rule in answer.core})
            return stronger if isinstance(stronger, Infeasible) else answer
        return answer

    def _answer(self, scope: CallScope, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        known = self._known.setdefault((scope.name, goal), [])
        for excluded in known:  # what some rules exclude, more rules exclude
            if rules.keys() >= set(excluded.core):
                return excluded
        answer = self._draw(scope, goal, rules)
        if isinstance(answer, Infeasible):
            known.append(answer)
        return answer

    def _draw(self, scope: CallScope, goal: Component, rules: Mapping[str, Component]) -> ProofResult:
        drawn: dict[str, Component] = {}
        shortest = True
        while True:
            answer = self._search(scope, goal, drawn, shortest=shortest)
            match answer:
                case Found(trace=trace):
                    shortest = answer.shortest  # where too much stands in the way of that, more rules do not help
                    broken = [rule for rule, component in rules.items() if not component.accepts(trace)]
                    if not broken:
                        return answer
                    joining = 1 + len(drawn) // 4  # few, for a small proof; not one by one, lest it begin forty times
                    drawn |= {rule: rules[rule] for rule in broken[:joining]}
                case Exhausted():
                    in_order = {rule: part for rule, part in rules.items() if rule in drawn}
                    return self._needed(scope, goal, in_order, answer)
                case Undecided():
                    return answer

    def _needed(
        self, scope: CallScope, goal: Component, drawn: Mapping[str, Component], proof: Exhausted
    ) -> Infeasible:
        """The proof with every rule left out that it can do without."""
        needed = dict(drawn)
        counterexamples: dict[str, AbstractTrace] = {}
        undecided: list[str] = []
        for rule in drawn:
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
        answer = search(scope, (goal, *rules.values()), self._limit, shortest=shortest)
        self.nodes += answer.nodes
        return answer
