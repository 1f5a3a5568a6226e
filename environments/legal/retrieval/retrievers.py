"""The retrievers by name, and reciprocal rank fusion of two rankings, which ignores the scale of their scores."""

from collections.abc import Callable, Sequence
from typing import Literal, assert_never

import numpy as np

from lawtrace.environments.legal.retrieval.bm25 import CharacterBM25, WordBM25
from lawtrace.environments.legal.retrieval.embedding import EmbeddingRanker, Encoder, Pooling
from lawtrace.environments.legal.retrieval.ranking import Ranker, Scores


class HybridRanker:
    """Reciprocal rank fusion: the score of a text is the sum of 1 / (60 + rank) over the rankers, with the usual 60."""

    def __init__(self, *rankers: Ranker) -> None:
        self._rankers = rankers

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        fused = np.zeros((len(queries), len(texts)))
        for ranker in self._rankers:
            order = np.argsort(-ranker.scores(texts, queries), axis=1, kind="stable")
            ranks = np.argsort(order, axis=1, kind="stable") + 1
            fused += 1 / (60 + ranks)
        return fused


RetrieverName = Literal["bm25", "embedding", "hybrid", "released_bm25", "released_embedding"]

EMBEDDING_RETRIEVERS: tuple[RetrieverName, ...] = ("embedding", "hybrid", "released_embedding")
"""The retrievers that need an encoder."""

RETRIEVER_LABELS: dict[RetrieverName, str] = {
    "bm25": "BM25",
    "embedding": "EMB",
    "hybrid": "HYB",
    "released_bm25": "BM25 (released)",
    "released_embedding": "EMB (released)",
}
"""Labels in tables; the first two as in M Table 2."""


def make_ranker(name: RetrieverName, encoder: Callable[[Pooling], Encoder]) -> Ranker:
    """The retriever of that name. ``encoder`` returns the encoder for a pooling and is called only if needed."""
    match name:
        case "bm25":
            return WordBM25()
        case "embedding":
            return EmbeddingRanker(encoder("mean"))
        case "hybrid":
            return HybridRanker(WordBM25(), EmbeddingRanker(encoder("mean")))
        case "released_bm25":
            return CharacterBM25()
        case "released_embedding":
            return EmbeddingRanker(encoder("cls"))
        case _:
            assert_never(name)
