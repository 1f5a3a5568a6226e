"""Why no trace meets what was asked: the smallest set of demands and rules found that excludes each other, or a length.

The questions go to the prover of `solver.analysis`, which draws rules in only when they matter, so that forty rules are
no forty-fold product. The goal is that every call completes, and how many there are.
"""

from environments.errors import SearchError
from solver.analysis.findings import enumeration
from solver.analysis.following import keeping
from solver.analysis.proofs import Excluded, Prover
from solver.analysis.scopes import environment_scope, free_scope
from solver.analysis.search import LIMIT, Component, Found
from solver.demands import Asked, completed_calls
from solver.product import Product

__all__ = ["FURTHEST", "explain_impossible", "shortest_length"]

FURTHEST = 100
"""How many calls beyond the length asked for are tried, to name one that works."""


def explain_impossible(asked: Asked, length: int) -> SearchError:
    """The error for a search that has no trace of that length, with what stands in the way."""
    environment = asked.environment
    parts = {demand.text: keeping(demand.automaton) for demand in asked.demands(length)}
    prover = Prover(free_scope(environment), environment_scope(environment), LIMIT)
    start = f"environment {environment.name!r}: no compliant trace of {length} calls exists"
    at_all = prover.anywhere(Component(completed_calls(environment)), parts)
    if isinstance(at_all, Excluded):
        causes = _causes(at_all)
        why = f"{enumeration(causes)} exclude each other; loosen one of them"
        return SearchError(
            f"{start}, nor of any other length: {why if causes[1:] else f'{causes[0]} excludes every one; change it'}"
        )
    exactly = prover.anywhere(Component(completed_calls(environment, length)), parts)
    causes = enumeration(_causes(exactly)) if isinstance(exactly, Excluded) else "all that is asked for together"
    longer = shortest_length(asked, length)
    if longer is not None:
        return SearchError(f"{start}: {causes} need more calls; ask for {longer}, the shortest from there on")
    remedy = f"; there are some of {len(at_all.trace)} calls" if isinstance(at_all, Found) else ""
    return SearchError(f"{start}: {causes} exclude each other at that length{remedy}")


def shortest_length(asked: Asked, length: int) -> int | None:
    """The smallest number of calls, not below ``length``, that some trace has; None if none is near."""
    product = Product(asked.environment, asked.automata(length))
    for longer in range(length, length + FURTHEST):
        if asked.wishes.compliance is not None:  # how many calls the share comes to depends on the length
            try:
                product = Product(asked.environment, asked.automata(longer))
            except SearchError:
                continue
        if product.can_finish(0, longer):
            return longer
    return None


def _causes(answer: Excluded) -> list[str]:
    world = [] if answer.scope == "free" and answer.rules else ["the environment's preconditions"]
    return [*answer.rules, *world]
