"""Addresses of clusters that do not answer."""

import re
import socket

import pytest

from lawtrace.schemas.errors import InputError, OperationalError

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

from lawtrace.runs.cluster.ray_cluster import ray_cluster

pytestmark = pytest.mark.integration


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "no.such.host.invalid"])
def test_an_address_where_nothing_answers_is_refused_at_once(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = f"{host}:{free_port()}"
    with pytest.raises(OperationalError, match=f"--on ray://{there}: no connection"), ray_cluster(f"ray://{there}"):
        pass
    monkeypatch.setenv("RAY_ADDRESS", there)
    said = re.escape(f"--on ray (RAY_ADDRESS={there}): no connection")
    with pytest.raises(OperationalError, match=said), ray_cluster("ray"):
        pass


@pytest.mark.parametrize("address", ["ray://", "ray://head", "ray://head:port", "ray:127.0.0.1:9", "rays"])
def test_an_address_has_a_host_and_a_port(address: str) -> None:
    with pytest.raises(InputError, match=re.escape("write ray, or ray://HOST:PORT")), ray_cluster(address):
        pass
