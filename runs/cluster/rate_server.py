"""The limits of a run with several workers: one place grants every call of an endpoint."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.budget import BudgetExhausted, BudgetTracker, CallSize
from lawtrace.agents.models.limits import RequestRate
from lawtrace.agents.models.spending import Spending
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.log_entries import Entry


class RateServer:
    """Grants calls to workers by name. What a lost worker held is freed, and counts as spent."""

    def __init__(self, settings: CallOptions) -> None:
        self._event_log: Final = MemoryEventLog()
        self._tracker: Final = BudgetTracker(settings, self._event_log)
        self._slots: Final = asyncio.Semaphore(settings.conversation.concurrency)
        self._rate: Final = RequestRate(settings.conversation.requests_per_minute)
        self._reserved: Final[dict[str, list[Spending]]] = {}
        self._held: Final = Counter[str]()
        self._lost: Final = set[str]()

    async def begin(self, spent: Spending) -> None:
        """Begin the next job of the run: all workers have other names. ``spent``: what the run used before."""
        for worker in {*self._reserved, *self._held}:
            await self.lose(worker)
        self._tracker.spent = spent

    async def reserve(self, worker: str, size: CallSize) -> Spending | str:
        """The reservation of a call, or why the budget is used up."""
        try:
            reserved = await self._tracker.reserve(size)
        except BudgetExhausted as exhausted:
            return str(exhausted)
        self._reserved.setdefault(worker, []).append(reserved)
        if worker in self._lost:
            self._free(worker)
        return reserved

    async def settle(self, worker: str, reserved: Spending, used: Spending) -> None:
        """Replace a reservation by what the call used."""
        if worker not in self._lost:
            self._reserved[worker].remove(reserved)
            self._tracker.settle(reserved, used)

    async def acquire(self, worker: str) -> None:
        """Wait for a free slot."""
        await self._slots.acquire()
        self._held[worker] += 1
        if worker in self._lost:
            self._free(worker)

    async def release(self, worker: str) -> None:
        """Free a slot."""
        if worker not in self._lost:
            self._held[worker] -= 1
            self._slots.release()

    async def turn(self, worker: str, model: str) -> None:
        """Wait until a request may be sent to an endpoint."""
        await self._rate.turn(model)

    async def lose(self, worker: str) -> None:
        """Free what a worker held that has ended."""
        self._lost.add(worker)
        self._free(worker)

    async def take_entries(self) -> list[Entry]:
        """What is to be recorded of the budget; it is forgotten."""
        entries, self._event_log.entries = self._event_log.entries, []
        return entries

    def _free(self, worker: str) -> None:
        for reserved in self._reserved.pop(worker, []):
            self._tracker.settle(reserved, Spending(messages=1))
        for _ in range(self._held.pop(worker, 0)):
            self._slots.release()


Request = Callable[..., Awaitable[object]]
"""Calls a method of the server: its name, then its arguments without the worker."""


class RemoteLimits:
    """The limits as a worker sees them.

    Budget (`lawtrace.agents.models.budget.Grants`), turns of requests (`lawtrace.agents.models.limits.Rate`), and, as
    an asynchronous context manager, the slots for calls in flight.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._telling: set[asyncio.Future[object]] = set()

    async def reserve(self, call: CallSize) -> Spending:
        granted = await self._request("reserve", call)
        if isinstance(granted, Spending):
            return granted
        raise BudgetExhausted(str(granted))

    def settle(self, reserved: Spending, used: Spending) -> None:
        told = asyncio.ensure_future(self._request("settle", reserved, used))
        self._telling.add(told)
        told.add_done_callback(self._telling.discard)

    async def turn(self, model: str) -> None:
        await self._request("turn", model)

    async def __aenter__(self) -> None:
        await self._request("acquire")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._request("release")
