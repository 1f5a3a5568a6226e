"""Why no trace meets what was asked: the smallest set of demands and rules found that excludes each other, or a length.

The questions go to the prover of `lawtrace.solver.analysis`, which draws rules in only when they matter, so that
forty rules are no forty-fold product. The goal is that every call completes, and how many there are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lawtrace.environments.errors import SearchError
from lawtrace.solver.analysis.findings import enumeration
from lawtrace.solver.analysis.following import keeping
from lawtrace.solver.analysis.proofs import Excluded, Prover
from lawtrace.solver.analysis.scopes import environment_scope, free_scope
from lawtrace.solver.analysis.search import LIMIT, Component
from lawtrace.solver.demands import Asked, completed_calls
from lawtrace.solver.product import Product

FURTHEST = 100
"""How many calls beyond the length asked for are tried, to name one that works."""


def explain_impossible(asked: Asked, length: int) -> SearchError:
    """The error for a search that has no trace of that length, with what stands in the way."""
    environment = asked.environment
    prover = Prover(free_scope(environment), environment_scope(environment), LIMIT)
    start = f"environment {environment.name!r}: no compliant trace of {length} calls exists"
    at_all = prover.anywhere(Component(completed_calls(environment)), _parts(_at_any_length(asked), length))
    if isinstance(at_all, Excluded):
        causes = _causes(at_all)
        remedy = "loosen one of them" if causes[1:] else "change it"
        return SearchError(f"{start}, nor of any other length: {_excluding(causes)}; {remedy}")
    exactly = prover.anywhere(Component(completed_calls(environment, length)), _parts(asked, length))
    causes = _causes(exactly) if isinstance(exactly, Excluded) else ["all that is asked for together"]
    longer = nearest_length(asked, range(length, length + FURTHEST))
    if longer is not None:
        why = f"{enumeration(causes)} need more calls"
        return SearchError(f"{start}: {why}; ask for {longer}, the shortest from there on")
    shorter = nearest_length(asked, range(length - 1, 0, -1))
    remedy = "" if shorter is None else f"; there are some of {shorter} calls"
    return SearchError(f"{start}: {_excluding(causes)} at that length{remedy}")


def nearest_length(asked: Asked, lengths: Iterable[int]) -> int | None:
    """The first of these numbers of calls that some trace has, by what plans go by; None if none has."""
    product = None
    for length in lengths:
        if product is None or asked.wishes.compliance is not None:
            try:
                product = Product(asked.environment, asked.automata(length), generous=True)
            except SearchError:  # no whole number of that many calls is such a share
                continue
        if product.can_finish(0, length):
            return length
    return None


def _at_any_length(asked: Asked) -> Asked:
    """What is asked of traces whatever their length: how many calls a share comes to depends on that."""
    return replace(asked, wishes=asked.wishes.model_copy(update={"compliance": None}))


def _parts(asked: Asked, length: int) -> dict[str, Component]:
    return {demand.text: keeping(demand.automaton) for demand in asked.demands(length)}


def _causes(answer: Excluded) -> list[str]:
    world = [] if answer.scope == "free" and answer.rules else ["the environment's preconditions"]
    return [*answer.rules, *world]


def _excluding(causes: Sequence[str]) -> str:
    return f"{enumeration(causes)} exclude each other" if causes[1:] else f"{causes[0]} excludes every one"
