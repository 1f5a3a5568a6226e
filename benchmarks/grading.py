"""Grading of all recorded programs in the sandbox, compared with the published evaluator.

    python -m benchmarks.grading DIR [--rounds 5] [--endless 10000]

DIR is the folder of the published data. Both evaluators alternate on the same programs; medians over rounds are
printed. Processor time (host and sandbox) depends less on other load than wall time. Also: the cost of a bare fork in
the sandbox, of an empty program, of one call, of starting a worker, and memory over many programs.
"""

import argparse
import io
import resource
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from benchmarks.published.domains import PUBLISHED_DOMAINS
from benchmarks.published.logisafetybench import import_tasks
from benchmarks.published_evaluator import MEASURED, evaluate
from lawtrace.environments.sandbox import Program, Returned, Sandbox, SandboxPool, Toolset
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.stages.attempts_stage import AnswerExecutor
from lawtrace.runs.stages.submitted_programs import read_programs
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Execution
from lawtrace.solver.declarations.loader import load_domain


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded programs of one domain."""

    domain: str
    object_name: str
    environment: Environment
    tasks: list[Task]
    programs: list[Answer]

    def task(self, row: Answer) -> Task:
        return next(task for task in self.tasks if task.id == row.task)


def read_all(directory: Path) -> list[Recorded]:
    found: list[Recorded] = []
    for domain, published in PUBLISHED_DOMAINS.items():
        if not list(directory.rglob(f"labeled_{domain}_dataset.json")):
            continue  # not available
        with Sandbox() as sandbox:
            tasks = list(import_tasks(directory, domain, sandbox).tasks)
        files = sorted(directory.rglob(f"eval_{domain}_*.json"))
        read = [row for path in files for row in read_programs(path).usable.rows]
        programs = [row for row in read if isinstance(row, Answer)]
        environment = load_domain(published.environment).environment
        found.append(Recorded(domain, published.object_name, environment, tasks, programs))
    return found


def judge_all(recorded: list[Recorded], sandboxes: SandboxPool) -> None:
    for one in recorded:
        by_id = {task.id: task for task in one.tasks}
        executor = AnswerExecutor(one.environment, one.tasks, None)
        for future in [sandboxes.submit(executor.execute, program) for program in one.programs]:
            attempt = future.result()
            judge(one.environment, by_id[attempt.answer.task], attempt)


def evaluate_all(one: Recorded) -> int:
    """Run the published evaluator on each program; return how many had code."""
    by_id = {task.id: task for task in one.tasks}
    number = 0
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for row in one.programs:
            task = by_id[row.task]
            if row.program and task.published is not None:
                evaluate(task, task.published, row.program)
                number += 1
    return number


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds, including ended children."""
    started, used = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - started, processor_seconds() - used


def processor_seconds() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds))


def compare(recorded: list[Recorded], rounds: int) -> None:
    with_code = {one.domain: evaluate_all(one) for one in recorded}
    number, rows = sum(with_code.values()), sum(len(one.programs) for one in recorded)
    ours: list[tuple[float, float]] = []
    theirs: dict[str, list[tuple[float, float]]] = {one.domain: [] for one in recorded}

    def in_the_sandbox() -> None:
        with (
            SandboxPool() as sandboxes
        ):  # opened and closed here, so that the processor time of the sandboxes is counted
            judge_all(recorded, sandboxes)

    for _ in range(rounds):
        ours.append(seconds(in_the_sandbox))
        for one in recorded:
            theirs[one.domain].append(seconds(lambda one=one: evaluate_all(one)))
    print(f"{rows} rows, {number} with code; domains: {', '.join(with_code)}; {rounds} rounds, medians")
    for one in recorded:
        wall, processor = (statistics.median(times) for times in zip(*theirs[one.domain], strict=True))
        of = with_code[one.domain] / 1000
        print(
            f"the published way, {one.domain}: {wall / of:.2f} ms per program (processor {processor / of:.2f} ms); "
            f"the original was measured at {MEASURED[one.object_name]} ms"
        )
    wall, processor = (statistics.median(times) for times in zip(*ours, strict=True))
    print(f"in the sandbox: {1000 * wall / rows:.2f} ms per program (processor {1000 * processor / rows:.2f} ms)")
    rebuilt = statistics.median(sum(theirs[name][at][0] for name in theirs) for at in range(rounds))
    original = sum(with_code[one.domain] * MEASURED[one.object_name] for one in recorded) / 1000
    print(f"throughput: {rebuilt / wall:.2f}x the rebuilt evaluator, {original / wall:.2f}x the original")


FORKS = """
import os, time
started = time.perf_counter()
for _ in range(200):
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)
print((time.perf_counter() - started) / 200)
"""


def floor() -> None:
    """The fixed cost of a program: a bare fork, and an empty program."""
    tools = Toolset.untyped("Tool", {})
    with Sandbox() as sandbox:

        def run(source: str) -> Execution:
            return sandbox.run(Program(source, tools), lambda _tool, _arguments: Returned(None))

        fork = statistics.median(float(run(FORKS).output) for _ in range(5))
        whole = statistics.median(seconds(lambda: run("pass"))[0] for _ in range(200))
    print(
        f"the floor: a bare fork and its end in the same sandbox {1e3 * fork:.2f} ms; "
        f"a program of nothing {1e3 * whole:.2f} ms"
    )


def round_trips() -> None:
    source = "for _ in range(1000): Tool.call(a=1)"
    tools = Toolset.untyped("Tool", {"call": ("a",)})
    with_calls, without = Program(source, tools), Program("for _ in range(1000): (lambda **x: x)(a=1)", tools)
    with Sandbox() as sandbox:
        walls = [
            statistics.median(
                seconds(lambda p=program: sandbox.run(p, lambda _tool, _arguments: Returned({"success": True})))[0]
                for _ in range(9)
            )
            for program in (with_calls, without)
        ]
    call, empty = 1e6 * (walls[0] - walls[1]) / 1000, 1e3 * walls[1]
    print(f"a call and its answer: {call:.0f} us; a program without calls: {empty:.2f} ms")


def starts() -> None:
    def start() -> None:
        with Sandbox():
            pass

    print(f"a worker starts and ends in {1000 * statistics.median(seconds(start)[0] for _ in range(15)):.0f} ms")


def resident() -> dict[str, int]:
    """Kilobytes of this process, and of the fork servers below it."""

    def kilobytes(pid: str) -> int:
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) if "VmRSS:" in status else 0

    def children(pid: str) -> list[str]:
        return [pid for task in Path(f"/proc/{pid}/task").iterdir() for pid in (task / "children").read_text().split()]

    parents = [parent for bwrap in children("self") for parent in children(bwrap)]
    return {"host": kilobytes("self"), "warm parents": sum(map(kilobytes, parents))}


def endless(recorded: list[Recorded], programs: int) -> None:
    """Memory over many programs."""
    one = recorded[0]
    done = 0
    with SandboxPool() as sandboxes:
        while done <= programs:
            judge_all([Recorded(one.domain, one.object_name, one.environment, one.tasks, one.programs)], sandboxes)
            done += len(one.programs)
            if done % (5 * len(one.programs)) == 0 or done > programs:
                print(
                    f"after {done:6} programs: "
                    + ", ".join(f"{who} {kb / 1024:.1f} MiB" for who, kb in resident().items())
                )
                sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--endless", type=int, default=10_000, help="programs in the memory test; 0 skips it")
    options = parser.parse_args()
    recorded = read_all(options.directory)
    starts()
    floor()
    round_trips()
    compare(recorded, options.rounds)
    if options.endless:
        endless(recorded, options.endless)


if __name__ == "__main__":
    main()
