"""``lawtrace tasks build``: build tasks from traces."""

from pathlib import Path

import typer

from lawtrace.environments.errors import InputError
from lawtrace.runs.cli.output import print_outcome
from lawtrace.runs.cli.recipe_flags import DIFFICULTY, TRACE_CONSTRAINTS, RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.shards import cluster_at
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import TraceRow
from lawtrace.runs.stages.files import TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.stage_store import Products


def build_tasks(flags: RecipeFlags, *, traces: Path | None, on: str | None, out: Path, as_json: bool) -> None:
    """Build tasks from traces, and write them."""
    if traces is not None and any(key.startswith(("tasks.constraints.", "tasks.difficulty.")) for key in flags.values):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in (*TRACE_CONSTRAINTS, *DIFFICULTY))
        raise InputError(f"--traces cannot be combined with options about the synthesis: {named}")
    recipe = stage_recipe(flags)
    given = None if traces is None else read_rows(traces, TraceRow)

    async def work(session: Session) -> Products:
        runner = session.runner(recipe)
        if given is not None:
            runner.give(TRACES, given)
        return await runner.make(TASKS, incomplete=True)

    written = [out.with_suffix(".traces.jsonl")] if given is None else []
    with cluster_at(on) as cluster:
        products = run_stages(recipe, out, "tasks build", work, *written, force=flags.force, cluster=cluster)
    tasks, (funnel,) = products[TASKS], products[TASK_FUNNEL]
    TASKS.write(out, tasks)
    if given is None:
        TRACES.write(out.with_suffix(".traces.jsonl"), products[TRACES])
    tried, dropped = funnel.funnel.traces, funnel.funnel.dropped
    reasons = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(dropped.items()))
    print_outcome(
        {"tasks": len(tasks), "traces": tried, "dropped": {**dropped}},
        f"{len(tasks)} paired tasks from {tried} traces.{reasons}",
        as_json=as_json,
        out=out,
    )
    raise typer.Exit(0 if len(tasks) == recipe.tasks.count * len(recipe.tasks.variants) else 1)
