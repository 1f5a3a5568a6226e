"""A run of 10,000 attempts, from its files to the report: what reading, statistics, page and comparison take.

    python benchmarks/report.py [--attempts 10000] [--pairs 40] [--keep FOLDER]

A run over the built-in programs is walked as ever. Its judged rows are then multiplied: each of many made-up models
gets, for each try, the row of a built-in program drawn by seed, with a line of its own before the program, so that no
two attempts are shown as one. Processor seconds of this process; wall seconds beside them.
"""

import argparse
import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import TypeVar

from lawtrace.runs.assemble import content_of_run
from lawtrace.runs.comparing import compare_sides, read_side
from lawtrace.runs.files import read_rows, write_rows
from lawtrace.runs.grading.verdict import VerdictRow
from lawtrace.runs.layout import RunFolder
from lawtrace.runs.pipeline import walk
from lawtrace.runs.recipe import Recipe, RuleOptions, TaskOptions
from lawtrace.runs.record.store import Record
from lawtrace.runs.report.build import render_report
from lawtrace.runs.report.comparisons import compare_within
from lawtrace.runs.report.summary import summarize
from lawtrace.runs.report.tasks import task_pages
from lawtrace.runs.report.terminal import outcome_table
from lawtrace.runs.stages.rows import AttemptRow

TRIALS = 5
SEED = 1

Made = TypeVar("Made")


def make_run(folder: RunFolder, pairs: int) -> None:
    recipe = Recipe(rules=RuleOptions(extract=False), tasks=TaskOptions(count=pairs))
    with Record.create(folder.path, recipe=recipe.model_dump(mode="json")) as record:
        asyncio.run(walk(recipe, folder, record=record))


def multiply(folder: RunFolder, wanted: int) -> int:
    """Replace the attempts and verdicts of the run by about as many as wanted. Returns how many models that took."""
    attempts = read_rows(folder.attempts, AttemptRow)
    verdicts = read_rows(folder.verdicts, VerdictRow)
    tries = defaultdict[tuple[str, str], list[tuple[AttemptRow, VerdictRow]]](list)
    for attempt, verdict in zip(attempts, verdicts, strict=True):
        tries[attempt.task, attempt.style].append((attempt, verdict))
    models = -(-wanted // (TRIALS * len(tries)))
    random = Random(SEED)
    many: list[tuple[AttemptRow, VerdictRow]] = []
    for model in range(models):
        for judged in tries.values():
            for trial in range(TRIALS):
                attempt, verdict = random.choice(judged)
                who = {"model": f"made:up-{model + 1}", "trial": trial}
                mark = f"# model {model + 1}, trial {trial + 1}\n"
                own = {} if attempt.program is None else {"program": mark + attempt.program}
                many.append((attempt.model_copy(update={**who, **own}), verdict.model_copy(update=who)))
    write_rows(folder.attempts, [attempt for attempt, _ in many])
    write_rows(folder.verdicts, [verdict for _, verdict in many])
    return models


def timed(name: str, work: Callable[[], Made]) -> Made:
    wall, processor = perf_counter(), process_time()
    made = work()
    print(f"{name:<42} {process_time() - processor:6.2f} s (wall {perf_counter() - wall:.2f} s)")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="where the run is left, to be looked at")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = RunFolder(options.keep or Path(scratch) / "run")
        make_run(folder, options.pairs)
        models = multiply(folder, options.attempts)
        content = timed("reading the run, coverage of its traces", lambda: content_of_run(folder.path))
        print(f"{len(content.attempts)} attempts: {len(content.tasks)} pairs, {models} models, {TRIALS} trials each")
        timed("the table of the command line", lambda: outcome_table(content.verdicts))
        timed("summary: tables and figures", lambda: summarize(content))
        timed("statistics within the report", lambda: compare_within(content))
        timed("the pages of the tasks, as values", lambda: task_pages(content))
        page = timed("the whole report, those three included", lambda: render_report(content))
        print(f"the page has {len(page) / 1e6:.1f} MB")
        if options.keep:
            folder.report.write_text(page, encoding="utf-8")
        both = timed("reading both sides of a comparison", lambda: (read_side(folder.path), read_side(folder.path)))
        timed("comparing two models", lambda: compare_sides(*both, ("made:up-1", "made:up-2")))
        timed("comparing every model with itself", lambda: compare_sides(*both))


if __name__ == "__main__":
    main()
