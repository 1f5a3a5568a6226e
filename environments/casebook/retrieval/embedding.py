"""Ranking by meaning: vectors of an encoder, compared by cosine, kept by content so that no text is encoded twice."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lawtrace.environments.casebook.retrieval.ranking import Scores
from lawtrace.environments.errors import CannotCarryOut

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions)."""

_PAGE = 64


class Encoder(Protocol):
    """Texts to vectors."""

    @property
    def id(self) -> str:
        """Everything that a vector depends on beside its text: model, pooling, limit. Part of the cache's key."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class EmbeddingRanker:
    """Scores are cosines, from -1 to 1."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def scores(self, texts: Sequence[str], queries: Sequence[str]) -> Scores:
        cosines = _normal(self._encoder.encode(queries)) @ _normal(self._encoder.encode(texts)).T
        return cosines.astype(np.float64)


def _normal(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, np.finfo(np.float32).tiny)


class CachedEncoder:
    """An encoder that asks the one beneath only for texts it has never seen.

    Vectors are kept in memory and in one file that processes may share. They are committed page by page, so an
    interrupted call has lost at most one page.
    """

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self._encoder = encoder
        self._file = folder / "vectors.sqlite"
        self._known: dict[bytes, Vectors] = {}

    @property
    def id(self) -> str:
        return self._encoder.id

    def encode(self, texts: Sequence[str]) -> Vectors:
        keys = [hashlib.sha256(f"{self.id}\0{text}".encode()).digest() for text in texts]
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if wanted:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(self._file, isolation_level=None, timeout=60)) as store:
                    self._find(store, wanted)
            except (sqlite3.Error, OSError) as error:
                raise CannotCarryOut(
                    f"{self._file}: the vectors cannot be kept there ({error}); set XDG_CACHE_HOME to another folder"
                ) from error
        return np.stack([self._known[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)

    def _find(self, store: sqlite3.Connection, wanted: dict[bytes, str]) -> None:
        store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        for key in wanted:
            row = store.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                self._known[key] = np.frombuffer(row[0], dtype="<f4")
        missing = [key for key in wanted if key not in self._known]
        for start in range(0, len(missing), _PAGE):
            page = missing[start : start + _PAGE]
            found = self._encoder.encode([wanted[key] for key in page]).astype("<f4")
            rows = [(key, vector.tobytes()) for key, vector in zip(page, found, strict=True)]
            store.execute("BEGIN")
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            store.execute("COMMIT")
            self._known.update(zip(page, found, strict=True))
