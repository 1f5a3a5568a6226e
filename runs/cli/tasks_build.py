"""``lawtrace tasks build``: build tasks from traces."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.errors import InputError
from lawtrace.runs.cli.options import JsonOption, OutOption
from lawtrace.runs.cli.output import print_outcome
from lawtrace.runs.cli.recipe_flags import DIFFICULTY, TRACE_CONSTRAINTS, RecipeFlags, recipe_flags
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import TraceRow
from lawtrace.runs.stages.pipeline import TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.stage_store import Products


@recipe_flags(
    "rules", "count", "length", "trace_mode", *TRACE_CONSTRAINTS, *DIFFICULTY, "texts", "seed", "variant", "sandbox"
)
def build_command(
    flags: RecipeFlags,
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines); default: synthesize traces.")] = None,
    out: OutOption = Path("tasks.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Build tasks from traces, with checked instructions.

    Instructions are written in both styles and checked by code and by the reviewing roles.

    Exit code 1 if fewer tasks than requested were accepted.
    """
    if traces is not None and any(key.startswith(("tasks.constraints.", "tasks.difficulty.")) for key in flags.values):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in (*TRACE_CONSTRAINTS, *DIFFICULTY))
        raise InputError(f"--traces cannot be combined with options about the synthesis: {named}")
    recipe = flags.resolve()
    given = None if traces is None else read_rows(traces, TraceRow)

    async def work(session: Session) -> Products:
        runner = session.runner(recipe)
        if given is not None:
            runner.give(TRACES, given)
        return await runner.make(TASKS, incomplete=True)

    products = run_stages(recipe, out, "tasks build", work, force=flags.force)
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
