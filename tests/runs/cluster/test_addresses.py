"""Addresses of clusters that do not answer."""

import socket

import pytest

from lawtrace.environments.errors import OperationalError

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

from lawtrace.runs.cluster.ray_cluster import ray_cluster

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("host", ["127.0.0.1", "no.such.host.invalid"])
def test_an_address_in_the_environment_where_nothing_answers_is_refused(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{host}:{server.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(OperationalError, match=f"no connection to RAY_ADDRESS={address}"), ray_cluster("ray"):
        pass
