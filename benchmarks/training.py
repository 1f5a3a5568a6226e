"""Episodes a second and memory of many sessions at once, by number of sessions.

    python -m benchmarks.training docs/tasks/1.3/*.jsonl [--sessions 1 50 200] [--episodes 200]
        [--shield refuse] [--processes 2]

The sessions take turns: each makes one call of the reference of its task, then the next session does. A session that
has ended begins the next episode. Every reward is checked. Times are processor time; memory is what the process grew by
from the first reset to the last step, when all sessions are under way. `--processes`: the sessions are divided among
this many processes; times are then those of all, and seconds of the clock are printed beside.
"""

import argparse
import gc
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawtrace.training import TaskEnvironment, TrainingTasks


@dataclass
class Totals:
    """Processor seconds, how often what was done, and bytes of growth."""

    reset: float = 0.0
    step: float = 0.0
    end: float = 0.0
    episodes: int = 0
    steps: int = 0
    grown: int = 0


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def played(environment: TaskEnvironment, seeds: Iterator[int], totals: Totals) -> Iterator[None]:
    """One step at a time, episode by episode, until the seeds are used up."""
    for seed in seeds:
        begin = time.process_time()
        observation = environment.reset(seed=seed)
        totals.reset += time.process_time() - begin
        yield
        for call in environment.tasks.task(observation.task).planned:
            begin = time.process_time()
            environment.step(call.event.tool, call.event.arguments)
            totals.step += time.process_time() - begin
            totals.steps += 1
            yield
        begin = time.process_time()
        last = environment.finish()
        while not last.done:
            last = environment.finish()
        totals.end += time.process_time() - begin
        if last.reward != 1.0:
            raise SystemExit(f"{observation.task}: the reward is {last.reward}, not 1")
        totals.episodes += 1


def run(tasks: TrainingTasks, sessions: int, seeds: range) -> Totals:
    """Play the episodes of the seeds in some sessions at once."""
    gc.collect()
    gc.freeze()
    totals, before, left = Totals(), resident(), iter(seeds)
    playing = [played(TaskEnvironment(tasks), left, totals) for _ in range(sessions)]
    while playing:
        playing = [session for session in playing if next(session, playing) is None]
        totals.grown = max(totals.grown, resident() - before)
    return totals


_tasks: list[TrainingTasks] = []
"""What forked processes inherit."""


def _run(given: tuple[int, range]) -> Totals:
    return run(_tasks[0], *given)


def measure(tasks: TrainingTasks, sessions: int, options: Any) -> tuple[Totals, float]:  # noqa: ANN401
    """The totals over all processes, and the seconds of the clock."""
    _tasks[:] = [tasks]
    count = min(options.processes, sessions)
    shares = [(sessions // count, range(place, options.episodes, count)) for place in range(count)]
    begin = time.perf_counter()
    with ProcessPoolExecutor(count, multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(_run, shares))
    seconds = time.perf_counter() - begin
    names = Totals.__dataclass_fields__
    return Totals(**{name: sum(getattr(one, name) for one in found) for name in names}), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 50, 200])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--shield", choices=["off", "warn", "refuse"], default="off")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print("file             sessions  resets/s  steps/s  verdicts/s  episodes/s   MB grown  KB/session  seconds")
    for file in options.files:
        tasks = TrainingTasks.load(file, shield=options.shield)
        for sessions in options.sessions:
            made, seconds = measure(tasks, sessions, options)
            print(
                f"{file.stem:16} {sessions:8} {made.episodes / made.reset:9.0f} {made.steps / made.step:8.0f}"
                f" {made.episodes / made.end:11.0f} {made.episodes / (made.reset + made.step + made.end):11.1f}"
                f" {made.grown / 2**20:10.1f} {made.grown / 1024 / sessions:11.0f} {seconds:8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
