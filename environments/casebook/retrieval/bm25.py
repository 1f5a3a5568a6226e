"""BM25 over words, with weights that cannot be negative.

The Lucene variant: the weight of a word that n of N texts have is log(1 + (N - n + 0.5) / (n + 0.5)).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import bm25s  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from lawtrace.environments.casebook.retrieval.ranking import Scores
from lawtrace.environments.casebook.retrieval.words import words_of


class WordBM25:
    """k1 = 1.5 and b = 0.75, as the published code has them. A word that a query repeats counts each time."""

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        self._k1 = k1
        self._b = b

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        documents = [words_of(text) for text in texts]
        places = {word: place for place, word in enumerate(dict.fromkeys(w for words in documents for w in words))}
        if not places:
            return np.zeros((len(queries), len(texts)))
        index: Any = bm25s.BM25(k1=self._k1, b=self._b, method="lucene", dtype="float64")
        numbered = [[places[word] for word in words] for words in documents]
        index.index((numbered, places), create_empty_token=False, show_progress=False)
        # The library asks query by query; one product of sparse matrices asks all of them at once.
        found = index.scores
        weights: Any = sparse.csc_matrix(
            (found["data"], found["indices"], found["indptr"]), shape=(len(texts), len(places))
        )
        product: Any = _counts(queries, places) @ weights.transpose()
        return cast("Scores", product.toarray())


def _counts(queries: Sequence[str], places: dict[str, int]) -> Any:  # noqa: ANN401 (scipy brings no types)
    """How often each query has each word, shape (queries, words)."""
    counts = [Counter(places[word] for word in words_of(query) if word in places) for query in queries]
    ends = np.cumsum([0, *(len(count) for count in counts)])
    columns = [place for count in counts for place in count]
    numbers = [number for count in counts for number in count.values()]
    filled = (np.array(numbers, dtype=np.float64), np.array(columns, dtype=np.int64), ends)
    return sparse.csr_matrix(filled, shape=(len(queries), len(places)))
