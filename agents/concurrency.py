"""Concurrency: a worker thread for blocking work, and ordered execution that stops at the first error."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lawtrace.schemas.errors import LawtraceError

Result = TypeVar("Result")

_WORKER = ThreadPoolExecutor(1, thread_name_prefix="worker")
"""One thread: Z3 terms share one context, which is not thread-safe."""


async def run_in_worker_thread(work: Callable[[], Result]) -> Result:
    """The result of blocking work, such as a search of Z3 or a program; conversations continue meanwhile.

    Calls run one after the other, in order.
    """
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work)


async def gather(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results in the order of the coroutines. The first LawtraceError cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        ours = errors.subgroup(LawtraceError)
        if ours is None:
            raise
        first: BaseException = ours
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from errors
    return [task.result() for task in tasks]
