"""Units on Ray: one worker for each core of the cluster.

The driver hands out units one by one, appends what workers record to the event log of the run as soon as they send it,
and starts another worker for one that is lost. Units of a lost worker are continued from the answers in the event log.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Mapping, Sized
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
LANES = 3
"""How many units a worker has at once if no model takes part: while one is sent, others are made."""
AHEAD = 4
"""How many products for each unit in work may wait for those before them, if no model takes part."""


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


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a worker does not take a job.

    Attributes:
        alive: whether it has its core nevertheless.
        killed: whether its process ended without an error that it raised.
    """

    reason: str
    alive: bool
    killed: bool = False


class RayCluster:
    """Makes units on the workers of a cluster (`lawtrace.runs.stages.cluster_jobs.Cluster`)."""

    def __init__(self) -> None:
        self._workers: Final = RayWorkers()

    def close(self) -> None:
        """End all workers."""
        self._workers.close()

    def products(
        self,
        job: Job[Given, Product],
        units: Iterable[Unit[Given]],
        *,
        records: CallRecords | None = None,
        on_product: Callable[[Product], None] = lambda _: None,
        at_once: int | None = None,
    ) -> AsyncGenerator[Product]:
        """See `lawtrace.runs.stages.cluster_jobs.Cluster`."""
        most = len(units) if isinstance(units, Sized) else None
        return _Scheduler(self._workers, job, iter(units), most, records, on_product, at_once).products()

    def stream(
        self, job: Job[Given, Product], units: Iterable[Unit[Given]], *, at_once: int | None = None
    ) -> Iterator[Product]:
        """See `lawtrace.runs.stages.cluster_jobs.Cluster`."""
        products = self.products(job, units, at_once=at_once)

        async def one() -> tuple[Product, ...]:
            async for product in products:
                return (product,)
            return ()

        with asyncio.Runner() as runner:
            try:
                while found := runner.run(one()):
                    yield found[0]
            finally:
                runner.run(products.aclose())


class _Scheduler(Generic[Given, Product]):
    """A job that is divided among workers. ``most``: how many workers it has use for; None if that is unknown."""

    def __init__(
        self,
        workers: RayWorkers,
        job: Job[Given, Product],
        units: Iterator[Unit[Given]],
        most: int | None,
        records: CallRecords | None,
        on_product: Callable[[Product], None],
        at_once: int | None,
    ) -> None:
        self._workers, self._job, self._units, self._most = workers, ray.put(job), units, most
        self._records, self._on_product = records, on_product
        self._server: Handle = None
        # Each worker has more units than may be asked for at once: programs run while answers are awaited.
        self._lanes = at_once or (LANES if records is None else records.settings.conversation.concurrency)
        self._slots: list[_Slot] = []
        self._places = self._spare = self._lost = 0
        # With the results of their starts. They keep their cores, so that no other worker is started there.
        self._refused: list[tuple[Handle, Handle]] = []
        self._begun: dict[str, Handle] = {}  # the results of the starts of workers whose processes are there
        self._given = self._finished = self._taken = 0
        self._ended = False
        self._returned: deque[tuple[int, Unit[Given]]] = deque()
        self._made: dict[int, Product] = {}
        self._changed = asyncio.Condition()

    async def products(self) -> AsyncGenerator[Product]:
        """The product of each unit, in order."""
        working = asyncio.ensure_future(self._work_through())
        try:
            while True:
                async with self._changed:
                    await self._changed.wait_for(lambda: self._taken in self._made or working.done())
                if self._taken not in self._made:
                    break
                yield self._made.pop(self._taken)
                self._taken += 1
                await self._notify()
            await working
        finally:
            working.cancel()
            with suppress(BaseException):
                await working
            await self._close()

    @property
    def _done(self) -> bool:
        return self._ended and self._finished == self._given

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _work_through(self) -> None:
        try:
            if self._records is not None:
                self._server = await self._workers.server(self._records.settings, self._records.clients.spent)
            cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
            self._places = cores if self._most is None else min(cores, self._most)
            self._spare = cores - self._places
            await gather(self._work_at_a_place() for _ in range(self._places))
        finally:
            working = asyncio.current_task()
            assert working is not None
            working.add_done_callback(lambda _: asyncio.ensure_future(self._notify()))

    async def _work_at_a_place(self) -> None:
        slot = _Slot()
        self._slots.append(slot)
        async with slot.starting:
            await self._fill(slot)
        await gather(self._work(slot) for _ in range(self._lanes))

    async def _fill(self, slot: _Slot) -> None:
        """Start a worker at a place. The place is given up if the worker refuses, and no other core is free."""
        while True:
            name = uuid4().hex[:12]
            worker, kept = self._workers.take()
            refusal = await self._started(worker, name)
            if refusal is None:
                slot.worker = started = _JobWorker(worker, name)
                if self._records is not None:
                    started.listening = asyncio.ensure_future(self._listen(started))
                return
            if kept and not refusal.alive:  # it was lost while it had no job
                continue
            if refusal.killed and self._lost <= MAX_LOST and not self._done:
                log.warning("worker lost", worker=name, reason=refusal.reason)
                continue
            if refusal.alive:
                self._refused.append((worker, self._begun.get(name)))
            else:
                ray.kill(worker)
            if self._done:
                return
            log.warning("worker refuses", worker=name, reason=refusal.reason)
            if not (refusal.alive and self._spare):
                break
            self._spare -= 1
        self._places -= 1
        if not self._places:
            raise OperationalError(f"no worker of the cluster can work; the last: {refusal.reason}")

    async def _started(self, worker: Handle, name: str) -> _Refusal | None:
        """Wait until a worker has started; return why it refuses, or None."""
        starting = asyncio.ensure_future(self._start(worker, name))
        done = asyncio.ensure_future(self._all_done())
        try:
            await asyncio.wait({starting, done}, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                reason = starting.result()
                return None if reason is None else _Refusal(reason, alive=True)
            late = "it is not needed any more" if done.done() else f"it did not start within {START_SECONDS:g} s"
            return _Refusal(late, alive=name in self._begun)
        except ray.exceptions.RayError as error:
            self._lost += 1
            raised, why = _why_ended(error)
            return _Refusal(f"it ended while it started: {why}", alive=False, killed=not raised)
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
        self._begun[name] = worker.start.remote(self._job, settings, request)
        return await self._workers.result(self._begun[name])

    async def _all_done(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._done)

    async def _next(self) -> tuple[int, Unit[Given]] | None:
        """The next unit with its number, as soon as there is one; None if all are made."""
        async with self._changed:
            while not self._done:
                if self._returned:
                    return self._returned.popleft()
                if not self._ended and self._has_room():
                    unit = next(self._units, None)
                    if unit is not None:
                        self._given += 1
                        return self._given - 1, unit
                    self._ended = True
                    self._changed.notify_all()
                else:
                    await self._changed.wait()
        return None

    def _has_room(self) -> bool:
        return self._records is not None or self._given - self._taken < AHEAD * self._lanes * self._places

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
                self._returned.append(found)
            elif isinstance(made, UnitFailed):
                where = "a worker of the cluster: " if made.kind == "InputError" else ""
                raise _FAILURES.get(made.kind, OperationalError)(f"{where}{made.text}")
            else:
                self._receive(worker, made.recorded)
                self._finished += 1
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
        await self._workers.end_job([worker.handle for worker in workers], self._refused, keep=self._done)
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
