"""The walls by name."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Self, TypeVar

from lawtrace.environments.errors import InputError
from lawtrace.environments.sandbox.backend import Backend, JailUnavailable
from lawtrace.environments.sandbox.bubblewrap import Bubblewrap
from lawtrace.environments.sandbox.docker import DEFAULT_IMAGE, Docker
from lawtrace.environments.sandbox.program import CallHandler, Execution, Limits, Program, Returned, Toolset
from lawtrace.environments.sandbox.program_run import JailLost, ProgramRun
from lawtrace.environments.sandbox.unprotected import Unprotected
from lawtrace.environments.sandbox.worker import Worker, WorkerGone

UNPROTECTED = Unprotected.sandbox


def choose_backend(sandbox: str) -> Backend:
    """The walls of that name: ``bwrap``, ``docker``, ``docker:IMAGE`` or ``unprotected``. Raises InputError."""
    name, _, image = sandbox.partition(":")
    match name:
        case "bwrap" if not image:
            return Bubblewrap()
        case "docker":
            return Docker(image or DEFAULT_IMAGE)
        case "unprotected" if not image:
            return Unprotected()
        case _:
            raise InputError(
                f"there is no sandbox {sandbox!r}; there are bwrap, docker, docker:IMAGE and {UNPROTECTED}"
            )


class Jail:
    """Runs programs behind walls (bubblewrap, unless others are given), each in a fresh fork of one warm interpreter.

    A context manager for one thread; several jails may be open at once. A worker that died or that a program left in
    another condition than before (a file in /tmp, a changed limit) is replaced before the next program.

    >>> with Jail(Limits(seconds=2)) as jail:  # doctest: +SKIP
    ...     jail.run(program, handler).status
    'finished'
    """

    def __init__(self, limits: Limits | None = None, walls: Backend | None = None) -> None:
        self.limits = limits or Limits()
        self._walls = walls or Bubblewrap()
        self._worker: Worker | None = None

    @property
    def sandbox(self) -> str:
        """What stands around its programs."""
        return self._walls.sandbox

    def __enter__(self) -> Self:
        """Start the worker; `JailUnavailable` if this machine does not allow it."""
        self._worker = Worker.start(self._walls, self.limits)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker. A jail that is used again starts another."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def run(self, program: Program, handler: CallHandler) -> Execution:
        """Run one program; ``handler`` answers its calls. What the program does is data; what the handler raises
        passes through. `JailUnavailable` means that no program ran, `JailLost` that it ran and nobody knows how it
        would have ended."""
        kept, self._worker = self._worker, None
        if kept is not None:
            if kept.alive:
                # It may have died without our knowing yet; then nothing has run, and a fresh one can take over.
                with suppress(WorkerGone):
                    return self._run_on(kept, program, handler)
            kept.close()
        try:
            return self._run_on(Worker.start(self._walls, self.limits), program, handler)
        except WorkerGone as error:
            reason = "the warm parent died before the program started"
            raise JailUnavailable.because(reason, self._walls.remedy()) from error

    def _run_on(self, worker: Worker, program: Program, handler: CallHandler) -> Execution:
        """Run on this worker, and keep it if the program leaves it as it was. `WorkerGone`: nothing has run."""
        counts = self._walls.counts_processes
        conversation = ProgramRun(worker, program, handler, self.limits, counts_processes=counts)
        try:
            with conversation:
                return conversation.run()
        finally:
            if conversation.clean:
                self._worker = worker
            else:
                worker.close()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Whether programs can be run on this machine, and in one sentence how or why not."""

    possible: bool
    detail: str


def diagnose(walls: Backend | None = None) -> Diagnosis:
    """Open a jail and run a program in it."""
    probe = Program("print(Probe.echo(value=1))", Toolset.untyped("Probe", {"echo": ("value",)}))
    try:
        with Jail(Limits(seconds=5), walls) as jail:
            execution = jail.run(probe, lambda _tool, arguments: Returned(arguments["value"]))
    except (JailUnavailable, JailLost) as error:
        return Diagnosis(False, str(error))
    if execution.died or execution.output != "1\n":
        return Diagnosis(False, f"the jail starts, but a program does not run in it: {execution.error}")
    return Diagnosis(True, f"programs run behind it ({jail.sandbox})")


Item = TypeVar("Item")
Product = TypeVar("Product")

MAX_JAILS = 8
"""About so many are kept busy by one Python process, whose own share of a program's time is an eighth to a quarter."""


class JailPool:
    """Some jails with the same limits, one more than there are cores unless told otherwise. A context manager.

    While a program waits for an answer, its core is free for the one that is one too many.

    What runs in which of them makes no difference: each program starts from a fresh fork.
    """

    def __init__(self, limits: Limits | None = None, walls: Backend | None = None, *, count: int | None = None) -> None:
        number = count or min((os.cpu_count() or 1) + 1, MAX_JAILS)
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
