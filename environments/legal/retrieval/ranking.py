"""Ranking, as all retrievers share it: a retriever scores texts for queries, and the best become hits.

A retriever ranks only the chunks of the question's own case (the case is given), once for all depths: the best three
are the first three of the best five.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from lawtrace.environments.legal.case import Agent, Case, Chunk, Context

Scores = NDArray[np.float64]
"""Shape (queries, texts); higher is better."""

DepthShare = Literal["total", "per_agent"]
"""The meaning of a depth k with several agents: k chunks in total from one merged store, as in the published code; or k
from each agent's own store."""


class Ranker(Protocol):
    """Scores texts for queries. The score of a text may depend on the other texts, but not on other queries."""

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores: ...


class Hit(NamedTuple):
    """A retrieved chunk: its reference, its agent, its rank in the store (from 1), and the ranker's score.

    Scores of different rankers, or of different pools, cannot be compared.
    """

    ref: str
    agent: Agent
    rank: int
    score: float


def rank_case(
    case: Case, context: Context, queries: Sequence[str], ranker: Ranker, *, depth: int, share: DepthShare
) -> list[tuple[Hit, ...]]:
    """The best ``depth`` chunks of the context for each query, best first; ties in the order of the case.

    With ``per_agent``: the best ``depth`` of each agent's store, agent by agent in the order of the context.
    """
    stores: list[Context] = [context] if share == "total" else [(agent,) for agent in context]
    hits: list[list[Hit]] = [[] for _ in queries]
    for store in stores:
        for found, best in zip(hits, _best(case.chunks_of(store), queries, ranker, depth), strict=True):
            found += best
    return [tuple(found) for found in hits]


def cut_to_depth(hits: Sequence[Hit], depth: int) -> tuple[Hit, ...]:
    """The hits of a smaller depth, of one store or of several."""
    return tuple(hit for hit in hits if hit.rank <= depth)


def _best(pool: Sequence[Chunk], queries: Sequence[str], ranker: Ranker, depth: int) -> list[list[Hit]]:
    if not pool or not queries:
        return [[] for _ in queries]
    scores = ranker.scores([chunk.text for chunk in pool], queries)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    return [
        [
            Hit(pool[place].ref, pool[place].agent, rank, round(float(of[place]), 6))
            for rank, place in enumerate(cast("list[int]", places), 1)
        ]
        for of, places in zip(scores, order.tolist(), strict=True)
    ]
