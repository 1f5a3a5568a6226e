"""Statistics, report and comparison of a run of 10,000 attempts.

    python benchmarks/report.py [--attempts 10000] [--pairs 40] [--keep FOLDER]

The rows of a real run of the baseline policies are multiplied: each synthetic model gets, per trial, the row of a
policy drawn by seed, with a comment line before the program so that no two attempts are equal. Processor and wall
seconds.
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

from lawtrace.runs.report.content import load_run_content
from lawtrace.runs.report.outcome_lines import outcome_lines
from lawtrace.runs.report.outcome_tables import model_pair_table, outcome_figures, provision_table
from lawtrace.runs.report.run_comparison import compare_runs, read_side
from lawtrace.runs.report.task_view import view_tasks
from lawtrace.runs.report.terminal_tables import outcome_table
from lawtrace.runs.runner import run_variants
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.runs.web.export import render_report
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.recipe import Recipe, TaskOptions
from lawtrace.schemas.verdict_rows import Verdict

TRIALS = 5
SEED = 1

Made = TypeVar("Made")


def make_run(folder: RunFolder, pairs: int) -> None:
    recipe = Recipe(tasks=TaskOptions(count=pairs))
    with EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        asyncio.run(run_variants(resolve_recipe(recipe), event_log))


def multiply(folder: RunFolder, wanted: int) -> int:
    """Replace attempts and verdicts by about ``wanted`` rows; return the number of models."""
    attempts = read_rows(folder.attempts, Attempt)
    verdicts = read_rows(folder.verdicts, Verdict)
    tries = defaultdict[tuple[str, str], list[tuple[Attempt, Verdict]]](list)
    for attempt, verdict in zip(attempts, verdicts, strict=True):
        tries[attempt.answer.task, attempt.answer.style].append((attempt, verdict))
    models = -(-wanted // (TRIALS * len(tries)))
    random = Random(SEED)
    many: list[tuple[Attempt, Verdict]] = []
    for model in range(models):
        for judged in tries.values():
            for trial in range(TRIALS):
                attempt, verdict = random.choice(judged)
                who = {"model": f"made:up-{model + 1}", "trial": trial}
                mark = f"# model {model + 1}, trial {trial + 1}\n"
                program = attempt.answer.program
                own = {**who, "id": f"{attempt.answer.id}-{model}-{trial}", "program": program and mark + program}
                answer = attempt.answer.model_copy(update=own)
                many.append(
                    (
                        attempt.model_copy(update={"answer": answer}),
                        verdict.model_copy(update={**who, "answer": answer.id}),
                    )
                )
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
    parser.add_argument("--keep", type=Path, help="keep the run here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = RunFolder(options.keep or Path(scratch) / "run")
        make_run(folder, options.pairs)
        models = multiply(folder, options.attempts)
        content = timed("reading the run, trace coverage", lambda: load_run_content(folder.path))
        print(f"{len(content.attempts)} attempts: {len(content.tasks)} pairs, {models} models, {TRIALS} trials each")
        timed("the table of the command line", lambda: outcome_table(content.verdicts))
        lines = outcome_lines(content)
        timed("figures of outcomes", lambda: outcome_figures(lines))
        timed("models in pairs", lambda: model_pair_table(lines))
        timed("provisions", lambda: provision_table(lines, content.models))
        timed("task views", lambda: view_tasks(content))
        page = timed("the whole report, including these", lambda: render_report(content))
        print(f"the page has {len(page) / 1e6:.1f} MB")
        if options.keep:
            folder.report.write_text(page, encoding="utf-8")
        both = timed("reading both sides of a comparison", lambda: (read_side(folder.path), read_side(folder.path)))
        timed("comparing two models", lambda: compare_runs(*both, ("made:up-1", "made:up-2")))
        timed("comparing every model with itself", lambda: compare_runs(*both))


if __name__ == "__main__":
    main()
