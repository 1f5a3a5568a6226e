"""Which adjacent pairs are feasible, and for each that is not, a certificate that a reader understands.

Two derivations stand side by side: the product of abstract facts and automata (``product.py``), which is exact for what
it abstracts to and fast, and the bounded encoding of the whole declaration (``encoding.py``), which Z3 decides. A pair
counts as feasible if both say so; where they disagree the analysis stops, because one of them is wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from environments.declaration import Environment
from environments.errors import LawtraceError
from solver.coverage import Coverage, measure_coverage
from solver.encoding import Encoding, Obstacle
from solver.product import Product
from solver.profiles import Profile, profile_automata, profile_formulas
from solver.rules import Rule
from solver.synthesis import synthesize
from solver.traces import Trace
from solver.walks import pairs_of

__all__ = ["Certificate", "CoverageAnalysis", "Disagreement", "analyse_coverage"]

Pair = tuple[str, str]


class Disagreement(LawtraceError):
    """Product and encoding do not agree on a pair. A defect of ours."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why no compliant trace has a call of ``pair[1]`` directly after one of ``pair[0]``.

    ``obstacles`` is minimal: without any one of them such a trace exists, as far as Z3 could decide.
    """

    pair: Pair
    obstacles: tuple[Obstacle, ...]

    def __str__(self) -> str:
        reasons = "; ".join(f"{obstacle.kind}: {obstacle.text}" for obstacle in self.obstacles)
        return f"{self.pair[0]} -> {self.pair[1]} is impossible, because of {reasons or 'the assumptions alone'}"


@dataclass(frozen=True, slots=True)
class CoverageAnalysis:
    """What compliant traces of one length can cover, and what a suite of them does.

    Attributes:
        feasible: the pairs that occur in some compliant trace of that length.
        certificates: one for each pair that does not.
        undecided: pairs that Z3 did not decide within its budget; they count as feasible if the product says so.
        assumptions: what the certificates take for granted.
        suite: the coverage of the traces that were synthesised.
        complete_after: how many of them were enough for every feasible pair; None if they were not enough.
        lower_bound: no suite can do with fewer: a trace of K calls has K - 1 pairs.
    """

    profile: Profile
    length: int
    feasible: frozenset[Pair]
    certificates: tuple[Certificate, ...]
    undecided: tuple[Pair, ...]
    assumptions: tuple[str, ...]
    suite: Coverage
    complete_after: int | None
    lower_bound: int

    @property
    def missing(self) -> tuple[Pair, ...]:
        """Feasible pairs that the suite does not cover."""
        return tuple(sorted(self.feasible - self.suite.pairs))


def analyse_coverage(
    environment: Environment, rules: Sequence[Rule], *, profile: Profile, length: int, count: int, seed: int
) -> CoverageAnalysis:
    """Decide every ordered pair of tools, and synthesise a suite of ``count`` traces.

    Raises SearchError if no compliant trace of that length exists, Disagreement if product and encoding differ.
    """
    automata = {rule.id: rule.automaton for rule in rules}
    formulas = profile_formulas(environment, profile)
    automata |= dict(zip(formulas, profile_automata(environment, profile), strict=True))
    traces = list(synthesize(environment, rules, count=count, length=length, seed=seed, profile=profile))
    feasible = Product(environment, list(automata.values())).adjacent_pairs(length)
    encoding = Encoding(environment, automata, length=length, initial=environment.populate(Random(seed)))
    certificates: list[Certificate] = []
    undecided: list[Pair] = []
    for first in environment.tools:
        for second in environment.tools:
            pair = (first, second)
            answer = encoding.ask_pair(first, second)
            if answer.obstacles is not None:
                certificates.append(Certificate(pair, answer.obstacles))
            elif answer.calls is None:
                undecided.append(pair)
            if answer.decided and (answer.calls is not None) != (pair in feasible):
                raise Disagreement(
                    f"environment {environment.name!r}: product and encoding disagree on {first} -> {second} in "
                    f"traces of {length} calls; this is a defect, please report it with the declaration"
                )
    return CoverageAnalysis(
        profile,
        length,
        frozenset(feasible),
        tuple(certificates),
        tuple(undecided),
        encoding.assumptions(),
        measure_coverage(environment, (trace.events for trace in traces)),
        _complete_after(traces, feasible),
        math.ceil(len(feasible) / (length - 1)) if length > 1 else 0,
    )


def _complete_after(traces: Sequence[Trace], feasible: set[Pair]) -> int | None:
    covered: set[Pair] = set()
    for number, trace in enumerate(traces, 1):
        covered |= pairs_of(trace.tools)
        if covered >= feasible:
            return number
    return None
