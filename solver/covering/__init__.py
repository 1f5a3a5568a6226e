"""What compliant traces of one length can cover, what a suite of them does, and proofs for the rest.

analysis = analyse_coverage(environment, rules, profile="tasks", length=8, count=40, seed=1)
analysis.feasible, analysis.certificates        # every ordered pair is in one of them
analysis.suite.atc, analysis.needed, analysis.bound.walks
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import Protocol

from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Event
from lawtrace.environments.state import State
from lawtrace.solver.coverage import Coverage, measure_coverage
from lawtrace.solver.covering.certificates import Certificate, Certifier
from lawtrace.solver.covering.graph import Graph
from lawtrace.solver.covering.rules import RuleCoverage, measure_rules
from lawtrace.solver.covering.suite import LowerBound, cover, plain_counting
from lawtrace.solver.demands import Asked
from lawtrace.solver.encoding import Encoding
from lawtrace.solver.facts import STARTS
from lawtrace.solver.product import Product
from lawtrace.solver.profiles import Profile
from lawtrace.solver.rules import Rule
from lawtrace.solver.synthesis import plan, product_through, try_to_fill
from lawtrace.solver.traces import Trace
from lawtrace.solver.walks import Pair, Walk, draw_walk, pairs_of

__all__ = [
    "Certificate",
    "CoverageAnalysis",
    "LowerBound",
    "RuleCoverage",
    "Stages",
    "analyse_coverage",
]

STATES_A_WALK = 4
"""Fewer than in synthesis: there are many walks to choose from, and a pair that is rare gets more of them."""

WALKS_A_PAIR = 10


class Stages(Protocol):
    """Where the analysis tells how far it is."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        """A stage begins; what it gives is called once for each step done."""
        ...


class _Silent:
    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)


@dataclass(frozen=True, slots=True)
class CoverageAnalysis:
    """What compliant traces of one length can cover in one profile, and what a suite of them does.

    Attributes:
        tools: all tools, in the order of the environment.
        feasible: the pairs that occur in some compliant trace of that length.
        certificates: one for each pair that does not.
        undecided: pairs of which no trace was found and that Z3 did not decide, unless the rules alone exclude them;
            they count as feasible.
        assumptions: what certificates take for granted.
        suite: the coverage of the traces that were synthesised.
        occurrences: for each pair that occurs in the suite, in how many of its traces.
        needed: with how many traces the suite has every feasible pair; None if it lacks one.
        bound: why no suite that has every pair that is feasible for certain can do with fewer than ``bound.walks``.
        rules: what the suite shows of each rule.
    """

    profile: Profile
    length: int
    tools: tuple[str, ...]
    feasible: frozenset[Pair]
    certificates: tuple[Certificate, ...]
    undecided: tuple[Pair, ...]
    assumptions: tuple[str, ...]
    suite: Coverage
    occurrences: tuple[tuple[Pair, int], ...]
    needed: int | None
    bound: LowerBound
    rules: tuple[RuleCoverage, ...]

    @property
    def missing(self) -> tuple[Pair, ...]:
        """Feasible pairs that the suite does not cover."""
        return tuple(sorted(self.feasible - self.suite.pairs))

    @property
    def ceiling(self) -> float:
        """The adjacent-tool coverage that traces of this profile and length can reach at most."""
        return len(self.feasible) / self.suite.all_pairs


def analyse_coverage(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    profile: Profile,
    length: int,
    count: int,
    seed: int,
    stages: Stages | None = None,
) -> CoverageAnalysis:
    """Decide every ordered pair of tools, and synthesise a suite of ``count`` traces that covers as many as possible.

    A pair that occurs in a trace of the suite is feasible: the simulator has executed it. A pair that the product
    excludes is not, if Z3 agrees or the rules alone exclude it. Of what remains, Z3 has the last word; a trace that it
    finds is executed too, and joins the suite.

    Raises SearchError if no compliant trace of that length exists.
    """
    stages = stages or _Silent()
    asked = Asked(environment, tuple(rules), profile)
    product = plan(asked, length)
    graph = Graph(product, length)
    carried = _Carried(product, f"{environment.name}/{profile}/{length}/{seed}")
    with stages.stage(f"suite, {profile}", None):
        suite = cover(graph, product, seed=str(seed), carries=carried.carries)
    with stages.stage(f"rare pairs, {profile}", None):
        rare = _rare_walks(asked, product, length, set(graph.pairs) - _pairs(suite.walks), carried)
    encodings = _encodings(asked, product, length, seed)
    everything = [(first, second) for first in environment.tools for second in environment.tools]
    doubtful = [pair for pair in everything if pair not in _pairs([*suite.walks, *rare])]
    with stages.stage(f"pairs to prove, {profile}", len(doubtful)) as step:
        settled = _settle(Certifier(asked, encodings, length), doubtful, graph, step)
    feasible = frozenset(everything) - {certificate.pair for certificate in settled.certificates}
    certain = feasible - {*settled.undecided}  # whether a suite could have the others at all, nobody knows
    traces = [*map(carried.events, [*suite.walks, *rare]), *settled.traces][:count]
    traces += map(carried.events, _spare_walks(product, length, count - len(traces), carried))
    measured = measure_coverage(environment, traces)
    walks = [tuple(event.tool for event in trace) for trace in traces]
    return CoverageAnalysis(
        profile=profile,
        length=length,
        tools=tuple(environment.tools),
        feasible=feasible,
        certificates=settled.certificates,
        undecided=settled.undecided,
        assumptions=(*encodings[0].assumptions(), *_beginnings(encodings)),
        suite=measured,
        occurrences=tuple((pair, sum(pair in pairs_of(walk) for walk in walks)) for pair in sorted(measured.pairs)),
        needed=_needed(walks, feasible),
        # A pair beyond the plan shows that there are walks beyond it, of which its bound does not speak.
        bound=suite.bound.over(certain) if certain <= set(graph.pairs) else plain_counting(sorted(certain), length),
        rules=measure_rules(rules, product, length, traces),
    )


@dataclass(frozen=True, slots=True)
class _Settled:
    """What became of pairs that no walk has shown: impossible, undecided, or in one of these traces."""

    certificates: tuple[Certificate, ...]
    undecided: tuple[Pair, ...]
    traces: tuple[tuple[Event, ...], ...]


def _settle(certifier: Certifier, doubtful: Sequence[Pair], graph: Graph, step: Callable[[], None]) -> _Settled:
    certificates: list[Certificate] = []
    undecided: list[Pair] = []
    traces: list[tuple[Event, ...]] = []
    for pair in doubtful:
        match certifier.settle(pair, planned=pair in graph.pairs):
            case Certificate() as certificate:
                certificates.append(certificate)
            case None:
                undecided.append(pair)
            case trace:
                traces.append(trace)
        step()
    return _Settled(tuple(certificates), tuple(undecided), tuple(traces))


def _encodings(asked: Asked, product: Product, length: int, seed: int) -> list[Encoding]:
    """The bounded problem from an initial state of each kind that the facts tell apart, as chance draws them."""
    random = Random(seed)
    states = [asked.environment.populate(random) for _ in range(STARTS)]
    kinds: dict[int | None, State] = {}
    for state in states:
        place = product.start(product.graph.start(state))
        kinds.setdefault(None if place is None else place.node, state)
    automata = {demand.text: demand.automaton for demand in asked.demands(length)}
    return [Encoding(asked.environment, automata, length=length, initial=state) for state in kinds.values()]


def _beginnings(encodings: Sequence[Encoding]) -> tuple[str, ...]:
    if not encodings[1:]:
        return ()
    return (f"one initial state of each of the {len(encodings)} kinds that {STARTS} draws show, the first as told",)


class _Carried:
    """The walks that got arguments in some initial state, with their traces."""

    def __init__(self, product: Product, seed: str) -> None:
        self.traces: dict[Walk, Trace] = {}
        self._product = product
        self._seed = seed
        self._failed: set[Walk] = set()

    def events(self, walk: Walk) -> tuple[Event, ...]:
        """The trace of a walk that is carried."""
        return self.traces[walk].events

    def carries(self, walk: Walk) -> bool:
        """Whether the walk can be carried out; the same walk always gets the same arguments."""
        if walk not in self.traces and walk not in self._failed:
            trace = try_to_fill(self._product, walk, Random(f"{self._seed}/{','.join(walk)}"), STATES_A_WALK)
            if trace is None:
                self._failed.add(walk)
            else:
                self.traces[walk] = trace
        return walk in self.traces


def _rare_walks(asked: Asked, product: Product, length: int, missing: set[Pair], carried: _Carried) -> list[Walk]:
    """A walk straight to each pair that the suite lacks, as far as a few tries find one that is carried."""
    found: list[Walk] = []
    while missing:
        pair = min(missing)
        missing = missing - {pair}
        through = product_through(asked, pair, length, generous=product.generous)
        for number in range(WALKS_A_PAIR):
            walk = draw_walk(through, length, Random(f"{pair}/{number}"), missing)
            if carried.carries(walk):
                missing -= pairs_of(walk)
                found.append(walk)
                break
    return found


def _spare_walks(product: Product, length: int, count: int, carried: _Carried) -> list[Walk]:
    """Further walks as chance draws them, for what a suite shows beside pairs."""
    found: list[Walk] = []
    for number in range(10 * max(count, 0)):
        if len(found) == count:
            break
        walk = draw_walk(product, length, Random(f"spare/{number}"), set())
        if carried.carries(walk):
            found.append(walk)
    return found


def _pairs(walks: Sequence[Walk]) -> set[Pair]:
    return {pair for walk in walks for pair in pairs_of(walk)}


def _needed(walks: Sequence[Walk], feasible: frozenset[Pair]) -> int | None:
    covered: set[Pair] = set()
    for number, walk in enumerate(walks, 1):
        covered |= pairs_of(walk)
        if covered >= feasible:
            return number
    return None
