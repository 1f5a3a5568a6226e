"""A worker: makes units, and writes its own part of the event log."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic

from lawtrace.agents.models.call_settings import CallSettings
from lawtrace.agents.models.stack import ModelClients
from lawtrace.runs.cluster.rate_server import RemoteLimits, Request
from lawtrace.runs.stages.cluster_jobs import Given, Job, ModelAccess, Product, Unit
from lawtrace.runs.store.event_log_file import EventLogFile, utc_now
from lawtrace.schemas.errors import LawtraceError
from lawtrace.schemas.log_entries import Context, Entry, ModelCalled, RoleFailed
from lawtrace.schemas.model_spec import RecordedModel

TimedEntry = tuple[str, Entry]


@dataclass(frozen=True, slots=True)
class WorkerLog:
    """Where a worker records its calls, and the limits of the run.

    Attributes:
        folder: absolute, in a folder that the process that divides the job made. A worker that does not see that folder
            is on another machine: it records in a temporary folder of its own, and sends what it recorded.
    """

    folder: Path
    settings: CallSettings


@dataclass(frozen=True, slots=True)
class MadeUnit(Generic[Product]):
    """The product of a unit, and the entries of its conversations."""

    product: Product
    entries: list[TimedEntry]


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """Why a run cannot go on, such as a budget that is used up: the name of the error and its message."""

    kind: str
    text: str


class Worker(Generic[Given, Product]):
    """Makes units in one process.

    Args:
        log: where its calls are recorded; None if no model takes part.
        request: calls the limits.
    """

    def __init__(self, job: Job[Given, Product], log: WorkerLog | None, request: Request) -> None:
        self._job, self._where, self._request = job, log, request
        self._open = ExitStack()
        self._known = KnownAnswers()
        self._log: UnitLog | None = None
        self._clients: ModelClients | None = None
        self._make: Callable[[Given], Awaitable[Product]] | None = None

    def start(self) -> str | None:
        """Open event log and job; return why the worker cannot work, or None."""
        try:
            with ExitStack() as opening:
                access = None if self._where is None else self._access(self._where, opening)
                self._make = self._job.open(access, opening)
                self._open = opening.pop_all()
        except LawtraceError as error:
            return str(error)
        return None

    def _access(self, where: WorkerLog, opening: ExitStack) -> ModelAccess:
        folder, elsewhere = where.folder, not where.folder.parent.exists()
        if elsewhere:
            folder = Path(opening.enter_context(TemporaryDirectory())) / folder.name
        event_log = opening.enter_context(EventLogFile.create(folder, recipe={"stage": "worker"}))
        self._log = UnitLog(event_log, elsewhere=elsewhere)
        limits = RemoteLimits(self._request)
        self._clients = clients = ModelClients(
            self._log,
            settings=where.settings,
            open_replay=EventLogFile.open,
            earlier=self._known,
            grants=limits,
            slots=limits,
            rate=None if where.settings.requests_per_minute is None else limits,
        )
        return ModelAccess(folder, self._log, clients)

    async def make(self, unit: Unit[Given], known: Sequence[Entry] = ()) -> MadeUnit[Product] | UnitFailed:
        """Make a unit. ``known``: the answers of its conversations from before an interruption."""
        assert self._make is not None
        self._known.add(known)
        try:
            product = await self._make(unit.given)
        except LawtraceError as error:
            return UnitFailed(type(error).__name__, str(error))
        if self._log is None:
            return MadeUnit(product, [])
        await self._log.flush()
        log = self._log.file
        return MadeUnit(product, [timed for one in unit.conversations for timed in log.timed_entries(conversation=one)])

    async def recorded(self, *, wait: bool) -> list[TimedEntry] | None:
        """What was recorded since the last call; None if the process that divides the job can read it in the folder.
        ``wait``: until there is something, or the job ends."""
        if self._log is None or not self._log.elsewhere:
            return None
        if wait and self._make is not None:
            await self._log.news.wait()
        return self._log.take_new()

    async def close(self) -> None:
        """Close connections, event log and job."""
        self._make = None
        if self._log is not None:
            self._log.news.set()
        if self._clients is not None:
            await self._clients.close()
        self._open.close()


class UnitLog:
    """The worker's own event log. ``elsewhere``: the process that divides the job cannot read it, so what is new is
    kept for it."""

    def __init__(self, file: EventLogFile, *, elsewhere: bool = False) -> None:
        self.file, self.elsewhere = file, elsewhere
        self.news = asyncio.Event()
        self._new: list[TimedEntry] = []

    def record(self, entry: Entry) -> None:
        timed = (utc_now().isoformat(), entry)
        self.file.append([timed])
        if self.elsewhere:
            self._new.append(timed)
            self.news.set()

    async def flush(self) -> None:
        await self.file.flush()

    def take_new(self) -> list[TimedEntry]:
        """The entries since the last call."""
        self.news.clear()
        new, self._new = self._new, []
        return new


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
