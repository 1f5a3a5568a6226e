"""No more calls at once than the endpoint should see."""

import asyncio
from collections.abc import Callable

from autogen_core.models import CreateResult

from lawtrace.agents.clients.calls import Answerer, ModelCall


class Limit:
    """Lets a call through when the semaphore has a slot, and notes how long that took."""

    def __init__(self, inner: Answerer, slots: asyncio.Semaphore, clock: Callable[[], float]) -> None:
        self._inner = inner
        self._slots = slots
        self._clock = clock

    async def ask(self, call: ModelCall) -> CreateResult:
        asked = self._clock()
        async with self._slots:
            call.progress.queued_seconds = self._clock() - asked
            return await self._inner.ask(call)
