"""Linear and integer programming over a cover: the one place that speaks to scipy's solver, which has no types."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from lawtrace.solver.coverage.sequence_graph import NO_INDEX, SequenceGraph, Weights
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.tool_sequences import ToolPair, ToolSequence, adjacent_pairs, draw_tool_sequence

MILP_NODE_LIMIT = 20
"""The nodes of the integer program's search. Counted, never timed, so that a machine's speed changes nothing."""


def dual_prices(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each row is worth where columns are to cover all rows as cheaply as shares of columns can.

    ``matrix[row, column]`` is 1 where the column covers the row; every row has a column. All prices together are the
    least number of columns, shares counted; no column's rows are worth more than 1.
    """
    rows, columns = matrix.shape
    solved = linprog(np.ones(columns), A_ub=-matrix, b_ub=-np.ones(rows), method="highs")
    return np.maximum(-np.asarray(solved.ineqlin.marginals, dtype=np.float64), 0.0)


def minimum_cover(matrix: NDArray[np.float64]) -> list[int] | None:
    """As few columns that cover all rows as a short search finds; None if it finds none."""
    columns = matrix.shape[1]
    solved = milp(
        np.ones(columns),
        constraints=LinearConstraint(matrix, 1.0, math.inf),
        integrality=np.ones(columns),
        bounds=Bounds(0, 1),
        options={"node_limit": MILP_NODE_LIMIT},
    )
    return None if solved.x is None else [int(number) for number in np.flatnonzero(solved.x > 0.5)]


GREEDY_RUNS = 6
MAX_COLUMN_ROUNDS = 150
"""The most rounds of column generation; they end earlier where no walk helps any more."""

PRICING_BEAM_WIDTH = 60
BOUND_BEAM_WIDTH = 4000
PERTURBED_PRICINGS = 3

PRICE_SCALE: Final = 1_000_000

IsInstantiable = Callable[[ToolSequence], bool]


@dataclass(frozen=True, slots=True)
class LowerBound:
    """Why no suite can do with fewer walks: no walk gathers more than ``most`` of these weights.

    Attributes:
        weights: whole numbers; pairs that are not here weigh nothing.
        most: what the distinct pairs of one walk weigh together at most.
    """

    weights: tuple[tuple[ToolPair, int], ...]
    most: int

    @property
    def total(self) -> int:
        return sum(weight for _, weight in self.weights)

    def restricted_to(self, pairs: Collection[ToolPair]) -> "LowerBound":
        """The bound for these pairs alone: no walk gathers more of fewer weights."""
        return LowerBound(tuple((pair, weight) for pair, weight in self.weights if pair in pairs), self.most)

    @property
    def sequences(self) -> int:
        """The least number of walks that have all pairs."""
        return -(-self.total // self.most) if self.most else 0


def counting_bound(pairs: Sequence[ToolPair], length: int) -> LowerBound:
    """The bound that holds for any walks of that many calls: none has more pairs than it has calls but one."""
    return LowerBound(tuple((pair, 1) for pair in pairs), min(length - 1, len(pairs)))


@dataclass(frozen=True, slots=True)
class Suite:
    """Walks in the order in which they bring new pairs, most first, and how few could do the same."""

    sequences: tuple[ToolSequence, ...]
    bound: LowerBound


@dataclass(frozen=True, slots=True)
class _PathLabel:
    """The beginning of a walk in `heaviest_sequence`; ``pairs`` as bits."""

    gathered: int
    pairs: int
    state: int
    walk: ToolSequence


def heaviest_sequence(graph: SequenceGraph, weights: Weights, beam: int) -> tuple[ToolSequence, int, int]:
    """A walk whose distinct pairs weigh much, what they weigh, and what no walk can exceed.

    The last two are equal where the beam was wide enough: what it drops counts towards the upper bound with the most
    that it could have become.
    """
    best_rest = [layer.tolist() for layer in graph.best_weights(weights)]
    worth = weights.tolist()
    labels, dropped = [_PathLabel(0, 0, 0, ())], 0
    for remaining in range(graph.length - 1, -1, -1):
        grown: dict[tuple[int, int], _PathLabel] = {}
        for label in labels:
            for edge in graph.edges[label.state]:
                if best_rest[remaining][edge.target] < 0:
                    continue
                gathered, pairs = label.gathered, label.pairs
                if edge.pair != NO_INDEX and not pairs >> edge.pair & 1:
                    gathered += worth[edge.pair]
                    pairs |= 1 << edge.pair
                if (edge.target, pairs) not in grown:
                    grown[edge.target, pairs] = _PathLabel(gathered, pairs, edge.target, (*label.walk, edge.tool))
        rest = best_rest[remaining]
        labels = sorted(grown.values(), key=lambda label: -(label.gathered + rest[label.state]))
        if len(labels) > beam:
            dropped = max(dropped, labels[beam].gathered + rest[labels[beam].state])
            labels = labels[:beam]
    top = max(labels, key=lambda label: label.gathered)
    return top.walk, top.gathered, max(top.gathered, dropped)


def find_suite(
    graph: SequenceGraph, product: Product, *, seed: str, carries: IsInstantiable = lambda walk: True
) -> Suite:
    """Few walks that have every feasible pair, drawn from the product that the graph was made of.

    Args:
        carries: whether a walk can be carried out; others are not used. The bound does not profit from that.
    """
    if not graph.pairs:
        return Suite((), LowerBound((), 0))
    pool = _Pool(graph, carries)
    for run in range(GREEDY_RUNS):
        pool.add_all(_greedy_sequences(product, graph, Random(f"{seed}/{run}")))
    if not pool:
        return Suite((), counting_bound(graph.pairs, graph.length))
    bound = _generate_columns(graph, pool)
    return Suite(tuple(pool.pick()), bound)


def _greedy_sequences(product: Product, graph: SequenceGraph, random: Random) -> Iterable[ToolSequence]:
    missing = set(graph.pairs)
    while missing:
        walk = draw_tool_sequence(product, graph.length, random, missing)
        if not adjacent_pairs(walk) & missing:
            return  # the beam has lost sight of the rest; column generation goes after it
        missing -= adjacent_pairs(walk)
        yield walk


def _generate_columns(graph: SequenceGraph, pool: "_Pool") -> LowerBound:
    """Walks that help join the pool; the best bound that the prices on the way have proved."""
    best = counting_bound(graph.pairs, graph.length)
    chance = np.random.default_rng(0)
    for _ in range(MAX_COLUMN_ROUNDS):
        prices = pool.prices()
        walk, gathered, most = heaviest_sequence(graph, prices, PRICING_BEAM_WIDTH)
        best = max(best, _bound(graph, prices, most), key=lambda bound: bound.sequences)
        helps = [walk] if gathered > PRICE_SCALE else []
        for _ in range(PERTURBED_PRICINGS):
            # Prices a little off find walks near the best one, and save rounds.
            shaken = (prices * chance.uniform(0.7, 1.3, len(prices))).astype(np.int64)
            other, _, _ = heaviest_sequence(graph, shaken, PRICING_BEAM_WIDTH // 2)
            if sum(int(prices[pair]) for pair in graph.column(other)) > PRICE_SCALE:
                helps.append(other)
        if not pool.add_all(helps):
            _, _, most = heaviest_sequence(graph, prices, BOUND_BEAM_WIDTH)
            return max(best, _bound(graph, prices, most), key=lambda bound: bound.sequences)
    return best


def _bound(graph: SequenceGraph, weights: Weights, most: int) -> LowerBound:
    named = tuple((pair, int(weight)) for pair, weight in zip(graph.pairs, weights, strict=True) if weight)
    return LowerBound(named, most)


class _Pool:
    """Walks to choose from, each as the column of pairs that it covers; of walks with the same pairs the first."""

    def __init__(self, graph: SequenceGraph, carries: IsInstantiable) -> None:
        self._graph = graph
        self._carries = carries
        self._walks: dict[frozenset[int], ToolSequence] = {}

    def __len__(self) -> int:
        return len(self._walks)

    def add_all(self, walks: Iterable[ToolSequence]) -> int:
        """Take in walks; how many columns are new."""
        before = len(self._walks)
        for walk in walks:
            column = self._graph.column(walk)
            if column not in self._walks and self._carries(walk):
                self._walks[column] = walk
        return len(self._walks) - before

    def prices(self) -> Weights:
        """What each pair is worth, in millionths of a walk; a pair that no walk of the pool has is worth a whole one.

        Rounded down, so that no walk of the pool seems to help only by rounding. Any weights prove a bound.
        """
        matrix = self._matrix()
        covered = np.asarray(matrix.any(axis=1), dtype=np.bool_)
        worth = np.ones(len(self._graph.pairs))
        worth[covered] = dual_prices(matrix[covered])
        return np.floor(worth * PRICE_SCALE).astype(np.int64)

    def pick(self) -> list[ToolSequence]:
        """As few walks as are found that cover what the pool covers."""
        walks = list(self._walks.values())
        matrix = self._matrix()
        greedily = _most_new_first(walks)
        numbers = minimum_cover(matrix[matrix.any(axis=1)])
        if numbers is None or len(numbers) >= len(greedily):
            return greedily
        picked = [walks[number] for number in numbers]
        # Rounding may have spoilt it: what is returned is checked, not believed.
        return _most_new_first(picked) if _pairs(picked) == _pairs(walks) else greedily

    def _matrix(self) -> NDArray[np.float64]:
        matrix = np.zeros((len(self._graph.pairs), len(self._walks)))
        for number, column in enumerate(self._walks):
            matrix[list(column), number] = 1.0
        return matrix


def _pairs(walks: Iterable[ToolSequence]) -> set[ToolPair]:
    return {pair for walk in walks for pair in adjacent_pairs(walk)}


def _most_new_first(walks: Sequence[ToolSequence]) -> list[ToolSequence]:
    """The walks in the order in which each brings most pairs that are new; those that bring none are left out."""
    waiting, covered, chosen = list(walks), set[ToolPair](), list[ToolSequence]()
    while waiting:
        best = max(waiting, key=lambda walk: len(adjacent_pairs(walk) - covered))
        if not adjacent_pairs(best) - covered:
            break
        covered |= adjacent_pairs(best)
        waiting.remove(best)
        chosen.append(best)
    return chosen
