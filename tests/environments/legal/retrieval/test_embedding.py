"""Embeddings: cached by content, ranked by cosine; and the real model, where the extra is installed."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from lawtrace.environments.legal.retrieval.embedding import CachedEncoder, EmbeddingRanker, MiniLM, Vectors
from lawtrace.schemas.errors import OperationalError


class Letters:
    """Counts letters, and keeps the texts that it was asked for."""

    def __init__(self, id: str = "letters") -> None:  # noqa: A002 (the protocol's name)
        self.id = id
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[text.count("a"), text.count("b"), 1] for text in texts], dtype=np.float32)


def test_no_text_is_encoded_twice(tmp_path: Path) -> None:
    beneath = Letters()
    encoder = CachedEncoder(beneath, tmp_path)
    first = encoder.encode(["aa", "b", "aa"])
    assert encoder.encode(["b", "aa"]).tolist() == [first[1].tolist(), first[0].tolist()]
    assert beneath.asked == ["aa", "b"]
    later = Letters()
    assert CachedEncoder(later, tmp_path).encode(["aa", "new"]).shape == (2, 3)
    assert later.asked == ["new"]
    other = Letters("other pooling")
    CachedEncoder(other, tmp_path).encode(["aa"])
    assert other.asked == ["aa"]


def test_an_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OperationalError, match="XDG_CACHE_HOME"):
        CachedEncoder(Letters(), tmp_path / "file").encode(["a"])


def test_ranking_uses_the_angle_and_not_the_length() -> None:
    scores = EmbeddingRanker(Letters()).scores(["aaaaaaaa", "bbbbbbbb", "ab"], ["aaaa", "bbbb"])
    assert scores.argmax(axis=1).tolist() == [0, 1]
    assert (np.abs(scores) <= 1 + 1e-6).all()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs the extra 'embed'")
def test_the_real_model_ranks_similar_texts_first() -> None:
    encoder = MiniLM()
    texts = ["The company lost the passwords of its customers.", "The weather was fine that summer."]
    scores = EmbeddingRanker(encoder).scores(texts, ["Were credentials of clients disclosed?"])
    assert scores[0, 0] > scores[0, 1] + 0.2
    alone = encoder.encode(texts[:1])
    assert np.array_equal(alone[0], encoder.encode([texts[1], texts[0]])[1])
    assert alone.shape == (1, 384)
    assert MiniLM("cls").id != encoder.id
    long = "word " * 300
    assert np.array_equal(encoder.encode([long]), encoder.encode([long + "more words"]))
