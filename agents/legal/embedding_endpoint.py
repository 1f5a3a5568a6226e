"""Embedding vectors from an OpenAI-compatible endpoint, for retrieval by meaning.

A batch of texts is a model call like any other. It passes the same layers (`lawtrace.agents.models.stack`), so it is
recorded, retried, limited and budgeted, is not repeated when a run is resumed, and can be replayed. Its messages are
the texts; its answer is the vectors as text.
"""

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from autogen_core.models import CreateResult, RequestUsage, UserMessage

from lawtrace.agents.models.endpoints import access_to
from lawtrace.agents.models.model_call import CallFailed, ModelCall, plain_messages
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.models.request_client import RequestClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.retrieval.embedding import Vectors
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import EndpointProvider, ModelSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI

EMBEDDERS: tuple[EndpointProvider, ...] = ("openai", "ollama", "llamacpp")
"""Providers whose endpoints compute embeddings."""

_BATCH = 64


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """The innermost layer: requests the vectors of a call's messages."""

    client: "AsyncOpenAI"
    model: str
    key: str = field(default="", repr=False)
    address: str = ""

    async def ask(self, call: ModelCall) -> CreateResult:
        texts = [message.content for message in plain_messages(call.request.messages)]
        try:
            reply = await self.client.embeddings.create(model=self.model, input=texts, encoding_format="float")
            vectors = np.array([found.embedding for found in sorted(reply.data, key=lambda found: found.index)])
            content = _packed(vectors.reshape(len(texts), -1))
            tokens = reply.usage.prompt_tokens
        except (AttributeError, TypeError, ValueError) as error:
            raise CallFailed(
                "endpoint",
                f"{call.context.model}: the reply is not a list of {len(texts)} vectors ({error}); check the "
                "endpoint's address, and that the model is one for embeddings",
            ) from error
        usage = RequestUsage(prompt_tokens=tokens, completion_tokens=0)
        return CreateResult(finish_reason="stop", content=content, usage=usage, cached=False)


def connect_embeddings(spec: ModelSpec, environment: Mapping[str, str]) -> EmbeddingEndpoint:
    """Connect to the endpoint of a spec. Raises InputError if the spec names no such endpoint or a variable is
    missing."""
    assert spec.provider in EMBEDDERS
    access = access_to(spec.provider, environment, spec)
    from openai import AsyncOpenAI  # takes half a second

    client = AsyncOpenAI(base_url=access.address, api_key=access.key, max_retries=0)
    return EmbeddingEndpoint(client, spec.name, access.key, access.shown)


def embedding_client(clients: ModelClients, spec: ModelSpec, context: Context) -> RecordedClient:
    """A client whose answers are vectors, live or replayed. Raises what `ModelClients.client_for` raises."""
    if spec.provider not in (*EMBEDDERS, "replay"):
        raise InputError(f"embedding model '{spec}' has no embeddings; use minilm or an endpoint such as openai:MODEL")
    return clients.client_for(spec, context, connect=connect_embeddings)


class EndpointEncoder:
    """An encoder that requests vectors from a client, 64 texts at a time, each text once.

    Args:
        client: a client of an `EmbeddingEndpoint`, see `embedding_client`.
        loop: the event loop of the client. `encode` waits for it, so it must be called from another thread.
    """

    def __init__(self, client: RequestClient, model: str, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop
        self._known: dict[str, Vectors] = {}
        self.id = model

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts. Raises CallFailed without a usable reply."""
        for batch in _batches(texts, self._known):
            asking = self._client.create([UserMessage(content=text, source="retrieval") for text in batch])
            result = asyncio.run_coroutine_threadsafe(asking, self._loop).result()
            self._known.update(zip(batch, _unpacked(str(result.content)), strict=True))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 0), dtype=np.float32)


class DryRunEncoder:
    """An encoder that makes no request and counts those of an `EndpointEncoder`: ``calls``, and the ``texts`` of all
    calls.

    All its vectors are equal.
    """

    id = "counting"

    def __init__(self) -> None:
        self.calls = 0
        self.texts: dict[str, None] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        for batch in _batches(texts, self.texts):
            self.calls += 1
            self.texts.update(dict.fromkeys(batch))
        return np.ones((len(texts), 1), dtype=np.float32)


def _packed(vectors: np.ndarray[Any, Any]) -> str:
    numbers = b64encode(vectors.astype("<f4").tobytes()).decode()
    return json.dumps({"dimensions": vectors.shape[1], "vectors": numbers})


def _unpacked(text: str) -> Vectors:
    said = json.loads(text)
    return np.frombuffer(b64decode(said["vectors"]), dtype="<f4").reshape(-1, said["dimensions"])


def _batches(texts: Sequence[str], known: Container[str]) -> Iterator[Sequence[str]]:
    """Batches of the texts that are not known yet, each text once."""
    wanted = [text for text in dict.fromkeys(texts) if text not in known]
    for start in range(0, len(wanted), _BATCH):
        yield wanted[start : start + _BATCH]
