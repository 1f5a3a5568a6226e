"""Time of indexing and retrieval for all questions, eight contexts and three depths, compared with the peer's BM25.

    python benchmarks/legal/retrieval.py CASES [--share 0.1] [--embed]

The peer is rebuilt from its description: terms are characters, each text is scored separately, character by character
of the query, and each depth is a separate run. It is slow, so it answers an evenly spaced share of the questions and
its time is scaled up. Its rankings are also compared with ours in `released` mode.
"""

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from lawtrace.environments.legal.case import CONTEXTS, Case
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.environments.legal.retrieval.bm25 import CharacterBM25, WordBM25
from lawtrace.environments.legal.retrieval.embedding import CachedEncoder, EmbeddingRanker, MiniLM
from lawtrace.environments.legal.retrieval.ranking import Ranker, cut_to_depth, rank_case
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

DEPTHS = (1, 3, 5)


class PeerBM25:
    """BM25 as described: character counts, weights of at least a quarter of the mean, one text at a time."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.counts = [Counter(text) for text in texts]
        self.lengths = [len(text) for text in texts]
        self.mean = sum(self.lengths) / len(texts)
        found = Counter(character for text in texts for character in set(text))
        self.weights = {c: math.log(len(texts) - n + 0.5) - math.log(n + 0.5) for c, n in sorted(found.items())}
        floor = 0.25 * sum(self.weights.values()) / len(self.weights)
        self.weights = {c: weight if weight >= 0 else floor for c, weight in self.weights.items()}

    def best(self, query: str, depth: int) -> list[int]:
        scores = [self.score(query, place) for place in range(len(self.counts))]
        return sorted(range(len(scores)), key=lambda place: -scores[place])[:depth]

    def score(self, query: str, place: int) -> float:
        score, counts, length = 0.0, self.counts[place], self.lengths[place]
        for character in query:
            if character not in counts:
                continue
            often = counts[character]
            spread = 1.5 * (1 - 0.75 + 0.75 * length / self.mean)
            score += self.weights[character] * often * (1.5 + 1) / (often + spread)
        return score


def ours(cases: Sequence[Case], ranker: Ranker) -> float:
    """Seconds for all contexts and questions, ranked once and cut to each depth."""
    start = perf_counter()
    for case in cases:
        queries = [question.text for question in case.questions]
        for context in CONTEXTS:
            for hits in rank_case(case, context, queries, ranker, depth=max(DEPTHS), share="total"):
                for depth in DEPTHS:
                    cut_to_depth(hits, depth)
    return perf_counter() - start


def peers(cases: Sequence[Case], share: float) -> tuple[float, float, float]:
    """Scaled seconds for one depth and for all three, and the share of equal rankings."""
    step = max(1, round(1 / share))
    indexing, asking, asked, questions, same = 0.0, 0.0, 0, 0, 0
    for case in cases:
        questions += len(case.questions)
        for context in CONTEXTS:
            texts = [chunk.text for chunk in case.chunks_of(context)]
            start = perf_counter()
            index = PeerBM25(texts)
            indexing += perf_counter() - start
            for question in case.questions[::step]:
                start = perf_counter()
                best = index.best(question.text, max(DEPTHS))
                asking += perf_counter() - start
                asked += 1
                found = rank_case(case, context, [question.text], CharacterBM25(), depth=max(DEPTHS), share="total")
                pool = case.chunks_of(context)
                same += [pool[place].ref for place in best] == [hit.ref for hit in found[0]]
    once = indexing + asking * questions * len(CONTEXTS) / asked
    return once, once * len(DEPTHS), same / asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--embed", action="store_true")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/lawtrace-vectors"))  # a benchmark's own cache
    options = parser.parse_args()
    cases = load_dataset(options.cases).cases
    count = sum(len(case.questions) for case in cases)
    print(f"{len(cases)} cases, {count} questions, {len(CONTEXTS)} contexts, depths {DEPTHS}")

    tokenize.cache_clear()
    seconds = ours(cases, WordBM25())
    print(f"ours, BM25 over words, everything       {seconds:8.2f} s")
    print(f"ours, released mode (characters)        {ours(cases, CharacterBM25()):8.2f} s")
    once, thrice, same = peers(cases, options.share)
    print(f"peer, one depth                         {once:8.2f} s   {once / seconds:6.0f} times ours")
    print(f"peer, three depths                      {thrice:8.2f} s   {thrice / seconds:6.0f} times ours")
    print(f"peer and released mode rank alike in    {same:8.1%} of the checked questions")
    if options.embed:
        cached = EmbeddingRanker(CachedEncoder(MiniLM(), options.cache))
        print(f"ours, embeddings, first time            {ours(cases, cached):8.2f} s")
        again = EmbeddingRanker(CachedEncoder(MiniLM(), options.cache))
        print(f"ours, embeddings, vectors on file       {ours(cases, again):8.2f} s")


if __name__ == "__main__":
    main()
