"""Obligations: what a trace still owes, as a canonical value.

A *promise* is a formula of the closure together with what happens if the trace ends before it can be kept: a strict
promise is then broken, a lenient one kept. An obligation is a monotone boolean combination of promises, in
disjunctive normal form, without clauses that another clause implies: a frozenset of clauses, each clause a bit mask
of promises. Dropping the implied clauses makes the form canonical (the clauses are the prime implicants, which a
monotone function has exactly one set of), and canonical states are what makes the construction terminate with few
of them: obligations kept as formula trees grow without end on a third of random formulas.
"""

from collections.abc import Collection
from typing import Final

from lawtrace.environments.errors import FormulaError

Obligation = frozenset[int]

FALSE: Final[Obligation] = frozenset()
TRUE: Final[Obligation] = frozenset({0})

MAXIMUM_CLAUSES: Final = 5_000
"""How many combinations one step may make. Only formulas that nobody can read need more."""


def promise(node: int, *, lenient: bool) -> Obligation:
    """The obligation that consists of one promise, about the closure's formula number `node`."""
    return frozenset({1 << (2 * node + lenient)})


def any_of(*obligations: Obligation) -> Obligation:
    return _without_implied(frozenset[int]().union(*obligations))


def all_of(one: Obligation, other: Obligation) -> Obligation:
    if not one or other == TRUE:
        return one
    if not other or one == TRUE:
        return other
    if len(one) * len(other) > MAXIMUM_CLAUSES:
        raise FormulaError("the formula mixes too many alternatives inside temporal operators: split it into rules")
    return _without_implied({left | right for left in one for right in other})


def settled(obligation: Obligation, strict: int) -> bool:
    """Whether a trace may end here: some clause has no strict promise. `strict` is the mask of all strict ones."""
    return any(not clause & strict for clause in obligation)


def _without_implied(clauses: Collection[int]) -> Obligation:
    """The clauses that contain no other clause: the others follow from those."""
    if len(clauses) < 2:
        return frozenset(clauses)
    kept: list[int] = []
    for clause in sorted(clauses, key=int.bit_count):
        if not any(smaller & clause == smaller for smaller in kept):
            kept.append(clause)
    return frozenset(kept)
