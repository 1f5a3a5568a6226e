"""Several jails side by side, so that programs run on every core."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Self, TypeVar

from lawtrace.environments.jail.jail import Jail
from lawtrace.environments.jail.program import Limits
from lawtrace.environments.jail.walls import Walls

Item = TypeVar("Item")
Product = TypeVar("Product")

MOST = 8
"""About so many are kept busy by one Python process, whose own share of a program's time is an eighth to a quarter."""


class Jails:
    """Some jails with the same limits, one more than there are cores unless told otherwise. A context manager.

    While a program waits for an answer, its core is free for the one that is one too many.

    What runs in which of them makes no difference: each program starts from a fresh fork.
    """

    def __init__(self, limits: Limits | None = None, walls: Walls | None = None, *, count: int | None = None) -> None:
        number = count or min((os.cpu_count() or 1) + 1, MOST)
        self._jails = [Jail(limits, walls) for _ in range(number)]
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Start the workers; `JailUnavailable` if this machine does not allow it."""
        with ExitStack() as opening:
            for jail in self._jails:
                opening.enter_context(jail)
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def sandbox(self) -> str:
        """What stands around their programs."""
        return self._jails[0].sandbox

    def map(self, work: Callable[[Jail, Item], Product], items: Iterable[Item]) -> Iterator[Product]:
        """``work(jail, item)`` for each item, in whatever jail is free; products come in the order of the items.

        ``work`` runs in several threads at once. What it raises is raised here, and what has not begun is given up.
        """
        idle: SimpleQueue[Jail] = SimpleQueue()
        for jail in self._jails:
            idle.put(jail)

        def work_somewhere(item: Item) -> Product:
            jail = idle.get()
            try:
                return work(jail, item)
            finally:
                idle.put(jail)

        with ThreadPoolExecutor(len(self._jails), thread_name_prefix="jail") as threads:
            try:
                yield from threads.map(work_somewhere, items)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
