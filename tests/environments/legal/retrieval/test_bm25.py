"""BM25 over words and over characters, each compared with its formula."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.case import Agent, Case, Chunk, Context
from lawtrace.environments.legal.retrieval.bm25 import CharacterBM25, WordBM25
from lawtrace.environments.legal.retrieval.ranking import DepthShare, cut_to_depth, rank_case
from lawtrace.environments.legal.retrieval.retrievers import HybridRanker
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

SHARED = Path(__file__).parents[5] / "shared" / "data" / "maslegal"

TEXTS = st.lists(
    st.lists(st.sampled_from(["consent", "Article", "32", "fine", "the", "Data-breach", "é", "…"]), max_size=8).map(
        " ".join
    ),
    min_size=1,
    max_size=6,
)
QUERY = st.lists(st.sampled_from(["consent", "article", "32", "32", "unknown", "breach", "-"]), max_size=6).map(
    " ".join
)


def word_score(texts: list[str], place: int, query: str) -> float:
    documents = [tokenize(text) for text in texts]
    counts, mean = Counter(documents[place]), sum(map(len, documents)) / len(documents)
    score = 0.0
    for word in tokenize(query):
        n = sum(word in document for document in documents)
        if n == 0:
            continue
        weight = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        spread = 1.5 * (0.25 + 0.75 * len(documents[place]) / mean)
        score += weight * counts[word] / (counts[word] + spread)
    return score


@given(TEXTS, st.lists(QUERY, min_size=1, max_size=3))
def test_words_are_scored_by_the_formula(texts: list[str], queries: list[str]) -> None:
    scores = WordBM25().scores(texts, queries)
    expected = [[word_score(texts, place, query) for place in range(len(texts))] for query in queries]
    assert scores == pytest.approx(np.array(expected), abs=1e-9)
    assert (scores >= 0).all()


def character_score(texts: list[str], place: int, query: str) -> float:
    found = Counter(c for text in texts for c in set(text))
    weights = {c: math.log((len(texts) - n + 0.5) / (n + 0.5)) for c, n in found.items()}
    floor = 0.25 * sum(weights.values()) / len(weights)
    mean = sum(map(len, texts)) / len(texts)
    spread = 1.5 * (0.25 + 0.75 * len(texts[place]) / mean)
    return sum(
        (weights[c] if weights[c] >= 0 else floor) * texts[place].count(c) * 2.5 / (texts[place].count(c) + spread)
        for c in query
        if c in texts[place]
    )


@given(st.lists(st.text("aAb \n1", min_size=1), min_size=1, max_size=5), st.text("aAb1z", max_size=6))
def test_characters_are_scored_by_the_formula(texts: list[str], query: str) -> None:
    scores = CharacterBM25().scores(texts, [query])[0]
    expected = [character_score(texts, place, query) for place in range(len(texts))]
    assert scores == pytest.approx(np.array(expected), abs=1e-9)


def case_of(texts: dict[Agent, list[str]]) -> Case:
    chunks = [
        Chunk(ref=f"{agent}{number}", agent=agent, text=text)
        for agent, members in texts.items()
        for number, text in enumerate(members, 1)
    ]
    return Case(id="case", chunks=tuple(chunks))


SMALL = case_of(
    {
        "F": ["the shop kept a list of customers", "the shop sent letters"],
        "LR": ["a list is a filing system", "letters need consent", "consent must be given freely"],
    }
)


def refs(query: str, context: Context, depth: int, share: DepthShare) -> list[str]:
    return [hit.ref for hit in rank_case(SMALL, context, [query], WordBM25(), depth=depth, share=share)[0]]


def test_a_depth_counts_in_total_or_for_each_agent() -> None:
    both: Context = ("F", "LR")
    assert refs("consent to letters", both, 2, "total") == ["LR2", "F2"]
    assert refs("consent to letters", both, 2, "per_agent") == ["F2", "F1", "LR2", "LR3"]
    assert refs("consent to letters", ("CS",), 2, "total") == []
    assert refs("nothing known", both, 9, "total") == ["F1", "F2", "LR1", "LR2", "LR3"]


@given(QUERY, st.integers(1, 4), st.integers(1, 4), st.sampled_from(["total", "per_agent"]))
def test_a_smaller_depth_is_a_prefix_of_a_larger_one(query: str, depth: int, more: int, share: DepthShare) -> None:
    (deep,) = rank_case(SMALL, ("F", "LR"), [query], WordBM25(), depth=depth + more, share=share)
    (shallow,) = rank_case(SMALL, ("F", "LR"), [query], WordBM25(), depth=depth, share=share)
    assert cut_to_depth(deep, depth) == shallow
    for agent in ("F", "LR"):
        scores = [hit.score for hit in deep if hit.agent == agent]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
@given(TEXTS, QUERY)
def test_fusing_two_equal_rankings_keeps_the_ranking(texts: list[str], query: str) -> None:
    alone, fused = WordBM25(), HybridRanker(WordBM25(), WordBM25())
    order = np.argsort(-alone.scores(texts, [query]), axis=1, kind="stable")
    assert np.array_equal(np.argsort(-fused.scores(texts, [query]), axis=1, kind="stable"), order)


def test_texts_without_words_score_zero() -> None:
    assert WordBM25().scores(["…", "--"], ["consent"]).tolist() == [[0.0, 0.0]]
    assert CharacterBM25().scores(["", ""], ["consent"]).tolist() == [[0.0, 0.0]]
