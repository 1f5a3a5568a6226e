"""Vectors from an OpenAI-compatible endpoint, for retrieval by meaning."""

import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from openai import OpenAI, OpenAIError

from agents.clients.addresses import access_to
from agents.clients.errors import CallFailed
from agents.clients.faults import explain
from agents.clients.spec import ENDPOINTS, ModelSpec
from environments.casebook.retrieval.embedding import Vectors
from environments.errors import InputError

__all__ = ["EndpointEncoder"]

_BATCH = 64
_TRIES_AGAIN = 4


class EndpointEncoder:
    """Asks for the vectors of texts, 64 at a time. Put it behind a `CachedEncoder`, which asks for each text once.

    Its calls are no part of a conversation and stand in no record: what they brought is kept by content.

    Raises InputError for a spec that is no endpoint; `encode` raises CallFailed.
    """

    def __init__(
        self, spec: ModelSpec, *, environment: Mapping[str, str] = os.environ, deadline_seconds: float = 120.0
    ) -> None:
        if spec.provider not in ENDPOINTS or spec.provider in {"anthropic", "azure"}:
            raise InputError(f"embedding model '{spec}': name a compatible endpoint such as openai:MODEL, or minilm")
        access = access_to(spec.provider, environment, spec)
        self._spec = spec
        self._client = OpenAI(
            base_url=access.address, api_key=access.key, timeout=deadline_seconds, max_retries=_TRIES_AGAIN
        )
        self.id = f"{spec}@{access.address}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.array([vector for batch in _batches(texts) for vector in self._ask(batch)], dtype=np.float32)

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            reply = self._client.embeddings.create(model=self._spec.name, input=list(texts), encoding_format="float")
            vectors = [found.embedding for found in sorted(reply.data, key=lambda found: found.index)]
        except OpenAIError as error:
            raise CallFailed("endpoint", f"{self._spec}: no vectors: {explain(error)}") from error
        except (AttributeError, TypeError, ValueError) as error:
            raise CallFailed("endpoint", f"{self._spec}: what came back is no list of vectors: {error}") from error
        if len(vectors) != len(texts):
            raise CallFailed("endpoint", f"{self._spec}: {len(vectors)} vectors for {len(texts)} texts")
        return vectors


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), _BATCH):
        yield texts[start : start + _BATCH]
