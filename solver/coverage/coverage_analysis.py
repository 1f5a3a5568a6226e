"""Coverage analysis: which pairs of adjacent tools compliant traces of one length can have, and a suite that has them.

analysis = analyse_coverage(environment, rules, mode="tasks", length=8, count=40, seed=1)
analysis.feasible, analysis.certificates    # every ordered pair of tools is in one of them
analysis.suite.atc, analysis.needed

The suite is a greedy set cover: several runs of the beam search make a pool of sequences, and the sequence with the
most new pairs is taken first. Pairs that the pool lacks get sequences of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
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
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.search import TraceSearch
from lawtrace.solver.planner.sequence_graph import ToolSequence
from lawtrace.solver.planner.synthesis import feasible_product
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs
from lawtrace.solver.planner.transition_system import INITIAL_STATE_SAMPLES
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.bounded_model_checking import BoundedEncoding
from lawtrace.solver.traces import Trace

GREEDY_RUNS = 6

INITIAL_STATES_PER_SEQUENCE = 4
"""Fewer than in synthesis: there are many sequences to choose from, and rare pairs get more of them."""

SEQUENCES_PER_PAIR = 10


class InstantiatedSequences:
    """Tool sequences of one product with the traces that were made of them."""

    def __init__(self, product: Product, search: TraceSearch, seed: str) -> None:
        self._traces: dict[ToolSequence, Trace | None] = {}
        self._product = product
        self._search = search
        self._seed = seed

    def trace(self, sequence: ToolSequence) -> Trace | None:
        """The sequence with arguments in some initial state, always the same ones; None if none were found."""
        if sequence not in self._traces:
            random = Random(f"{self._seed}/{','.join(sequence)}")
            trace = self._search.find(self._product, sequence, random, INITIAL_STATES_PER_SEQUENCE, repair=False)
            self._traces[sequence] = trace
        return self._traces[sequence]

    def events(self, sequences: Iterable[ToolSequence]) -> list[tuple[Event, ...]]:
        """The events of the sequences that have a trace."""
        return [trace.events for trace in map(self.trace, sequences) if trace is not None]


def find_suite(product: Product, length: int, *, seed: str, sequences: InstantiatedSequences) -> list[ToolSequence]:
    """A small suite with many of the pairs that accepted sequences have, most new pairs first."""
    pairs = product.feasible_pairs(length)
    pool: dict[frozenset[ToolPair], ToolSequence] = {}
    for run in range(GREEDY_RUNS):
        for sequence in _greedy_sequences(product, length, pairs, Random(f"{seed}/{run}")):
            covered = frozenset(adjacent_pairs(sequence))
            if covered not in pool and sequences.trace(sequence):
                pool[covered] = sequence
    return _most_new_first(pool.values())


def sequences_for_pairs(
    product: Product, length: int, missing: set[ToolPair], sequences: InstantiatedSequences
) -> list[ToolSequence]:
    """A sequence for each pair that the suite lacks, where a few tries find one that can be instantiated."""
    found: list[ToolSequence] = []
    while missing:
        pair = min(missing)
        missing = missing - {pair}
        through = product.through(pair)
        for number in range(SEQUENCES_PER_PAIR):
            sequence = draw_tool_sequence(through, length, Random(f"{pair}/{number}"), missing)
            if sequences.trace(sequence):
                missing -= adjacent_pairs(sequence)
                found.append(sequence)
                break
    return found


def random_sequences(product: Product, length: int, count: int, sequences: InstantiatedSequences) -> list[ToolSequence]:
    """Further random sequences. They add to rule coverage, not to pairs."""
    found: list[ToolSequence] = []
    for number in range(10 * max(count, 0)):
        if len(found) == count:
            break
        sequence = draw_tool_sequence(product, length, Random(f"spare/{number}"), set())
        if sequences.trace(sequence):
            found.append(sequence)
    return found


def pairs_in(sequences: Iterable[ToolSequence]) -> set[ToolPair]:
    """The pairs of adjacent tools that some sequence has."""
    return {pair for sequence in sequences for pair in adjacent_pairs(sequence)}


def _greedy_sequences(product: Product, length: int, pairs: set[ToolPair], random: Random) -> Iterator[ToolSequence]:
    missing = set(pairs)
    while missing:
        sequence = draw_tool_sequence(product, length, random, missing)
        if not adjacent_pairs(sequence) & missing:
            return  # the beam finds no further new pair
        missing -= adjacent_pairs(sequence)
        yield sequence


def _most_new_first(sequences: Iterable[ToolSequence]) -> list[ToolSequence]:
    """Greedy set cover: always the sequence with the most new pairs; sequences without new pairs are left out."""
    waiting, covered, chosen = list(sequences), set[ToolPair](), list[ToolSequence]()
    while waiting:
        best = max(waiting, key=lambda sequence: len(adjacent_pairs(sequence) - covered))
        if not adjacent_pairs(best) - covered:
            break
        covered |= adjacent_pairs(best)
        waiting.remove(best)
        chosen.append(best)
    return chosen


def traces_needed(suite: Sequence[ToolSequence], pairs: frozenset[ToolPair]) -> int | None:
    """How many sequences of the suite, in order, contain all the pairs; None if the whole suite lacks one."""
    covered: set[ToolPair] = set()
    for number, sequence in enumerate(suite, 1):
        covered |= adjacent_pairs(sequence)
        if covered >= pairs:
            return number
    return None


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
        certifier = Certifier(spec, encodings, length)
        answers: dict[ToolPair, Certificate | tuple[Event, ...] | None] = {}
        for pair in open_pairs:
            answers[pair] = certifier.decide(pair, planned=pair in planned)
            step()
    certificates = tuple(answer for answer in answers.values() if isinstance(answer, Certificate))
    feasible = frozenset(all_pairs) - {certificate.pair for certificate in certificates}
    found = [answer for answer in answers.values() if answer is not None and not isinstance(answer, Certificate)]
    traces = [*sequences.events(suite), *found][:count]
    traces += sequences.events(random_sequences(product, length, count - len(traces), sequences))
    return CoverageAnalysis(
        mode=mode,
        length=length,
        tools=tuple(environment.tools),
        feasible=feasible,
        certificates=certificates,
        undecided=tuple(pair for pair, answer in answers.items() if answer is None),
        assumptions=(*encodings[0].assumptions(), *_initial_state_assumption(encodings)),
        suite=measure_coverage(environment, traces),
        needed=traces_needed([tuple(event.tool for event in trace) for trace in traces], feasible),
        rules=measure_rules(rules, product, length, traces),
    )


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
