"""A worker thread for blocking work: conversations continue while Z3 searches or a program runs in the jail."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

_WORKER = ThreadPoolExecutor(1, thread_name_prefix="aside")
"""One thread: Z3 terms share one context, which is not thread-safe."""


async def run_in_worker_thread(work: Callable[[], Result]) -> Result:
    """The result of the work. Calls run one after the other, in order."""
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work)
