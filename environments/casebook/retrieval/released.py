"""Ranking as the code released with the legal paper does it, so that its effect on what it found can be measured.

It hands texts where lists of words are expected, so its terms are single characters; and the floor it sets under the
weight of common terms is a quarter of the mean weight, which is itself negative wherever most characters occur in most
texts. Then matching lowers the score, and short texts win.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from lawtrace.environments.casebook.retrieval.ranking import Scores


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
        counts = _matrix(texts, places)
        lengths = np.array([len(text) for text in texts], dtype=np.float64)
        spread = self._k1 * (1 - self._b + self._b * lengths / lengths.mean())
        weights = _weights(texts, self._floor)
        by_character = counts * (self._k1 + 1) / (counts + spread[:, None])
        by_character *= np.array([weights[character] for character in places])
        asked: Scores = _matrix(queries, places) @ by_character.T
        return asked


def mean_weight(texts: Sequence[str]) -> float:
    """The mean weight of the characters in the texts, before the floor is set. Below zero, the sign defect shows."""
    raw = _raw_weights(texts)
    return sum(raw.values()) / len(raw)


def _weights(texts: Sequence[str], floor: float) -> dict[str, float]:
    raw = _raw_weights(texts)
    lowest = floor * sum(raw.values()) / len(raw)
    return {character: weight if weight >= 0 else lowest for character, weight in raw.items()}


def _raw_weights(texts: Sequence[str]) -> dict[str, float]:
    found = Counter(character for text in texts for character in set(text))
    return {
        character: math.log(len(texts) - count + 0.5) - math.log(count + 0.5)
        for character, count in sorted(found.items())
    }


def _matrix(texts: Sequence[str], places: dict[str, int]) -> Scores:
    matrix = np.zeros((len(texts), len(places)))
    for row, text in enumerate(texts):
        for character, count in Counter(text).items():
            if character in places:
                matrix[row, places[character]] = count
    return matrix
