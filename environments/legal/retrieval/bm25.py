"""BM25 over words, with weights that cannot be negative.

The Lucene variant: the weight of a word that n of N texts have is log(1 + (N - n + 0.5) / (n + 0.5)).
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import bm25s  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from lawtrace.environments.legal.retrieval.ranking import Scores
from lawtrace.environments.legal.retrieval.tokenizer import tokenize


class WordBM25:
    """k1 = 1.5 and b = 0.75, as in the published code. A repeated word in a query counts each time."""

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        self._k1 = k1
        self._b = b

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        documents = [tokenize(text) for text in texts]
        places = {word: place for place, word in enumerate(dict.fromkeys(w for words in documents for w in words))}
        if not places:
            return np.zeros((len(queries), len(texts)))
        index: Any = bm25s.BM25(k1=self._k1, b=self._b, method="lucene", dtype="float64")
        numbered = [[places[word] for word in words] for words in documents]
        index.index((numbered, places), create_empty_token=False, show_progress=False)
        # The library scores one query at a time; a product of sparse matrices scores all queries at once.
        found = index.scores
        weights: Any = sparse.csc_matrix(
            (found["data"], found["indices"], found["indptr"]), shape=(len(texts), len(places))
        )
        product: Any = _counts(queries, places) @ weights.transpose()
        return cast("Scores", product.toarray())


def _counts(queries: Sequence[str], places: dict[str, int]) -> Any:  # noqa: ANN401 (scipy has no types)
    """Counts of each word in each query, shape (queries, words)."""
    counts = [Counter(places[word] for word in tokenize(query) if word in places) for query in queries]
    ends = np.cumsum([0, *(len(count) for count in counts)])
    columns = [place for count in counts for place in count]
    numbers = [number for count in counts for number in count.values()]
    filled = (np.array(numbers, dtype=np.float64), np.array(columns, dtype=np.int64), ends)
    return sparse.csr_matrix(filled, shape=(len(queries), len(places)))


class CharacterBM25:
    """BM25 over characters, case and line ends included; k1 = 1.5, b = 0.75, floor = 0.25 of the mean weight."""

    def __init__(self, k1: float = 1.5, b: float = 0.75, floor: float = 0.25) -> None:
        self._k1 = k1
        self._b = b
        self._floor = floor

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        if not any(texts):
            return np.zeros((len(queries), len(texts)))
        places = {character: place for place, character in enumerate(sorted(set("".join(texts))))}
        counts = _count_matrix(texts, places)
        lengths = np.array([len(text) for text in texts], dtype=np.float64)
        spread = self._k1 * (1 - self._b + self._b * lengths / lengths.mean())
        weights = _idf(texts, self._floor)
        by_character = counts * (self._k1 + 1) / (counts + spread[:, None])
        by_character *= np.array([weights[character] for character in places])
        asked: Scores = _count_matrix(queries, places) @ by_character.T
        return asked


def _idf(texts: Sequence[str], floor: float) -> dict[str, float]:
    raw = _raw_idf(texts)
    lowest = floor * sum(raw.values()) / len(raw)
    return {character: weight if weight >= 0 else lowest for character, weight in raw.items()}


def _raw_idf(texts: Sequence[str]) -> dict[str, float]:
    found = Counter(character for text in texts for character in set(text))
    return {
        character: math.log(len(texts) - count + 0.5) - math.log(count + 0.5)
        for character, count in sorted(found.items())
    }


def _count_matrix(texts: Sequence[str], places: dict[str, int]) -> Scores:
    matrix = np.zeros((len(texts), len(places)))
    for row, text in enumerate(texts):
        for character, count in Counter(text).items():
            if character in places:
                matrix[row, places[character]] = count
    return matrix
