"""How often a guard cannot decide, and how long it searches, in sessions of the six environments.

    python -m benchmarks.guard_decisions [--env NAME ...] [--folders FOLDER ...] [--tasks 20] [--blind] [--advice]

Sessions start from the initial states of tasks, with all rules of their environment: of the first folder that has a
file of the environment's name, by default the release and `tests/data/tasks`. *reference* makes the
calls of the reference trace, *literal* those that were asked for, and *random* twenty calls: half of them calls of the
task, half any tool with arguments drawn from the state. A call that is refused is not made, and the session goes on.
With `--blind` the guard does not know the result of a call beforehand, as in front of real tools; otherwise it does,
as in a simulator. Times are of the processor: of all decisions, and of refusals, which with `--advice` include the
search for what to do first.
"""

import argparse
import logging
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Objection
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS
from lawtrace.solver.guard.decisions import Call, Decision, Refuse
from lawtrace.solver.guard.guard import MAX_STEPS, Guard
from lawtrace.solver.masking.instructions import requested_calls

ROOT = Path(__file__).parents[1]
LENGTH = 20
Wanted = tuple[str, dict[str, Json]]


class Measured:
    """The guard of a session, which counts its decisions."""

    def __init__(self, guard: Guard, *, blind: bool) -> None:
        self._guard = guard
        self._blind = blind
        self.allowed: list[float] = []
        self.refused: list[float] = []
        self.advised = 0
        self.undecided: list[Event] = []

    def review(self, event: Event) -> Objection | None:
        begin = time.thread_time()
        decision = self._decide(event)
        (self.refused if isinstance(decision, Refuse) else self.allowed).append(time.thread_time() - begin)
        self.advised += isinstance(decision, Refuse) and bool(decision.first)
        finding = decision.finding
        if finding is not None and finding.undecided:
            self.undecided.append(event)
        return Objection(decision.finding.rules, "", refused=True) if isinstance(decision, Refuse) else None

    def _decide(self, event: Event) -> Decision:
        if not self._blind:
            return self._guard.review(event)
        call = Call(event.tool, event.arguments)
        decision = self._guard.before(call, time=event.time)
        if not isinstance(decision, Refuse):
            self._guard.after(call, event.result, error=event.error, outcome=event.outcome)
        return decision

    def note(self, event: Event) -> None:
        self._guard.see(event)

    def open_duties(self) -> Objection | None:
        return None


def drawn(environment: Environment, state: State, random: Random) -> Wanted | None:
    """A call of any tool with arguments from the state; None where it has no row for one."""
    tool = random.choice(list(environment.tools.values()))
    arguments: dict[str, Json] = {}
    for parameter in tool.parameters:
        match parameter.source:
            case FromUser(sampler, share):
                if parameter.required or random.random() < share:
                    arguments[parameter.name] = parameter.type.encode(sampler.draw(random, state))
            case FromLookup(entity):
                rows = [row.values[entity.key] for row in state.rows(entity.table)]
                if not rows:
                    return None
                arguments[parameter.name] = parameter.type.encode(random.choice(rows))
            case FromTrace():
                return None
    return tool.name, arguments


def wanted(environment: Environment, task: Task, kind: str, random: Random, session: Session) -> Iterator[Wanted]:
    """The calls of a session."""
    own = [(call.event.tool, dict(call.event.arguments)) for call in task.planned]
    if kind == "reference":
        yield from own
    elif kind == "literal":
        initial = task.initial(environment)
        calls = requested_calls(environment, initial, task.requested, task.styles[0])
        yield from ((call.event.tool, dict(call.event.arguments)) for call in calls)
    else:
        asked = [(call.event.tool, dict(call.event.arguments)) for call in task.asked_calls]
        for _ in range(LENGTH):
            made = random.choice([*own, *asked]) if random.random() < 0.5 else None
            try:
                made = made or drawn(environment, session.state, random)
            except (LookupError, TypeError, ValueError, AttributeError):  # a sampler that finds no row, a list of keys
                made = None
            if made is not None:
                yield made


def times(seconds: list[float]) -> str:
    """Median, 99th percentile and maximum in milliseconds."""
    ranked = [1000 * one for one in sorted(seconds)] or [0.0]
    return f"{ranked[len(ranked) // 2]:9.2f} {ranked[int(len(ranked) * 0.99)]:7.2f} {ranked[-1]:7.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", nargs="+", default=list(BUILT_IN_DOMAINS))
    newest = max((ROOT / "docs" / "tasks").glob("[0-9]*"), key=lambda folder: folder.name)
    folders = [newest / "references", ROOT / "tests" / "data" / "tasks"]
    parser.add_argument("--folders", nargs="+", type=Path, default=folders)
    parser.add_argument("--kinds", nargs="+", default=["reference", "literal", "random"])
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--steps", type=int, default=MAX_STEPS)
    parser.add_argument("--blind", action="store_true")
    parser.add_argument("--advice", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="Name the undecided calls.")
    options = parser.parse_args()
    logging.disable()
    print("environment   sessions      calls  undecided   allowed, ms: p50    p99     max    refused  with advice  ms")
    for name in options.env:
        files = (folder / f"{name}.jsonl" for folder in options.folders)
        tasks, domain = read_tasks(next(file for file in files if file.exists()), name)
        environment = domain.environment
        for kind in options.kinds:
            done: list[Measured] = []
            for number, task in enumerate(tasks[:: max(1, len(tasks) // options.tasks)][: options.tasks]):
                guard = Guard(task.rules, environment, on_undecided="allow", steps=options.steps, advice=options.advice)
                done.append(Measured(guard, blind=options.blind))
                session = Session(environment, task.initial(environment), done[-1])
                random = Random(f"{options.seed} {name} {number}")
                for tool, arguments in wanted(environment, task, kind, random, session):
                    session.call(tool, arguments)
            allowed = [seconds for one in done for seconds in one.allowed]
            refused = [seconds for one in done for seconds in one.refused]
            undecided = Counter(event.tool for one in done for event in one.undecided)
            print(
                f"{name:13} {kind:10} {len(allowed) + len(refused):8} {undecided.total():10}   {times(allowed)}"
                f"   {len(refused):8} {sum(one.advised for one in done):7} {times(refused)}",
                flush=True,
            )
            if options.show and undecided:
                print(f"  {dict(undecided.most_common())}")


if __name__ == "__main__":
    main()
