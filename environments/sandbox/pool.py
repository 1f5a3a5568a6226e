"""Sandboxes: open one, run programs in it one after the other, close it. A pool runs several sandboxes in parallel."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Self, TypeVar

from lawtrace.environments.sandbox.bubblewrap import SANDBOX, SandboxUnavailable
from lawtrace.environments.sandbox.program import CallHandler, Clock, Limits, PauseClock, Program, Returned, Toolset
from lawtrace.environments.sandbox.program_run import ProgramRun, SandboxLost
from lawtrace.environments.sandbox.worker import Worker, WorkerGone
from lawtrace.schemas.attempt_rows import Execution

Item = TypeVar("Item")
Product = TypeVar("Product")

MAX_SANDBOXES = 8
"""One Python process keeps about this many busy: its own share of a program's time is an eighth to a quarter."""


class Sandbox:
    """Runs programs in a sandbox, each in a fresh fork of one warm interpreter.

    A context manager for one thread; several may be open at once. The worker is replaced before the next program if it
    died, or if a program left it in another condition (a file in /tmp, a changed limit).

    >>> with Sandbox(Limits(seconds=2)) as sandbox:  # doctest: +SKIP
    ...     sandbox.run(program, handler).status
    'finished'
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        """Start the worker. Raises `SandboxUnavailable` if this machine does not allow it."""
        self._worker = Worker.start(self.limits)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker. `run` starts another if needed."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def run(self, program: Program, handler: CallHandler, clock: Clock | None = None) -> Execution:
        """Run one program; ``handler`` answers its calls, and it sees the time of ``clock``.

        Without a clock the program starts at 1970-01-01 00:00, and only its pauses let time pass.

        The program's failures are data in the result; exceptions of the handler propagate. Raises `SandboxUnavailable`
        if no program ran, and `SandboxLost` if the sandbox ended while it ran, so that its own end is unknown.
        """
        clock = clock or PauseClock()
        kept, self._worker = self._worker, None
        if kept is not None:
            if kept.alive:
                # It may have died unnoticed. Then nothing has run, and a fresh worker can take over.
                with suppress(WorkerGone):
                    return self._run_on(kept, program, handler, clock)
            kept.close()
        try:
            return self._run_on(Worker.start(self.limits), program, handler, clock)
        except WorkerGone as error:
            raise SandboxUnavailable.because("the fork server died before the program started") from error

    def _run_on(self, worker: Worker, program: Program, handler: CallHandler, clock: Clock) -> Execution:
        """Run on this worker, and keep it if the program leaves it unchanged. `WorkerGone` means nothing has run."""
        run = ProgramRun(worker, program, handler, clock, self.limits)
        try:
            with run:
                return run.run()
        finally:
            if run.clean:
                self._worker = worker
            else:
                worker.close()


class SandboxPool:
    """Several sandboxes with the same limits. A context manager.

    By default one more than there are cores: while one program waits for an answer, another can use its core. Which
    sandbox runs a program makes no difference, since each program starts from a fresh fork.
    """

    def __init__(self, limits: Limits | None = None, *, count: int | None = None) -> None:
        number = count or min((os.cpu_count() or 1) + 1, MAX_SANDBOXES)
        self._sandboxes = [Sandbox(limits) for _ in range(number)]
        self._idle: SimpleQueue[Sandbox] = SimpleQueue()
        for sandbox in self._sandboxes:
            self._idle.put(sandbox)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Start the workers. Raises `SandboxUnavailable` if this machine does not allow it."""
        with ExitStack() as opening:
            for sandbox in self._sandboxes:
                opening.enter_context(sandbox)
            self._threads = ThreadPoolExecutor(len(self._sandboxes), thread_name_prefix="sandbox")
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End the workers; work not yet begun is dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._open.close()

    def submit(self, work: Callable[[Sandbox, Item], Product], item: Item) -> Future[Product]:
        """Begin ``work(sandbox, item)`` in a thread, as soon as a sandbox is free. Several run at once."""
        return self._threads.submit(self._work_in_free_sandbox, work, item)

    def _work_in_free_sandbox(self, work: Callable[[Sandbox, Item], Product], item: Item) -> Product:
        sandbox = self._idle.get()
        try:
            return work(sandbox, item)
        finally:
            self._idle.put(sandbox)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Whether programs can run on this machine, and one sentence that says how or why not."""

    possible: bool
    detail: str


def diagnose() -> Diagnosis:
    """Open a sandbox and run a program in it."""
    probe = Program("print(Probe.echo(value=1))", Toolset.untyped("Probe", {"echo": ("value",)}))
    try:
        with Sandbox(Limits(seconds=5)) as sandbox:
            execution = sandbox.run(probe, lambda _tool, arguments: Returned(arguments["value"]))
    except (SandboxUnavailable, SandboxLost) as error:
        return Diagnosis(False, str(error))
    if execution.died or execution.output != "1\n":
        return Diagnosis(False, f"the sandbox starts, but a program does not run in it: {execution.error}")
    return Diagnosis(True, f"programs run in it ({SANDBOX})")
