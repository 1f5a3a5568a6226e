"""Two rankings made one by reciprocal ranks: what both place high comes first, whatever their scores mean."""

from collections.abc import Sequence

import numpy as np

from lawtrace.environments.casebook.retrieval.ranking import Ranker, Scores


class HybridRanker:
    """The score of a text is the sum of 1 / (60 + its rank) over the rankers; 60 is the value usual for this fusion."""

    def __init__(self, *rankers: Ranker, constant: float = 60.0) -> None:
        self._rankers = rankers
        self._constant = constant

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        fused = np.zeros((len(queries), len(texts)))
        for ranker in self._rankers:
            order = np.argsort(-ranker.scores(texts, queries), axis=1, kind="stable")
            ranks = np.argsort(order, axis=1, kind="stable") + 1
            fused += 1 / (self._constant + ranks)
        return fused
