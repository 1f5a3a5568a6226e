"""Work that takes long beside the event loop: while Z3 searches or a program runs in the jail, conversations go on."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

_WORKER = ThreadPoolExecutor(1, thread_name_prefix="aside")
"""One thread for all of it: Z3's terms share one context, which takes one caller at a time."""


async def run_in_worker_thread(work: Callable[[], Result]) -> Result:
    """What the work returns, or raises. Pieces of work are done one after the other, in the order of asking."""
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work)
