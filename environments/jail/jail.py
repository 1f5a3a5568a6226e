"""The jail as its users see it: open it, run programs in it one after the other, close it."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from lawtrace.environments.jail.bubblewrap import Bubblewrap
from lawtrace.environments.jail.conversation import Conversation, JailLost
from lawtrace.environments.jail.program import CallHandler, Execution, Limits, Program, Returned, Toolset
from lawtrace.environments.jail.walls import JailUnavailable, Walls
from lawtrace.environments.jail.worker import Worker, WorkerGone


class Jail:
    """Runs programs behind walls (bubblewrap, unless others are given), each in a fresh fork of one warm interpreter.

    A context manager for one thread; several jails may be open at once. A worker that died or that a program left in
    another condition than before (a file in /tmp, a changed limit) is replaced before the next program.

    >>> with Jail(Limits(seconds=2)) as jail:  # doctest: +SKIP
    ...     jail.run(program, handler).status
    'finished'
    """

    def __init__(self, limits: Limits | None = None, walls: Walls | None = None) -> None:
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
        conversation = Conversation(worker, program, handler, self.limits, counts_processes=counts)
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


def diagnose(walls: Walls | None = None) -> Diagnosis:
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
