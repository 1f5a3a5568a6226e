"""Units on Ray: one worker for each core of the cluster.

The driver hands out units one by one, appends what workers record to the event log of the run as soon as they send it,
and starts another worker for one that is lost. Units of a lost worker are continued from the answers in the event log.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final, Generic
from uuid import uuid4

import ray
import ray.exceptions

from lawtrace.agents.concurrency import gather
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.environments.logs import get_logger
from lawtrace.runs.cluster.ray_connection import SAME_VERSION, ray_connection
from lawtrace.runs.cluster.ray_workers import Handle, RayWorkers
from lawtrace.runs.cluster.worker import RecordedEntries, UnitFailed
from lawtrace.runs.stages.cluster_jobs import CallRecords, Given, Job, Product, Unit
from lawtrace.schemas.errors import InputError, LawtraceError, OperationalError, SearchError
from lawtrace.schemas.log_entries import Entry, ModelCalled, RoleFailed

log = get_logger(__name__)

MAX_LOST = 50
"""How many workers may be lost before a run stops."""
START_SECONDS = 120.0
"""How long a worker may take to start; it waits for a free core where another process has all of them."""


@contextmanager
def ray_cluster(address: str) -> Generator["RayCluster"]:
    """The cluster at an address: ``ray://HOST:PORT``, or ``ray`` for that of the variable ``RAY_ADDRESS``, else a new
    one on this machine. Raises as `ray_connection`."""
    with ray_connection(address), closing(RayCluster()) as cluster:
        yield cluster


@dataclass(slots=True)
class _JobWorker:
    """A worker that has the job.

    Attributes:
        received: how many of the entries that it recorded are in the event log of the run.
        listening: appends them; None if no model takes part.
    """

    handle: Handle
    name: str
    received: int = 0
    listening: asyncio.Future[None] | None = None


@dataclass(slots=True)
class _Slot:
    """A place for a worker. ``worker``: None while there is none."""

    worker: _JobWorker | None = None
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)


class RayCluster:
    """Makes units on the workers of a cluster (`lawtrace.runs.stages.cluster_jobs.Cluster`)."""

    def __init__(self) -> None:
        self._workers: Final = RayWorkers()

    def close(self) -> None:
        """End all workers."""
        self._workers.close()

    async def products(
        self,
        job: Job[Given, Product],
        units: Sequence[Unit[Given]],
        *,
        records: CallRecords | None = None,
        on_product: Callable[[Product], None] = lambda _: None,
    ) -> list[Product]:
        """See `lawtrace.runs.stages.cluster_jobs.Cluster`."""
        return await _Scheduler(self._workers, job, units, records, on_product).products()


class _Scheduler(Generic[Given, Product]):
    """A job that is divided among workers."""

    def __init__(
        self,
        workers: RayWorkers,
        job: Job[Given, Product],
        units: Sequence[Unit[Given]],
        records: CallRecords | None,
        on_product: Callable[[Product], None],
    ) -> None:
        self._workers, self._job = workers, ray.put(job)
        self._records, self._on_product = records, on_product
        self._server: Handle = None
        # With models, each worker has more units than may be asked for at once: programs run while answers are awaited.
        self._lanes = 1 if records is None else records.settings.conversation.concurrency
        self._slots: list[_Slot] = []
        self._refused: list[Handle] = []  # they keep their cores, so that no other worker is started there
        self._places = self._lost = 0
        self._waiting = deque(enumerate(units))
        self._wanted = len(units)
        self._made: dict[int, Product] = {}
        self._changed = asyncio.Condition()

    async def products(self) -> list[Product]:
        """The product of each unit, in order."""
        try:
            if self._records is not None:
                self._server = await self._workers.server(self._records.settings, self._records.clients.spent)
            self._places = max(1, int(ray.cluster_resources().get("CPU", 1)))
            await gather(self._work_at_a_place() for _ in range(self._places))
        finally:
            await self._close()
        return [self._made[number] for number in range(self._wanted)]

    @property
    def _done(self) -> bool:
        return len(self._made) == self._wanted

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _work_at_a_place(self) -> None:
        slot = _Slot()
        self._slots.append(slot)
        async with slot.starting:
            await self._fill(slot)
        await gather(self._work(slot) for _ in range(self._lanes))

    async def _fill(self, slot: _Slot) -> None:
        """Start a worker at a place. The place is given up if the worker refuses, or there is no core for it."""
        while not self._done:
            name, worker = uuid4().hex[:12], self._workers.take()
            try:
                reason = await self._started(worker, name)
            except ray.exceptions.RayError as error:
                self._lost += 1
                raised, why = _why_ended(error)
                reason = f"it ended while it started: {why}"
                if not raised and self._lost <= MAX_LOST:  # killed, or lost since its last job
                    log.warning("worker lost", worker=name, reason=reason)
                    continue
            if reason is None:
                slot.worker = started = _JobWorker(worker, name)
                if self._records is not None:
                    started.listening = asyncio.ensure_future(self._listen(started))
                return
            if self._done:
                return
            log.warning("worker refuses", worker=name, reason=reason)
            self._places -= 1
            if not self._places:
                raise OperationalError(f"no worker of the cluster can work; the last: {reason}")
            return

    async def _started(self, worker: Handle, name: str) -> str | None:
        """Wait until a worker has started; return why it does not work, or None."""
        starting = asyncio.ensure_future(self._start(worker, name))
        done = asyncio.ensure_future(self._all_done())
        try:
            await asyncio.wait({starting, done}, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                ray.kill(worker)
                return f"it did not start within {START_SECONDS:g} s"
            if reason := starting.result():
                self._refused.append(worker)
            return reason
        finally:
            starting.cancel()
            done.cancel()

    async def _start(self, worker: Handle, name: str) -> str | None:
        """Give the job to a worker; return why it refuses, or None."""
        server, here = self._server, version("lawtrace")

        async def request(method: str, *values: object) -> object:
            return await getattr(server, method).remote(name, *values)

        there = await self._workers.result(worker.version.remote())
        if there != here:
            return f"its machine has lawtrace {there}, and this one {here}; {SAME_VERSION}"
        settings = None if self._records is None else self._records.settings
        return await self._workers.result(worker.start.remote(self._job, settings, request))

    async def _all_done(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._done)

    async def _next(self) -> tuple[int, Unit[Given]] | None:
        """The next unit with its number, as soon as there is one; None if all are made."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting or self._done)
            return self._waiting.popleft() if self._waiting else None

    async def _work(self, slot: _Slot) -> None:
        """Make units at a place, one after the other."""
        while (found := await self._next()) is not None:
            number, unit = found
            async with slot.starting:
                worker = slot.worker
            made = None
            if worker is not None:
                try:
                    made = await self._workers.result(worker.handle.make.remote(unit, self._known(unit)))
                except ray.exceptions.RayActorError as error:
                    await self._replace(slot, worker, error)
            if worker is None or made is None:
                self._waiting.append(found)
            elif isinstance(made, UnitFailed):
                where = "a worker of the cluster: " if made.kind == "InputError" else ""
                raise _FAILURES.get(made.kind, OperationalError)(f"{where}{made.text}")
            else:
                self._receive(worker, made.recorded)
                self._made[number] = made.product
                self._on_product(made.product)
            await self._notify()
            if slot.worker is None:
                return

    async def _listen(self, worker: _JobWorker) -> None:
        """Append what a worker records, as soon as it does."""
        with suppress(ray.exceptions.RayError):
            while (recorded := await self._recorded(worker, wait=True)).entries:
                self._receive(worker, recorded)

    async def _recorded(self, worker: _JobWorker, *, wait: bool) -> RecordedEntries:
        return await self._workers.result(worker.handle.recorded.remote(worker.received, wait))

    def _receive(self, worker: _JobWorker, recorded: RecordedEntries) -> None:
        """Append the entries that are not in the event log yet, and count what they say that was spent."""
        new = recorded.entries[worker.received - recorded.first :]
        if self._records is not None and new:
            worker.received += self._records.event_log.append(new)
            for _, entry in new:
                if isinstance(entry, ModelCalled):
                    self._records.clients.count(entry)

    def _known(self, unit: Unit[Given]) -> list[Entry]:
        """The answers of a unit that was interrupted."""
        if self._records is None:
            return []
        event_log = self._records.event_log
        entries = (entry for one in unit.conversations for entry in event_log.conversation(one))
        return [entry for entry in entries if isinstance(entry, ModelCalled | RoleFailed)]

    async def _replace(self, slot: _Slot, lost: _JobWorker, error: Exception) -> None:
        """Put another worker in the place of a lost one, if there is one that does not refuse."""
        async with slot.starting:
            if slot.worker is not lost:  # another lane was first
                return
            self._lost += 1
            log.warning("worker lost", worker=lost.name, reason=_first_line(error))
            if self._lost > MAX_LOST:
                raise OperationalError(f"{self._lost} workers were lost, the last: {_first_line(error)}")
            await self._stop_listening(lost)  # its units go on from all that it sent
            if self._server is not None:
                try:
                    await self._workers.result(self._server.lose.remote(lost.name))
                except ray.exceptions.RayError as gone:  # on the machine of the head
                    raise OperationalError(
                        f"the head of the cluster is lost ({_first_line(gone)}); start it again, and give the same "
                        "command, or `lawtrace resume` for a run: recorded answers are reused"
                    ) from gone
            slot.worker = None
            await self._fill(slot)

    async def _close(self) -> None:
        """End the job, and append what the workers recorded of unfinished units, and what the limits recorded."""
        entries: list[Entry] = []
        if self._server is not None:
            with suppress(ray.exceptions.RayError):
                entries = await self._workers.result(self._server.take_entries.remote())
        workers = [slot.worker for slot in self._slots if slot.worker is not None]
        await gather(self._stop_listening(worker) for worker in workers)
        await self._workers.end_job([worker.handle for worker in workers], keep=self._done)
        for refused in self._refused:
            ray.kill(refused)
        if self._records is not None:
            for entry in entries:
                self._records.event_log.record(entry)

    async def _stop_listening(self, worker: _JobWorker) -> None:
        """Append the last entries of a worker, if it is there."""
        if worker.listening is not None:
            with suppress(ray.exceptions.RayError):
                self._receive(worker, await self._recorded(worker, wait=False))
            worker.listening.cancel()


_FAILURES: Mapping[str, type[LawtraceError]] = {
    error.__name__: error for error in (BudgetExhausted, InputError, SearchError)
}
"""The errors of units that keep their type; others are operational."""


def _why_ended(error: Exception) -> tuple[bool, str]:
    """Whether the worker raised an error; that error, else what Ray says."""
    raised = [line for line in str(error).splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    if not raised:
        return False, _first_line(error)
    return True, f"{raised[-1]}; {SAME_VERSION}" if "No module named" in raised[-1] else raised[-1]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
