"""The limits of model calls: how many at once and in a minute, how long, and how many failures in a row."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from autogen_core import CancellationToken
from autogen_core.models import CreateResult

from lawtrace.agents.models.model_call import CallFailed, EndpointAbandoned, Layer, ModelCall
from lawtrace.agents.models.spending import ABANDONED

_MINUTE = 60.0


class RequestRate:
    """Requests to each endpoint at equal distances: N a minute at most. None: at any time."""

    def __init__(self, requests_per_minute: float | None) -> None:
        self._gap = _MINUTE / requests_per_minute if requests_per_minute else 0.0
        self._next: dict[str, float] = {}

    async def turn(self, model: str) -> None:
        """Wait until a request may be sent to the endpoint of a model."""
        if self._gap:
            now = time.monotonic()
            at = max(now, self._next.get(model, now))
            self._next[model] = at + self._gap
            await asyncio.sleep(at - now)


@dataclass(frozen=True, slots=True)
class ConcurrencyLayer:
    """Sends a call when there is a free slot, and its endpoint takes a request; records the wait.

    ``rate``: None for scripted roles.
    """

    inner: Layer
    slots: asyncio.Semaphore
    rate: RequestRate | None

    async def ask(self, call: ModelCall) -> CreateResult:
        asked = time.monotonic()
        async with self.slots:
            if self.rate is not None:
                await self.rate.turn(call.context.model or "")
            call.progress.queued_seconds = time.monotonic() - asked
            return await self.inner.ask(call)


MAX_FAILURES_IN_A_ROW = 5


@dataclass(slots=True)
class EndpointFailures:
    """The failures of one endpoint since its last answer. Shared by its conversations."""

    in_a_row: int = 0
    last: str = ""


@dataclass(frozen=True, slots=True)
class FailureLayer:
    """Sends nothing to an endpoint that failed `MAX_FAILURES_IN_A_ROW` times without an answer in between: a wrong name
    of a model, a web page in place of an API, an exhausted quota, or nothing at the address. A resumed run tries again.

    A refusal of one request, such as a prompt that is too long, counts neither way.
    """

    inner: Layer
    failures: EndpointFailures

    async def ask(self, call: ModelCall) -> CreateResult:
        if self.failures.in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise EndpointAbandoned(
                "endpoint",
                f"{call.context.model} {ABANDONED} after {self.failures.in_a_row} failures in a row; the last: "
                f"{self.failures.last}",
            )
        try:
            result = await self.inner.ask(call)
        except CallFailed as failed:
            if not failed.request_refused:
                self.failures.in_a_row += 1
                self.failures.last = str(failed)
            raise
        self.failures.in_a_row = 0
        return result


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DeadlineLayer:
    """Limits the seconds of each call, including its retries and their waits."""

    inner: Layer
    seconds: float

    async def ask(self, call: ModelCall) -> CreateResult:
        try:
            return await run_cancellable(self.inner.ask(call), seconds=self.seconds)
        except TimeoutError:
            seen = f"; the last of {call.progress.tries} tries: {call.progress.last_error}"
            raise CallFailed(
                "deadline",
                f"{call.context.model}: no answer within {self.seconds:g} s"
                f"{seen if call.progress.last_error else ''}; raise the deadline or ask a faster endpoint",
            ) from None


async def run_cancellable(
    work: Coroutine[Any, Any, T], *, seconds: float | None = None, token: CancellationToken | None = None
) -> T:
    """The result of `work`, unless it exceeds the time or is cancelled.

    Cancelling a task only asks it to stop, and a client that swallows the cancellation would block its caller. So the
    work is cancelled and abandoned rather than awaited. Raises ``TimeoutError`` after `seconds` and ``CancelledError``
    when `token` is cancelled.
    """
    if token is not None and token.is_cancelled():
        work.close()
        raise asyncio.CancelledError
    given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(work)
    if token is not None:
        token.link_future(given_up)
    try:
        await asyncio.wait({task, given_up}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if given_up.done():
            raise asyncio.CancelledError
        if task.done():
            return task.result()
        raise TimeoutError
    finally:
        given_up.cancel()
        task.cancel()
        task.add_done_callback(_consume_exception)


def _consume_exception(task: "asyncio.Task[Any]") -> None:
    """Retrieve the exception of an abandoned task, so that asyncio does not log it as never retrieved."""
    if not task.cancelled():
        task.exception()
