"""A worker: makes units, and sends what it records to the process that divides them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Generic

from lawtrace.agents.models.stack import ModelClients
from lawtrace.runs.cluster.rate_server import RemoteLimits, Request
from lawtrace.runs.stages.cluster_jobs import Job, ModelAccess, Product, Unit
from lawtrace.runs.store.event_log_file import EventLogFile, utc_now
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.errors import LawtraceError
from lawtrace.schemas.log_entries import Context, Entry, ModelCalled, RoleFailed
from lawtrace.schemas.model_spec import RecordedModel

TimedEntry = tuple[str, Entry]


@dataclass(frozen=True, slots=True)
class RecordedEntries:
    """Entries that a worker recorded, each with its time, in order. ``first``: how many it recorded before them."""

    first: int
    entries: list[TimedEntry]


@dataclass(frozen=True, slots=True)
class MadeUnit(Generic[Product]):
    """The product of a unit, and the entries that the process that divides the job may not have yet."""

    product: Product
    recorded: RecordedEntries


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """Why a run cannot go on, such as a budget that is used up: the name of the error and its message."""

    kind: str
    text: str


class Worker:
    """Makes units in one process, for one job after the other. On Ray it is an actor, so every method is
    asynchronous."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._known = KnownAnswers()
        self._log = WorkerLog()
        self._clients: ModelClients | None = None
        self._make: Callable[[Any], Awaitable[Any]] | None = None

    async def version(self) -> str:
        """The version of lawtrace on its machine."""
        return version("lawtrace")

    async def start(self, job: Job[Any, Any], settings: CallOptions | None, request: Request) -> str | None:
        """Begin a job; return why the worker cannot work, or None.

        ``settings``: the limits on calls; None if no model takes part. ``request``: calls what grants them.
        """
        self._known, self._log = KnownAnswers(), WorkerLog()
        access = None if settings is None else self._access(settings, request)
        try:
            with ExitStack() as opening:
                self._make = job.open(access, opening)
                self._open = opening.pop_all()
        except LawtraceError as error:
            return str(error)
        return None

    def _access(self, settings: CallOptions, request: Request) -> ModelAccess:
        limits = RemoteLimits(request)
        self._clients = ModelClients(
            self._log,
            settings=settings,
            open_replay=EventLogFile.open,
            earlier=self._known,
            grants=limits,
            slots=limits,
            rate=None if settings.conversation.requests_per_minute is None else limits,
        )
        return ModelAccess(self._log, self._clients)

    async def make(self, unit: Unit[Any], known: Sequence[Entry] = ()) -> MadeUnit[Any] | UnitFailed:
        """Make a unit. ``known``: the answers of its conversations from before an interruption."""
        assert self._make is not None
        self._known.add(known)
        try:
            return MadeUnit(await self._make(unit.given), self._log.recorded)
        except LawtraceError as error:
            return UnitFailed(type(error).__name__, str(error))

    async def recorded(self, received: int, wait: bool = True) -> RecordedEntries:
        """See `WorkerLog.after`."""
        return await self._log.after(received, wait=wait)

    async def end(self) -> None:
        """End the job."""
        self._make = None
        self._log.close()
        if self._clients is not None:
            clients, self._clients = self._clients, None
            await clients.close()
        self._open.close()


class WorkerLog:
    """The event log of a worker: it keeps entries until the process that divides the job has them."""

    def __init__(self) -> None:
        self._first = 0
        self._entries: list[TimedEntry] = []
        self._closed = False
        self._changed = asyncio.Event()

    @property
    def recorded(self) -> RecordedEntries:
        return RecordedEntries(self._first, [*self._entries])

    def record(self, entry: Entry) -> None:
        self._entries.append((utc_now().isoformat(), entry))
        self._notify()

    async def flush(self) -> None:
        """Return once the other process has all entries so far."""
        wanted = self._first + len(self._entries)
        while self._first < wanted and not self._closed:
            await self._changed.wait()

    async def after(self, received: int, *, wait: bool) -> RecordedEntries:
        """All entries but the first ``received`` of the job, which the other process has. ``wait``: until there are
        some, or the job ends."""
        if received > self._first:
            del self._entries[: received - self._first]
            self._first = received
            self._notify()
        while wait and not self._entries and not self._closed:
            await self._changed.wait()
        return self.recorded

    def close(self) -> None:
        """Wait for nothing any more."""
        self._closed = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class KnownAnswers:
    """The answers of interrupted units (`lawtrace.agents.models.replay.ReplaySource`).

    The worker's own event log would also answer a unit of one model under test with what was said in that of another.
    """

    written_by = version("lawtrace")

    def __init__(self) -> None:
        self._answers: dict[tuple[str | int | None, ...], ModelCalled | RoleFailed] = {}

    def add(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, ModelCalled | RoleFailed) and entry.request_hash is not None:
                key = _place(entry.context, entry.request_hash, entry.occurrence)
                if isinstance(entry, ModelCalled) or key not in self._answers:
                    self._answers[key] = entry

    def answer(self, context: Context, request_hash: str, occurrence: int) -> ModelCalled | RoleFailed | None:
        return self._answers.get(_place(context, request_hash, occurrence))

    def message(self, place: Context) -> str | None:
        return None

    def models(self, role: str) -> Sequence[RecordedModel]:
        return ()

    def answered(self) -> Iterator[ModelCalled]:
        return iter(())

    def requests_sent(self) -> int:
        return 0

    def close(self) -> None:
        """Does nothing: the answers are in memory."""


def _place(context: Context, request_hash: str, occurrence: int | None) -> tuple[str | int | None, ...]:
    of = (context.stage, context.role, context.task, context.unit, context.style, context.tested_model)
    return (*of, request_hash, occurrence)
