"""Attempts on Ray: one worker for each core of the cluster. The only module that imports Ray.

The driver hands out units one by one, appends the entries of finished units to the event log of the run, and starts
another worker for one that is lost. The answers that a lost worker recorded are read from its own event log, where it
is on this machine or a shared file system, so that its units are continued rather than begun again.
"""

import asyncio
import os
import shutil
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import ray
import ray.exceptions

from lawtrace.agents.concurrency import gather
from lawtrace.agents.event_log import Entry, ModelCalled, RoleFailed
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.environments.errors import InputError, OperationalError
from lawtrace.environments.logs import get_logger
from lawtrace.runs.cluster.grants import Ask, GrantOffice
from lawtrace.runs.cluster.worker import WORKERS, AttemptJob, MadeAttempt, UnitFailed, Worker
from lawtrace.runs.schemas.attempt_rows import Attempt
from lawtrace.runs.stages.attempts_stage import AttemptUnit
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_merge import merge_conversation, merge_event_logs
from lawtrace.runs.store.stage_store import Products

log = get_logger(__name__)

PREFIX = "ray"
MAX_LOST = 50
"""How many workers may be lost before a run stops."""


@contextmanager
def ray_cluster(address: str) -> Generator["RayCluster"]:
    """Connect to a cluster: ``ray://HOST:PORT``, or ``ray`` for that of the variable ``RAY_ADDRESS``, else a new one
    on this machine.

    Raises InputError if the address is none, OperationalError if nothing answers there.
    """
    if address != PREFIX and not address.startswith(f"{PREFIX}://"):
        raise InputError(f"--on {address!r}: write ray, or ray://HOST:PORT")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no report to Ray's makers
    if ray.is_initialized():  # by the program that uses lawtrace as a library
        yield RayCluster()
        return
    try:
        if address == PREFIX:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level="error")
        else:
            ray.init(address, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError, ImportError, ray.exceptions.RayError) as error:
        reason = str(error).partition("\n")[0]
        raise OperationalError(f"--on {address}: no connection ({reason}); start Ray there with `ray start`") from error
    try:
        yield RayCluster()
    finally:
        ray.shutdown()


@dataclass(slots=True)
class _Slot:
    """A place for a worker. ``worker``: None while there is none."""

    worker: Any
    name: str
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)


class RayCluster:
    """Makes attempts on the workers of a cluster (`lawtrace.runs.stages.stage.Cluster`)."""

    async def collect(
        self,
        context: StageContext,
        products: Products,
        units: Sequence[AttemptUnit],
        on_attempt: Callable[[Attempt], None],
    ) -> list[Attempt]:
        """One attempt for each unit, in order.

        Raises OperationalError if no worker can run programs, or too many are lost.
        """
        collection = _Collection(context, products, on_attempt)
        try:
            attempts = await collection.run(units)
        except BaseException:
            await collection.close()
            raise
        await collection.close()
        collection.tidy()
        return attempts


class _Collection:
    """The attempts of one stage on a cluster."""

    def __init__(self, context: StageContext, products: Products, on_attempt: Callable[[Attempt], None]) -> None:
        assert isinstance(context.event_log, EventLogFile)
        self._context, self._on_attempt = context, on_attempt
        self._event_log = context.event_log
        self._folder = context.event_log.path.parent.resolve()
        settings = context.recipe.call_settings()
        self._job = ray.put(AttemptJob.of(context, products, self._folder))
        self._office = ray.remote(num_cpus=0, max_concurrency=10_000)(GrantOffice).remote(
            settings.budget, context.clients.spent, settings.concurrency
        )
        self._lanes = settings.concurrency
        self._lost = 0
        self._attempts: dict[str, Attempt] = {}
        self._refusals: list[str] = []
        self._slots: list[_Slot] = []

    async def run(self, units: Sequence[AttemptUnit]) -> list[Attempt]:
        for folder in sorted((self._folder / WORKERS).glob("*")):  # of workers before an interruption
            self._recover(folder)
        workers = max(1, min(int(ray.cluster_resources().get("CPU", 1)), len(units)))
        started = await asyncio.gather(*(self._start() for _ in range(workers)))
        self._slots = [slot for slot in started if slot is not None]
        if not self._slots:
            raise OperationalError(f"no worker can run programs: {self._refusals[0]}")
        waiting = deque(units)
        while waiting:
            if not (places := [slot for slot in self._slots if slot.worker is not None]):
                raise OperationalError(f"no worker is left: {self._refusals[-1]}")
            # Each worker has more units than may be asked for at once: programs run while answers are awaited.
            await gather(self._work(slot, waiting) for slot in places for _ in range(self._lanes))
        return [self._attempts[unit.key] for unit in units]

    async def close(self) -> None:
        """End the workers, merge what they recorded of unfinished units, and record what the office has to say."""
        for slot in self._slots:
            if slot.worker is not None:
                ray.kill(slot.worker)
                self._recover(self._folder / WORKERS / slot.name)
        with suppress(ray.exceptions.RayError):
            for entry in await self._office.entries.remote():
                self._event_log.record(entry)
            ray.kill(self._office)

    def tidy(self) -> None:
        """Remove the event logs of the workers: that of the run has all entries."""
        shutil.rmtree(self._folder / WORKERS, ignore_errors=True)

    async def _start(self) -> _Slot | None:
        """A place with a worker; None if the worker refuses."""
        slot = _Slot(None, "")
        return slot if await self._fill(slot) else None

    async def _fill(self, slot: _Slot) -> bool:
        office, name = self._office, uuid4().hex[:12]

        async def ask(method: str, *values: object) -> object:
            return await getattr(office, method).remote(name, *values)

        actor = ray.remote(num_cpus=1, max_concurrency=1000)(RemoteWorker)
        worker = actor.remote(self._job, name, ask)
        try:
            refusal = await worker.start.remote()
        except ray.exceptions.RayActorError as error:
            refusal = f"it ended while it started: {str(error).splitlines()[0]}"
            self._lost += 1
        if refusal is not None:
            log.warning("worker refuses", worker=name, reason=refusal)
            self._refusals.append(refusal)
            return False
        slot.worker, slot.name = worker, name
        return True

    async def _work(self, slot: _Slot, waiting: "deque[AttemptUnit]") -> None:
        """Make units at one worker, one after the other."""
        while waiting and slot.worker is not None:
            unit, name = waiting.popleft(), slot.name
            try:
                made = await slot.worker.make.remote(unit.key, self._known(unit))
            except ray.exceptions.RayActorError as error:
                waiting.appendleft(unit)
                await self._replace(slot, name, error)
                continue
            if isinstance(made, UnitFailed):
                raise BudgetExhausted(made.text) if made.kind == "BudgetExhausted" else OperationalError(made.text)
            self._finish(unit, made)

    def _finish(self, unit: AttemptUnit, made: MadeAttempt) -> None:
        merge_conversation(self._event_log, unit.key, made.entries)
        for _, entry in made.entries:
            self._counted(entry)
        attempt = Attempt.model_validate_json(made.row)
        self._attempts[unit.key] = attempt
        self._on_attempt(attempt)

    def _known(self, unit: AttemptUnit) -> list[Entry]:
        """The answers of a unit that was interrupted."""
        return [
            entry for entry in self._event_log.conversation(unit.key) if isinstance(entry, ModelCalled | RoleFailed)
        ]

    async def _replace(self, slot: _Slot, name: str, error: Exception) -> None:
        """Put another worker in the place of a lost one, if there is one that does not refuse."""
        async with slot.starting:
            if slot.name != name:  # another lane was first
                return
            self._lost += 1
            log.warning("worker lost", worker=name, reason=str(error).splitlines()[0])
            if self._lost > MAX_LOST:
                raise OperationalError(f"{self._lost} workers were lost, the last: {error}")
            await self._office.lose.remote(name)
            self._recover(self._folder / WORKERS / name)
            slot.worker, slot.name = None, ""
            await self._fill(slot)

    def _counted(self, entry: Entry) -> bool:
        """Count what an entry says that was spent. Every entry is kept."""
        if isinstance(entry, ModelCalled):
            self._context.clients.count(entry)
        return True

    def _recover(self, folder: Path) -> None:
        """Merge the event log of a worker that ended, if it is on this machine or a shared file system."""
        try:
            with EventLogFile.open(folder) as event_log:
                merge_event_logs(self._event_log, [event_log], keep=self._counted)
        except InputError as error:  # it ended before it began to write
            log.info("no event log of a worker", folder=str(folder), reason=str(error))


class RemoteWorker:
    """`Worker` as an actor of Ray: every method is asynchronous."""

    def __init__(self, job: AttemptJob, name: str, ask: Ask) -> None:
        self._worker = Worker(job, name, ask)

    async def start(self) -> str | None:
        return self._worker.start()

    async def make(self, key: str, known: Sequence[Entry]) -> MadeAttempt | UnitFailed:
        return await self._worker.make(key, known)
