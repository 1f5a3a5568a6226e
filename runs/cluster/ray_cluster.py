"""Units on Ray: each is a task of its own, which Ray gives to a free core, and again to another if its worker is lost.

Units ask no model, so nothing has to be shared between workers, and nothing is lost with one.
"""

import asyncio
import atexit
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Generic
from uuid import uuid4

import ray
import ray.exceptions

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.environments.logs import get_logger
from lawtrace.runs.cluster.ray_connection import SAME_VERSION, ray_connection
from lawtrace.runs.stages.cluster_jobs import Given, Job, Product
from lawtrace.schemas.errors import InputError, LawtraceError, OperationalError, SearchError

log = get_logger(__name__)

MAX_LOST = 50
"""How often a unit is begun again because its worker is lost."""


@contextmanager
def ray_cluster(address: str) -> Generator["RayCluster"]:
    """The cluster at an address: ``ray://HOST:PORT``, or ``ray`` for that of the variable ``RAY_ADDRESS``, else a new
    one on this machine. Raises as `ray_connection`."""
    with ray_connection(address):
        try:
            yield RayCluster()
        finally:
            _close()


@dataclass(frozen=True, slots=True)
class _Made(Generic[Product]):
    product: Product


@dataclass(frozen=True, slots=True)
class _NotMade:
    """Why a unit has no product: the name of its error and the message. Without a name, the worker makes no units."""

    error: str
    text: str


class RayCluster:
    """Makes units on the workers of a cluster (`lawtrace.runs.stages.cluster_jobs.Cluster`)."""

    def maker(self, job: Job[Given, Product]) -> Callable[[Given], Awaitable[Product]]:
        """See `lawtrace.runs.stages.cluster_jobs.Cluster`. What a worker refuses is made here."""
        name, shared = uuid4().hex, [ray.put(job)]  # in a list: a worker takes it once, not for each unit
        remote = ray.remote(num_cpus=1, max_retries=MAX_LOST)(_make)
        refused = set[str]()

        async def make(unit: Given) -> Product:
            found: _Made[Product] | _NotMade
            try:
                found = await asyncio.wrap_future(remote.remote(name, version("lawtrace"), shared, unit).future())
            except ray.exceptions.RayError as error:
                way_on = "give the same command, or `lawtrace resume` for a run: recorded answers are reused"
                raise OperationalError(f"the cluster: {_why_ended(error)}; {way_on}") from error
            if isinstance(found, _NotMade) and not found.error:
                if found.text not in refused:
                    refused.add(found.text)
                    log.warning("a worker refuses, and its units are made here", reason=found.text)
                found = await run_in_worker_thread(lambda: _make_unit(name, lambda: job, unit))
            if isinstance(found, _Made):
                return found.product
            where = "a worker of the cluster: " if found.error == "InputError" else ""
            raise _FAILURES.get(found.error, OperationalError)(f"{where}{found.text}")

        return make


def _make(name: str, written_by: str, shared: list[Any], unit: Any) -> object:  # noqa: ANN401 (of any job)
    """Make a unit in a worker. ``shared``: a reference to the job with this name."""
    if (here := version("lawtrace")) != written_by:
        return _NotMade("", f"its machine has lawtrace {here}, and the driver {written_by}; {SAME_VERSION}")
    return _make_unit(name, lambda: ray.get(shared[0]), unit)


_opened: dict[str, Callable[[Any], Any] | _NotMade] = {}
"""What makes the units of a job in this process, by the name of the job; closed when another begins."""
_stack = ExitStack()
atexit.register(_stack.close)


def _make_unit(name: str, job: Callable[[], Job[Given, Product]], unit: Given) -> _Made[Product] | _NotMade:
    if name not in _opened:
        _close()
        try:
            _opened[name] = job().open(_stack)
        except LawtraceError as error:
            _opened[name] = _NotMade("", str(error))
    make = _opened[name]
    if isinstance(make, _NotMade):
        return make
    try:
        return _Made(make(unit))
    except LawtraceError as error:
        return _NotMade(type(error).__name__, str(error))


def _close() -> None:
    _stack.close()
    _opened.clear()


_FAILURES: Mapping[str, type[LawtraceError]] = {error.__name__: error for error in (InputError, SearchError)}
"""The errors of units that keep their type; others are operational."""


def _why_ended(error: Exception) -> str:
    """The error that a worker raised; else what Ray says."""
    raised = [line for line in str(error).splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    if not raised:
        return str(error).partition("\n")[0]
    return f"{raised[-1]}; {SAME_VERSION}" if "No module named" in raised[-1] else raised[-1]
