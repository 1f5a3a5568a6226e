"""Connecting to a Ray cluster, with errors that say what to do."""

import os
import re
import socket
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import ray
import ray.exceptions

from lawtrace.environments.logs import get_logger
from lawtrace.runs.stages.cluster_jobs import Bundle
from lawtrace.schemas.errors import InputError, OperationalError

log = get_logger(__name__)

PREFIX: Final = "ray"
CONNECT_SECONDS: Final = 10.0
"""How long the first machine of a cluster may take to accept a connection."""
CONNECTIONS: Final = 3
"""How often a client port is tried: the head starts a process for each connection, which sometimes dies at once."""
SAME_VERSION: Final = "install the same version of lawtrace[ray] on each machine of the cluster"
_NOT_SERVED: Final = "Starting Ray client server failed"


@contextmanager
def ray_connection(address: str) -> Generator[None]:
    """Connect to ``ray://HOST:PORT``, or for ``ray`` to the cluster of the variable ``RAY_ADDRESS``, else start one on
    this machine. A connection that the program has already is used.

    Raises InputError if the address is none, OperationalError if nothing answers there.
    """
    if address != PREFIX and not re.fullmatch(rf"{PREFIX}://[^/\s]+:\d{{1,5}}", address, re.ASCII):
        raise InputError(f"--on {address!r}: write ray, or ray://HOST:PORT")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no report to Ray's makers
    os.environ.setdefault("RAY_worker_niceness", "0")  # of workers started here; they would yield to all else
    if ray.is_initialized():  # by the program that uses lawtrace as a library
        yield
        return
    _check_connection(address)
    try:
        _connect(address)
        yield
    finally:
        ray.shutdown()


def _connect(address: str) -> None:
    for left in reversed(range(CONNECTIONS)):
        try:
            with warnings.catch_warnings(action="ignore"):  # they say what the error says
                if address == PREFIX:
                    ray.init(include_dashboard=False, log_to_driver=False, logging_level="error")
                else:
                    ray.init(address, log_to_driver=False, logging_level="error")
            break
        except (ConnectionError, RuntimeError, ValueError, ImportError, ray.exceptions.RayError) as error:
            if left and _NOT_SERVED in str(error):
                log.warning("the cluster could not start a process for this client; connecting again")
                ray.shutdown()
                continue
            said = str(error).strip().splitlines() or [type(error).__name__]
            reason = " ".join(dict.fromkeys((said[0].strip(), said[-1].strip())))
            remedy = "start Ray there as docs/scale.md says, open the port, and set the cluster's RAY_AUTH_TOKEN here"
            raise OperationalError(f"--on {address}: no connection ({reason}); {remedy}") from error
    try:
        ray.put(Bundle("", ()))  # a client's values are made again on the machine that it is connected to
    except ImportError as error:
        raise OperationalError(f"--on {address}: {error} on the machine with this port; {SAME_VERSION}") from error


def _check_connection(address: str) -> None:
    """Raises OperationalError if nothing accepts connections at ``ray://HOST:PORT``, or for ``ray`` where RAY_ADDRESS
    says, since Ray itself tries for minutes."""
    there = os.environ.get("RAY_ADDRESS", "") if address == PREFIX else address
    found = re.fullmatch(rf"(?:{PREFIX}://)?\[?([^/\s]+?)\]?:(\d{{1,5}})", there, re.ASCII)
    if found is None:  # such as auto
        return
    try:
        socket.create_connection((found[1], int(found[2])), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        place = f"{address} (RAY_ADDRESS={there})" if address == PREFIX else address
        raise OperationalError(
            f"--on {place}: no connection ({error}); start Ray there with `ray start`, or give another address"
        ) from error
