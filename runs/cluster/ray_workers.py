"""The workers of a Ray cluster: started, kept from one job to the next, and ended."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final

import ray
import ray.exceptions

from lawtrace.agents.models.spending import Spending
from lawtrace.runs.cluster.rate_server import RateServer
from lawtrace.runs.cluster.worker import Worker
from lawtrace.schemas.call_options import CallOptions

Handle = Any
"""A value of Ray, which has no types: an actor, a reference to a result, or the result."""

END_SECONDS = 30.0
"""How long workers have to end a job that is done: one may just be starting on a busy machine."""
CLOSE_SECONDS = 5.0
"""How long workers have to end a job that is not done, and how long the end of killed workers is waited for."""


class RayWorkers:
    """The workers of a command, each a process with one core. They take seconds to start, so they are kept."""

    def __init__(self) -> None:
        self._idle: list[Handle] = []
        self._server: tuple[CallOptions, Handle] | None = None
        self._pending: Final = set[asyncio.Future[Handle]]()

    def take(self) -> Handle:
        """A worker without a job: one that had a job before, or a new one."""
        return self._idle.pop() if self._idle else ray.remote(num_cpus=1, max_concurrency=1000)(Worker).remote()

    async def server(self, settings: CallOptions, spent: Spending) -> Handle:
        """What grants the calls of the next job. ``spent``: what the run used before."""
        if self._server is not None and self._server[0] == settings:
            try:
                await self.result(self._server[1].begin.remote(spent))
                return self._server[1]
            except ray.exceptions.RayActorError:  # its machine was lost since the last job
                pass
        self._end_server()
        server = ray.remote(num_cpus=0, max_concurrency=10_000)(RateServer).remote(settings)
        self._server = settings, server
        await self.result(server.begin.remote(spent))
        return server

    async def end_job(self, workers: Sequence[Handle], *, keep: bool) -> None:
        """End the job of the workers. ``keep``: for the next job; otherwise their processes end."""
        ending = {one: asyncio.ensure_future(self.result(one.end.remote())) for one in workers}
        if ending:
            await asyncio.wait(ending.values(), timeout=END_SECONDS if keep else CLOSE_SECONDS)
        for worker, future in ending.items():
            if keep and future.done() and future.exception() is None:
                self._idle.append(worker)
            else:
                ray.kill(worker)
        if not keep:
            self._end_server()
            await self._settle(ending.values())

    async def _settle(self, ending: Collection[asyncio.Future[Handle]]) -> None:
        if self._pending:  # they end as their workers did
            await asyncio.wait(self._pending, timeout=CLOSE_SECONDS)
        for future in ending:
            future.cancel()

    def close(self) -> None:
        """End all processes."""
        while self._idle:
            ray.kill(self._idle.pop())
        self._end_server()

    def _end_server(self) -> None:
        if self._server is not None:
            ray.kill(self._server[1])
            self._server = None

    async def result(self, reference: Handle) -> Handle:
        """Wait for a result of Ray. Cancelled, it goes on in the background: Ray complains of cancelled futures."""
        future = asyncio.wrap_future(reference.future())
        self._pending.add(future)
        future.add_done_callback(self._forget)
        return await asyncio.shield(future)

    def _forget(self, future: asyncio.Future[Handle]) -> None:
        self._pending.discard(future)
        if not future.cancelled():
            future.exception()  # which the waiting task has, if there is one
