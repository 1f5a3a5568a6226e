"""The retrievers by name."""

from collections.abc import Callable
from typing import Literal, assert_never, get_args

from lawtrace.environments.casebook.retrieval.bm25 import WordBM25
from lawtrace.environments.casebook.retrieval.embedding import EmbeddingRanker, Encoder
from lawtrace.environments.casebook.retrieval.hybrid import HybridRanker
from lawtrace.environments.casebook.retrieval.minilm import Pooling
from lawtrace.environments.casebook.retrieval.ranking import Ranker
from lawtrace.environments.casebook.retrieval.released import CharacterBM25

RetrieverName = Literal["bm25", "embedding", "hybrid", "released_bm25", "released_embedding"]
RETRIEVERS: tuple[RetrieverName, ...] = get_args(RetrieverName)

BY_MEANING: tuple[RetrieverName, ...] = ("embedding", "hybrid", "released_embedding")
"""Those that ask an encoder for vectors."""

RETRIEVER_LABELS: dict[RetrieverName, str] = {
    "bm25": "BM25",
    "embedding": "EMB",
    "hybrid": "HYB",
    "released_bm25": "BM25 (released)",
    "released_embedding": "EMB (released)",
}
"""What tables call them; the first two as in M Table 2."""


def make_ranker(name: RetrieverName, encoder: Callable[[Pooling], Encoder]) -> Ranker:
    """The retriever of that name. ``encoder`` gives the encoder for a pooling; it is asked only if it is needed."""
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
