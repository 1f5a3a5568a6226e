"""BM25 over words, with weights that cannot be negative.

The Lucene variant: the weight of a word that n of N texts have is log(1 + (N - n + 0.5) / (n + 0.5)).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import bm25s  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from lawtrace.environments.legal.retrieval.ranking import Scores
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

_K1, _B = 1.5, 0.75
"""As in the published code."""

_FLOOR = 0.25
"""Of the mean weight of characters, for negative ones."""


class WordBM25:
    """BM25 over words. A repeated word in a query counts each time."""

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        documents = [tokenize(text) for text in texts]
        places = {word: place for place, word in enumerate(dict.fromkeys(w for words in documents for w in words))}
        if not places:
            return np.zeros((len(queries), len(texts)))
        index: Any = bm25s.BM25(k1=_K1, b=_B, method="lucene", dtype="float64")
        numbered = [[places[word] for word in words] for words in documents]
        index.index((numbered, places), create_empty_token=False, show_progress=False)
        # The library scores one query at a time; a product of sparse matrices scores all queries at once.
        found = index.scores
        weights: Any = sparse.csc_matrix(
            (found["data"], found["indices"], found["indptr"]), shape=(len(texts), len(places))
        )
        product: Any = _counts([tokenize(query) for query in queries], places) @ weights.transpose()
        return cast("Scores", product.toarray())


class CharacterBM25:
    """BM25 over characters, case and line ends included."""

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        if not any(texts):
            return np.zeros((len(queries), len(texts)))
        places = {character: place for place, character in enumerate(sorted(set("".join(texts))))}
        counts: Scores = _counts(texts, places).toarray()
        found = np.count_nonzero(counts, axis=0)
        weights: Scores = np.log(len(texts) - found + 0.5) - np.log(found + 0.5)
        weights = np.where(weights >= 0, weights, _FLOOR * weights.mean())
        lengths = counts.sum(axis=1)
        spread = _K1 * (1 - _B + _B * lengths / lengths.mean())
        by_character = counts * (_K1 + 1) / (counts + spread[:, None]) * weights
        return cast("Scores", _counts(queries, places) @ by_character.T)


def _counts(texts: Sequence[Sequence[str]], places: dict[str, int]) -> Any:  # noqa: ANN401 (scipy has no types)
    """Counts of each word or character in each text, shape (texts, places); a sparse matrix."""
    counts = [Counter(places[term] for term in text if term in places) for text in texts]
    ends = np.cumsum([0, *map(len, counts)])
    columns = [place for count in counts for place in count]
    numbers = [number for count in counts for number in count.values()]
    filled = (np.array(numbers, dtype=np.float64), np.array(columns, dtype=np.int64), ends)
    return sparse.csr_matrix(filled, shape=(len(texts), len(places)))
