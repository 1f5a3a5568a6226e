"""Suites: few tool sequences that contain every feasible pair of adjacent tools, each with arguments.

Greedy set cover: several runs of the beam search make a pool of sequences, and the sequence with the most new pairs is
taken first. Pairs that the pool lacks get sequences of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from lawtrace.schemas.events import Event
from lawtrace.schemas.trace_options import ToolPair
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.search import TraceSearch
from lawtrace.solver.planner.sequence_graph import ToolSequence
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import adjacent_pairs
from lawtrace.solver.traces import Trace

GREEDY_RUNS = 6

INITIAL_STATES_PER_SEQUENCE = 4
"""Fewer than in synthesis: there are many sequences to choose from, and rare pairs get more of them."""

SEQUENCES_PER_PAIR = 10


class InstantiatedSequences:
    """Tool sequences of one product with the traces that were made of them.

    Attributes:
        traces: the trace of each sequence that could be instantiated in some initial state.
    """

    def __init__(self, product: Product, search: TraceSearch, seed: str) -> None:
        self.traces: dict[ToolSequence, Trace] = {}
        self._product = product
        self._search = search
        self._seed = seed
        self._failed: set[ToolSequence] = set()

    def events(self, sequence: ToolSequence) -> tuple[Event, ...]:
        """The events of a sequence that was instantiated."""
        return self.traces[sequence].events

    def instantiate(self, sequence: ToolSequence) -> bool:
        """Whether the sequence gets arguments in some initial state; the same sequence always gets the same ones."""
        if sequence not in self.traces and sequence not in self._failed:
            random = Random(f"{self._seed}/{','.join(sequence)}")
            trace = self._search.find(self._product, sequence, random, INITIAL_STATES_PER_SEQUENCE, repair=False)
            if trace is None:
                self._failed.add(sequence)
            else:
                self.traces[sequence] = trace
        return sequence in self.traces


def find_suite(product: Product, length: int, *, seed: str, sequences: InstantiatedSequences) -> list[ToolSequence]:
    """A small suite with many of the pairs that accepted sequences have, most new pairs first."""
    pairs = product.feasible_pairs(length)
    pool: dict[frozenset[ToolPair], ToolSequence] = {}
    for run in range(GREEDY_RUNS):
        for sequence in _greedy_sequences(product, length, pairs, Random(f"{seed}/{run}")):
            covered = frozenset(adjacent_pairs(sequence))
            if covered not in pool and sequences.instantiate(sequence):
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
            if sequences.instantiate(sequence):
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
        if sequences.instantiate(sequence):
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
