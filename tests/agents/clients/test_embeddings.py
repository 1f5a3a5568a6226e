"""Vectors from an endpoint: in order, in batches, with a plain error where none come."""

from pathlib import Path

import pytest

from agents.clients.embeddings import EndpointEncoder
from agents.clients.errors import CallFailed
from agents.clients.spec import ModelSpec
from environments.casebook.retrieval.embedding import CachedEncoder
from environments.errors import InputError
from tests.support.openai_server import Raw, Status, serving

SPEC = ModelSpec.parse("openai:small-embedder")


def test_vectors_come_in_the_order_of_the_texts_and_once(tmp_path: Path) -> None:
    texts = ["a" * number for number in range(1, 100)]
    with serving(lambda request: "") as server:
        encoder = CachedEncoder(EndpointEncoder(SPEC, environment=server.environment), tmp_path)
        assert encoder.encode(texts)[:, 0].tolist() == list(range(1, 100))
        asked = len(server.requests)
        encoder.encode(texts)
        assert len(server.requests) == asked == 2
        assert {request["model"] for request in server.requests} == {"small-embedder"}


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [(Status(401), "check the key"), (Raw("<html>"), "no list of vectors"), (Raw('{"data": []}'), "vectors")],
)
def test_an_endpoint_that_gives_no_vectors_is_named(behaviour: Status | Raw, message: str) -> None:
    with serving(lambda request: "") as server:
        server.then(behaviour)
        with pytest.raises(CallFailed, match=f"openai:small-embedder.*{message}"):
            EndpointEncoder(SPEC, environment=server.environment).encode(["text"])


def test_a_fault_that_passes_is_tried_again() -> None:
    with serving(lambda request: "") as server:
        server.then(Status(503, {"Retry-After": "0"}))
        assert EndpointEncoder(SPEC, environment=server.environment).encode(["ae"])[0].tolist() == [1, 1, 0, 0, 0]


def test_only_endpoints_encode() -> None:
    with pytest.raises(InputError, match="name a compatible endpoint"):
        EndpointEncoder(ModelSpec.parse("offline"))
