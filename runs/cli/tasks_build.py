"""``lawtrace tasks build``: build tasks from traces."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import ClusterOption, OutOption
from lawtrace.runs.cli.recipe_flags import (
    DIFFICULTY,
    DOCKETS,
    MODEL_CALLS,
    TRACE_CONSTRAINTS,
    RecipeFlags,
    recipe_flags,
    stage_recipe,
)
from lawtrace.runs.cli.shards import cluster_at
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.stage_store import Products
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import TraceRow


@recipe_flags("rules", "count", "length", "trace_mode", *TRACE_CONSTRAINTS, *DIFFICULTY, *DOCKETS, *MODEL_CALLS, "seed")
def build_tasks(
    flags: RecipeFlags,
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines); default: synthesize traces.")] = None,
    on: ClusterOption = None,
    out: OutOption = Path("tasks.jsonl"),
) -> CommandResult:
    """Build tasks from traces, with checked instructions.

    Instructions are written in both styles and checked by code and by the reviewing roles.

    Exit code 1 if fewer tasks than requested were accepted.
    """
    if traces is not None and any(key.startswith(("tasks.constraints.", "tasks.difficulty.")) for key in flags.values):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in (*TRACE_CONSTRAINTS, *DIFFICULTY))
        raise InputError(f"--traces cannot be combined with options about the synthesis: {named}")
    inputs = stage_recipe(flags)
    recipe = inputs.recipe
    given = None if traces is None else read_rows(traces, TraceRow)

    async def work(session: Session) -> Products:
        runner = session.runner(inputs)
        if given is not None:
            runner.give(TRACES, given)
        return await runner.make(TASKS, incomplete=True)

    beside = [out.with_suffix(".traces.jsonl")] if given is None else []
    with cluster_at(on) as cluster:
        products = run_stages(recipe, out, "tasks build", work, *beside, force=flags.force, cluster=cluster)
    tasks, (funnel,) = products[TASKS], products[TASK_FUNNEL]
    TASKS.write(out, tasks)
    for file in beside:
        TRACES.write(file, products[TRACES])
    tried, dropped = funnel.funnel.traces, funnel.funnel.dropped
    reasons = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(dropped.items()))
    return CommandResult(
        {"tasks": len(tasks), "traces": tried, "dropped": {**dropped}},
        [f"{len(tasks)} paired tasks from {tried} traces.{reasons}"],
        out,
        exit_code=0 if len(tasks) == recipe.tasks.count else 1,
    )
