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

from lawtrace.environments.events import Event
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.solver.coverage.certificates import Certificate, Certifier
from lawtrace.solver.coverage.measures import Coverage, RuleCoverage, measure_coverage, measure_rules
from lawtrace.solver.coverage.sequence_graph import SequenceGraph
from lawtrace.solver.coverage.suite import LowerBound, counting_bound, find_suite
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.synthesis import feasible_product, instantiate_from_initial_states, product_with_pair
from lawtrace.solver.planner.tool_sequences import ToolPair, ToolSequence, adjacent_pairs, draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceProfile, TraceSpec
from lawtrace.solver.planner.transition_system import INITIAL_STATE_SAMPLES
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.bounded_model_checking import BoundedEncoding
from lawtrace.solver.traces import Trace

__all__ = [
    "Certificate",
    "CoverageAnalysis",
    "LowerBound",
    "RuleCoverage",
    "StageProgress",
    "analyse_coverage",
]

INITIAL_STATES_PER_SEQUENCE = 4
"""Fewer than in synthesis: there are many walks to choose from, and a pair that is rare gets more of them."""

SEQUENCES_PER_PAIR = 10


class StageProgress(Protocol):
    """Where the analysis tells how far it is."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        """A stage begins; what it gives is called once for each step done."""
        ...


class _NoProgress:
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

    profile: TraceProfile
    length: int
    tools: tuple[str, ...]
    feasible: frozenset[ToolPair]
    certificates: tuple[Certificate, ...]
    undecided: tuple[ToolPair, ...]
    assumptions: tuple[str, ...]
    suite: Coverage
    occurrences: tuple[tuple[ToolPair, int], ...]
    needed: int | None
    bound: LowerBound
    rules: tuple[RuleCoverage, ...]

    @property
    def missing(self) -> tuple[ToolPair, ...]:
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
    profile: TraceProfile,
    length: int,
    count: int,
    seed: int,
    stages: StageProgress | None = None,
) -> CoverageAnalysis:
    """Decide every ordered pair of tools, and synthesise a suite of ``count`` traces that covers as many as possible.

    A pair that occurs in a trace of the suite is feasible: the simulator has executed it. A pair that the product
    excludes is not, if Z3 agrees or the rules alone exclude it. Of what remains, Z3 has the last word; a trace that it
    finds is executed too, and joins the suite.

    Raises SearchError if no compliant trace of that length exists.
    """
    stages = stages or _NoProgress()
    asked = TraceSpec(environment, tuple(rules), profile)
    product = feasible_product(asked, length)
    graph = SequenceGraph(product, length)
    carried = _InstantiatedSequences(product, f"{environment.name}/{profile}/{length}/{seed}")
    with stages.stage(f"suite, {profile}", None):
        suite = find_suite(graph, product, seed=str(seed), carries=carried.carries)
    with stages.stage(f"rare pairs, {profile}", None):
        rare = _rare_pair_sequences(asked, product, length, set(graph.pairs) - _pairs_in(suite.sequences), carried)
    encodings = _encodings(asked, product, length, seed)
    everything = [(first, second) for first in environment.tools for second in environment.tools]
    doubtful = [pair for pair in everything if pair not in _pairs_in([*suite.sequences, *rare])]
    with stages.stage(f"pairs to prove, {profile}", len(doubtful)) as step:
        settled = _decide_pairs(Certifier(asked, encodings, length), doubtful, graph, step)
    feasible = frozenset(everything) - {certificate.pair for certificate in settled.certificates}
    certain = feasible - {*settled.undecided}  # whether a suite could have the others at all, nobody knows
    traces = [*map(carried.events, [*suite.sequences, *rare]), *settled.traces][:count]
    traces += map(carried.events, _additional_sequences(product, length, count - len(traces), carried))
    measured = measure_coverage(environment, traces)
    walks = [tuple(event.tool for event in trace) for trace in traces]
    return CoverageAnalysis(
        profile=profile,
        length=length,
        tools=tuple(environment.tools),
        feasible=feasible,
        certificates=settled.certificates,
        undecided=settled.undecided,
        assumptions=(*encodings[0].assumptions(), *_initial_state_assumption(encodings)),
        suite=measured,
        occurrences=tuple(
            (pair, sum(pair in adjacent_pairs(walk) for walk in walks)) for pair in sorted(measured.pairs)
        ),
        needed=_traces_needed(walks, feasible),
        # A pair beyond the plan shows that there are walks beyond it, of which its bound does not speak.
        bound=suite.bound.restricted_to(certain)
        if certain <= set(graph.pairs)
        else counting_bound(sorted(certain), length),
        rules=measure_rules(rules, product, length, traces),
    )


@dataclass(frozen=True, slots=True)
class _DecidedPairs:
    """What became of pairs that no walk has shown: impossible, undecided, or in one of these traces."""

    certificates: tuple[Certificate, ...]
    undecided: tuple[ToolPair, ...]
    traces: tuple[tuple[Event, ...], ...]


def _decide_pairs(
    certifier: Certifier, doubtful: Sequence[ToolPair], graph: SequenceGraph, step: Callable[[], None]
) -> _DecidedPairs:
    certificates: list[Certificate] = []
    undecided: list[ToolPair] = []
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
    return _DecidedPairs(tuple(certificates), tuple(undecided), tuple(traces))


def _encodings(asked: TraceSpec, product: Product, length: int, seed: int) -> list[BoundedEncoding]:
    """The bounded problem from an initial state of each kind that the facts tell apart, as chance draws them."""
    random = Random(seed)
    states = [asked.environment.populate(random) for _ in range(INITIAL_STATE_SAMPLES)]
    kinds: dict[int | None, State] = {}
    for state in states:
        place = product.start(product.graph.start(state))
        kinds.setdefault(None if place is None else place.node, state)
    automata = {demand.text: demand.automaton for demand in asked.requirements(length)}
    return [BoundedEncoding(asked.environment, automata, length=length, initial=state) for state in kinds.values()]


def _initial_state_assumption(encodings: Sequence[BoundedEncoding]) -> tuple[str, ...]:
    if not encodings[1:]:
        return ()
    return (
        f"one initial state of each of the {len(encodings)} kinds that {INITIAL_STATE_SAMPLES} draws show, "
        "the first as told",
    )


class _InstantiatedSequences:
    """The walks that got arguments in some initial state, with their traces."""

    def __init__(self, product: Product, seed: str) -> None:
        self.traces: dict[ToolSequence, Trace] = {}
        self._product = product
        self._seed = seed
        self._failed: set[ToolSequence] = set()

    def events(self, walk: ToolSequence) -> tuple[Event, ...]:
        """The trace of a walk that is carried."""
        return self.traces[walk].events

    def carries(self, walk: ToolSequence) -> bool:
        """Whether the walk can be carried out; the same walk always gets the same arguments."""
        if walk not in self.traces and walk not in self._failed:
            trace = instantiate_from_initial_states(
                self._product, walk, Random(f"{self._seed}/{','.join(walk)}"), INITIAL_STATES_PER_SEQUENCE
            )
            if trace is None:
                self._failed.add(walk)
            else:
                self.traces[walk] = trace
        return walk in self.traces


def _rare_pair_sequences(
    asked: TraceSpec, product: Product, length: int, missing: set[ToolPair], carried: _InstantiatedSequences
) -> list[ToolSequence]:
    """A walk straight to each pair that the suite lacks, as far as a few tries find one that is carried."""
    found: list[ToolSequence] = []
    while missing:
        pair = min(missing)
        missing = missing - {pair}
        through = product_with_pair(asked, pair, length, generous=product.generous)
        for number in range(SEQUENCES_PER_PAIR):
            walk = draw_tool_sequence(through, length, Random(f"{pair}/{number}"), missing)
            if carried.carries(walk):
                missing -= adjacent_pairs(walk)
                found.append(walk)
                break
    return found


def _additional_sequences(
    product: Product, length: int, count: int, carried: _InstantiatedSequences
) -> list[ToolSequence]:
    """Further walks as chance draws them, for what a suite shows beside pairs."""
    found: list[ToolSequence] = []
    for number in range(10 * max(count, 0)):
        if len(found) == count:
            break
        walk = draw_tool_sequence(product, length, Random(f"spare/{number}"), set())
        if carried.carries(walk):
            found.append(walk)
    return found


def _pairs_in(walks: Sequence[ToolSequence]) -> set[ToolPair]:
    return {pair for walk in walks for pair in adjacent_pairs(walk)}


def _traces_needed(walks: Sequence[ToolSequence], feasible: frozenset[ToolPair]) -> int | None:
    covered: set[ToolPair] = set()
    for number, walk in enumerate(walks, 1):
        covered |= adjacent_pairs(walk)
        if covered >= feasible:
            return number
    return None
