"""Embedding vectors from an OpenAI-compatible endpoint, for retrieval by meaning.

A batch of texts is a model call like any other. It passes the same layers (`lawtrace.agents.models.stack`), so it is
recorded, retried, limited and budgeted, is not repeated when a run is resumed, and can be replayed. Its messages are
the texts; its answer is the vectors as text.
"""

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from autogen_core.models import CreateResult, RequestUsage, UserMessage

from lawtrace.agents.models.endpoints import access_to
from lawtrace.agents.models.model_call import CallFailed, ModelCall, plain_messages
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.retrieval.embedding import BatchEncoder, Vectors
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import EndpointProvider, ModelSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI

EMBEDDERS: tuple[EndpointProvider, ...] = ("openai", "ollama", "llamacpp")
"""Providers whose endpoints compute embeddings."""


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


def endpoint_encoder(
    clients: ModelClients, spec: ModelSpec, context: Context, loop: asyncio.AbstractEventLoop
) -> BatchEncoder:
    """An encoder whose vectors come from an endpoint or a recording. It raises CallFailed without a usable reply.

    ``loop``: the event loop of the clients, for which the encoder waits; it must be called from another thread.
    """
    client = clients.client_for(spec, context, connect=connect_embeddings)

    def ask(texts: Sequence[str]) -> Vectors:
        asking = client.create([UserMessage(content=text, source="retrieval") for text in texts])
        return _unpacked(str(asyncio.run_coroutine_threadsafe(asking, loop).result().content))

    return BatchEncoder(ask, str(spec))


def _packed(vectors: np.ndarray[Any, Any]) -> str:
    numbers = b64encode(vectors.astype("<f4").tobytes()).decode()
    return json.dumps({"dimensions": vectors.shape[1], "vectors": numbers})


def _unpacked(text: str) -> Vectors:
    said = json.loads(text)
    return np.frombuffer(b64decode(said["vectors"]), dtype="<f4").reshape(-1, said["dimensions"])
