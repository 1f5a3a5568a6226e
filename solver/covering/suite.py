"""A suite of few walks that has every feasible pair, and a lower bound that says how few there could be.

Which walks to take is a set cover: each walk covers the pairs it has. Several greedy runs make a first pool of walks.
The linear relaxation over the pool prices the pairs: what a pair is worth says which further walk would help, and that
walk joins the pool, until none helps (column generation). Integer programming then picks from the pool.

The same prices are the proof of the bound. Give each pair a weight; if no walk gathers more than M, and all pairs
together weigh T, then T / M walks are needed, rounded up. That holds for any weights, so only M has to be right: it is
bounded over all walks, with whole numbers (`heaviest`). Weights of 1 and M = calls - 1 would be plain counting.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lawtrace.solver.covering.graph import NOTHING, Graph, Weights
from lawtrace.solver.covering.programming import fewest_columns, row_prices
from lawtrace.solver.product import Product
from lawtrace.solver.walks import Pair, Walk, draw_walk, pairs_of

RUNS = 6
ROUNDS = 150
"""The most rounds of column generation; they end earlier where no walk helps any more."""

BEAM = 60
PROOF_BEAM = 4000
PERTURBED = 3

SCALE: Final = 1_000_000

Carries = Callable[[Walk], bool]


@dataclass(frozen=True, slots=True)
class LowerBound:
    """Why no suite can do with fewer walks: no walk gathers more than ``most`` of these weights.

    Attributes:
        weights: whole numbers; pairs that are not here weigh nothing.
        most: what the distinct pairs of one walk weigh together at most.
    """

    weights: tuple[tuple[Pair, int], ...]
    most: int

    @property
    def total(self) -> int:
        return sum(weight for _, weight in self.weights)

    def over(self, pairs: Collection[Pair]) -> "LowerBound":
        """The bound for these pairs alone: no walk gathers more of fewer weights."""
        return LowerBound(tuple((pair, weight) for pair, weight in self.weights if pair in pairs), self.most)

    @property
    def walks(self) -> int:
        """The least number of walks that have all pairs."""
        return -(-self.total // self.most) if self.most else 0


def plain_counting(pairs: Sequence[Pair], length: int) -> LowerBound:
    """The bound that holds for any walks of that many calls: none has more pairs than it has calls but one."""
    return LowerBound(tuple((pair, 1) for pair in pairs), min(length - 1, len(pairs)))


@dataclass(frozen=True, slots=True)
class Suite:
    """Walks in the order in which they bring new pairs, most first, and how few could do the same."""

    walks: tuple[Walk, ...]
    bound: LowerBound


@dataclass(frozen=True, slots=True)
class _Label:
    """The beginning of a walk in `heaviest`; ``pairs`` as bits."""

    gathered: int
    pairs: int
    state: int
    walk: Walk


def heaviest(graph: Graph, weights: Weights, beam: int) -> tuple[Walk, int, int]:
    """A walk whose distinct pairs weigh much, what they weigh, and what no walk can exceed.

    The last two are equal where the beam was wide enough: what it drops counts towards the upper bound with the most
    that it could have become.
    """
    best_rest = [layer.tolist() for layer in graph.gathering(weights)]
    worth = weights.tolist()
    labels, dropped = [_Label(0, 0, 0, ())], 0
    for remaining in range(graph.length - 1, -1, -1):
        grown: dict[tuple[int, int], _Label] = {}
        for label in labels:
            for edge in graph.edges[label.state]:
                if best_rest[remaining][edge.target] < 0:
                    continue
                gathered, pairs = label.gathered, label.pairs
                if edge.pair != NOTHING and not pairs >> edge.pair & 1:
                    gathered += worth[edge.pair]
                    pairs |= 1 << edge.pair
                if (edge.target, pairs) not in grown:
                    grown[edge.target, pairs] = _Label(gathered, pairs, edge.target, (*label.walk, edge.tool))
        rest = best_rest[remaining]
        labels = sorted(grown.values(), key=lambda label: -(label.gathered + rest[label.state]))
        if len(labels) > beam:
            dropped = max(dropped, labels[beam].gathered + rest[labels[beam].state])
            labels = labels[:beam]
    top = max(labels, key=lambda label: label.gathered)
    return top.walk, top.gathered, max(top.gathered, dropped)


def cover(graph: Graph, product: Product, *, seed: str, carries: Carries = lambda walk: True) -> Suite:
    """Few walks that have every feasible pair, drawn from the product that the graph was made of.

    Args:
        carries: whether a walk can be carried out; others are not used. The bound does not profit from that.
    """
    if not graph.pairs:
        return Suite((), LowerBound((), 0))
    pool = _Pool(graph, carries)
    for run in range(RUNS):
        pool.add_all(_greedy(product, graph, Random(f"{seed}/{run}")))
    if not pool:
        return Suite((), plain_counting(graph.pairs, graph.length))
    bound = _generate(graph, pool)
    return Suite(tuple(pool.pick()), bound)


def _greedy(product: Product, graph: Graph, random: Random) -> Iterable[Walk]:
    missing = set(graph.pairs)
    while missing:
        walk = draw_walk(product, graph.length, random, missing)
        if not pairs_of(walk) & missing:
            return  # the beam has lost sight of the rest; column generation goes after it
        missing -= pairs_of(walk)
        yield walk


def _generate(graph: Graph, pool: "_Pool") -> LowerBound:
    """Walks that help join the pool; the best bound that the prices on the way have proved."""
    best = plain_counting(graph.pairs, graph.length)
    chance = np.random.default_rng(0)
    for _ in range(ROUNDS):
        prices = pool.prices()
        walk, gathered, most = heaviest(graph, prices, BEAM)
        best = max(best, _bound(graph, prices, most), key=lambda bound: bound.walks)
        helps = [walk] if gathered > SCALE else []
        for _ in range(PERTURBED):
            # Prices a little off find walks near the best one, and save rounds.
            shaken = (prices * chance.uniform(0.7, 1.3, len(prices))).astype(np.int64)
            other, _, _ = heaviest(graph, shaken, BEAM // 2)
            if sum(int(prices[pair]) for pair in graph.column(other)) > SCALE:
                helps.append(other)
        if not pool.add_all(helps):
            _, _, most = heaviest(graph, prices, PROOF_BEAM)
            return max(best, _bound(graph, prices, most), key=lambda bound: bound.walks)
    return best


def _bound(graph: Graph, weights: Weights, most: int) -> LowerBound:
    named = tuple((pair, int(weight)) for pair, weight in zip(graph.pairs, weights, strict=True) if weight)
    return LowerBound(named, most)


class _Pool:
    """Walks to choose from, each as the column of pairs that it covers; of walks with the same pairs the first."""

    def __init__(self, graph: Graph, carries: Carries) -> None:
        self._graph = graph
        self._carries = carries
        self._walks: dict[frozenset[int], Walk] = {}

    def __len__(self) -> int:
        return len(self._walks)

    def add_all(self, walks: Iterable[Walk]) -> int:
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
        worth[covered] = row_prices(matrix[covered])
        return np.floor(worth * SCALE).astype(np.int64)

    def pick(self) -> list[Walk]:
        """As few walks as are found that cover what the pool covers."""
        walks = list(self._walks.values())
        matrix = self._matrix()
        greedily = _most_new_first(walks)
        numbers = fewest_columns(matrix[matrix.any(axis=1)])
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


def _pairs(walks: Iterable[Walk]) -> set[Pair]:
    return {pair for walk in walks for pair in pairs_of(walk)}


def _most_new_first(walks: Sequence[Walk]) -> list[Walk]:
    """The walks in the order in which each brings most pairs that are new; those that bring none are left out."""
    waiting, covered, chosen = list(walks), set[Pair](), list[Walk]()
    while waiting:
        best = max(waiting, key=lambda walk: len(pairs_of(walk) - covered))
        if not pairs_of(best) - covered:
            break
        covered |= pairs_of(best)
        waiting.remove(best)
        chosen.append(best)
    return chosen
