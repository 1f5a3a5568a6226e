"""Coverage analysis: which pairs of adjacent tools compliant traces of one length can have, and a suite that has them.

analysis = analyse_coverage(environment, rules, mode="tasks", length=8, count=40, seed=1)
analysis.feasible, analysis.certificates    # every ordered pair of tools is in one of them
analysis.suite.atc, analysis.needed
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import Coverage
from lawtrace.schemas.trace_options import ToolPair, TraceMode
from lawtrace.solver.coverage.certificates import Certificate, Certifier
from lawtrace.solver.coverage.measures import RuleCoverage, measure_coverage, measure_rules
from lawtrace.solver.coverage.suite import (
    InstantiatedSequences,
    find_suite,
    pairs_in,
    random_sequences,
    sequences_for_pairs,
    traces_needed,
)
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.search import TraceSearch
from lawtrace.solver.planner.synthesis import feasible_product
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.planner.transition_system import INITIAL_STATE_SAMPLES
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.bounded_model_checking import BoundedEncoding


@dataclass(frozen=True, slots=True)
class CoverageAnalysis:
    """What compliant traces of one length and mode can cover, and what a suite of them does cover.

    Attributes:
        tools: all tools, in the order of the environment.
        feasible: the pairs that occur in some compliant trace of that length.
        certificates: one for each infeasible pair.
        undecided: pairs that no trace has and that Z3 did not decide, unless the rules alone exclude them. They count
            as feasible.
        assumptions: what the certificates assume.
        suite: the coverage of the synthesised traces.
        needed: how many traces of the suite, in order, have every feasible pair; None if the suite lacks one.
        rules: the coverage of each rule by the suite.
    """

    mode: TraceMode
    length: int
    tools: tuple[str, ...]
    feasible: frozenset[ToolPair]
    certificates: tuple[Certificate, ...]
    undecided: tuple[ToolPair, ...]
    assumptions: tuple[str, ...]
    suite: Coverage
    needed: int | None
    rules: tuple[RuleCoverage, ...]

    @property
    def missing(self) -> tuple[ToolPair, ...]:
        """Feasible pairs that the suite does not cover."""
        return tuple(sorted(self.feasible - self.suite.pairs))

    @property
    def ceiling(self) -> float:
        """The highest adjacent-tool coverage that traces of this mode and length can reach."""
        return len(self.feasible) / self.suite.all_pairs


def analyse_coverage(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    mode: TraceMode,
    length: int,
    count: int,
    seed: int,
    stages: StageProgress | None = None,
) -> CoverageAnalysis:
    """Decide every ordered pair of tools, and synthesise a suite of ``count`` traces that covers as many as possible.

    A pair that occurs in a trace of the suite is feasible: the simulator has executed it. A pair that the product
    excludes is infeasible if Z3 agrees or the rules alone exclude it. Z3 decides the remaining pairs. A trace that Z3
    finds is executed and joins the suite.

    Raises SearchError if no compliant trace of that length exists.
    """
    stages = stages or NoProgress()
    spec = TraceSpec(environment, tuple(rules), mode)
    product = feasible_product(spec, length)
    planned = product.feasible_pairs(length)
    sequences = InstantiatedSequences(product, TraceSearch(spec), f"{environment.name}/{mode}/{length}/{seed}")
    with stages.stage(f"suite, {mode}", None):
        suite = find_suite(product, length, seed=str(seed), sequences=sequences)
    with stages.stage(f"rare pairs, {mode}", None):
        suite += sequences_for_pairs(product, length, planned - pairs_in(suite), sequences)
    encodings = _encodings(spec, product, length, seed)
    all_pairs = [(first, second) for first in environment.tools for second in environment.tools]
    open_pairs = [pair for pair in all_pairs if pair not in pairs_in(suite)]
    with stages.stage(f"pairs to prove, {mode}", len(open_pairs)) as step:
        decided = _decide_pairs(Certifier(spec, encodings, length), open_pairs, planned, step)
    feasible = frozenset(all_pairs) - {certificate.pair for certificate in decided.certificates}
    traces = [*map(sequences.events, suite), *decided.traces][:count]
    traces += map(sequences.events, random_sequences(product, length, count - len(traces), sequences))
    return CoverageAnalysis(
        mode=mode,
        length=length,
        tools=tuple(environment.tools),
        feasible=feasible,
        certificates=decided.certificates,
        undecided=decided.undecided,
        assumptions=(*encodings[0].assumptions(), *_initial_state_assumption(encodings)),
        suite=measure_coverage(environment, traces),
        needed=traces_needed([tuple(event.tool for event in trace) for trace in traces], feasible),
        rules=measure_rules(rules, product, length, traces),
    )


@dataclass(frozen=True, slots=True)
class _DecidedPairs:
    """The result for pairs that the suite lacks: infeasible, undecided, or found in one of these traces."""

    certificates: tuple[Certificate, ...]
    undecided: tuple[ToolPair, ...]
    traces: tuple[tuple[Event, ...], ...]


def _decide_pairs(
    certifier: Certifier, open_pairs: Sequence[ToolPair], planned: set[ToolPair], step: Callable[[], None]
) -> _DecidedPairs:
    certificates: list[Certificate] = []
    undecided: list[ToolPair] = []
    traces: list[tuple[Event, ...]] = []
    for pair in open_pairs:
        match certifier.decide(pair, planned=pair in planned):
            case Certificate() as certificate:
                certificates.append(certificate)
            case None:
                undecided.append(pair)
            case trace:
                traces.append(trace)
        step()
    return _DecidedPairs(tuple(certificates), tuple(undecided), tuple(traces))


def _encodings(spec: TraceSpec, product: Product, length: int, seed: int) -> list[BoundedEncoding]:
    """One bounded encoding for each class of random initial states that the abstraction distinguishes."""
    random = Random(seed)
    states = [spec.environment.populate(random) for _ in range(INITIAL_STATE_SAMPLES)]
    classes: dict[int | None, State] = {}
    for state in states:
        start = product.initial_state(product.system.initial_search_state(state))
        classes.setdefault(None if start is None else start.node, state)
    rules = {requirement.name: requirement.exact for requirement in spec.requirements(length)}
    return [BoundedEncoding(spec.environment, rules, length=length, initial=state) for state in classes.values()]


def _initial_state_assumption(encodings: Sequence[BoundedEncoding]) -> tuple[str, ...]:
    if not encodings[1:]:
        return ()
    return (
        f"one initial state of each of the {len(encodings)} classes found in {INITIAL_STATE_SAMPLES} samples; the "
        "row counts are those of the first",
    )
